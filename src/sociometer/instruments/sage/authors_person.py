"""The simulated person in the authors' own words: both hops as their code asks them, read by the labels it names."""

import json
import re
from collections.abc import Callable
from typing import TypeVar

from sociometer.core.conversation import Sampling, Schema, user
from sociometer.core.errors import MachineryError
from sociometer.core.session import Session
from sociometer.instruments.sage.appraisal import PersonView
from sociometer.instruments.sage.authors_prompts import EMOTION, OTHER, OWN, PLANNING, REPLY, TARGET
from sociometer.instruments.sage.dialogue import Judgement
from sociometer.instruments.sage.emotion import band
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.quoting import Talk
from sociometer.instruments.sage.spoken import EmotionReply, SpokenReply
from sociometer.reading import read_json

LANGUAGE = "zh"
_FEELING = ("Content", "TargetCompletion", "Activity", "Analyse", "Change")
_SPEAKING = ("Thinking", "Origin", "Change", "Response")
_NUMBER = re.compile(r"[+-]?\d{1,6}")
_EDGES = "\n []“”"
T = TypeVar("T")


async def ask_feeling(
    scenario: Scenario,
    talk: Talk,
    before: int,
    session: Session,
    answer_format: Schema,
    view: PersonView,
    sampling: Sampling,
) -> tuple[EmotionReply, int]:
    """The first hop, and how often it was asked again."""
    prompt = session.prompts.render(
        EMOTION, LANGUAGE, target=_target(session), simulator_role=scenario.persona,
        simulator_scene=scenario.background, emotion=before, dialog_history=_history(session, talk),
    )  # fmt: skip
    return await _ask(session, prompt, answer_format, view, sampling, read_feeling)


async def ask_words(
    scenario: Scenario,
    talk: Talk,
    judgement: Judgement,
    session: Session,
    answer_format: Schema,
    view: PersonView,
    sampling: Sampling,
) -> tuple[SpokenReply, int]:
    """The second hop, and how often it was asked again."""
    planning = session.prompts.render(
        PLANNING, LANGUAGE, targetcompletion=judgement.serves, activity=judgement.activity, analyse=judgement.feeling
    )
    prompt = session.prompts.render(
        REPLY, LANGUAGE, target=_target(session), player_type=scenario.persona, player_topic=scenario.background,
        dialog_history=_history(session, talk[:-2]), new_history=_history(session, talk[-2:]), planning=planning,
        emotion=f"Emotion-{band(judgement.after)}",
    )  # fmt: skip
    return await _ask(session, prompt, answer_format, view, sampling, read_words)


def read_feeling(text: str) -> EmotionReply | None:
    """The labelled parts of a first hop, or its JSON from a stand-in; None without a number for the change."""
    if text.lstrip().startswith("{"):
        return read_json(text, EmotionReply).value
    parts = _parts(text, _FEELING)
    change = _NUMBER.search(parts["Change"])
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
    plain = text.replace("：", ":").replace("*", "")
    marks = list(re.finditer(rf"(?:^|(?<=\n))[ \t#]*({'|'.join(labels)})[ \t]*:", plain))
    bounds = [*(mark.start() for mark in marks), len(plain)]
    found = {mark[1]: plain[mark.end() : end].strip(_EDGES) for mark, end in zip(marks, bounds[1:], strict=True)}
    return {label: found.get(label, "") for label in labels}


async def _ask(
    session: Session,
    prompt: str,
    answer_format: Schema,
    view: PersonView,
    sampling: Sampling,
    read: Callable[[str], T | None],
) -> tuple[T, int]:
    """The first readable reply to the prompt; it repeats the same request, a limited number of times."""
    most = session.settings.whole("rereads")
    for again in range(most + 1):
        reply = await session.ask("simulator", [user(prompt)], answer_format, sampling=sampling, view=view)
        if (found := read(reply.text)) is not None:
            return found, again
        session.note("read", hop=view.hop, rule="no labels", reply="unreadable")
    raise MachineryError(
        f"the simulator's {answer_format.name} was still unreadable after {most + 1} answers", "unreadable simulator"
    )


def _target(session: Session) -> str:
    return session.prompts.render(TARGET, LANGUAGE)


def _history(session: Session, talk: Talk) -> str:
    """The conversation as JSON, with the authors' names for the speakers."""
    names = {"person": session.prompts.render(OWN, LANGUAGE), "subject": session.prompts.render(OTHER, LANGUAGE)}
    said = [{"role": names[who], "content": words} for who, words in talk]
    return json.dumps(said, ensure_ascii=False, indent=2)
