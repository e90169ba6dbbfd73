"""`sociometer mcp`: functions of this process as tools for a coding agent, within limits that the user sets.

The agent's words become fields of a `RunConfig` and names of stored runs. They are never part of a command line.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec import Struct, field, structs

from sociometer.api import report
from sociometer.cli.compare import lacking_lines, show_compared, show_ranking
from sociometer.cli.list import list_what
from sociometer.cli.options import cap_options, open_engine, open_stored, store_option, store_path
from sociometer.cli.output import Display, option
from sociometer.cli.run import show_plan, show_played
from sociometer.cli.runs import show_runs
from sociometer.cli.show import find_episode, show_run
from sociometer.core.agent import AgentAnswer
from sociometer.core.config import Caps, RunConfig, split_spec
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import UsageError, hint, unknown
from sociometer.core.instrument import Result
from sociometer.core.lazy import require
from sociometer.core.measure import Table
from sociometer.engine.roles import READER
from sociometer.engine.run_options import make_config
from sociometer.instruments import card_of, cards, load
from sociometer.models.presets import PRESETS
from sociometer.models.registry import describe
from sociometer.reporting.chat import record_text, score_text, turns
from sociometer.results.choice import choose_by_words, choose_runs, without_short
from sociometer.results.runs import compare_runs
from sociometer.results.verdicts import Terms
from sociometer.store.place import StorePlace
from sociometer.store.records import RunStatus
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun


class _Collected(Display, frozen=True):
    """Keeps the result that a command would print."""

    results: list[Result] = field(default_factory=list)

    def show(self, tables: Any, *, finding: str = "", notes: Sequence[str] = (), **more: Any) -> None:
        self.results.append(Result(tuple(map(_without_details, tables)), tuple(notes), finding=finding))


def _without_details(table: Table) -> Table:
    return table.only([place for place, name in enumerate(table.columns) if name not in table.details])


class _Allotment(Struct):
    """What a run may still use of the ceilings: all that it was given while it plays, then what it has spent."""

    requests: int
    cost: float


class Functions:
    """The functions behind the tools (`core.agent.AgentTools`).

    `ceilings` hold for all that this process starts. If `models` are given, no others may be asked, except those that
    come with Sociometer and cost nothing. `folder` is for reports.
    """

    def __init__(self, store: StorePlace, ceilings: Caps, models: tuple[str, ...] = (), folder: Path | None = None):
        self._store, self._ceilings, self._models, self._folder = store, ceilings, models, folder
        self.reading = (self.listed, self.plan, self.show, self.compare)
        self.writing = () if folder is None else (self.report,)
        self.play = None if ceilings == Caps() else self._play
        self._allotted: list[_Allotment] = []

    def listed(self, what: str = "") -> AgentAnswer:
        """List the instruments; with what="models" the accepted models; with an instrument's name its tasks, measures
        and roles."""
        return _collected(lambda display: list_what(what or None, None, display))

    def plan(
        self, instrument: str, model: str, limit: int | None = None, task: str = "", roles: dict[str, str] | None = None
    ) -> AgentAnswer:
        """Estimate the requests and the cost of a run. Nothing is sent. The arguments are those of 'run'."""
        with open_engine(self._store) as engine:
            plans = engine.plans([self._config(instrument, model, limit, task, roles or {}, Caps())], sends=False)
            return _collected(lambda display: show_plan(engine, plans, display))

    async def _play(
        self,
        instrument: str,
        model: str,
        limit: int | None,
        task: str,
        roles: dict[str, str] | None,
        max_cost: float | None,
        max_requests: int | None,
    ) -> AgentAnswer:
        given = _lower(Caps(max_cost, max_requests), self._ceilings)
        with open_engine(self._store) as engine:
            config = self._config(instrument, model, limit, task, roles or {}, given)
            plan = await asyncio.to_thread(engine.plan, config)
            earlier = engine.earlier(plan)
            requests, _, cost = engine.store.journal.spent_at_most(earlier.id) if earlier else (0, 0, 0.0)
            left = self._left()
            # What the run spent before this server started counts against the agent's limit, not against the user's.
            caps = _lower(given, _sum(left, requests, cost))
            stored = engine.prepare(structs.replace(plan, config=structs.replace(plan.config, caps=caps)))
            mine = _Allotment(max(0, (caps.max_requests or 0) - requests), max(0.0, (caps.max_cost or 0.0) - cost))
            self._allotted.append(mine)
            try:
                played = await engine.play(stored)
            finally:
                now = engine.store.journal.spent_at_most(stored.run.id)
                mine.requests, mine.cost = max(0, now[0] - requests), max(0.0, now[2] - cost)
            answer = _collected(lambda display: show_played([played.run], display))
            ending = f"{played.ending.status}" + (f": {played.ending.reason}" if played.ending.reason else "")
            return structs.replace(answer, result=structs.replace(answer.result, notes=(ending, _said(caps))))

    def runs(self) -> AgentAnswer:
        return _collected(lambda display: show_runs(False, 0.0, self._store, display))

    def progress(self) -> dict[str, tuple[int, int]]:
        if not self._store.exists():
            return {}
        with Store(self._store) as store:
            playing = store.runs.found(RunSearch(status=RunStatus.PLAYING))
            return {one.id: (sum(store.episodes.counts(one.id)), one.manifest.episodes) for one in playing}

    def show(self, run: str, item: str = "") -> AgentAnswer:
        """Show the scores of a run, or one item of it turn by turn. `run` is an id or 'last'."""
        with open_stored(self._store) as engine:
            stored = engine.stored(run)
            if not item:
                return _collected(lambda display: show_run(stored, None, display))
            return _transcript(stored, item)

    def compare(self, runs: list[str], task: str = "", margin: float | None = None) -> AgentAnswer:
        """Compare two runs item by item: the first line is the verdict on the second run against the first. Three or
        more runs are ranked. Differences are the second run minus the first, with 95 % intervals. `margin` is the
        smallest difference that matters; without it no two runs are called equal."""
        with open_stored(self._store) as engine:
            chosen = choose_by_words(engine.store, load, cards(), tuple(runs), one_kind=True)
            if margin is None and (len(chosen.runs) != 2 or len(runs) != 2):
                answer = _collected(lambda display: show_ranking(chosen, task, "", display))
                lines = list(chosen.notes)
            else:
                compared = compare_runs(chosen.runs, task, Terms(margin=margin))
                answer = _collected(lambda display: show_compared(compared.comparisons, display))
                lines = [*chosen.notes, *lacking_lines(compared.lacking)]
        result = structs.replace(answer.result, notes=(*answer.result.notes, *lines))
        return structs.replace(answer, result=result)

    def report(self, runs: list[str], name: str = "report") -> AgentAnswer:
        """Write one HTML page about runs into the user's folder; `name` is the file's name without its ending."""
        if self._folder is None or not re.fullmatch(r"\w[\w-]{0,99}", name):
            raise UsageError(f"'{name}' is not a file name; use letters, digits, '-' and '_'.")
        with open_stored(self._store) as engine:
            chosen, left = without_short(choose_runs(engine.store, load, tuple(runs)).runs)
            path = report(chosen, self._folder / f"{name}.html")
        return AgentAnswer(Result(notes=tuple(f"Left out: {why}." for why in left), wrote=(str(path),)))

    def _config(
        self, instrument: str, model: str, limit: int | None, task: str, given: dict[str, str], caps: Caps
    ) -> RunConfig:
        """The configuration of a run, if its models are allowed and its roles are on the instrument's card."""
        card = card_of(instrument)
        roles = {READER.name, *(role.name for role in card.role)} - {SUBJECT}
        for role in given:
            if role not in roles:
                raise unknown("role", role, roles)
        for one in (model, *given.values()):
            self._refuse_model(one)
        options = {"tasks": (task,) if task else (), "limit": limit, "roles": given}
        return make_config(card, model, **options, **structs.asdict(caps))  # type: ignore[arg-type]

    def _refuse_model(self, model: str) -> None:
        """Raise a UsageError, unless the user named the model, or it needs no address, no file and no code."""
        name, address, _ = split_spec(model)
        family = name.partition("/")[0]
        bundled = {one.spec for one in describe() if one.ready is not None and family in ("local", "recorded")}
        free = not address and "://" not in model and (family == "baseline" or name in bundled)
        hosted = not address and "://" not in model and family in PRESETS and not self._models
        if not (model in self._models or free or hosted):
            raise UsageError(
                f"the model '{model}' is not allowed here. Use one that 'list' names, or ask the user to allow it at"
                f" the start: {hint('mcp --model', model)}."
            )

    def _left(self) -> Caps:
        """What is left of the ceilings, less what runs in progress may use; a UsageError if nothing is."""
        cost, requests = self._ceilings.max_cost, self._ceilings.max_requests
        left = Caps(
            None if cost is None else max(0.0, cost - sum(one.cost for one in self._allotted)),
            None if requests is None else max(0, requests - sum(one.requests for one in self._allotted)),
        )
        if left.max_cost == 0 or left.max_requests == 0:
            raise UsageError(
                f"nothing is left of the user's limit ({_said(self._ceilings)}); runs in progress keep what they may"
                " use until they end. Wait for them, or ask the user for a higher limit."
            )
        return left


