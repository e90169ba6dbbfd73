"""What a sentence says about the player's own hand: the total, soft or hard, what cards count, and which bust it.

Every whole number is looked at. It can be a card, a distance to 21, a limit, the value of a card, the total with one
more card, or somebody else's opinion; what is none of these is a total, and must be the true one.
"""

import re
from collections.abc import Iterator
from itertools import combinations, islice

from sociometer.instruments.egosocial.games.blackjack.chance_words import PASSING
from sociometer.instruments.egosocial.games.blackjack.claim import Graded, graded
from sociometer.instruments.egosocial.games.blackjack.rules import LIMIT, Facts
from sociometer.instruments.egosocial.games.blackjack.wording import CARD, MOST_NUMBERS, REACH, card_points

_NUMBER = re.compile(r"(?<![\d.%$])\b(\d{1,2})\b(?!\.\d| ?%| ?percent| per cent|\d)")
_NO_TOTAL_AFTER = re.compile(
    r"^(?:s\b|[- ]?cards?\b|[- ]ranks?\b|[- ](?:of|out of|in) (?:the |every )?\d|[- ]of (?:the|"
    r"them|those|what)\b|[- ]?(?:times?|draws?|outs?|others?|players?|"
    r"decks?|hands?|more cards?|thirds?|quarters?|fifths?|halves|chances?|ways?|ace|aces|kings?|"
    r"queens?|jacks?|tencards?|different|unseen|remaining|"
    r"options?|card (?:hand|total))\b|[- ](?:to|against) \d\b| ?/ ?\d| that (?:bust|break)|"
    r" count\b|-point card|[- ]value card| \d{1,2}s\b| is the (?:most|highest|best))"
)
_COUNTED = re.compile(
    r"(?:\b(?:out of|those|these|other|next|round|option|deck of|through|from \d{1,2} to|\d to|"
    r"\d in|(?:everything|anything|cards?|ones) (?:worth|counting|valued)(?: at)?|"
    r"between \d{1,2} and|in every|cards (?:with|of|worth)(?: an?| the)?(?: value| values)?(?: of)?|"
    r"\d{1,2} (?:cards? )?(?:count|counts)) ?|\d ?/ ?)$"
)
_DISTANCE = re.compile(
    r"^ ?(?:points? )?(?:away\b|short\b|shy\b|off\b|from 21|below (?:21|the limit)|under (?:21|"
    r"the limit)|to go\b|more to (?:reach|21)|less than 21|points? to spare)"
)
_LIMIT_BEFORE = re.compile(
    r"\b(?:over|above|past|exceed\w*|pass\w*|than|beyond|below|under|near\w*|reach\w*|limit(?: is|"
    r" of)?|get|getting|aim\w* (?:for|at)|"
    r"perfect|of|from|close to|closer to|to|at|goal|target|hit|exactly|for|until|up to|"
    r"away from)(?: exactly| a| the)? ?$"
)
_STRONG = re.compile(
    r"\b(?:total\w*(?: (?:card )?value)?|sum\w*|add\w*(?: up)?|i (?:currently |now |already |"
    r"really )?(?:have|hold|got|make it|make)|i've(?: got)?|i'm|i am|hand|my (?:current )?(?:hand|"
    r"score|count|cards)|"
    r"sit\w*|stand\w*|holding|makes?|making|gives?(?: me)?|giving(?: me)?|comes? (?:out )?(?:to|"
    r"at)|equals?|got|score|worth|that's|thats|that is|which is|"
    r"this is|it's|its|for|hence|thus|so|is|are|count(?:ing)?|call it|=|:)(?:[\s,:(=]|\b(?:of|"
    r"to|at|is|are|a|an|just|only|exactly|hard|soft|either|about|around|points?|me|up|now|currently|"
    r"the|total|on|value|"
    r"already|my|measly|mere|solid|flexible|natural|stiff|strong|decent|good|weak|low|high|"
    r"hand|score|in|have|got|as|be|still|by|it|i|count|out|that|this|card|stands?|sits?|altogether|"
    r"together|nice|lousy|miserable|poor|big|fat|plain)\b)*$"
)
_ENDS_A_LIST = re.compile(r"(?:\b(?:an?|my|the|and|plus|with|of|both|two|pair of)|[+,&]) ?$")
_LIST_GOES_ON = re.compile(
    rf"^ ?(?:\)|)(?:,| and| plus| \+|\+|&| with)(?: an?| my| the| and)* ?{CARD}\b(?! (?:away|short|points))"
)
_AGAIN = re.compile(
    r"\b(?:insists?|says?|said|claims?|thinks?|would (?:say|call)|might (?:say|call|think)|"
    r"looks? like|not(?: an?| really| yet| even)?|is not|rather than|instead of|"
    r"mistak\w+|wrongly|seems?|no longer|neighbou?r|mate|friend|people|others?|some|wish|were|"
    r"was|used to|had)\b[^.]{0,25}$"
)
_WOULD = (
    r"(?:would|will|'d|'ll|could|can|might|may|turn|turns|into|only|even|still|just|also|then|me|it|at|to|a|"
    r"my|up|total|exactly|hand|make|makes|give|gives|bring|brings|take|takes|leave|leaves|put|"
    r"puts|get|gets|i|have|of|for|be|is|that|nice|hard|soft|perfect|,|\s)"
)
_ONE_MORE = re.compile(
    r"\b(?:an?|any|another|even an?|the|drawing an?|getting an?|draw an?|get an?|if i (?:draw|"
    rf"get|hit) an?|only an?|with an?|not even an?) (?P<card>{CARD})(?: card)?,?{_WOULD}{{1,60}}?$"
)
_MAKES = re.compile(
    r"\b(?:turns?|would|will|'d|'ll|could|can|might|make|makes|give|gives|bring|brings|take|takes|leave|leaves|have)\b"
)
_CARD_WORTH = re.compile(
    rf"\b(?P<card>{CARD}|kings|queens|jacks)(?: (?:can|could|may|must|has to|here|still|only|"
    r"also|now|then|each|both|either|which|that|will|currently|always|simply|forced|down|be|"
    r"being|being counted|have|are all|all|to|too|not))*?"
    r"(?: (?:is|are|as|counts?|counted|counting|worth|equals?|valued|plays?|playing|treated|"
    r"being|being counted|be|value|were)| ?= ?|\()(?: ?(?:as|at|for|worth|valued|counted|a|"
    r"an|be|is|exactly|only|just|either|all|each|both|down|to|not))* ?\(?$"
)


