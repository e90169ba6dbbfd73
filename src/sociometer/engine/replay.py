"""Writes a run as a file that a stranger can check, and checks one: the items are played again with the replies in it.

Nothing in the file is trusted: no model, file or code that it names is opened, and every number is computed again.
"""

import asyncio
import math
import re
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, structs

from sociometer.core.conversation import SUBJECT, Event, Exchange, Reply, Request, Sampling
from sociometer.core.errors import FailureKind, FileMissing, MachineryError, UsageError, hint
from sociometer.core.instrument import Instrument
from sociometer.core.player import Abilities, RulePlayer
from sociometer.core.session import DrawnRequest, RoleBinding
from sociometer.core.sheets import whole_file
from sociometer.core.task import Episode, Failure, Item, Task, items_digest, order_of_play
from sociometer.core.version import __version__
from sociometer.engine.plan import Plan, make_plan
from sociometer.engine.runner import PlayedEpisode, play_episode
from sociometer.statistics.sequential import blocks
from sociometer.store.bundle import (
    Bundle,
    BundledEpisode,
    BundledReply,
    BundledRow,
    BundledRun,
    BundledSummary,
    BundleError,
    Difference,
    asked_digest,
    digest,
    lacks_fields,
    plan_digest,
    public_manifest,
    public_norms,
    read_bundle,
    write_bundle,
)
from sociometer.store.past import present_settings
from sociometer.store.records import Manifest, RunStatus, present_prompts
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun

Answer = TypeVar("Answer")
_BACKLOG = 4_000
_MOST = 10_000
"""The largest number in the settings of somebody's run, unless the instrument has a limit of its own."""
_EMBEDDER = "embedder"
"""The role whose vectors are in the journal only, since transcripts do not show them."""
_KIND = r"[A-Za-z][\w '-]{0,60}"


class Checked(Struct, frozen=True):
    """The result of a check: how many episodes were computed again, why others were not, and what replies say."""

    episodes: int
    recomputed: int
    why_not: str = ""
    failed: int = 0
    """The episodes that failed: they have no result that could be computed again."""
    at_worst: tuple[tuple[str, float, float | None], ...] = ()
    """The primary measures of tasks with failures, and what they are if all failures are the worst results."""
    replies: int = 0
    served: dict[str, int] = {}
    """Replies whose server named another model than the manifest, by what it named."""
    finishes: dict[str, int] = {}
    unsaid: int = 0
    """Replies of models that lack a sampling parameter of their request."""
    plan_agrees: bool = True
    """Whether the digest of the plan was computed again: not of a file with fields that this version does not have."""

    @property
    def finding(self) -> str:
        """The result in a sentence."""
        if self.why_not:
            return f"not checked: {self.why_not} All digests match; none of {self.episodes} episodes recomputed."
        lacking = f"; {self.failed} failed and cannot be checked" if self.failed else ""
        agree = f", all numbers {'of the others ' if self.failed else ''}agree" if self.recomputed else ""
        done = f"{self.recomputed} of {self.episodes} episodes recomputed from their replies"
        return f"{done}{lacking}{agree}; consistent."


def why_no_bundle(run: StoredRun) -> str:
    """Why a run cannot be written as a file that others check; empty if it can."""
    who = f"run {run.reference}"
    past = next(iter(run.past.values()), "")
    if past:
        return f"{who} cannot be written as a file that others check: it was {past}; write it as .csv or .jsonl."
    if run.status is not RunStatus.FINISHED:
        return f"{who} is {run.state}; finish it first: {run.manifest.config.resume_command(run.reference)}"
    if run.manifest.config.of_people:
        tables = hint("study export", "STUDY", "--to", "FOLDER")
        return f"{who} has the answers of a person, which no file for strangers has; for tables of them: {tables}"
    if run.manifest.imported or run.manifest.given_items:
        source = "was imported" if run.manifest.imported else "is of another command than 'run'"
        return f"{who} {source}, so others cannot play it again; write it as .csv or .jsonl."
    return ""


