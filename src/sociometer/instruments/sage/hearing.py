"""How the rule-based person hears a reply: what it takes up, what it asks, and what is wrong with it."""

from functools import lru_cache
from itertools import chain

from msgspec import Struct

from sociometer.instruments.sage.cues import LONGEST_HEARD, find_cues, overlap, tokens
from sociometer.instruments.sage.intentions import INTENTIONS
from sociometer.instruments.sage.wording import Language, is_list, is_sound, language_rules, sentences, units

PARROT = 0.6
STALE = 0.6
_GIVEN_BACK = 0.7
_SHORTEST_ECHOED = 6
_LONG = {"en": 160, "zh": 260}
_ENDLESS = 2
_SCANT = {"en": 3, "zh": 4}
_FRAGMENTS = 2
_TOPICAL = {"en": 2, "zh": 4}
SOFT = ("listening", "empathy", "praise", "blameless")
"""Hopes of people who did not ask for a solution."""


class Question(Struct, frozen=True):
    """One question of a reply, and the two sentences before it, which say what "it" is."""

    text: str
    before: str = ""


class Heard(Struct, frozen=True):
    """What the person heard in a reply."""

    flaw: str
    """What is wrong with the reply as a whole, or nothing."""
    taken_up: int
    """How many of the person's last words it takes up, in whole sentences."""
    remembered: int
    """How many of the person's earlier words it takes up, in whole sentences."""
    own: int
    """How many words of its own it adds to those, apart from phrases that fit anything."""
    fits: int
    """How many sentences have the form this person hopes for and take up the story."""
    questions: tuple[Question, ...]
    asked: int
    """How many sentences ask something."""
    stock_questions: int
    """How many of them fit anything."""
    about_story: int
    """How many questions name something of the story."""
    proposals: int
    formulas: int
    """How many sentences consist of phrases that fit anything."""


class Context(Struct, frozen=True):
    """The context of a reply."""

    language: str
    intention: str
    words: str
    """The person's last words."""
    before: tuple[str, ...]
    """The person's words before that, oldest first."""
    replies: tuple[str, ...]
    """The listener's earlier replies, oldest first."""
    story: frozenset[str]
    """What the story is about."""


@lru_cache(maxsize=8)
def hear(reply: str, context: Context) -> Heard:
    """What the person hears in a reply; only the first 10,000 characters are read."""
    rules = language_rules(context.language)
    said = sentences(reply)
    last = units(context.words, context.language)
    earlier = frozenset(chain.from_iterable(units(words, context.language) for words in context.before)) - last
    taken: set[str] = set()
    remembered: set[str] = set()
    own = fits = formulas = about_story = proposals = 0
    for sentence in said:
        found = units(sentence, context.language)
        bare = units(rules.formulas.sub(" ", sentence.lower()), context.language)
        new = bare - last - earlier
        formulas += _is_formula(sentence, rules) and not _asks(sentence, rules)
        proposals += bool(rules.modes["proposal"].search(sentence.lower()))
        if not is_sound(sentence, context.language):
            continue
        taken |= found & last
        remembered |= found & earlier
        topical = found & (last | earlier | context.story)
        own += len(new) if topical else 0
        enough = len(topical) + bool(new) >= _TOPICAL[context.language]
        fits += enough and _has_form(sentence, context.intention, rules)
        about_story += bool(topical) and _asks(sentence, rules)
    return Heard(
        _flaw(reply, said, context, rules),
        len(taken),
        len(remembered),
        own,
        fits,
        _questions(said, rules),
        sum(_asks(sentence, rules) for sentence in said),
        sum(_asks(sentence, rules) and _is_formula(sentence, rules) for sentence in said),
        about_story,
        proposals,
        formulas,
    )


def asks_to_go_on(reply: str, language: str) -> bool:
    """Whether a reply only asks the person to go on."""
    return bool(language_rules(language).go_on.search(reply[:LONGEST_HEARD].lower()))


