"""A played dialogue: every reply, what the person thought of it, and what they said next."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from sociometer.core.errors import DataError
from sociometer.core.task import Item
from sociometer.instruments.sage.items import Profile, Scenario, from_profile
from sociometer.instruments.sage.person.emotion import Ending, Protocol, find_leak
from sociometer.instruments.sage.person.talk import EmotionReply, Plan
from sociometer.reading import read_lines

REHEARSAL = "rehearsal: no simulator, no score"
"""What stands in place of a score if no model played the person."""


SHORT = " (short form)"
"""Follows the simulator's name in a talk of the short form: its feelings are on another scale."""


def is_rehearsed(simulator: str) -> bool:
    """Whether rules, not a model, played the person (up to version 6 they were called `appraisal`)."""
    return simulator.removeprefix("sage/").removesuffix(SHORT) in ("rehearsal", "appraisal")


class Judgement(EmotionReply, frozen=True, forbid_unknown_fields=False):
    """The first hop of a turn: the reaction to a reply, and the emotion change."""

    before: int
    after: int

    @property
    def moved(self) -> int:
        """The change that counted, after clamping and the cap."""
        return self.after - self.before


class Turn(Struct, frozen=True, omit_defaults=True):
    """One reply of the subject, its judgement (None if the protocol does not judge it), and the person's next words."""

    reply: str
    judgement: Judgement | None = None
    plan: Plan | None = None
    words: str = ""
    leak: str = ""
    tokens: int | None = None
    rereads: int = 0
    """The number of times the simulator was asked again because its answer was unreadable."""


class Dialogue(Struct, frozen=True, omit_defaults=True):
    """The outcome of a scenario: the turns, and how the dialogue ended."""

    opening: str
    start: int
    turns: tuple[Turn, ...]
    ending: Ending
    simulator: str = ""

    @property
    def short(self) -> bool:
        """Whether it is a talk of the short form."""
        return self.simulator.endswith(SHORT)

    @property
    def rehearsed(self) -> bool:
        """Whether no model played the person, so that there is no score."""
        return is_rehearsed(self.simulator)

    @property
    def trajectory(self) -> tuple[int, ...]:
        """The emotion at the start and after every judged reply."""
        return (self.start, *(turn.judgement.after for turn in self.turns if turn.judgement is not None))

    @property
    def final(self) -> int:
        """The emotion at the end."""
        return self.trajectory[-1]

    @property
    def tokens(self) -> int | None:
        """The tokens that the subject wrote, or None if a server did not count them."""
        counted = [turn.tokens for turn in self.turns if turn.tokens is not None]
        return sum(counted) if len(counted) == len(self.turns) else None

    @property
    def characters(self) -> int:
        """The characters the subject wrote."""
        return sum(len(turn.reply) for turn in self.turns)

    def said(self, turns: int) -> tuple[tuple[str, str], ...]:
        """The conversation before the reply of turn `turns + 1`: (person or subject, words), oldest first."""
        talk = [("person", self.opening)]
        for turn in self.turns[:turns]:
            talk.append(("subject", turn.reply))
            if turn.words:
                talk.append(("person", turn.words))
        return tuple(talk)


def as_text(talk: Iterable[tuple[str, str]]) -> str:
    """A talk as a text for people of any language: A is the person, B is the subject."""
    return "\n\n".join(f"{'A' if who == 'person' else 'B'}: {words}" for who, words in talk)


class StoredDialogue(Item, frozen=True, kw_only=True):
    """A dialogue of a stored run, as the item of an analysis."""

    run: str
    subject: str
    scenario: Scenario
    dialogue: Dialogue

    def compared(self) -> Any:
        """The scenario and the simulator; run, subject and dialogue differ between subjects."""
        return self.scenario, self.dialogue.simulator

    def for_raters(self) -> dict[str, str]:
        """The dialogue without names and judgements: A is the person, B is the one who answers."""
        return {"talk": as_text(self.dialogue.said(len(self.dialogue.turns)))}


PROTOCOL = Protocol()
_HEADING = re.compile(r"\A\s*+\[?\s*+[^\n\]]{0,24}\]\s*")
_SUBJECT = re.compile(r"(.+)_result\.jsonl\Z")
_SIMULATOR = re.compile(r"(.+)_based_simulator|transcripts-judge-(.+)")
_USUAL_FOLDER, _USUAL_SIMULATOR = "transcripts", "deepseek-v3"
_DATED_SIMULATORS = {"deepseek-v3-2024-1227": _USUAL_SIMULATOR, "gpt-4o-2024-0806": "gpt-4o"}
"""The release's folders name versions of simulators; they are dropped, as everywhere else."""
_SLIPS = {
    "gpt-4o-0808": "gpt-4o-0806",
    "gemini2,0-think": "gemini2.0-think",
    "qwen2.5-72B": "qwen2.5-72b",
    "qwen2.5-72b_check": "qwen2.5-72b",
}
"""Names of one model that differ between files of the release."""


class Planning(Struct, frozen=True):
    """The first hop of a released turn."""

    change: int
    content: str = ""
    activity: str = ""
    analyse: str = ""
    serves: str = field(default="", name="TargetCompletion")