def totals(clause: str, whole: str, sentence: str, facts: Facts) -> Iterator[Graded]:
    """Read what a plain clause says with whole numbers: totals, card values, thresholds and sums."""
    for match in islice(_NUMBER.finditer(clause), MOST_NUMBERS):
        before, after = clause[max(0, match.start() - REACH) : match.start()], clause[match.end() :][:REACH]
        number = int(match[1])
        found = _read_number(number, before, after, clause, facts)
        if found and not found[1] and facts.has_ace and number == facts.low + 10 and _REJECTED.search(whole):
            continue
        if found is not None:
            kind, right, fact = found
            yield graded(kind, right, fact, sentence, numbers=(float(number),))  # type: ignore[arg-type]


_HIGHEST_TOTAL = 31
_PAST = re.compile(r"\b(?:over|above|past|exceed\w*|pass\w*|beyond)(?: the)? ?$")
_FOR_A_CARD = re.compile(rf"^ for (?:the |my |an? )?(?P<card>{CARD})\b")
_WITH_A_CARD = re.compile(
    r"^(?: points?)?(?: in total)? (?:with|if i (?:get|draw|hit|catch)|on|from) (?:an?|another|"
    rf"any) (?P<card>{CARD})\b(?! and)"
)
_REJECTED = re.compile(r"\b(?:bust\w*|exceed\w*|too|but|however|over|pass\w*|so|forced|has to|must|not|therefore)\b")
_Read = tuple[str, bool, str]