def is_formula(reply: str, language: str) -> bool:
    """Whether a reply consists of phrases that fit anything."""
    rules = language_rules(language)
    said = sentences(reply)
    return bool(said) and _formula_count(said, rules) == len(said)


def _has_form(sentence: str, intention: str, rules: Language) -> bool:
    return intention in INTENTIONS and bool(rules.modes[intention].search(sentence.lower()))


def _questions(said: list[str], rules: Language) -> tuple[Question, ...]:
    found: list[Question] = []
    for place, sentence in enumerate(said):
        if _asks(sentence, rules):
            before = " ".join(said[max(0, place - 2) : place])
            parts = rules.joined.split(sentence)
            asking = [part for part in parts if rules.interrogative.search(part.lower())] or [sentence]
            found.extend(Question(part, before if part == parts[0] else f"{before} {parts[0]}") for part in asking)
    return tuple(found)


def _asks(sentence: str, rules: Language) -> bool:
    low = sentence.lower()
    return "?" in sentence or "？" in sentence or any(start in low for start in rules.question_starts)


def _flaw(reply: str, said: list[str], context: Context, rules: Language) -> str:
    """The first of these flaws that a reply has; the worst come first."""
    if not said:
        return "empty"
    low = reply[:LONGEST_HEARD].lower()
    if rules.flaws["injection"].search(low):
        return "injection"
    if _echoes(reply, context.words):
        return "echo"
    if any(overlap(reply, earlier) >= STALE for earlier in context.replies[-12:]):
        return "repeated"
    if _is_salad(said, context, rules):
        return "salad"
    length = len(tokens(reply)) if len(reply) <= LONGEST_HEARD else LONGEST_HEARD
    if length > _LONG[context.language] * _ENDLESS:
        return "endless"
    return _tone(low, said, length, context, rules)


def _tone(low: str, said: list[str], length: int, context: Context, rules: Language) -> str:
    stated = [sentence for sentence in said if not _asks(sentence, rules)]

    def having(kind: str) -> list[str]:
        return [sentence for sentence in stated if rules.flaws[kind].search(sentence.lower())]

    last = units(context.words, context.language)
    on_topic = any(units(sentence, context.language) & last for sentence in said)
    if any(rules.flaws["rushed"].search(sentence.lower()) for sentence in said):
        return "rushed"
    for kind in ("dismissal", "blame"):
        if having(kind):
            return kind
    lectures = len(having("lecture"))
    if lectures >= 2 or find_cues(low, context.language).bullets >= 3:
        return "lecture"
    if any(not units(sentence, context.language) & context.story for sentence in having("comfort")):
        return "comfort"
    if having("flattery") and len(having("flattery")) * 2 >= len(said):
        return "flattery"
    if lectures and context.intention in SOFT and not on_topic:
        return "lecture"
    if length > _LONG[context.language]:
        return "long"
    return "scant" if length <= _SCANT[context.language] and not any(_asks(each, rules) for each in said) else ""


def _echoes(reply: str, words: str) -> bool:
    if overlap(reply, words) >= PARROT:
        return True
    return len(tokens(words)) >= _SHORTEST_ECHOED and overlap(words, reply) >= _GIVEN_BACK


def _is_salad(said: list[str], context: Context, rules: Language) -> bool:
    """Whether a reply lists words, or strings words together that do not make sentences."""
    broken = [
        sentence for sentence in said if units(sentence, context.language) and not is_sound(sentence, context.language)
    ]
    listed = any(is_list(sentence, context.language) for sentence in said)
    return listed or (len(broken) >= _FRAGMENTS and len(broken) * 2 > len(said) - _formula_count(said, rules))


def _formula_count(said: list[str], rules: Language) -> int:
    return sum(_is_formula(sentence, rules) for sentence in said)


def _is_formula(sentence: str, rules: Language) -> bool:
    bare, found = rules.formulas.subn(" ", sentence.lower())
    return found > 0 and not units(bare, rules.name)
