"""What a sentence says about the dealer: the open card, what it may have, and what the rules require."""

import re
from collections.abc import Iterator

from sociometer.instruments.egosocial.games.blackjack.chance_words import PASSING, stated_number
from sociometer.instruments.egosocial.games.blackjack.claim import Graded, graded
from sociometer.instruments.egosocial.games.blackjack.rules import DEALER_STANDS_ON, FINALS, LIMIT, Facts
from sociometer.instruments.egosocial.games.blackjack.wording import CARD, REACH, card_points

_OWN = re.compile(r"\b(?:i|my|me|mine|i'm|i've|i'd)\b")
_OPINION = re.compile(
    r"\bi(?:'d| would| can)? (?:think|believe|expect|guess|say|put|estimate|assume|suppose|"
    r"reckon|know|see|make it|could see)\b|\b(?:for all i know|my (?:best |own )?(?:guess|assumption|"
    r"estimate)|seeing)\b"
)
_DEALER = re.compile(r"\bdealer|\bthey\b|\btheir\b|\bhe\b|\bhis\b|\bhouse\b|\bhim\b")
_HIDDEN = re.compile(
    r"\b(?:hidden|hole|underneath|beneath|below it|below|under (?:it|that|the)|under|face[- ]?down|"
    r"second card|other card|buried|behind|unseen|down card|if|should|with an?|unless)\b"
)
_OPEN = re.compile(
    r"\b(?:show\w*|up\b|open|visible|face[- ]?up|reveal\w*|exposed|looking|on (?:the table|"
    r"display)|upcard|up-card|current card|facing|sorry|starts? with)"
)
_RANK = re.compile(
    r"\b(?:(?P<article>an?|the|that|this|dealer's|his|their|its|open|with|of|is|has|card|value|"
    rf"shows?|showing)\s+)?(?P<card>{CARD})\b(?!s\b|[-–]? ?(?:%|percent)|\.\d| (?:in|out of|"
    r"of|to) \d| ?(?:points? )?(?:or|and) (?:more|less|higher|lower|above|below|under|over|"
    r"better|up)|[- ]?card|\d| times?| thirds?| quarters?| fifths?| more\b| for\b)"
)
_WORTH = re.compile(
    r"\b(?P<card>ace|king|queen|jack|tencard|10|[2-9])(?:,? (?:which|that|can|could|may|must|"
    r"has to|always|is|has|now|a|an|currently|still|be|as|it|stands for|counts?|counted|worth|"
    r"value of|valued at|valued|equals?|equivalent to|points?|either|only|"
    r"just))+ (?P<value>\d{1,2})(?P<two>(?: or |/)\d{1,2})?(?! ?%|\.\d| (?:in|out of) \d)|"
    r" ?(?P<card2>king|queen|jack|ace) ?(?:=|\() ?(?P<value2>\d{1,2})"
)


_IT_IS_WORTH = re.compile(
    r"^(?:that's|that is|it's|it is|it|its value is|this is|which is|and is)?\s*(?:worth|valued at|"
    r"counted as|counts?)(?: as| for)? (\d{1,2})\b(?! or)"
)


def is_of_the_dealer(sentence: str) -> bool:
    """Whether a plain sentence of an external belief speaks of the dealer, not of the player alone."""
    return bool(_DEALER.search(sentence)) or not _OWN.search(_OPINION.sub(" ", sentence))


def open_card(clause: str, sentence: str, facts: Facts) -> Iterator[Graded]:
    """Read which card lies open, and what a card is said to be worth."""
    for worth in _WORTH.finditer(clause):
        points = card_points(worth["card"] or worth["card2"])
        value = int(worth["value"] or worth["value2"])
        values = (1, 11) if points == 1 else (points,)
        if value <= 13:
            forced = points == 1 and not worth["two"] and re.search(r"\b(?:only|must|has to|always)\b", worth[0])
            yield graded(
                "card worth",
                value in values and not forced,
                f"worth {' or '.join(map(str, values))}",
                sentence,
                numbers=(float(value),),
            )
    if worth_of_it := _IT_IS_WORTH.match(clause):
        values = (1, 11) if facts.shown == 1 else (facts.shown,)
        number = int(worth_of_it[1])
        yield graded("card worth", number in values, f"worth {facts.shown}", sentence, numbers=(float(number),))
    for rank in _RANK.finditer(clause):
        points = card_points(rank["card"])
        before = clause[max(0, rank.start("card") - REACH) : rank.start("card")]
        after = clause[rank.end() :][:REACH]
        if points == facts.shown or (rank["card"] == "tencard" and facts.shown == 10):
            yield graded("open card", True, f"worth {facts.shown}", sentence, numbers=(float(points),))
        elif _asserts_open(before, after, rank["card"]):
            yield graded("open card", False, f"worth {facts.shown}", sentence, numbers=(float(points),))