def _read_number(number: int, before: str, after: str, clause: str, facts: Facts) -> _Read | None:
    """Return what a number claims, whether it is true, and the fact; None if it claims nothing."""
    if (number < 2 and not _CARD_WORTH.search(before)) or number > _HIGHEST_TOTAL:
        return None
    if (
        number > 11
        and (then := _WITH_A_CARD.match(after))
        and not _PAST.search(before)
        and number not in (facts.total.points, facts.low)
    ):
        return _sum_with(card_points(then["card"]), number, facts)
    if of := _FOR_A_CARD.match(after):
        points = card_points(of["card"])
        return "card worth", number in ((1, 11) if points == 1 else (points,)), f"worth {points}"
    if re.match(r"^ (?:if|when)\b", after) and number not in (facts.total.points, facts.low):
        return None
    left = LIMIT - facts.total.points
    hard_left = LIMIT - facts.low
    total = f"{facts.kind} {facts.total.points}"
    if re.match(r"^ is the (?:highest|biggest|largest)(?: card)? (?:that )?i (?:can|could) ", after):
        return "what busts", number <= hard_left, f"cards up to {hard_left} do not bust"
    if _DISTANCE.match(after):
        return "total", number in (left, hard_left), total
    if (threshold := _threshold(number, before, after, clause, facts)) is not None:
        return threshold
    if (
        _NO_TOTAL_AFTER.match(after)
        or _COUNTED.search(before)
        or (re.match(r"^ ?(?:to|-|and) \d", after) and re.search(r"\b(?:from|between) ?$", before))
    ):
        return None
    if number >= 12 and (compared := _compared(number, before, after, facts)) is not None:
        return "total", compared, total
    worth = _CARD_WORTH.search(before)
    alone = re.search(rf"(?:^|[,(] ?|\band ){CARD} ?= ?$", before)
    if worth and (alone or re.search(r"\b(?:both|each|all)\b", worth[0]) or not _is_sum(before)):
        points = card_points(worth["card"].removesuffix("s"))
        values = (1, 11) if points == 1 else (points,)
        if re.search(r"\bnot\b", worth[0]):
            return None
        return "card worth", number in values, f"worth {' or '.join(map(str, values))}"
    if (more := _ONE_MORE.search(before)) and _MAKES.search(more[0]) and not _is_sum(before):
        return _sum_with(card_points(more["card"]), number, facts)
    if number == LIMIT and _LIMIT_BEFORE.search(before) and not _STRONG.search(before):
        return None
    if (
        number == LIMIT != facts.total.points
        and re.search(r"\b(?:close|near|reach|aim|beyond|exceed|over|under|limit|best|perfect|from|away)\b", clause)
        and not re.search(r"\b(?:total|have|hold|hand) (?:is|of)? ?$", before)
    ):
        return None
    if _AGAIN.search(before) and number != facts.total.points:
        return None
    if _OF_THE_OTHER.search(before) or re.match(r"^ (?:beats?|would beat|wins)", after):
        return None
    if _hypothetical(before) and number != facts.total.points:
        return None
    return _as_total(number, before, after, facts, total)


def _compared(number: int, before: str, after: str, facts: Facts) -> bool | None:
    """Whether the total is above or below a number as said; None if nothing is compared."""
    if number == LIMIT:
        return None
    if _MORE_BEFORE.search(before):
        return facts.total.points > number
    if _LESS_BEFORE.search(before):
        return facts.total.points < number
    return None


def _as_total(number: int, before: str, after: str, facts: Facts, total: str) -> _Read | None:
    if number == facts.total.points or (facts.total.soft and number == facts.low):
        in_list = _LIST_GOES_ON.match(after) and _ENDS_A_LIST.search(before)
        return None if in_list and number in facts.points else ("total", True, total)
    if re.search(r"\b(?:dealer|they)\b", before):
        return None
    either = re.match(rf"^ ?(?:or|/) ?(?:an? )?{facts.total.points}\b", after) or re.search(
        rf"\b{facts.total.points} ?(?:or|/)(?: an?)? ?$", before
    )
    if either and not (facts.has_ace and number == facts.low + 10):
        return "total", False, total
    if facts.has_ace and not facts.total.soft and number == facts.low + 10:
        return "total", False, total
    if _is_a_card(number, before, after, facts) or _is_part_of_sum(number, before, after, facts):
        return None
    return "total", False, total


