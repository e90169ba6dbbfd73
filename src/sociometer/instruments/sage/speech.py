"""What the rule-based person says next: an answer from its facts, the next thing it has to tell, or a remark."""

from itertools import islice
from zlib import crc32

from msgspec import Struct

from sociometer.instruments.sage.appraisal import PersonView, appraise, context_of, lines, told_facts
from sociometer.instruments.sage.emotion import band
from sociometer.instruments.sage.hearing import Heard, asks_to_go_on, hear
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.known_facts import NAMED, SPECIFIC, Fact, find_answer, known_facts, spoken_forms
from sociometer.instruments.sage.wording import topics, units

_ANSWERED_AT_ONCE = 2
_SECOND_ANSWER = 1.4
_ALREADY_TOLD = 0.7
_HARSH = -4
_CLOSING_MARKS = ".!?:…\"”'"


class _Speaker(Struct):
    """The state of the person: what was said, and which lines are used up."""

    view: PersonView
    said: str
    told: frozenset[int]

    def fresh(self, choices: list[str]) -> str:
        """A line that was not said before, or nothing; which one comes first differs from person to person."""
        start = crc32(self.view.scenario.id.encode()) % max(1, len(choices))
        turned = [self.voiced(line) for line in (*choices[start:], *choices[:start])]
        return next((line for line in turned if line not in self.said), "")

    def voiced(self, line: str) -> str:
        """A line as this person writes; some write everything in lower case."""
        return line.lower() if self.view.scenario.first_words[:1].islower() else line

    def tell(self, fact: Fact) -> str:
        """A fact in words; what was not mentioned yet is introduced."""
        heard = f"{self.said} {self.view.reply}"
        return NAMED.sub(lambda match: match[2] if (match[3] or match[2]) in heard else match[1], fact.say)


def answer(view: PersonView) -> str:
    """The person's next words."""
    known = known_facts(view.scenario)
    if band(view.emotion) == "S":
        return known.glad
    if band(view.emotion) == "F":
        return known.leave
    speaker = _Speaker(view, " ".join((*view.told, view.words)), told_facts(view))
    taken = appraise(view)
    heard = hear(view.reply, context_of(view))
    if taken.reason == "passed" and (answers := _direct_answers(speaker, heard)):
        return _joined(speaker, *answers)
    if taken.change <= _HARSH or (taken.change < 0 and not heard.questions):
        return _remark(speaker, taken.reason, taken.change)
    return _answered(speaker, heard, taken.change)


def ideal_reply(scenario: Scenario, said: tuple[str, ...], replies: tuple[str, ...] = ()) -> str:
    """The oracle's reply: what this person hopes for, something they told, and a question that is still open."""
    known = known_facts(scenario)
    view = PersonView("reply", scenario, 40, said[-1], "", replies, told=said[:-1])
    told = told_facts(view)
    frames = lines(scenario.language)["oracle"]["frames"]
    gap = " " if scenario.language == "en" else ""
    parts = []
    last = [fact for fact in known.facts if any(form in said[-1] for form in spoken_forms(fact.say))]
    turn = len(said) - 1
    if last and last[-1].gist:
        parts.append(str(frames[turn % len(frames)]).replace("{gist}", last[-1].gist))
    unsaid = (line for line in known.helps if not any(line in reply for reply in replies))
    parts.extend(islice(unsaid, 1))
    open_facts = [fact for place, fact in enumerate(known.facts) if place not in told and not fact.asked_only]
    parts.extend(fact.ask for fact in open_facts[:1])
    return gap.join(parts)


def _remark(speaker: _Speaker, reason: str, change: int) -> str:
    """What the person says about a reply that did not help and, if it did no harm, the next thing they tell."""
    common = lines(speaker.view.scenario.language)
    remark = speaker.fresh(common["remarks"].get(reason, [])) or speaker.fresh(common["remarks"]["cool"])
    more = _next_thing(speaker) if change > _HARSH or not remark else ""
    return _joined(speaker, remark, more) or known_facts(speaker.view.scenario).leave


def _answered(speaker: _Speaker, heard: Heard, change: int) -> str:
    if answers := _direct_answers(speaker, heard):
        return _joined(speaker, *answers)
    more = _next_thing(speaker, heard)
    return _joined(speaker, *_lead(speaker, heard, change, bool(more)), more) or _closing(speaker)


def _lead(speaker: _Speaker, heard: Heard, change: int, more: bool) -> tuple[str, ...]:
    """What comes before a fact that is told unasked: that the question stays open, or a short remark."""
    scenario = speaker.view.scenario
    short = lines(scenario.language)["short"]
    if not heard.questions:
        return (speaker.fresh(short["moved"] if change >= 5 else short["nods"]),)
    about = topics if scenario.language == "en" else units
    named = any(about(question.text, scenario.language) for question in heard.questions)
    if not named or asks_to_go_on(speaker.view.reply, scenario.language):
        return ()
    own = [*known_facts(scenario).unsure, *short["unsure"]]
    unsure = speaker.fresh(short["told"] if _asks_again(speaker, heard) else own)
    return (unsure, speaker.fresh(short["bridge"]) if more else "")


def _asks_again(speaker: _Speaker, heard: Heard) -> bool:
    """Whether the last question is answered best by something the person has told already."""
    language = speaker.view.scenario.language
    place, worth = find_answer(heard.questions[-1], known_facts(speaker.view.scenario), language, frozenset())
    return place in speaker.told and worth >= SPECIFIC[language]


def _closing(speaker: _Speaker) -> str:
    scenario = speaker.view.scenario
    return speaker.fresh(lines(scenario.language)["short"]["spent"]) or known_facts(scenario).glad


def _direct_answers(speaker: _Speaker, heard: Heard) -> list[str]:
    """The facts that answer the questions, in the order of the questions."""
    scenario = speaker.view.scenario
    least = SPECIFIC[scenario.language]
    known, told, answers = known_facts(scenario), set(speaker.told), list[str]()
    for question in heard.questions[:6]:
        place, worth = find_answer(question, known, scenario.language, frozenset(told))
        best, most_worth = find_answer(question, known, scenario.language, frozenset())
        least_now = least * _SECOND_ANSWER if answers else least
        asks_again = best in told and worth < most_worth * (1 if answers else _ALREADY_TOLD)
        if place is not None and worth >= least_now and not asks_again and len(answers) < _ANSWERED_AT_ONCE:
            told.add(place)
            answers.append(speaker.tell(known.facts[place]))
    return answers


def _next_thing(speaker: _Speaker, heard: Heard | None = None) -> str:
    """The next fact that the person tells unasked, or nothing; one that is close to a question comes first."""
    scenario = speaker.view.scenario
    known = known_facts(scenario)
    left = [place for place, fact in enumerate(known.facts) if place not in speaker.told and not fact.asked_only]
    rest = frozenset(range(len(known.facts))) - set(left)
    near = (find_answer(each, known, scenario.language, rest) for each in (heard.questions[:6] if heard else ()))
    close = (place for place, worth in near if place is not None and worth >= SPECIFIC[scenario.language] / 2)
    place = next(close, left[0] if left else None)
    return "" if place is None else speaker.tell(known.facts[place])


def _joined(speaker: _Speaker, *parts: str) -> str:
    said = [part for part in parts if part]
    if speaker.view.scenario.language == "zh":
        return "".join(said)
    closed = [part if part[-1] in _CLOSING_MARKS else f"{part}." for part in said[:-1]]
    return " ".join((*closed, *said[-1:]))