def _asserts_open(before: str, after: str, card: str) -> bool:
    """Whether a card that is not the open one is said to be it."""
    near = before[-30:]
    if (
        _HIDDEN.search(near)
        or re.match(r"^,? (?:in the hole|underneath|beneath|below|under|hidden|behind|or\b)", after)
        or _OWN.search(near)
        or re.search(r"\bor ?(?:an? )?$", before)
    ):
        return False
    if re.search(
        r"(?:%|\d\.?) ?$|\b(?:to|needs?|only|draw\w*|least|most|about|another|some|reach|any|like) (?:an? |only )?$",
        before,
    ) or (
        card.isdigit()
        and re.match(r"^ (?:points|more|to \d|or \d|cards)", after)
        and not re.search(r"show\w* .{0,12}$", near)
    ):
        return False
    strong = re.search(
        r"\b(?:show\w*|open card|up-?card|visible card|face[- ]?up card|revealed card|sorry,?|"
        r"dealer (?:currently |now )?(?:has|have|is on|got|holds)|there(?:'s| is)|dealer's|card is|"
        r"card of)(?: \w+){0,3}? ?$",
        before,
    )
    return bool(strong) or bool(
        re.match(r"^ (?:up\b|showing|looking|on the table|face[- ]?up|is showing|open\b)", after)
    )


_N = r"(?P<n>1[2-9]|2[0-6])"
_TOTAL = re.compile(r"(?<![\d.])\b(?P<n>\d{1,2})\b(?! ?%| ?percent|\.\d|\d| (?:in|out of|of) \d|s? ?cards?| times?)")
_DRAWS = re.compile(
    r"\b(?:hit|hits|hitting|draws?|drawing|takes?|taking|another card|(?:one )?more card|"
    r"another (?:one )?(?:has to|must) come|keeps? going|carr(?:y|ies) on|pulls?)\b"
)
_STANDS = re.compile(
    r"\b(?:(?<!as it )stands?(?! for| at)|standing|stops?|stays?|staying|stopping|leave it|"
    r"is done|be done|finished|sits? tight|stay put|sticks?)\b"
)
_NOT_BEFORE = re.compile(r"\b(?:not|never|no longer|need not|without|nor|rather than)\b(?: \w+){0,4}? ?$")
_UNTIL = re.compile(
    r"\b(?:until|till|to|reach\w*|gets?|at least|up to|achieve\w*|hits)\b(?: (?:it|they|he|"
    r"she|has|have|is|are|a|the|total|of|at|least|reach\w*|their|his|its|cards?|point|points|"
    r"hand|get|gets|to|or|hard|gotten|value|number|score|sum|totals?|around|minimum|them|him))* ?$"
)
_BELOW = re.compile(
    r"\b(?:below|under|less than|fewer than|before|short of|lower than|beneath|while under)\b(?: \w+){0,2}? ?$"
)
_OR_LESS = re.compile(r"^(?:s)? ?(?:or|and) (?:less|lower|below|under|fewer)|^ ?- ?\b|^ at most")
_OR_MORE = re.compile(
    r"^(?:s)? ?(?:(?:or|and) (?:more|higher|above|over|up|better|greater|beyond)|up\b|on\b|onwards?|\+)"
)