def _is_sum(before: str) -> bool:
    """Whether the words before a number add up cards: "9 + 4 + 2 =", "a jack and a 6 (", "7 and 7, yes,"."""
    return bool(re.search(rf"{CARD}(?:s|\))?(?: ?[+&,-]| and| plus| with)[^.=:]*{CARD}s?\)?[^.\d]{{0,24}}$", before))


def _is_a_card(number: int, before: str, after: str, facts: Facts) -> bool:
    """Whether a number is one of the player's cards in a list, or the card that somebody might draw."""
    held = number in facts.points or (number == 11 and facts.has_ace)
    if held and (re.match(r"^ ?\(\d", after) or re.search(r"\d for (?:my |the |an? )?$", before)):
        return True
    if held and (_ENDS_A_LIST.search(before) or _LIST_GOES_ON.match(after) or not _STRONG.search(before)):
        return True
    if number <= 11 and re.search(
        r"\b(?:an?|another|any|a low|a card of|particularly an?|get an?|draw an?|like an?|unless an?|"
        r"dealer\W.*|card (?:is|was)?) ?$",
        before,
    ):
        return True
    return number <= 11 and bool(
        re.match(r"^(?:,| or) (?:\d|tencard|ace)", after) or re.search(r"(?:\d,|\bor) ?$", before)
    )


def _is_part_of_sum(number: int, before: str, after: str, facts: Facts) -> bool:
    """Whether a number is the sum of some of the cards, named on the way to the total."""
    values = [*facts.points, *(11 for points in facts.points if points == 1)]
    sums = {sum(some) for size in range(2, len(facts.points)) for some in combinations(values, size)}
    return number in sums and not re.search(r"\b(?:total|i have|i hold|i'm on|i am on)\b", before)


_IF = re.compile(
    r"\b(?:if i (?:draw|get|hit|take|drew|got|were)|if (?:it|the next|another)|next card|"
    r"would (?:have|be|make|give|bring|take|leave|put)|could (?:get|reach|make|end)|dealer)\b"
)


_OF_THE_OTHER = re.compile(
    r"\b(?:behind|beats?|against|except|unless|facing|versus|vs)(?: an?| the)?(?: likely| possible|"
    r" probable| potential)? ?$"
)


def _hypothetical(before: str) -> bool:
    return bool(_IF.search(before))


def _sum_with(points: int, number: int, facts: Facts) -> _Read:
    low = facts.low + points
    soft = facts.has_ace or points == 1
    totals = {low} | ({low + 10} if soft and low + 10 <= LIMIT else set())
    if points == 1 and facts.total.points + 11 <= LIMIT:
        totals.add(facts.total.points + 11)
    return "what busts", number in totals, f"makes {' or '.join(map(str, sorted(totals)))}"


_MORE_AFTER = re.compile(
    r"^(?:[- ]?points?)? ?(?:(?:or|and) (?:more|higher|above|over|up|bigger|better|anything (?:higher|"
    r"above|more))|upwards?|on up|up(?: busts?| would| will|$)|\+)"
)
_LESS_AFTER = re.compile(r"^(?:[- ]?points?)? ?(?:or|and) (?:less|lower|below|under|fewer|smaller)\b")
_MORE_BEFORE = re.compile(
    r"\b(?:over|above|beyond|higher than|more than|bigger than|greater than|larger than|exceeds?|exceeding)(?: an?)? ?$"
)
_LESS_BEFORE = re.compile(r"\b(?:below|under|lower than|less than|smaller than)(?: an?)? ?$")
_UP_TO = re.compile(
    r"(?<!add )(?<!adds )(?<!adding )(?<!added )\b(?:up to|at most|no (?:more|higher) than|"
    r"not (?:more|higher) than|through)(?: an?)? ?$"
)
_DRAWN = re.compile(r"\b(?:card|anything|draw|any|getting|get|it's|it is|everything|one|value|nothing)\b")
_SAFE = re.compile(
    r"\b(?:safe\w*|fine|improve|without|reach|closer|surviv\w*|help|save|fit|good|not (?:\w+ )?(?:exceed|"
    r"bust|go over|break)|unless)\b"
)


