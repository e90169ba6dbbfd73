"""The authors' wording of the person: their prompts, and replies read by their labels."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from sociometer.core.conversation import Sampling, Schema, user
from sociometer.core.errors import UnreadableRole
from sociometer.core.language import read_texts
from sociometer.core.session import Session
from sociometer.core.settings import PAPER, Settings
from sociometer.core.source import AuthorsPrompt
from sociometer.instruments._authors import from_double_braces, python_text
from sociometer.instruments.sage.dialogue import Judgement
from sociometer.instruments.sage.items import RELEASED
from sociometer.instruments.sage.person.emotion import band
from sociometer.instruments.sage.person.talk import SIMULATOR, EmotionReply, PersonView, SpokenReply
from sociometer.reading import read_json
from sociometer.reading.quotation import Talk
from sociometer.reading.text import plain

EMOTION, REPLY, TARGET, PLANNING = (f"{PAPER}/{name}" for name in ("emotion", "reply", "target", "planning"))
OWN, OTHER, SUBJECT_PROMPT = (f"{PAPER}/{name}" for name in ("own", "other", "subject"))
_FEELING = ("Content", "TargetCompletion", "Activity", "Analyse", "Change")
_SPEAKING = ("Thinking", "Origin", "Change", "Response")
_NUMBER = re.compile(r"(?<![\d./^])[+-]?\d{1,6}(?![\d/^]|\.\d)")
_EDGES = "\n []“”"
T = TypeVar("T")


def authors_prompts(settings: Settings, tasks: Sequence[str]) -> Iterator[AuthorsPrompt]:
    """Yield all prompts of a dialogue; they are in Chinese, as the official scenarios are."""
    for name, known in read_texts(Path(__file__).with_suffix(".toml")).items():
        read, placeholders = partial(read_text, name=known["text"]), frozenset(known.get("placeholders", ()))
        yield AuthorsPrompt(f"{PAPER}/{name}", placeholders, known["file"], read, language=RELEASED)


def read_text(path: Path, *, name: str) -> str:
    """Return a text of the authors' module with our placeholders."""
    return from_double_braces(python_text(path, name))


def read_feeling(text: str) -> EmotionReply | None:
    """The labelled parts of a first hop, or its JSON from a stand-in; None without a number for the change."""
    if text.lstrip().startswith("{"):
        return read_json(text, EmotionReply).value
    parts = _parts(text, _FEELING)
    change = _NUMBER.search(plain(parts["Change"]))
    if change is None:
        return None
    said, serves, activity, feeling = (parts[label] for label in _FEELING[:-1])
    return EmotionReply(said, serves, activity, feeling, int(change[0]))


def read_words(text: str) -> SpokenReply | None:
    """The reply after its label, with the reasoning before it, or the JSON of a stand-in; None without words."""
    if text.lstrip().startswith("{"):
        found = read_json(text, SpokenReply).value
        return found if found is not None and found.words.strip() else None
    parts = _parts(text, _SPEAKING)
    return SpokenReply("", "", "", parts["Thinking"], parts["Response"]) if parts["Response"] else None


def _parts(text: str, labels: tuple[str, ...]) -> dict[str, str]:
    """The text after the last of each label, up to the next label."""
    said = text.replace("：", ":").replace("*", "")
    marks = list(re.finditer(rf"(?:^|(?<=\n))[ \t#>•·(（\d.)）、-]*({'|'.join(labels)})[ \t]*:", said))
    bounds = [*(mark.start() for mark in marks), len(said)]
    found = {mark[1]: said[mark.end() : end].strip(_EDGES) for mark, end in zip(marks, bounds[1:], strict=True)}
    return {label: found.get(label, "") for label in labels}


async def ask_feeling(
    session: Session, talk: Talk, answer_format: Schema, view: PersonView
) -> tuple[EmotionReply, int]:
    """The first hop in the authors' words, and how often it had to be asked again."""
    prompt = session.prompts.render(
        EMOTION,
        RELEASED,
        target=session.prompts.render(TARGET, RELEASED),
        simulator_role=view.scenario.persona,
        simulator_scene=view.scenario.background,
        emotion=view.emotion,
        dialog_history=_history(session, talk),
    )
    return await _ask(session, prompt, answer_format, view, read_feeling)


async def ask_words(
    session: Session, talk: Talk, judgement: Judgement, answer_format: Schema, view: PersonView
) -> tuple[SpokenReply, int]:
    """The second hop in the authors' words, and how often it had to be asked again."""
    planning = session.prompts.render(
        PLANNING, RELEASED, targetcompletion=judgement.serves, activity=judgement.activity, analyse=judgement.feeling
    )
    prompt = session.prompts.render(
        REPLY,
        RELEASED,
        target=session.prompts.render(TARGET, RELEASED),
        player_type=view.scenario.persona,
        player_topic=view.scenario.background,
        dialog_history=_history(session, talk[:-2]),
        new_history=_history(session, talk[-2:]),
        planning=planning,
        emotion=f"Emotion-{band(judgement.after)}",
    )
    return await _ask(session, prompt, answer_format, view, read_words)


async def _ask(
    session: Session, prompt: str, answer_format: Schema, view: PersonView, read: Callable[[str], T | None]
) -> tuple[T, int]:
    """The first readable reply to the prompt; it repeats the same request, a limited number of times.

    The release does not set the simulator's sampling.
    """
    most = session.settings.whole("rereads")
    for again in range(most + 1):
        reply = await session.ask(SIMULATOR, [user(prompt)], answer_format, sampling=Sampling(), view=view)
        if (found := read(reply.text)) is not None:
            return found, again
        session.note("read", hop=view.hop, rule="no labels", reply="unreadable")
    raise UnreadableRole(
        f"the simulator's {answer_format.name} was still unreadable after {most + 1} answers", SIMULATOR
    )


def _history(session: Session, talk: Talk) -> str:
    """The conversation as JSON, with the authors' names for the speakers."""
    names = {"person": session.prompts.render(OWN, RELEASED), "subject": session.prompts.render(OTHER, RELEASED)}
    said = [{"role": names[who], "content": words} for who, words in talk]
    return json.dumps(said, ensure_ascii=False, indent=2)