def duties(clause: str, sentence: str, facts: Facts) -> tuple[list[Graded], set[int]]:
    """Read what the dealer does on which total; also return the positions of the numbers that were read."""
    clause = re.sub(
        r"\bstop(s|ping)? (?:drawing|hitting|taking)(?: cards)?",
        lambda found: f"stop{found[1] or ''}".ljust(len(found[0])),
        clause,
    )
    words = sorted(
        [(found.start(), found.end(), "draw") for found in _DRAWS.finditer(clause)]
        + [(found.start(), found.end(), "stand") for found in _STANDS.finditer(clause)]
    )
    if not words or not is_of_the_dealer(clause) or re.search(r"\bdone already\b|\balready done\b", clause):
        return [], set()
    found: list[Graded] = []
    places: set[int] = set()
    for match in re.finditer(rf"(?<!\d){_N}(?!\d| ?%| ?percent)", clause):
        before, after = clause[max(0, match.start() - REACH) : match.start()], clause[match.end() :][:REACH]
        number = int(match["n"])
        earlier = [word for word in words if word[1] <= match.start()]
        start, end, action = earlier[-1] if earlier else words[0]
        if not earlier and (
            _MAYBE.search(before) or re.search(r"\b(?:most|up to|likely|between|from|to)\b[^.]{0,20}$", before)
        ):
            continue
        if bool(_NOT_BEFORE.search(clause[:start])) != bool(
            earlier and re.search(r"\bunless\b", clause[end : match.start()])
        ):
            action = "stand" if action == "draw" else "draw"
        if re.search(r"\b(?:is|be|are|he's|already) (?:standing|sitting|staying) on ?$", before):
            continue
        right = _duty_holds(number, action, before, after, after_action=bool(earlier))
        if right is None:
            continue
        places.add(match.start())
        fact = f"draws below {DEALER_STANDS_ON}, stands from it"
        found.append(graded("dealer stops at", right, fact, sentence, numbers=(float(number),), word=action))
    return found, places


def _duty_holds(number: int, action: str, before: str, after: str, *, after_action: bool) -> bool | None:
    """Whether the dealer draws or stands as said of a number; None if the number is not part of a rule."""
    if re.search(r"\bsoft ?$", before) and number == DEALER_STANDS_ON:
        return action == "stand"
    if action == "draw" and (up := re.search(r"\b(?:up to|through)(?P<too> and including)? ?$", before)):
        return number == DEALER_STANDS_ON - 1 or (number == DEALER_STANDS_ON and not up["too"])
    if _OR_LESS.match(after):
        return number == DEALER_STANDS_ON - 1 if action == "draw" else False
    if _OR_MORE.match(after):
        if action == "stand" or _UNTIL.search(before):
            return number == DEALER_STANDS_ON
        return False
    if _BELOW.search(before):
        return number == DEALER_STANDS_ON if action == "draw" else None
    if _UNTIL.search(before) and action == "draw":
        return (
            number in (DEALER_STANDS_ON, DEALER_STANDS_ON - 1)
            if re.search(r"\b(?:draws?|hits?) to ?$", before)
            else number == DEALER_STANDS_ON
        )
    if (
        re.search(r"\b(?:from|once|beyond|above|over|exceed\w*|more than) (?:\w+ ){0,3}?$", before)
        and action == "stand"
    ):
        return number == DEALER_STANDS_ON or (
            number == DEALER_STANDS_ON - 1 and bool(re.search(r"\b(?:above|over|more than|beyond) ?$", before))
        )
    if (
        re.search(
            r"\b(?:on|with|at|has|have|holding|of|makes?|is|hits?|draws?|stands?|stays?|all|any|every|"
            r"hard|total|'s|means)(?: \w+){0,2}? ?$",
            before,
        )
        or not after_action
    ):
        return (number < DEALER_STANDS_ON) == (action == "draw")
    return None


_MUST = re.compile(
    r"\b(?:must|ha(?:s|ve) to|had to|having to|required|forced|needs? to|will|obliged|compelled|"
    r"compulsory|mandatory|no choice|certain to|'ll|can not stand|can not stop|sure to|"
    r"can not possibly be done)\b"
)
_CONDITION = re.compile(
    r"\b(?:if|unless|otherwise|else|when|whenever|once|in that case|in which case|then|depend\w*|"
    r"below|under|until|till|while|with an? (?:ace|king|queen|jack|tencard|\d+)|needs an?|reach\w*|"
    r"at least 17|17)\b"
)
_LIKELY = re.compile(
    r"\b(?:likely|likeliest|most probable|probably|usually|most often|good chance|high possibility|"
    r"high chance|high probability|chances are)\b"
)
_MAYBE = re.compile(r"\b(?:may|might|could|possib\w*|perhaps|can)\b")


_SUPPOSES = re.compile(r"\b(?:if|unless|when|should|otherwise|with an?)\b")


