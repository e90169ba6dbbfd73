"""`run --watch`: finds the checkpoints of a training as they appear, and evaluates each against a stored run."""

import glob
import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, structs

from sociometer.cli.options import stopping_rule
from sociometer.cli.output import print_text
from sociometer.core.config import RunConfig, split_spec
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import MachineryError, StopCause, UsageError
from sociometer.core.lazy import require
from sociometer.core.stopping import Checkpoint
from sociometer.core.words import grouped, sentence
from sociometer.engine.engine import Engine, PlayedRun, run_loop
from sociometer.engine.plan import ReadLists
from sociometer.engine.roles import resolve_player
from sociometer.models.presets import presets
from sociometer.store.records import RunRecord, RunStatus

SETTLED_SECONDS = 10.0
"""A checkpoint counts when its files have not changed, or its server has listed it, for so long."""
POLL_SECONDS = 2.0
LISTED_SECONDS = 10.0  # a server that takes longer to list its models is named, and asked again
STEP = "{step}"
MakeConfig = Callable[[str, Checkpoint], RunConfig]
"""The configuration of the run of a model that is a checkpoint."""


class Found(Struct, frozen=True):
    """A checkpoint: its step, the value of `--model` for it, and what changes while its files are written."""

    step: int
    model: str
    state: tuple[object, ...] = ()

    def __str__(self) -> str:
        path = self.model.partition("/")[2]
        return f"step {self.step} ({path if path.startswith('/') else self.model.partition('#')[0]})"


def seconds_of(text: str) -> float:
    """A time such as 90s, 30m, 12h or 2d in seconds; without one, there is no end."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    if text and found is None:
        raise UsageError(f"--watch-for must be a number with s, m, h or d, such as 30m or 12h, not '{text}'.")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[found[2]] if found else math.inf


def is_served(where: str) -> bool:
    """Whether `--watch` names models of a server and not files."""
    return where.partition("/")[0] in presets()


def series_of(where: str) -> str:
    """The name of a training by its folder, or by the part of the model's name that its checkpoints share."""
    name = split_spec(where)[0].replace(STEP, "") if is_served(where) else _folder(where).absolute().name
    return name.strip("-_./: ") or "training"


def _folder(where: str) -> Path:
    """The folder with the checkpoints: the path up to the first part that has `{step}`."""
    path = Path(where).expanduser()
    return next((one.parent for one in (*reversed(path.parents), path) if STEP in one.name), path)


def find_files(where: str) -> Iterator[Found]:
    """The checkpoints in a folder: folders of weights and GGUF files; the last number in a name is its step.

    A path may have `{step}` in place of the step, as in `checkpoints/global_step_{step}/huggingface`.
    """
    folder = _folder(where)
    rest = str(Path(where).expanduser().relative_to(folder)) if STEP in where else STEP
    names = _named(rest) if STEP in where else re.compile(r"(?:.*\D)?(\d+)\D*")
    for path in sorted(folder.glob("*".join(map(glob.escape, rest.split(STEP))))):
        named, is_file = names.fullmatch(str(path.relative_to(folder))), path.suffix.lower() == ".gguf"
        if named and (is_file or path.is_dir()):
            with suppress(OSError):  # it is being deleted
                files = [path] if is_file else sorted(one for one in path.rglob("*") if one.is_file())
                state = tuple((one.name, one.stat().st_size, one.stat().st_mtime_ns) for one in files)
                yield Found(int(named[1]), f"{'local' if is_file else 'hf'}/{path.absolute()}", state)


def _named(pattern: str) -> re.Pattern[str]:
    """Matches the names that fit a pattern with `{step}`; a second `{step}` is the same step."""
    first, second, *others = map(re.escape, pattern.split(STEP))
    return re.compile(r"\1".join((rf"{first}(\d+){second}", *others)))


def _check_extras(where: str) -> None:
    """Raise a UsageError now, and not at the first checkpoint, if what loads them is not installed."""
    found = {one.model.partition("/")[0] for one in find_files(where)}
    for extra in found or {"local" if where.lower().endswith(".gguf") else "hf"}:
        try:
            require(extra)
        except UsageError as error:
            files = "" if found else f". For GGUF files: --watch '{where}/step-{STEP}.gguf'"
            raise UsageError(f"--watch {where}: {error}{files}") from None


def find_served(where: str, config: RunConfig) -> Iterator[Found]:
    """The checkpoints among the models that a server lists; a `#REVISION` names their weights, by default the step."""
    spec, _, revision = where.partition("#")
    name, address, _ = split_spec(spec)
    family, _, pattern = name.partition("/")

    async def listed() -> tuple[str, ...]:
        quick = structs.replace(config, timeout_seconds=min(config.timeout_seconds, LISTED_SECONDS))
        async with resolve_player(spec, SUBJECT, quick) as player:
            return await player.list_models()

    for one in run_loop(listed()):
        if named := _named(pattern).fullmatch(one):
            at = f"@{address}" if address else ""
            yield Found(int(named[1]), f"{family}/{one}{at}#{(revision or STEP).replace(STEP, named[1])}")