def export_bundle(run: StoredRun, to: Path, within: Path | None = None) -> str:
    """Write a finished run as one file, `within` a folder that is created, and return its root digest."""
    if why := why_no_bundle(run):
        raise UsageError(why)
    with whole_file(to, within=within) as partial:
        return write_bundle(partial, _rows_of(run))


def _rows_of(run: StoredRun) -> Iterator[BundledRow]:
    record, manifest = run.record, public_manifest(run.manifest, run.definition.card)
    yield BundledRun(
        id=run.id, created=record.created, finished=record.finished, manifest=manifest, plan=plan_digest(manifest)
    )
    embeds = _EMBEDDER in run.manifest.roles
    plan = _plan(run.manifest, run.definition, ours=True) if embeds else None
    rows, stored = 0, run.stored_episodes()
    for task in run.tasks:
        for episode in run.episodes(task):
            item, events = episode.item, run.transcript(episode, task)
            replies = _replies(events)
            if plan is not None and episode.outcome is not None:
                replies += _vectors(run, plan, task, episode)
            outcome = "" if episode.outcome is None else digest(episode.outcome)
            failure = episode.failure and Failure(episode.failure.kind, "")  # a message may have a path
            yield BundledEpisode(
                task, item.id, episode.repeat, digest(item), tuple(replies), outcome, episode.score, failure
            )
            rows += 1
    run.require_whole(rows, stored)
    for task in run.tasks:
        yield BundledSummary(task, structs.replace(run.kept_summary(task), tables=()))  # tables may quote items


def _replies(events: Iterable[Event]) -> list[BundledReply]:
    return [
        BundledReply(event.role, asked_digest(event.messages), event.reply, event.branch)
        for event in events
        if isinstance(event, Exchange)
    ]


class _Recorded(RulePlayer):
    """Holds the place of a role's player; the replies come from the file."""

    abilities = Abilities(continues_text=True)

    async def answer(self, request: Request) -> Reply:
        raise MachineryError("nothing is sent", FailureKind.NOT_RECORDED)


class _Replies:
    """The replies of one episode, each used once (`core.session.ReplySource`); `find` gives vectors that it lacks."""

    def __init__(self, replies: Sequence[BundledReply], find: Callable[[DrawnRequest], Any] | None = None) -> None:
        self._left: dict[tuple[str, str, str, str], deque[BundledReply]] = {}
        self._find = find
        self.found: list[BundledReply] = []
        self.differs = ""
        self.unsaid = 0
        for one in replies:
            kind = "vectors" if one.reply is None else "reply"
            self._left.setdefault((one.role, one.branch, one.asked, kind), deque()).append(one)

    async def obtain(
        self, drawn: DrawnRequest, attempt: Callable[[], Awaitable[Answer]], kind: type[Answer]
    ) -> tuple[Answer, bytes]:
        """The recorded reply to this request."""
        request, asked = drawn.request, asked_digest(drawn.request.messages)
        what = "reply" if kind is Reply else "vectors"
        left = self._left.get((request.role, drawn.draw.branch, asked, what))
        answer: Any
        if left:
            one = left.popleft()
            answer = one.vectors if one.reply is None else one.reply
            if one.reply is not None:
                self._compare_sampling(request.sampling, one.reply)
        elif self._find is not None and what == "vectors":
            answer = self._find(drawn)
            self.found.append(BundledReply(request.role, asked, None, drawn.draw.branch, answer))
        else:
            raise MachineryError(f"the {request.role} has no reply to one of its requests", FailureKind.NOT_RECORDED)
        return answer, b""

    def _compare_sampling(self, planned: Sampling, reply: Reply) -> None:
        """A player may leave out a parameter that its server lacks, but it sends no other values."""
        if reply.sampling is None:
            self.unsaid += bool(reply.served_model)  # a program has neither
            return
        pairs = {name: (getattr(planned, name), getattr(reply.sampling, name)) for name in Sampling.__struct_fields__}
        for name, (plan, sent) in pairs.items():
            if sent not in (None, (), False, plan):
                said = "no value" if plan is None else plan
                self.differs = f"a reply was sampled with {name} {sent}, and the run says {said}"
        del pairs["seed"]  # some wire formats have none
        self.unsaid += any(plan != sent for plan, sent in pairs.values())

    @property
    def unused(self) -> int:
        """How many replies were not asked for."""
        return sum(map(len, self._left.values()))