def _threshold(number: int, before: str, after: str, clause: str, facts: Facts) -> _Read | None:
    """Read "anything above 4 busts me" and the like; a limit that is true but not tight is true."""
    if number > 11:
        return None
    left = LIMIT - facts.low
    more = 0 if _MORE_AFTER.match(after) else 1 if _MORE_BEFORE.search(before) else None
    less = 0 if _LESS_AFTER.match(after) or _UP_TO.search(before) else 1 if _LESS_BEFORE.search(before) else None
    fact = f"cards up to {left} do not bust" if left < 10 else "no card busts"
    safe = _SAFE.search(clause)
    if more is not None and PASSING.search(clause) and not safe:
        return "what busts", number + more > left, fact
    if less is not None and (safe or not PASSING.search(clause)) and not re.search(r"\b(?:than|total|have)\b", before):
        return "what busts", number - less <= left, fact
    return ("what busts", True, fact) if more is not None or less is not None else None


_KILLS = re.compile(
    r"\b(?P<not>not even |no |neither |nor )?(?:an?y?|every|each|the|another|only|all|"
    r"even an?)? ?(?P<card>ace|king|queen|jack|tencard|10|[2-9])s?(?: cards?)?(?: or \w+)?(?: is|"
    r" are| would| will| can| could| may| might| to| that| which| already| surely| just| certainly|"
    r" also)*(?P<deny> (?:not|"
    rf"never))? (?P<verb>{PASSING.pattern[2:]}|poison|fatal|too much)"
)
_FITS = re.compile(
    r"\b(?:an?y?|every|even an?|another) (?P<card>ace|king|queen|jack|tencard|10|"
    r"[2-9])(?: cards?)?(?: \w+){0,2}? (?:(?:would|will|can|could)(?: still| even)? (?:fit|"
    r"do|be fine|be safe|be okay|save me|help)|still fits?|fits|is safe|is fine)"
)


_ALL_BUT = re.compile(
    rf"\b(?:as long as|provided|so long as|if) (?:it|the (?:next )?card|that) is not an? (?P<card>{CARD})\b"
)
_SAVES = re.compile(
    rf"\bonly (?P<cards>(?:(?:an? |the )?{CARD}s?(?: cards?)?(?:, | or | and |, or |"
    r", and )?)+) ?(?:would|will|can|could)?(?: still| really)? (?:help|save|fit|do|be safe|"
    r"is safe|are safe)"
)


def busting_cards(clause: str, sentence: str, facts: Facts) -> Iterator[Graded]:
    """Read which single cards are said to bust the hand, or not to."""
    for saved in _SAVES.finditer(clause):
        named = [card_points(word) for word in re.findall(rf"\b({CARD})", saved["cards"])]
        right = not any(facts.busts_with(points) for points in named)
        yield graded("what busts", right, f"cards up to {LIMIT - facts.low}", sentence, word="only these help")
    if spared := _ALL_BUT.search(clause):
        right = card_points(spared["card"]) == 10 and not facts.busts_with(9)
        yield graded("what busts", right, f"cards up to {LIMIT - facts.low}", sentence, word=f"only {spared['card']}")
    for match in _KILLS.finditer(clause):
        if re.search(r"\b(?:but|except|other than|save|unless|only)\b", clause[: match.start() + 6]) or re.search(
            r"\b(?:above|over|below|under|than|beyond)(?: an?)? ?$", clause[: match.start("card")]
        ):
            continue
        points = card_points(match["card"])
        busts = facts.busts_with(points)
        denied = bool(match["deny"] or match["not"])
        yield graded(
            "what busts", busts != denied, f"{'busts' if busts else 'does not bust'}", sentence, word=match["card"]
        )
    for match in _FITS.finditer(clause):
        points = card_points(match["card"])
        yield graded(
            "what busts", not facts.busts_with(points), "one more card", sentence, word=f"{match['card']} fits"
        )