def must_draw(clause: str, sentence: str, facts: Facts, context: str) -> Iterator[Graded]:
    """Read that the dealer must draw, or is done, now, whatever the hidden card is."""
    if _SUPPOSES.search(context):
        return
    chance = facts.exact.dealer_must_draw
    fact = f"must draw with chance {chance:.1%}"
    if re.search(r"\bcan not possibly be done|\bcan not (?:stand|stop|be done) (?:yet|now|already|on)", clause):
        yield graded("dealer must draw", chance >= 0.9, fact, sentence)
        return
    stands = re.search(
        r"\b(?P<how>can|may|might|could|will|must|has to) (?:already |well |just |simply |even )?(?:stand|"
        r"stop|stay)\b(?! (?:on|"
        r"at|with|from|if|when|once|drawing|hitting|otherwise))",
        clause,
    )
    if stands and is_of_the_dealer(clause) and not _CONDITION.search(clause) and not _DRAWS.search(clause):
        most = 1 if stands["how"] in ("can", "may", "might", "could") else 0.1
        yield graded("dealer must draw", chance < most, fact, sentence, word="stands")
        return
    draws = _DRAWS.search(clause)
    if (
        not draws
        or not is_of_the_dealer(clause)
        or _CONDITION.search(clause)
        or _OWN.search(clause[max(0, draws.start() - 25) : draws.start()])
    ):
        return
    if _NOT_BEFORE.search(clause[: draws.start()]):
        return
    if _MAYBE.search(clause[: draws.start()]):
        yield graded("dealer must draw", chance > 0, fact, sentence, word="maybe")
    elif _LIKELY.search(clause):
        yield graded("dealer must draw", chance >= 0.5, fact, sentence, word="likely")
    elif _MUST.search(clause[: draws.end()]) or re.search(
        r"\bdraws? for sure|at least (?:1|one)\b|\bmust draw|\bis forced", clause
    ):
        yield graded("dealer must draw", chance >= 0.9, fact, sentence)


_HOLD = re.compile(
    r"\b(?:may|might|could|can|possib\w*|perhaps|would|potential\w*|for all i know|between|"
    r"range\w*|anything|anywhere|up to|as much as|if|should)\b|\?"
)
_SURE = re.compile(
    r"\b(?:certain\w*|for sure|definitely|surely|always|must have|no doubt|has|have|is at|is on|holds|'s at|is)\b"
)
_ENDS = re.compile(r"\b(?:end\w*|finish\w*|final\w*|reach\w*|eventually|get to|getting|outscore|draw\w*|after)\b")
_HOLE_CARD = re.compile(
    r"\b(?:an?|the|another|hidden|if (?:it is|it's)|be an?|is an?|to be an?|with an?|"
    rf"of)?\s*\b(?P<card>{CARD})\b(?! ?(?:%|percent)|\d|\.\d)"
)


def holdings(clause: str, sentence: str, facts: Facts, skip: set[int], context: str) -> Iterator[Graded]:
    """Read which totals the dealer may have, probably has or certainly has; `context` is what came before."""
    for match in _TOTAL.finditer(clause):
        before, after = clause[max(0, match.start() - REACH) : match.start()], clause[match.end() :][:REACH]
        number = int(match["n"])
        if match.start() in skip or (
            number < 12
            and not re.search(
                r"\b(?:least|most|minimum|maximum|lowest|range from|anywhere from|total (?:from|between)|"
                r"between) (?:\w+ ){0,2}?$",
                before,
            )
            and not re.match(r"^ at (?:the )?(?:very )?(?:least|most)", after)
        ):
            continue
        if number > _MOST or _not_the_dealers(number, before, after):
            continue
        right = _holding_is_true(number, before, after, clause, facts, context)
        if right is None:
            continue
        fact = f"two cards make {min(facts.pairs)} to {max(facts.pairs)}, most likely {facts.likeliest_pair}"
        exactly = not _COMPARED_BEFORE.search(before) and not _COMPARED_AFTER.match(after)
        yield graded(
            "dealer may hold", right, fact, sentence, numbers=(float(number),), word="" if exactly else "bound"
        )


_MOST = 31
_COMPARED_BEFORE = re.compile(r"\b(?:than|above|over|below|under|exceed\w*|least|most|beyond|up to)(?: \w+)? ?$")
_COMPARED_AFTER = re.compile(
    r"^(?:s)? ?(?:(?:or|and) (?:more|less|higher|lower|above|below|under|up|better)|"
    r"at (?:the )?(?:very )?(?:least|most))"
)


