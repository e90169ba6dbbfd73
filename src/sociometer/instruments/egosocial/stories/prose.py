"""Fresh stories and their questions in words, English and Chinese: of a person by name, or of "you" or "I".

Which of several sentences tells an event depends on the story and the event alone, so that all tellings of a story
differ only in the person.
"""

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from sociometer.instruments.egosocial.stories import phrases
from sociometer.instruments.egosocial.stories.world import (
    Enter,
    Event,
    Exit,
    Forget,
    Glimpse,
    Hear,
    Lose,
    Move,
    Place,
    Question,
    Send,
    Sight,
    Story,
    Tell,
    Unwatch,
    Watch,
    holdings,
)

_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")
_START = re.compile(r"(?:^|(?<=[.!?] )|(?<=“))[a-z]")


class Voice(Struct, frozen=True):
    """Who is not called by name, and the word for them: `you` or `I`; an empty `ego` names everybody."""

    ego: str = ""
    word: str = "you"
    language: str = "en"

    def person(self, name: str, form: str) -> str:
        """A person as subject (no form), object (`o`), owner (`s`), or subject with a verb that changes with it."""
        mine = bool(self.ego) and name == self.ego
        if self.language == "zh":
            return phrases.CHINESE_WORDS[self.word] if mine else name
        subject, other, owner, was = phrases.ENGLISH_WORDS[self.word] if mine else (name, name, f"{name}'s", "was")
        shapes = {
            "": subject,
            "o": other,
            "s": owner,
            "was": f"{subject} {was}",
            "think": f"{subject} {'think' if mine else 'thinks'}",
            "does": f"{'do' if mine else 'does'} {subject}",
        }
        return shapes[form]


def story_prose(events: Sequence[Event | Sight], story: Story, key: str, voice: Voice) -> str:
    """Events of a story as one paragraph; `key` (the story's name) decides which sentences tell it."""
    forms = _forms(story, key, voice.language)
    told: list[str] = []
    for event in events:
        if isinstance(event, Sight):
            told.append(_sight(event, voice))
            continue
        if id(event) in forms:
            form, people, words = forms[id(event)]
        else:  # what somebody takes for the truth, such as a lie that they believed
            kind, people, words = _slots(event, ())
            form = phrases.SENTENCES[voice.language][kind][0]
        told.append(_fill(form, people, words, voice))
    return ("" if voice.language == "zh" else " ").join(told)


_Slots = tuple[str, dict[str, str], dict[str, str]]


def _forms(story: Story, key: str, language: str) -> dict[int, _Slots]:
    """The form of each event's sentence, and its slots.

    Forms of a kind take turns, in an order that depends on the story's name.
    """
    chosen: dict[int, _Slots] = {}
    used: Counter[str] = Counter()
    past: list[Event] = []
    for event in story.events:
        kind, people, words = _slots(event, past)
        forms = list(phrases.SENTENCES[language][kind])
        random.Random(f"{key} {kind}").shuffle(forms)
        chosen[id(event)] = (forms[used[kind] % len(forms)], people, words)
        used[kind] += 1
        past.append(event)
    return chosen


def _slots(event: Event, past: Sequence[Event]) -> _Slots:
    """The kind of sentence that tells an event, and the contents of its slots."""
    if isinstance(event, Enter | Exit | Watch | Unwatch):
        opening = isinstance(event, Enter) and not any(isinstance(one, Place) for one in past)
        return ("Open" if opening else type(event).__name__), {"A": event.person}, {"room": event.room}
    if isinstance(event, Place):
        return "Place", {}, {"thing": event.thing, "box": event.container}
    if isinstance(event, Move):
        words = {"thing": event.thing, "box": event.container, "old": holdings(past, event.thing)[-1]}
        return "Move", {"A": event.person or ""}, words
    if isinstance(event, Tell):
        kind = "Lie" if not event.honest else "Relay" if event.source else "Correct" if event.corrects else "Tell"
        people = {"A": event.teller, "B": event.listener, "S": event.source, "O": "".join(event.hearers)}
        return kind + ("Overheard" if event.hearers else ""), people, {"thing": event.thing, "box": event.container}
    if isinstance(event, Send):
        people = {"A": event.sender, "M": event.messenger, "B": event.listener}
        return "Send", people, {"thing": event.thing, "box": event.container}
    if isinstance(event, Lose):
        return "Lose", {"M": event.messenger, "B": event.listener}, {}
    if isinstance(event, Hear | Glimpse):
        words = {"box": event.container, "thing": event.thing if isinstance(event, Hear) else ""}
        return type(event).__name__, {"O": event.person, "A": event.mover}, words
    if isinstance(event, Forget):
        return "Forget", {"A": event.person}, {"thing": event.thing}
    return f"Remark {event.verb}", {"A": event.person}, {"liked": event.thing}


def _sight(event: Sight, voice: Voice) -> str:
    """What a person found on coming in or looking in."""
    forms = phrases.SENTENCES[voice.language]
    if event.people:
        names = phrases.joined(event.people, voice.language)
        seen = [forms["Others"][len(event.people) > 1].replace("{names}", names)]
    else:
        seen = [forms["Nobody"][0]]
    seen += [_fill(forms["Place"][0], {}, {"thing": thing, "box": box}, voice) for thing, box in event.things]
    return ("" if voice.language == "zh" else " ").join(seen)


def question_prose(question: Question, voice: Voice) -> str:
    """The question as put to a reader, or to the person who is "you" or "I"."""
    forms = phrases.QUESTIONS[voice.language]
    words = {"thing": question.thing}
    if question.kind in ("memory", "reality"):
        return _fill(forms[question.kind], {}, words, voice)
    *minds, last = question.chain
    thoughts = [
        _filled(forms["first thought" if place == 0 else "thought"], {"A": name}, {}, voice)
        for place, name in enumerate(minds)
    ]
    form = f"{question.kind} nested" if minds else question.kind
    asked = forms[form].replace("{thoughts}", forms["between"].join(thoughts))
    return _fill(asked, {"A": last, "B": question.listener}, words, voice)


def _fill(form: str, people: Mapping[str, str], words: Mapping[str, str], voice: Voice) -> str:
    """Whole sentences with their slots filled, each with a capital."""
    return _START.sub(lambda start: start[0].upper(), _filled(form, people, words, voice))


def _filled(form: str, people: Mapping[str, str], words: Mapping[str, str], voice: Voice) -> str:
    def put(slot: re.Match[str]) -> str:
        name, shape = slot[1], slot[2] or ""
        if name in people:
            return voice.person(people[name], shape)
        if voice.language == "zh":
            return words[name]
        return phrases.english_noun(words.get("thing" if name == "it" else name, ""), name, shape)

    return _SLOT.sub(put, form)


def option_words(container: str) -> str:
    """A container as an answer option."""
    return container.replace("_", " ")