def _plan(manifest: Manifest, instrument: Instrument, *, ours: bool = False) -> Plan:
    """The plan of a recorded run; unless it is `ours`, no file that the manifest names is opened."""
    config = present_settings(manifest.config, instrument.card)
    if not ours:
        for setting in instrument.card.setting:
            most, value = setting.most or _MOST, config.settings.get(setting.name)
            if isinstance(value, int | float) and not abs(value) <= most:
                raise UsageError(f"its setting --{setting.name} is {value:g}, and at most {most:,g} is checked.")
        paths = {setting.name for setting in instrument.card.setting if setting.kind == "path"}
        settings = {name: value for name, value in config.settings.items() if name not in paths}
        config = structs.replace(config, settings=settings)
    bindings = {
        name: RoleBinding(
            _Recorded(role.identity), role.spec, role.label, config.sampling if name == SUBJECT else Sampling()
        )
        for name, role in manifest.roles.items()
    }
    return make_plan(config, instrument, bindings=bindings)


def _vectors(run: StoredRun, plan: Plan, task: str, episode: Episode[Any, Any]) -> list[BundledReply]:
    """The vectors of an episode, from the journal: the requests for them are known when it is played again."""
    source = _Replies(_replies(run.transcript(episode, task)), run.stored_vectors)
    asyncio.run(play_episode(plan, run.task(task), episode.item, episode.repeat, source))
    return source.found


def check_file(path: Path, load: Callable[[str], Instrument]) -> tuple[Bundle, Checked]:
    """The file of a run, and whether its numbers follow from its replies; stores nothing."""
    if not path.exists():
        raise UsageError(f"there is no file '{path}'; '{hint('export', 'RUN', '--to', str(path))}' writes one.")
    with TemporaryDirectory() as folder, Store(Path(folder) / "check.db") as store:
        bundle = read_bundle(path)
        return bundle, _check(bundle, load, store)


def _check(bundle: Bundle, load: Callable[[str], Instrument], store: Store) -> Checked:
    """Play all episodes again with the replies in the file, and compare items, outcomes, scores and summaries.

    The first difference is raised as a Difference; a file that cannot be checked at all is a BundleError.
    """
    instrument = _instrument(bundle, load)
    manifest, total = bundle.run.manifest, bundle.episodes
    plan_agrees = plan_digest(manifest) == bundle.run.plan
    if not plan_agrees and not lacks_fields(bundle.path):
        raise Difference(bundle.path, "the digest of the plan does not match the manifest.")
    if {*bundle.summaries} != {*manifest.config.tasks}:
        raise Difference(bundle.path, f"it needs one summary for each of: {', '.join(manifest.config.tasks)}.")
    try:
        replay = _Replay(bundle, instrument, store)
        replay.compare_setup()
        asyncio.run(replay.play())
    except FileMissing:
        name, get = manifest.config.instrument, hint("get data", manifest.config.instrument)
        lacking = f"the official items of {name} are not on this machine"
        return Checked(total, 0, f"{lacking}; run '{get}', or set SOCIOMETER_DATA to their folder.")
    except UsageError as error:
        return Checked(total, 0, str(error))
    except Difference as error:
        if not replay.own_files:
            if (made := manifest.sociometer_version) != __version__:
                error.args = (f"{error} It was made with Sociometer {made}: check it with that version, too.",)
            raise
        return Checked(total, 0, f"files of --{', --'.join(replay.own_files)} are not in it, and without them {error}")
    return structs.replace(replay.checked(), plan_agrees=plan_agrees)