def _not_the_dealers(number: int, before: str, after: str) -> bool:
    """Whether a number is the limit of 21, the player's own total, or a count."""
    if (
        number == LIMIT
        and not re.search(r"\b(?:from|between) \d+ (?:to|and) ?$", before)
        and (
            re.search(
                r"\b(?:over|past|above|exceed\w*|beyond|pass\w*|close(?:r)? to|near|than|limit|reach|of|"
                r"to) ?(?:the )?$",
                before,
            )
            or re.match(r"^ points\b.*limit", after)
        )
    ):
        return True
    if re.search(
        r"\b(?:my|i have|i hold|me|mine|beat|than my|against|i'm on|i am on|before reaching|"
        r"(?:i'm|i am|me|my) standing (?:with|at|on)|to reach|reach)(?: (?:current|total|of|a|score|hand|with|points|"
        r"own))* ?$",
        before,
    ):
        return True
    return bool(re.match(r"^ (?:cards|ways|times|others|points away)", after))


def _holding_is_true(number: int, before: str, after: str, clause: str, facts: Facts, context: str) -> bool | None:
    lowest, highest = min(facts.pairs), max(facts.pairs)
    loose = {*facts.pairs, facts.shown + 11}
    if re.search(r"\b(?:least|minimum|lowest)\b(?: \w+){0,3}? ?$", before) or re.match(
        r"^ (?:points )?at (?:the )?(?:very )?least", after
    ):
        return (
            number <= min(lowest, facts.shown + 1) or number <= lowest
            if not _MAYBE.search(before)
            else number <= highest
        )
    if re.search(
        r"\b(?:at (?:the )?(?:very )?(?:most|best)|maximum|highest|up ?to|as (?:much|high|many) as|not be above|"
        r"not be over|not be more than|not exceed|no more than|not more than|not (?:have|"
        r"hold) more than)\b(?: \w+){0,2}? ?$",
        before,
    ) or re.match(r"^ (?:points )?at (?:the )?(?:very )?(?:most|best)", after):
        return number >= highest or (number in loose and bool(_MAYBE.search(before)))
    if re.search(
        r"\bnot (?:have|hold|be|make|end up with) (?:any ?thing )?(?:less|lower|fewer|below|under)(?: than)? ?$|"
        r"\b(?:not|no) (?:less|fewer|lower) than ?$",
        before,
    ):
        return number <= lowest
    if re.search(r"\b(?:higher|more|greater|above|over|exceed\w*|beyond|better)(?: than)? ?$", before) or re.match(
        r"^(?:s)? ?(?:or|and) (?:more|higher|above|up|better)", after
    ):
        extra = 0 if re.match(r"^(?:s)? ?(?:or|and)", after) else 1
        return _share_is_true(sum(share for total, share in facts.pairs.items() if total >= number + extra), clause)
    if re.search(r"\b(?:less|lower|under|below|fewer)(?: than)? ?$", before) or re.match(
        r"^(?:s)? ?(?:or|and) (?:less|lower|below|under)", after
    ):
        return _share_is_true(
            sum(
                share for total, share in facts.pairs.items() if total < number + (1 if after.startswith(" or") else 0)
            ),
            clause,
        )
    either = re.match(r"^ or \d", after) or re.search(r"\d or ?$", before)
    if either and _TWO_HOLES.search(after) and number in {facts.pair_with(1), facts.pair_with(10)}:
        return True
    hole = _hole_card((context + before)[-REACH:], facts) or _hole_card(after, facts)
    if hole is not None:
        return number in {facts.pair_with(hole), facts.shown + hole, *({facts.shown + 11} if hole == 1 else set())}
    if re.search(r"\b(?:can not|could not|impossible|never|unable)\b(?: \w+){0,3}? ?$", before):
        return number not in facts.pairs
    if re.search(r"\bnot\b(?: \w+){0,2}? ?$", before):
        return None
    share = stated_number(clause)
    if share is not None and not PASSING.search(clause) and number in facts.pairs:
        return share.holds(facts.pairs[number])
    between = re.search(r"\d and ?$", before) and re.search(r"\btotal\b", before)
    spans = between or re.match(r"^ ?(?:to|-|–|through) ?\d", after) or re.search(r"\d ?(?:to|-|–|through) ?$", before)
    possible = number in loose or (number in FINALS and bool(_ENDS.search(clause)))
    if _LIKELY.search(clause) or re.search(
        r"\b(?:best guess|most common|expect|i (?:think|guess|believe|reckon|assume|suppose))\b", clause
    ):
        return (
            number == facts.likeliest_pair
            or facts.pairs.get(number, 0) >= 0.5
            or (possible and bool(_MAYBE.search(clause)))
        )
    if spans or _HOLD.search(clause) or not _SURE.search(before):
        return possible
    return facts.pairs.get(number, 0) > 0.999


