"""Stories and questions in the words of a language, in the third or the first person.

Which of several sentences tells an event depends on the story and the event alone, so that all tellings of a story
differ only in the person.
"""

import random
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.language import ENGLISH, language_of, read_texts
from sociometer.instruments.egosocial.stories import events

DATA = Path(__file__).parents[1] / "data" / "stories"
WORDS = Path(__file__).parents[1] / "words"
_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")
_START = re.compile(r"(?:^|(?<=[.!?] )|(?<=“))[a-z]")


class Vocabulary(Struct, frozen=True):
    """The names of one language; no person's name is a form of another, so that one can be looked for as a word."""

    people: tuple[str, ...]
    rooms: tuple[str, ...]
    containers: tuple[str, ...]
    things: tuple[str, ...]


class StoryTexts(Struct, frozen=True, forbid_unknown_fields=True):
    """What fresh stories of one language are told with: names, sentences by kind, and questions."""

    words: Vocabulary
    sentences: dict[str, tuple[str, ...]]
    questions: dict[str, str]


class WordForms(Struct, frozen=True, forbid_unknown_fields=True):
    """What stands in a slot of a shape, by kind of word (`you`, `person`, `noun`, `pronoun`; with `s` in the plural).

    A kind without forms is the name alone.
    """

    forms: dict[str, dict[str, str]] = {}
    plural: str = "(?!)"
    """A pattern for nouns that have the forms of the plural."""

    def form(self, kind: str, shape: str, name: str) -> str:
        """A name in the shape that a slot asks for."""
        return self.forms[kind][shape].format(name=name) if kind in self.forms else name

    def noun(self, noun: str, slot: str, shape: str) -> str:
        """A noun in the shape that a slot asks for; the slot `it` has its pronoun."""
        kind = ("pronoun" if slot == "it" else "noun") + "s" * bool(re.search(self.plural, noun))
        return self.form(kind, shape, noun.replace("_", " "))


@cache
def texts(language: str) -> StoryTexts:
    """The texts of a language."""
    return msgspec.convert(read_texts(DATA / f"{language}.toml"), StoryTexts)


@cache
def word_forms(language: str) -> WordForms:
    """The forms of words in a language; without a file, names are used as they are."""
    path = WORDS / f"{language}.toml"
    return msgspec.convert(read_texts(path), WordForms) if path.is_file() else WordForms()


class Voice(Struct, frozen=True):
    """Who is "you"; an empty `ego` names everybody."""

    ego: str = ""
    language: str = ENGLISH

    def person(self, name: str, shape: str) -> str:
        """A person as subject (no shape), object (`o`), owner (`s`), or subject with a verb that changes with it."""
        return word_forms(self.language).form("you" if self.ego and name == self.ego else "person", shape, name)


def story_prose(story: events.Story, key: str, voice: Voice) -> str:
    """A story as one paragraph.

    The forms of a kind of sentence take turns, in an order that depends on `key`, the story's name.
    """
    told: list[str] = []
    used: Counter[str] = Counter()
    held: dict[str, str] = {}
    for event in story.events:
        kind, people, words = _slots(event, held)
        if isinstance(event, events.Place | events.Move):
            held[event.thing] = event.container
        forms = list(texts(voice.language).sentences[kind])
        random.Random(f"{key} {kind}").shuffle(forms)
        told.append(_fill(forms[used[kind] % len(forms)], people, words, voice))
        used[kind] += 1
    return language_of(voice.language).space.join(told)


def _slots(event: events.Event, held: Mapping[str, str]) -> tuple[str, dict[str, str], dict[str, str]]:
    """The kind of sentence that tells an event, and the contents of its slots; `held` is where things are before it."""
    if isinstance(event, events.Enter | events.Exit | events.Watch | events.Unwatch):
        opening = isinstance(event, events.Enter) and not held
        return ("Open" if opening else type(event).__name__), {"A": event.person}, {"room": event.room}
    if isinstance(event, events.Place):
        return "Place", {}, {"thing": event.thing, "box": event.container}
    if isinstance(event, events.Move):
        words = {"thing": event.thing, "box": event.container, "old": held[event.thing]}
        return "Move", {"A": event.person or ""}, words
    if isinstance(event, events.Tell):
        return "Tell", {"A": event.teller, "B": event.listener}, {"thing": event.thing, "box": event.container}
    return f"Remark {event.verb}", {"A": event.person}, {"liked": event.thing}


def question_prose(question: events.Question, voice: Voice) -> str:
    """The question as put to a reader, or to the person who is "you"."""
    forms = texts(voice.language).questions
    words = {"thing": question.thing}
    if question.kind in ("memory", "reality"):
        return _fill(forms[question.kind], {}, words, voice)
    *minds, last = question.chain
    thoughts = [
        _filled(forms["first thought" if place == 0 else "thought"], {"A": name}, {}, voice)
        for place, name in enumerate(minds)
    ]
    form = "belief nested" if minds else "belief"
    asked = forms[form].replace("{thoughts}", forms["between"].join(thoughts))
    return _fill(asked, {"A": last}, words, voice)


def _fill(form: str, people: Mapping[str, str], words: Mapping[str, str], voice: Voice) -> str:
    """Whole sentences with their slots filled, each with a capital."""
    return _START.sub(lambda start: start[0].upper(), _filled(form, people, words, voice))


def _filled(form: str, people: Mapping[str, str], words: Mapping[str, str], voice: Voice) -> str:
    def put(slot: re.Match[str]) -> str:
        name, shape = slot[1], slot[2] or ""
        if name in people:
            return voice.person(people[name], shape)
        return word_forms(voice.language).noun(words.get("thing" if name == "it" else name, ""), name, shape)

    return _SLOT.sub(put, form)