def _instrument(bundle: Bundle, load: Callable[[str], Instrument]) -> Instrument:
    manifest = bundle.run.manifest
    name = manifest.config.instrument
    if (
        manifest.card is not None
        or manifest.imported
        or manifest.given_items
        or not re.fullmatch(r"[a-z][a-z0-9_-]{0,60}", name)
    ):
        raise BundleError(f"{bundle.path}: it is not a run of an instrument.")
    if not re.fullmatch(rf"{name}-[a-z0-9]{{5,8}}", bundle.run.id):
        raise BundleError(f"{bundle.path}: '{bundle.run.id}' is not the id of a run.")
    if manifest.removed:
        raise BundleError(
            f"{bundle.path}: was made by version {manifest.sociometer_version} with {manifest.removed[0]}, which this"
            " version does not have: check it with the version that made it."
        )
    try:
        instrument = load(name)
        if instrument.card.version != manifest.instrument_version:  # which may have had other tasks
            raise UsageError(
                f"was made with {name} version {manifest.instrument_version} (Sociometer"
                f" {manifest.sociometer_version}); version {instrument.card.version} is installed, and tasks and scores"
                " differ between versions: check it with the version that made it."
            )
        tasks = [instrument.task(task) for task in manifest.config.tasks]
    except UsageError as error:
        raise BundleError(f"{bundle.path}: {error}") from None
    if not tasks or len(set(manifest.config.tasks)) < len(tasks):
        raise BundleError(f"{bundle.path}: it is not a run of an instrument.")
    return instrument


