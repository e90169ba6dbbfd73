"""Shows long work in progress: a bar for each run and one for all of them, on a terminal; plain lines when piped."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from sociometer.core.errors import FailureKind, StopCause, hint
from sociometer.core.hints import in_python
from sociometer.core.lazy import lazy
from sociometer.core.words import counted
from sociometer.store.records import RunStatus

rich_console = lazy("rich.console")
rich_progress = lazy("rich.progress")
rich_table = lazy("rich.table")
rich_text = lazy("rich.text")

if TYPE_CHECKING:
    # `runs` needs only the words for a cost; the engine behind these types takes longer to load than `runs` to answer.
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType

    from rich.progress import Progress as Bars

    from sociometer.engine.progress import Progress
    from sociometer.engine.runner import Ending

Item = TypeVar("Item")
_REFRESH_SECONDS = 0.25
_PLAIN_SECONDS = 10.0
_RUNS_TOLD = 8
"""With more runs than this, only runs with problems print a line."""


class ProgressDisplay:
    """Bars on a terminal, a plain line now and then when piped, problems only when quiet; always on standard error."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty() and not quiet
        self._progress: Progress | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._bars: Bars | None = None
        self._runs = 0
        self._ended = 0

    def __enter__(self) -> ProgressDisplay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._join()
        self._close()

    def expect(self, runs: int, said: str = "") -> None:
        """Set the number of runs for the bar of all runs, after a line about them."""
        self._runs = runs
        if said and not self._quiet:
            sys.stderr.write(f"{said}\n")

    def started(self, run: str, progress: Progress) -> None:
        self._progress = progress
        if self._quiet:
            return
        if not self._live:
            sys.stderr.write(f"{run}  {progress.label}\n")
        if self._live:
            self._open(progress.label)
        self._stop.clear()
        self._thread = threading.Thread(target=self._watch, args=(progress,), name="progress", daemon=True)
        self._thread.start()

    def ended(self, run: str, ending: Ending) -> None:
        self._join()
        if self._bars is not None and self._progress is not None:
            self._draw(self._bars, self._progress)
        self._ended += 1
        if not ending.kept:
            sys.stderr.write(f"{run}  is not stored: nothing was answered\n" * (not self._quiet and not self._live))
            self._close()  # it would draw over the error
            return
        if self._progress is None:
            sys.stderr.write(f"failed: {ending.reason}\n" * (ending.status is RunStatus.FAILED))
            return
        said = "\n".join(filter(None, (*self._progress.warnings, how_it_ended(self._progress, ending, run))))
        if self._bars is None:
            told = (said,) if self._quiet else (line(self._progress), said)
            sys.stderr.write("".join(f"{text}\n" for text in told if text))
            sys.stderr.flush()
            return
        if self._runs <= _RUNS_TOLD or said:
            self._tell(f"{run}  {self._progress.label}  {line(self._progress)}")
        if said:
            self._tell(said)
        if self._ended >= self._runs:
            self._close()

    def _open(self, label: str) -> None:
        """Draws the bar of this run in place of that of the last one, above the bar of all runs."""
        name = _short(rich_text.Text(label).plain)
        if self._bars is None:
            self._bars = _bars()
            self._bars.start()
            self._bars.add_task(name, total=None, info="", left="")
            self._bars.add_task("all runs", total=self._runs or None, info="", left="", visible=self._runs > 1)
        self._bars.update(self._bars.task_ids[0], description=name, completed=0)

    def _tell(self, text: str) -> None:
        """A line that stays, above the bars."""
        if self._bars is not None:
            self._bars.console.print(rich_text.Text(text), soft_wrap=True)

    def _close(self) -> None:
        if self._bars is not None:
            self._bars.stop()
            self._bars = None

    def _join(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _watch(self, progress: Progress) -> None:
        notebook = "ipykernel" in sys.modules  # shows a line in place of the one before
        while not self._stop.wait(_REFRESH_SECONDS if self._live or notebook else _PLAIN_SECONDS):
            if self._bars is None:
                sys.stderr.write(f"{line(progress):<100}\r" if notebook else line(progress) + "\n")
                sys.stderr.flush()
            else:
                self._draw(self._bars, progress)

    def _draw(self, bars: Bars, progress: Progress) -> None:
        finished = progress.done + sum(progress.failed.values())
        current, every = bars.task_ids[:2]
        left, *facts = reversed(list(_facts(progress)))
        bars.update(current, completed=finished, total=progress.total, left=left, info=" · ".join(reversed(facts)))
        share = finished / progress.total if progress.total else 0.0
        told = f"{self._ended} of {self._runs} runs done" if self._runs else ""
        bars.update(every, completed=self._ended + share, info=told)
        bars.refresh()


def _bars() -> Bars:
    """Bars on standard error that redraw only when told to; on a narrow terminal only the last column is cut."""
    whole = rich_table.Column(no_wrap=True)
    name, left = (
        rich_progress.TextColumn(f"{{task.{field}}}", markup=False, table_column=whole)
        for field in ("description", "fields[left]")
    )
    info = rich_progress.TextColumn(
        "{task.fields[info]}", markup=False, table_column=rich_table.Column(no_wrap=True, overflow="ellipsis", ratio=1)
    )
    bar = rich_progress.BarColumn(bar_width=20, table_column=rich_table.Column(min_width=20))
    columns: tuple[Any, ...] = (name, bar, rich_progress.TaskProgressColumn(), left, info)
    made: Bars = rich_progress.Progress(
        *columns, console=rich_console.Console(stderr=True), auto_refresh=False, transient=True, expand=True
    )
    return made


def _short(name: str) -> str:
    """A name for a bar that leaves room for the bar; what is left out of its middle is an ellipsis."""
    most = max(12, min(30, shutil.get_terminal_size().columns - 46))
    return name if len(name) <= most else f"{name[: most - most // 3 - 1]}…{name[-(most // 3) :]}"


def track(items: Sequence[Item], label: str, quiet: bool = False) -> Iterator[Item]:
    """The items one after another, with a bar on a terminal and a plain line now and then when piped."""
    if quiet or (len(items) < 2 and sys.stderr.isatty()):
        yield from items
        return
    if not sys.stderr.isatty():
        told = time.monotonic()
        for place, item in enumerate(items):
            if time.monotonic() - told >= _PLAIN_SECONDS:
                told = time.monotonic()
                sys.stderr.write(f"{label}: {place} of {len(items)} done\n")
                sys.stderr.flush()
            yield item
        return
    with _bars() as bars:
        task = bars.add_task(_short(label), total=len(items), info="", left="")
        for place, item in enumerate(items):
            bars.update(task, completed=place, info=f"{place} of {len(items)}")
            bars.refresh()
            yield item


@contextmanager
def downloads() -> Iterator[Callable[[str, int, int | None], None]]:
    """A function that shows the downloaded bytes of each file, as one bar per file on a terminal."""
    if not sys.stderr.isatty():
        yield lambda name, done, total: None
        return
    bars = _bars()
    tasks: dict[str, Any] = {}

    def told(name: str, done: int, total: int | None) -> None:
        if name not in tasks:
            tasks[name] = bars.add_task(_short(name), total=total, info="", left="")
        bars.update(tasks[name], completed=done, total=total, info=f"{done / 1e6:,.1f} MB")
        bars.refresh()

    with bars:
        yield told


@contextmanager
def working(label: str) -> Iterator[None]:
    """A spinner on a terminal, for work of unknown length."""
    if not sys.stderr.isatty():
        yield
        return
    with rich_console.Console(stderr=True).status(f"{label} …"):
        yield


def line(progress: Progress) -> str:
    """The present state in one line."""
    finished = progress.done + sum(progress.failed.values())
    return " · ".join([f"{finished}/{progress.total} done", *_facts(progress)])


def _facts(progress: Progress) -> Iterable[str]:
    """What is in flight, what failed, what was spent, how fast it goes and how long it takes."""
    if progress.in_flight:
        yield f"{progress.in_flight} in flight"
    if progress.replicas > 1:
        written = progress.budget.spent.output_tokens - progress.budget.written_before
        yield f"{progress.replicas} replicas, {written / progress.elapsed_seconds:,.0f} tokens/s"
    if progress.failed:
        alone = len(progress.failed) == 1
        kinds = (kind if alone else f"{count} {kind}" for kind, count in sorted(progress.failed.items()))
        yield f"{progress.done} scored, {progress.failed.total()} failed: {', '.join(kinds)}"
    if progress.retries:
        yield f"{progress.retries} retries"
    if progress.waiting_seconds > 2 and progress.status is RunStatus.PLAYING:
        yield f"waiting {_duration(progress.waiting_seconds)} as {progress.waits_for} asked"
    if progress.done_before:
        before = f"{progress.done_before} of them played before"
        yield "all of them played before: nothing was left to do" if progress.done_before == progress.total else before
    if progress.from_journal:
        yield counted(progress.from_journal, "reply", "replies") + " from the journal"
    spent = progress.budget.spent
    tokens = spent.input_tokens + spent.output_tokens
    if tokens or spent.priced or spent.charged_tokens or progress.without_usage:  # a function counts none
        uncounted = f" ({spent.unmetered} replies without a token count)" if spent.unmetered else ""
        yield f"{tokens:,} tokens{uncounted}"
        yield cost_in_words(spent.cost, spent.priced, spent.unpriced, spent.charged_cost)
    if progress.rate:
        yield f"{progress.rate:.1f}/s" if progress.rate >= 0.1 else f"{progress.rate * 60:.1f}/min"
    left = progress.seconds_left
    if left is not None and progress.status is RunStatus.PLAYING:
        yield f"{_duration(left)} left"
    else:
        yield _duration(progress.elapsed_seconds)


def how_it_ended(progress: Progress, ending: Ending, run: str) -> str:
    """What to do next after a run with problems; empty if there is nothing to do."""
    reason = ending.reason.rstrip(".")
    if ending.cause is StopCause.LOST:  # the error says what to do
        return ""
    if ending.cause in (StopCause.CUT_OFF, StopCause.UNREADABLE):  # more of the same helps nobody
        rest = progress.resume if progress.done < progress.total else None
        as_it_is = f"\nTo play the rest as it is: {rest()}" if rest else ""
        return f"stopped: {reason}.\nTo see the replies: {hint('show', run, '--items')}{as_it_is}"
    more = (ending.cause, "MORE") if ending.cause is not None and ending.cause.is_cap else ()
    repeat = "repeat the call" if in_python() else "repeat the command"
    next_step = (
        f"continue with: {progress.resume(*more)}"
        if progress.resume
        else repeat + f" with {' '.join(more)}" * bool(more)
    )
    if ending.status is RunStatus.STOPPED:
        return f"stopped: {reason}. Nothing is lost; {next_step}"
    if ending.status is RunStatus.FAILED:
        return f"failed: {ending.reason}\nFix this, then {next_step}"
    if progress.failed:
        kind, count = progress.failed.most_common(1)[0]
        told = f" ({progress.last_failure[kind]})" if kind in progress.last_failure else ""
        again = f"Retry with: {progress.resume()}" if progress.resume else f"To retry, {repeat}"
        return f"{count} failed: {kind}{told}\n{instead_of(kind) or again}"
    return ""


def instead_of(kind: str) -> str:
    """What to do in place of a retry, which uses the stored replies again; empty if a failure may pass."""
    what, _, role = kind.rpartition(" ")
    given = f"roles={{'{role}': MODEL}}" if in_python() else f"--role {role}=MODEL"
    return f"A retry would use the same replies; give another model: {given}" if what == FailureKind.UNREADABLE else ""


def cost_in_words(cost: float, priced: int, unpriced: int, charged: float = 0.0) -> str:
    """The known cost and the unknown part; `charged` is the worst case of requests whose usage was not reported."""
    if not priced and unpriced:
        return "cost unknown"
    known = f"${cost:.4f}" if cost >= 0.001 or not cost else f"${cost:.2g}"
    unreported = f" + up to ${charged:.4f} not reported" if charged else ""
    return known + unreported + (f" + {unpriced} unpriced" if unpriced else "")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