def _transcript(stored: StoredRun, item: str) -> AgentAnswer:
    """One item turn by turn; everything that a model or a server may have written is apart."""
    task, episode = find_episode(stored, item, None, 0)
    said = [f"{turn.speaker}: {turn.text.strip()}" for turn in turns(stored.transcript(item, task), stored.subject)]
    if episode.failure is not None:
        said.append(f"failed ({episode.failure.kind}): {episode.failure.message}")
    if episode.outcome is not None:
        said.append(f"outcome: {record_text(episode.outcome)}")
    notes = () if episode.score is None else (f"score: {score_text(episode.score)}",)
    return AgentAnswer(Result(notes=notes, finding=f"{stored.reference} · {task} · {item}"), "\n\n".join(said))


def _collected(show: Callable[[_Collected], object]) -> AgentAnswer:
    display = _Collected()
    show(display)
    return AgentAnswer(display.results[-1])


def _lower(caps: Caps, others: Caps) -> Caps:
    """The lower of both limits of each kind."""
    pairs = zip(structs.astuple(caps), structs.astuple(others), strict=True)
    return Caps(*(min((cap for cap in pair if cap is not None), default=None) for pair in pairs))


def _sum(caps: Caps, requests: int, cost: float) -> Caps:
    """The limits raised by what was spent before."""
    return Caps(
        None if caps.max_cost is None else caps.max_cost + cost,
        None if caps.max_requests is None else caps.max_requests + requests,
    )