class ReleasedTurn(Struct, frozen=True):
    """One utterance of a released dialogue."""

    role: str
    content: str
    emotion: int | None = field(default=None, name="emotion-point")
    thinking: str = ""
    planning: Planning | None = None


class ReleasedDialogue(Struct, frozen=True):
    """A released row: it has no `first_talk`, which is its first utterance."""

    id: str
    player: str
    scene: str
    task: str
    emo_point: int
    history: tuple[ReleasedTurn, ...]
    topic: str = ""

    def profile(self) -> Profile:
        """The profile part of the row."""
        first = self.history[0].content if self.history else ""
        return Profile(self.id, self.player, self.scene, self.task, first, topic=self.topic)


def read_dialogues(path: Path) -> Iterator[tuple[Scenario, Dialogue]]:
    """The dialogues of a released file; one that breaks the protocol raises an error with file and line."""
    simulator = simulator_of(path)
    for number, row in read_lines(path, ReleasedDialogue):
        try:
            scenario = from_profile(row.profile())
            yield scenario, to_dialogue(row, scenario, simulator)
        except DataError as error:
            raise DataError(str(error), path, number) from None


def to_dialogue(row: ReleasedDialogue, scenario: Scenario, simulator: str = "") -> Dialogue:
    """A released row as an outcome, after checking that every emotion follows from the one before it."""
    _check_order(row)
    emotion = _stated(row.history[0], 0)
    if emotion != PROTOCOL.start:
        raise DataError(f"the emotion starts at {emotion}, not at {PROTOCOL.start}")
    turns: list[Turn] = []
    for place in range(1, len(row.history), 2):
        reply = row.history[place].content
        answer = row.history[place + 1] if place + 1 < len(row.history) else None
        if answer is None:
            turns.append(Turn(reply))
            break
        judgement = _judgement(answer, emotion, place + 1)
        emotion = judgement.after
        leak = find_leak(answer.content, scenario.hidden, scenario.intention, scenario.language)
        plan = Plan("", "", "", answer.thinking.strip()) if answer.thinking.strip() else None
        turns.append(Turn(reply, judgement, plan, answer.content, leak))
    if row.emo_point != emotion:
        raise DataError(f"emo_point {row.emo_point} is not the last emotion, {emotion}")
    ending = PROTOCOL.ending(emotion, len(turns), turns[-1].words if turns else "", scenario.language)
    if ending is None:
        raise DataError(f"the dialogue stops after {len(turns)} replies at emotion {emotion} without a farewell")
    return Dialogue(scenario.first_words, PROTOCOL.start, tuple(turns), ending, simulator)


def subject_of(path: Path) -> str:
    """The model a released file is named after."""
    match = _SUBJECT.fullmatch(path.name)
    name = match[1] if match else path.stem
    return _SLIPS.get(name, name)


def simulator_of(path: Path) -> str:
    """The simulator that the file's folder is named after; any other folder's name is taken as it is."""
    name = path.parent.resolve().name if path.parent.name in ("", "..") else path.parent.name
    if name == _USUAL_FOLDER:
        return _USUAL_SIMULATOR
    match = _SIMULATOR.fullmatch(name)
    if match:
        named = match[1] or match[2]
        return _DATED_SIMULATORS.get(named, named)
    return name


def _check_order(row: ReleasedDialogue) -> None:
    if not row.history:
        raise DataError("the dialogue is empty")
    for place, turn in enumerate(row.history):
        expected = "assistant" if place % 2 else "user"
        if turn.role != expected:
            raise DataError(f"utterance {place} is by '{turn.role}'; allowed here: '{expected}'")
    if len(row.history) // 2 > PROTOCOL.turns:
        raise DataError(f"{len(row.history) // 2} replies; allowed: {PROTOCOL.turns}")


def _stated(turn: ReleasedTurn, place: int) -> int:
    if turn.emotion is None:
        raise DataError(f"utterance {place} states no emotion-point")
    return turn.emotion


def _judgement(answer: ReleasedTurn, before: int, place: int) -> Judgement:
    planning, after = answer.planning, _stated(answer, place)
    if planning is None:
        raise DataError(f"utterance {place} has no planning")
    if planning.change != PROTOCOL.clamp(planning.change):
        raise DataError(f"utterance {place}: change {planning.change}; allowed: -10 to 10")
    if PROTOCOL.update(before, planning.change) != after:
        raise DataError(f"utterance {place}: emotion {before} with change {planning.change} cannot become {after}")
    said, serves, activity, feeling = (
        _HEADING.sub("", text).strip()
        for text in (planning.content, planning.serves, planning.activity, planning.analyse)
    )
    return Judgement(said, serves, activity, feeling, planning.change, before, after)


# A Chinese character, up to four letters of a word, up to three digits, or any other sign is about one token.
_PIECE = re.compile(r"[\u3400-\u9fff]|[^\W\d_\u3400-\u9fff]{1,4}|\d{1,3}|[^\w\s]|_")


def count_tokens(text: str) -> int:
    """An estimate of the number of tokens of a text; the same rule for every model."""
    return len(_PIECE.findall(text))