class _Replay:
    """One file that is played again, as a run of a store that nobody keeps."""

    def __init__(self, bundle: Bundle, instrument: Instrument, store: Store) -> None:
        self._bundle = bundle
        self._path = bundle.path
        # whoever wrote the file: it names no folder and no server
        self._manifest = manifest = public_manifest(bundle.run.manifest, instrument.card)
        self._instrument = instrument
        self._store = store
        self._plan = _plan(manifest, instrument)
        paths = [setting.name for setting in instrument.card.setting if setting.kind == "path"]
        self.own_files = [name for name in paths if manifest.config.settings.get(name)]
        self._failed: Counter[str] = Counter()
        self._recomputed: Counter[str] = Counter()
        self._served: Counter[str] = Counter()
        self._finishes: Counter[str] = Counter()
        self._unsaid = 0

    def checked(self) -> Checked:
        """What was found in a file without a difference."""
        return Checked(
            self._bundle.episodes,
            self._recomputed.total(),
            "",
            self._failed.total(),
            tuple(self._at_worst()),
            self._finishes.total(),
            dict(self._served),
            dict(self._finishes),
            self._unsaid,
        )

    def _at_worst(self) -> Iterator[tuple[str, float, float | None]]:
        """The primary measure of each task with failures, and its value if they all were the worst results."""
        for task, failed in self._failed.items():
            card = self._instrument.card.primary_of(task)
            found = self._bundle.summaries[task].measures if card else ()
            one = next((one for one in found if card and one.name == card.name and not one.group), None)
            if card is not None and one is not None and one.value is not None:
                worst = card.high if card.better == "lower" else card.low
                played = self._recomputed[task]
                mean = None if worst is None else (one.value * played + worst * failed) / (played + failed)
                yield f"{task}/{card.name}", one.value, mean

    def compare_setup(self) -> None:
        """Compare prompts, files, norms and repeats with those of this machine."""
        then, now = self._manifest, self._plan.described()
        if then.whose_items == "own":
            raise UsageError("the run used items of somebody's own (--data), which are not in the file.")
        if present_prompts(then.prompts_digest) != present_prompts(now.prompts_digest):
            raise UsageError(
                "the run used other prompts than this version of the instrument, which are not in the file; if they are"
                " not somebody's own, check it with the version that made it."
            )
        if then.data_files != now.data_files:
            raise FileMissing("files of the run are missing here, or differ")
        same = [(then.repeats, now.repeats, "repeats"), (then.official_files, now.official_files, "source of items")]
        same += [] if self.own_files else [(then.norms, public_norms(now), "norm")]
        if not then.config.settings.get("norm"):
            self._manifest = structs.replace(then, norms=now.norms)  # the file has only digests of an official one
        for before, here, what in same:
            if digest(before) != digest(here):
                raise Difference(self._path, f"the manifest's {what} is not what this version gives.")

    async def play(self) -> None:
        """Play and store everything, and compare the summaries."""
        run, then = self._bundle.run.id, self._bundle.run
        self._store.runs.create(self._manifest, self._bundle.root[:32], run=run, created=then.created)
        with self._store.hold(run):
            await self._episodes(run)
            self._store.flush()
            self._summaries(StoredRun(self._store, self._store.runs.get(run), self._instrument))

    async def _episodes(self, run: str) -> None:
        """Play every planned episode; only a run that stopped early may lack some, and none that its rule saw."""
        contents: dict[str, dict[str, bytes]] = {task: {} for task in self._manifest.config.tasks}
        complete: dict[str, set[int]] = {task: set() for task in contents}
        early, plan = self._manifest.config.until is not None, self._plan
        rows = self._bundle.rows()
        row, count = next(rows, None), 0
        for task in plan.tasks:
            for place, item in enumerate(plan.items(task)):
                contents[task.name][item.id] = item.content_digest()
                played, last = 0, -1
                while row is not None and (row.task, row.item) == (task.name, item.id):
                    if not last < row.repeat < plan.repeats(task.name):
                        raise Difference(self._path, f"the row {row.name} is not in the plan, or not in its place.")
                    await self._episode(run, task, place, item, row, new=played == 0)
                    played, last, count, row = played + 1, row.repeat, count + 1, next(rows, None)
                if played == plan.repeats(task.name):
                    complete[task.name].add(place)
                elif not early:
                    wanted = f"{task.name}/{item.id}"
                    lacks = f"{wanted} and what follows it in the plan is missing."
                    moved = row and f"the row {row.name} is not in its place; the plan has {wanted}."
                    raise Difference(self._path, moved or lacks)
        if row is not None:
            raise Difference(self._path, f"the row {row.name} is not in the plan, or not in its place.")
        found = {task: items_digest(items) for task, items in contents.items()}
        if found != self._manifest.items_digests or (not early and count != self._manifest.episodes):
            raise Difference(self._path, "the number or the digests of the items are not those of the manifest.")
        for name, items in contents.items() if early else ():
            self._compare_stopping(name, len(items), complete[name])

    async def _episode(
        self, run: str, task: Task[Any, Any], place: int, item: Item, row: BundledEpisode, *, new: bool
    ) -> None:
        if _stored_digest(item, task.item_type) != row.content:
            raise Difference(self._path, f"the item of the row {row.name} is not the one of the instrument.")
        episode, events = await self._played(task, item, row)
        if new:
            self._store.runs.add_item(run, row.task, place, item)
        self._store.episodes.add(run, row.task, episode, events)
        if self._store.writer.backlog > _BACKLOG:
            self._store.flush()

    def _compare_stopping(self, task: str, count: int, complete: set[int]) -> None:
        """The record of a stopping rule must fit the plan, and every item that the rule saw must be there."""
        until, stopping = self._manifest.config.until, self._bundle.summaries[task].stopping
        if until is None or stopping is None:
            raise Difference(self._path, f"the summary of {task} does not say when its rule stopped.")
        planned = blocks(count)
        fits = (
            self._manifest.shuffled.get(task) == count == stopping.items
            and stopping.blocks == planned
            and tuple(look.items for look in stopping.looks) == planned[: len(stopping.looks)]
            and stopping.against == until.against
            and stopping.widen >= 1
            and str(stopping).isprintable()
        )
        if not fits:
            raise Difference(self._path, f"the record of the stopping rule of {task} does not fit its plan.")
        if missing := set(order_of_play(count, self._manifest.config.seed)[: stopping.used]) - complete:
            said = (
                f"{len(missing)} of the {stopping.used} items of {task} that its rule saw are missing or lack a repeat."
            )
            raise Difference(self._path, said)

    async def _played(
        self, task: Task[Any, Any], item: Item, row: BundledEpisode
    ) -> tuple[Episode[Any, Any], tuple[Event, ...]]:
        """The episode as it was computed again, after comparing it with the row."""
        replies = _Replies(row.replies)
        played = await play_episode(self._plan, task, item, row.repeat, replies)
        problem = replies.differs or _problem(task, row, played, replies.unused)
        if problem:
            raise Difference(self._path, f"the row {row.name} differs: {problem}.")
        (self._recomputed if row.outcome else self._failed)[task.name] += 1
        self._unsaid += replies.unsaid
        for one in row.replies:
            self._note(one)
        episode = played.episode if row.outcome else structs.replace(played.episode, failure=row.failure)
        return episode, played.events

    def _note(self, one: BundledReply) -> None:
        """Count how a reply ended, and by which name its server called the model, if that is another one."""
        role = self._manifest.roles.get(one.role)
        if one.reply is None or role is None:
            return
        self._finishes[one.reply.finish] += 1
        claimed, served = (name.lower().rpartition("/")[2] for name in (role.identity.name, one.reply.served_model))
        if served and claimed not in served and served not in claimed:
            self._served[f"{one.role} {role.label}: {one.reply.served_model}"] += 1

    def _summaries(self, run: StoredRun) -> None:
        for task in run.tasks:
            given = self._bundle.summaries[task]
            made = run.keep_summary(task, given.stopping)
            for mine, theirs in zip(made.measures, given.measures, strict=False):
                if not _same(mine, theirs):
                    group = ", ".join(mine.group.values())
                    name = f"{task}/{mine.name}" + (f" ({group})" if group else "")
                    raise Difference(self._path, f"the summary differs: {name}: {_change(mine, theirs)}.")
            if not given.tables:
                made = structs.replace(made, tables=())
            if self._manifest.sociometer_version != __version__:  # which may say the same in other words
                made = structs.replace(made, notes=given.notes)
            if not _same(made, given):
                raise Difference(self._path, f"the summary of {task} differs in its tables, notes or series.")