def _share_is_true(share: float, clause: str) -> bool:
    if _LIKELY.search(clause) and not re.search(r"\b(?:could|may|might|possib\w*)\b", clause):
        return share >= 0.5
    if _HOLD.search(clause) or _LIKELY.search(clause) or re.search(r"\babout half\b", clause):
        return share > 0
    return share > 0.9 if _SURE.search(clause) else share > 0


def _hole_card(before: str, facts: Facts) -> int | None:
    """Return the points of the hidden card that a clause supposes, if it names exactly one."""
    if not _HIDDEN.search(before):
        return None
    words = [found["card"] for found in _HOLE_CARD.finditer(before)]
    named = [card_points(word) for word in words]
    others = [points for points in named if points != facts.shown]
    if len(set(others)) == 1:
        return others[0]
    again = named.count(facts.shown) > 1 or "tencard" in words or re.search(r"\banother\b", before)
    return facts.shown if not others and named and again else None


_TWO_HOLES = re.compile(
    r"^[^.]{0,60}\bhidden card is (?:an? |another )?(?:ace or (?:an? |another )?(?:10|tencard)|"
    r"(?:10|tencard) or an ace)"
)
_HIGH_HIDDEN = re.compile(
    r"\bif (?:the|their|his|its|that)(?: \w+)? ?(?:hidden|hole|other|face-?down) card (?:is|"
    r"turns out(?: to be)?|happens to be|has)(?: also)?(?: an?)? (?:(?:high|large|big)\b|tencard|"
    r"king|queen|jack|10\b|(?P<from>\d) or (?:higher|above|more))"
)
_IF = re.compile(r"\bif\b")


def bust_with_a_hidden_card(clause: str, sentence: str, facts: Facts) -> list[Graded] | None:
    """Read "busts if the hidden card is a high one"; None if a clause supposes nothing about the hidden card."""
    if not PASSING.search(clause) or not _IF.search(clause):
        return None
    high = _HIGH_HIDDEN.search(clause)
    if high is None:
        return []
    pair = facts.pair_with(int(high["from"]) if high["from"] else 10)
    return [graded("dealer bust risk", pair < DEALER_STANDS_ON, f"the dealer has {pair}", sentence, word="if high")]


def follows_from(number: int, clause: str, sentence: str) -> Iterator[Graded]:
    """Read what the dealer is said to do on a total that was named just before."""
    draws, stands = _DRAWS.search(clause), _STANDS.search(clause)
    action = draws or stands
    if (
        not action
        or (draws and stands)
        or not is_of_the_dealer(clause)
        or re.search(r"\b(?:if|unless|otherwise|else|until|under|below|i)\b|\b(?!21\b)\d", clause)
    ):
        return
    does = "draw" if draws else "stand"
    if _NOT_BEFORE.search(clause[: action.start()]):
        does = "stand" if draws else "draw"
    right = (number < DEALER_STANDS_ON) == (does == "draw")
    yield graded("dealer stops at", right, f"on {number}", sentence, numbers=(float(number),), word=does)


def acts_on_a_hidden_card(clause: str, sentence: str, facts: Facts) -> Iterator[Graded]:
    """Read what the dealer is said to do with one named card hidden, where no total is given."""
    if re.search(r"\b(?:1[2-9]|2[01])\b", clause) or re.search(
        r"\b(?:or (?:more|less|better|higher|lower)|from)\b", clause
    ):
        return
    hole = _hole_card(clause, facts)
    if hole is not None:
        yield from follows_from(
            facts.pair_with(hole), re.sub(r"\b(?:if|under|below|beneath)\b|\d", " ", clause), sentence
        )


_REPORTED = re.compile(
    r"\b(?:mate|friend|neighbou?r|someone|somebody|some|people|others|many|brother|book|guy|"
    r"player next to me)\b(?: \w+){0,3}? (?:says?|said|claims?|insists?|thinks?|would say|swears?|"
    r"believes?|reckons?)\b"
)


def is_reported(clause: str) -> bool:
    """Whether a clause gives somebody else's opinion."""
    return bool(_REPORTED.search(clause))