class Watch:
    """The checkpoints of one training: since when each is unchanged, and those that are done or were skipped."""

    def __init__(self, engine: Engine, where: str, make: MakeConfig, series: str) -> None:
        """Raise a UsageError if there is no such place, or if no checkpoint could be compared with the stored run."""
        if is_served(where) and STEP not in split_spec(where)[0]:
            raise UsageError(f"--watch {where} needs {STEP} in the model's name, as in vllm/lora-{STEP}@URL.")
        if not is_served(where) and not _folder(where).is_dir():
            raise UsageError(f"--watch: there is no folder '{_folder(where)}'; create it, or correct the path.")
        self._engine, self._where, self._make, self._series, self.silent = engine, where, make, series, ""
        self._since: dict[Found, float] = {}
        self._left, self._skipped = set[Found](), set[Found]()
        self._read: ReadLists = {}
        # There is no checkpoint yet, so a baseline is planned: items, settings and the stored run must fit.
        plan = engine.plan(self._config("baseline/random"), sends=False, read=self._read)
        if len(plan.tasks) > 1:
            raise UsageError(f"--watch needs one task; choose one of {', '.join(plan.config.tasks)} by --task.")
        stopping_rule(plan.manifest, plan.instrument, engine.stored)
        if not is_served(where):
            _check_extras(where)
        self._instrument, self._announced = plan.config.instrument, plan.config.until.models if plan.config.until else 1
        engine.count_spending(record.id for record in self.records().values())
        for then in (record.manifest.config.until for record in self.records().values()):
            if then and plan.config.until != structs.replace(then, checkpoint=Checkpoint(series, 0)):
                raise UsageError(
                    f"'{series}' was watched before with --watch-steps {then.models} --against {then.against}; repeat"
                    " that command with all its options, or give this training another --label."
                )

    def _config(self, model: str, step: int = 0) -> RunConfig:
        return self._make(model, Checkpoint(self._series, step))

    def records(self) -> dict[int, RunRecord]:
        """The stored runs of this training, by step."""
        store = self._engine.store
        return store.runs.of_series(self._instrument, self._series) if store.path.exists() else {}

    def play(self, seconds: float) -> Iterator[PlayedRun]:
        """Evaluate checkpoints, and retry failed items, for so long or until all that were announced are evaluated."""
        ends = time.monotonic() + seconds
        while (more := len(self.evaluated) < self._announced) or self.failed:
            found = self._next()  # also when the time is over, to know what waits
            waits = {one.step for one in self._since.keys() - self._left}
            if time.monotonic() >= ends or not (more or waits & self.failed.keys()):
                break
            if found is None:
                time.sleep(min(POLL_SECONDS, max(0.0, ends - time.monotonic())))
            elif (played := self._evaluate(found)) is not None:
                yield played
                if (cause := played.ending.cause) and (cause.is_cap or cause is StopCause.INTERRUPTED):
                    break

    @property
    def evaluated(self) -> set[int]:
        """The steps with a run that is finished."""
        return {step for step, one in self.records().items() if one.status is RunStatus.FINISHED}

    @property
    def failed(self) -> dict[int, int]:
        """The steps with a finished run in which items failed, each with their number."""
        runs = {step: self._engine.stored(self.records()[step].id) for step in sorted(self.evaluated)}
        return {step: count for step, run in runs.items() if (count := sum(map(run.failed, run.tasks)))}

    def missed(self) -> dict[str, list[str]]:
        """The checkpoints that were skipped and those that still wait, unless all that were announced are evaluated."""
        done, found = self.evaluated, sorted({*self._since, *self._left}, key=lambda one: one.step)
        left = [one for one in found if one in self._skipped or one.step not in done]
        told = dict.fromkeys(("Not evaluated" if one in self._left else "Still waiting", str(one)) for one in left)
        return {} if len(done) >= self._announced else grouped(told)

    def _next(self) -> Found | None:
        """The first step that has settled and is not evaluated yet."""
        served = is_served(self._where)
        try:
            found = list(find_served(self._where, self._config(self._where)) if served else find_files(self._where))
        except MachineryError as error:
            self._wait(None, str(error))
            return None
        self.silent = ""
        now, there = time.monotonic(), {one.model for one in found}
        for one in self._since.keys() - self._left:
            if one.model not in there:
                self._skip(one, "it was deleted before it was evaluated.")
        self._since = {one: self._since.get(one, now) for one in found}
        ready = [one for one in found if one not in self._left and now - self._since[one] >= SETTLED_SECONDS]
        return min(ready, key=lambda one: one.step, default=None)

    def _evaluate(self, found: Found) -> PlayedRun | None:
        """The run of a checkpoint, played or continued; None if it is done or cannot be evaluated."""
        self._left.add(found)
        self._skipped = {one for one in self._skipped if one.model != found.model}
        known = self.records()
        before = known.get(found.step)
        try:
            plan = self._engine.plan(self._config(found.model, found.step), read=self._read)
            if before is None and len(known) >= self._announced:
                raise UsageError(f"all {self._announced} announced checkpoints (--watch-steps) have runs.")
            same = self._engine.store.runs.with_config(plan.config_hash) if before else None
            if before and (same is None or same.id != before.id):
                raise UsageError(f"run {before.id} has this step with other weights or options; give another --label.")
            if found.step in self.evaluated - self.failed.keys():
                return None
            played = self._engine.play_plan(plan, continue_unfinished=True)
            why, cause = played.ending.reason, played.ending.cause
            if cause is not StopCause.UNREACHABLE:
                return played
        except UsageError as error:
            why, cause = str(error), getattr(error.__cause__, "cause", None)
        (self._wait if cause is StopCause.UNREACHABLE else self._skip)(found, why)
        return None

    def _wait(self, found: Found | None, why: str) -> None:
        if found:  # it has to settle again
            self._left.remove(found)
            self._since[found] = time.monotonic()
        if self.silent != (told := sentence(why)):
            print_text(f"{told} Waiting for it: the watch goes on when it answers.", err=True)
        self.silent = told

    def _skip(self, found: Found, why: str) -> None:
        self._left.add(found)
        self._skipped.add(found)
        print_text(f"{found} is skipped: {why}", err=True)