_KIND = re.compile(
    r"(?P<other>\b(?:not|no longer|never|rather than|instead of|looks?|seems?|appears?)\s+(?:an?\s+|"
    r"really\s+|yet\s+|even\s+|like an?\s+)*)?"
    r"\b(?P<kind>hard|soft)\b(?!\s+(?:to|for|decision|choice|luck|call)\b)"
)
_NO_ACE = re.compile(r"\b(?:no|without (?:an |any )?|any) ?ace\b")
_BOTH = re.compile(r"\b(\d{1,2})\s*(?:or(?: an?)?|/|and)\s*(\d{1,2})\b")
_ACE_ELEVEN = re.compile(r"\bace\b[^.]*\b11\b|\b11\b[^.]{0,20}\bace\b")
_ACE_NOT_ELEVEN = re.compile(
    r"\b(?:not|no longer|never)\b[^.]{0,20}\b11\b|\b11\b[^.]{0,30}\b(?:too|bust|exceed|over|not)"
)
_ACE_MAY_BE_ONE = re.compile(r"\bace\b[^.]{0,20}\b(?:can|could|may|might|would|able to)\b(?! only)[^.]{0,30}\b1\b")
_FLEXIBLE = re.compile(
    r"\bace\b[^.]{0,25}\b(?:flexible|adjust\w*|either way|both ways|drop\w*|shrink\w*|safety|"
    r"cushion)\b"
)
_ACE_ONE = re.compile(r"\bace\b[^.]*(?:\b(?:as|is|counts?|counted|worth|count|to|a|be|being|at)\b|=)[^.\d]{0,20}\b1\b")


BY_THE_ACE = "ace as in "
"""Before the kind where it was not named but told by what the ace counts."""


def softness(text: str, sentence: str, facts: Facts) -> Iterator[Graded]:
    """Read whether the hand is called soft or hard, in so many words, by both totals, or by what its ace counts."""
    now = re.sub(r"\b(?:if i (?:draw|get|hit)|next card|dealer)\b.*", "", text)
    opposite = {"hard": "soft", "soft": "hard"}
    kinds = {opposite[one["kind"]] if one["other"] else one["kind"] for one in _KIND.finditer(now)}
    by_the_ace = not kinds and facts.has_ace
    if by_the_ace:
        kinds = _by_the_ace(now, facts)
    if len(kinds) == 1:
        kind = kinds.pop()
        word = f"{BY_THE_ACE}{kind}" if by_the_ace else kind
        yield graded("softness", kind == facts.kind, f"{facts.kind} {facts.total.points}", sentence, word=word)


def _by_the_ace(words: str, facts: Facts) -> set[str]:
    if _NO_ACE.search(words):
        return {"hard"}
    if height := re.search(r"\bace\b(?: \w+){0,3}? (?:high|low)\b", words):
        return {"soft" if height[0].endswith("high") else "hard"}
    for pair in _BOTH.finditer(words):
        if int(pair[2]) - int(pair[1]) in (10, -10) and facts.total.points in (int(pair[1]), int(pair[2])):
            return {facts.kind}
    if _ACE_ELEVEN.search(words) and not _ACE_NOT_ELEVEN.search(words):
        return {"soft"} if not _ACE_ONE.search(words) or not facts.has_ace else {facts.kind}
    if _ACE_MAY_BE_ONE.search(words) or _FLEXIBLE.search(words):
        return {"soft"}
    return {"hard"} if _ACE_ONE.search(words) or _ACE_NOT_ELEVEN.search(words) else set()