def _said(caps: Caps) -> str:
    said = [] if caps.max_cost is None else [f"${caps.max_cost:g}"]
    said += [] if caps.max_requests is None else [f"{caps.max_requests:,} requests"]
    return f"limit: {' and '.join(said)}"


def _serve(
    to: Path | None,
    models: tuple[str, ...],
    max_cost: float | None,
    max_requests: int | None,
    store: StorePlace | None,
) -> None:
    functions = Functions(store_path(store), Caps(max_cost, max_requests), models, to)
    require("mcp", "sociometer.adapters.mcp_server").Server(functions).server().run()


command = click.Command(
    "mcp",
    callback=_serve,
    params=[
        option(
            "--to",
            "Folder for reports; without it there is no tool for reports.",
            type=click.Path(path_type=Path, file_okay=False, exists=True, resolve_path=True),
        ),
        option(
            "--model models",
            "Model that the agent may use, as openai/NAME or vllm/NAME@URL; repeat for several [default: every model of"
            " a provider].",
            multiple=True,
            metavar="MODEL",
        ),
        *(one for one in cap_options("counting everything that this server starts") if one.name != "max_tokens"),
        store_option(),
    ],
    help="Serve list, plan, run, runs, show, compare and report as tools for a coding agent, over standard input and"
    " output (Model Context Protocol). Without --max-cost or --max-requests there is no tool that sends anything. Needs"
    " the extra 'mcp'.",
)