def _problem(task: Task[Any, Any], row: BundledEpisode, played: PlayedEpisode, unused: int) -> str:
    """How a row differs from what its replies give; empty if it does not."""
    episode = played.episode
    if not row.outcome:
        if episode.outcome is not None:
            return "it is given as failed, but its replies give a result"
        if row.failure is None or row.score is not None:
            return "it has neither a result nor a failure"
        return "" if re.fullmatch(_KIND, row.failure.kind) else "its failure is of no kind that Sociometer gives"
    if episode.outcome is None:
        return episode.failure.message if episode.failure else "it has no result"
    if unused:
        return f"{unused} of its replies answer no request"
    if _stored_digest(episode.outcome, task.outcome_type) != row.outcome:
        return "its replies give another outcome"
    if not _same(episode.score, row.score):
        mine, theirs = ({} if one is None else one.values for one in (episode.score, row.score))
        return f"its {changed}" if (changed := _change(mine, theirs)) else "its score is another one"
    kinds = ["" if one is None else one.kind for one in (episode.failure, row.failure)]
    return "" if kinds[0] == kinds[1] else "its failure is another one"


def _stored_digest(value: object, kind: type) -> str:
    """The digest of a value as the store gives it back: a whole number may have become a fraction."""
    return digest(msgspec.json.decode(msgspec.json.encode(value), type=kind))


def _same(mine: object, theirs: object) -> bool:
    """Whether two values are the same; numbers may differ in the last bits, as they do between processors."""
    return _close(msgspec.to_builtins(mine), msgspec.to_builtins(theirs))


def _change(mine: object, theirs: object) -> str:
    """The first difference of two records: “interval low is 0.1 instead of 0.2”."""
    ours, given = msgspec.to_builtins(mine), msgspec.to_builtins(theirs)
    if not isinstance(ours, dict) or not isinstance(given, dict):
        return f"is {given} instead of {ours}"
    different = (name for name in {**ours, **given} if not _close(ours.get(name), given.get(name)))
    return next((f"{name} {_change(ours.get(name), given.get(name))}" for name in different), "")


def _close(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, float) or isinstance(theirs, float):
        numbers = isinstance(mine, int | float) and isinstance(theirs, int | float)
        return numbers and math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
        return mine.keys() == theirs.keys() and all(_close(mine[name], theirs[name]) for name in mine)
    if isinstance(mine, list | tuple) and isinstance(theirs, list | tuple):
        return len(mine) == len(theirs) and all(map(_close, mine, theirs))
    return bool(mine == theirs)
