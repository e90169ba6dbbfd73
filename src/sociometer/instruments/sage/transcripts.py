"""The authors' dialogue files: read, checked against the emotion protocol, and turned into outcomes."""

import hashlib
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from msgspec import Struct, field

from sociometer.core.errors import DataError
from sociometer.instruments.sage.cues import language_of
from sociometer.instruments.sage.dialogue import Dialogue, Judgement, Plan, Turn
from sociometer.instruments.sage.emotion import Ending, Protocol
from sociometer.instruments.sage.farewell import says_farewell
from sociometer.instruments.sage.items import Profile, Scenario, from_profile
from sociometer.instruments.sage.leaks import find_leak
from sociometer.reading import read_lines

PROTOCOL = Protocol()
_HEADING = re.compile(r"\A\s*+\[?\s*+[^\n\]]{0,24}\]\s*")
_SUBJECT = re.compile(r"(.+)_result\.jsonl\Z")
_SIMULATOR = re.compile(r"(.+)_based_simulator|transcripts-judge-(.+)")
_USUAL_FOLDER, _USUAL_SIMULATOR = "transcripts", "deepseek-v3"
_DATED_SIMULATORS = {"deepseek-v3-2024-1227": _USUAL_SIMULATOR, "gpt-4o-2024-0806": "gpt-4o"}
"""The release's folders name versions of simulators; they are dropped, as everywhere else."""
_SLIPS = {"gpt-4o-0808": "gpt-4o-0806"}
"""One model has two names in the release."""


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
        leak = find_leak(answer.content, scenario.hidden, scenario.intention)
        turns.append(Turn(reply, judgement, _plan(answer.thinking), answer.content, leak))
    if row.emo_point != emotion:
        raise DataError(f"emo_point {row.emo_point} is not the last emotion, {emotion}")
    return Dialogue(scenario.first_words, PROTOCOL.start, tuple(turns), _ending(turns, emotion), simulator)


class PlainTurn(Struct, frozen=True):
    """One utterance of any dialogue: `user` is the person who looks for support."""

    role: str
    content: str


class PlainDialogue(Struct, frozen=True):
    """A dialogue without feelings, such as one between real people."""

    history: tuple[PlainTurn, ...]
    id: str = ""


def read_any_dialogues(path: Path) -> Iterator[tuple[Scenario, Dialogue]]:
    """The dialogues of a released file, or of a file of plain ones: JSON lines with `history` and maybe `id`."""
    first = next(
        read_lines(path, PlainDialogue, 'JSON lines with "history": [{"role": "user", "content": …}, …]'), None
    )
    if first is None:
        raise DataError("contains no dialogue", path)
    try:
        next(read_lines(path, ReleasedDialogue), None)
    except DataError:
        yield from _plain_dialogues(path)
        return
    yield from read_dialogues(path)


def _plain_dialogues(path: Path) -> Iterator[tuple[Scenario, Dialogue]]:
    for number, row in read_lines(path, PlainDialogue):
        said = [turn for turn in row.history if turn.role in ("user", "assistant")]
        if not said or said[0].role != "user":
            raise DataError("the dialogue must begin with the role 'user', the person", path, number)
        # People often write several messages in a row: they are one turn.
        spoken = ["\n".join(turn.content for turn in turns) for _, turns in groupby(said, key=lambda turn: turn.role)]
        opening, *rest = spoken
        turns = [Turn(reply, words=words) for reply, words in zip(rest[::2], rest[1::2], strict=False)]
        if len(rest) % 2:
            turns.append(Turn(rest[-1]))
        name = row.id or f"{path.stem}-{number}"
        language = language_of(" ".join(turn.content for turn in said))
        scenario = Scenario(
            id=name, language=language, intention="", hidden="", persona="", background="", goal="", first_words=opening
        )
        yield scenario, Dialogue(opening, PROTOCOL.start, tuple(turns), "turns", "people")


def subject_of(path: Path) -> str:
    """The model a released file is named after."""
    match = _SUBJECT.fullmatch(path.name)
    name = match[1] if match else path.stem
    return _SLIPS.get(name, name)


def simulator_of(path: Path) -> str:
    """The simulator that the file's folder is named after; any other folder gets its own name."""
    whole = path.parent.resolve()
    name = whole.name if path.parent.name in ("", "..") else path.parent.name
    if name == _USUAL_FOLDER:
        return _USUAL_SIMULATOR
    match = _SIMULATOR.fullmatch(name)
    if match:
        named = match[1] or match[2]
        return _DATED_SIMULATORS.get(named, named)
    # Two folders of one name may hold two judges' dialogues, which must not pass for one judge's.
    mark = hashlib.blake2b(str(whole).encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return f"unnamed simulator ({name}, {mark})"


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


def _plan(thinking: str) -> Plan | None:
    return Plan("", "", "", thinking.strip()) if thinking.strip() else None


def _ending(turns: list[Turn], emotion: int) -> Ending:
    ending = PROTOCOL.ending(emotion, len(turns))
    if ending in ("soothed", "lost"):
        return ending
    if turns and says_farewell(turns[-1].words):
        return "farewell"
    if len(turns) == PROTOCOL.turns:
        return "turns"
    raise DataError(f"the dialogue stops after {len(turns)} replies at emotion {emotion} without a farewell")
