"""Shows a run in progress: done, in flight, errors by kind, tokens, cost, rate, time left."""

from __future__ import annotations

import shutil
import sys
import threading
from typing import TYPE_CHECKING

from sociometer.store.records import RunStatus

if TYPE_CHECKING:
    # `runs` needs only the words for a cost; the engine behind these types takes longer to load than `runs` to answer.
    from types import TracebackType

    from sociometer.engine.progress import Progress
    from sociometer.engine.runner import Ending

_REFRESH_SECONDS = 0.25
_PLAIN_SECONDS = 10.0


class ProgressDisplay:
    """A live line on a terminal, a plain line now and then when piped, nothing when quiet; always on standard error."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty() and not quiet
        self._progress: Progress | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> ProgressDisplay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._join()

    def started(self, run: str, progress: Progress) -> None:
        """Begins to show a run."""
        if self._quiet:
            return
        sys.stderr.write(f"{run}  {progress.label}\n")
        self._progress = progress
        if progress.people:
            return
        self._stop.clear()
        self._thread = threading.Thread(target=self._watch, args=(progress,), name="progress", daemon=True)
        self._thread.start()

    def ended(self, run: str, ending: Ending) -> None:
        """Shows the last line of a run."""
        self._join()
        if self._quiet or self._progress is None:
            if ending.status is RunStatus.FAILED:
                sys.stderr.write(f"failed: {ending.reason}\n")
            return
        if not ending.kept:
            return
        self._write(line(self._progress), last=True)
        for said in (*self._progress.warnings, how_it_ended(run, self._progress, ending)):
            if said:
                sys.stderr.write(said + "\n")
        sys.stderr.flush()

    def _join(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _watch(self, progress: Progress) -> None:
        while not self._stop.wait(_REFRESH_SECONDS if self._live else _PLAIN_SECONDS):
            self._write(line(progress))

    def _write(self, text: str, last: bool = False) -> None:
        if self._live:
            # A line wider than the terminal would wrap and could not be drawn over.
            shown = text if last else text[: shutil.get_terminal_size().columns - 1]
            sys.stderr.write(f"\r\x1b[2K{shown}" + ("\n" if last else ""))
        else:
            sys.stderr.write(text + "\n")
        sys.stderr.flush()


def line(progress: Progress) -> str:
    """The present state in one line."""
    finished = progress.done + sum(progress.failed.values())
    parts = [f"{finished}/{progress.total} done"]
    if progress.in_flight:
        parts.append(f"{progress.in_flight} in flight")
    if progress.failed:
        parts.append("errors: " + ", ".join(f"{count} {kind}" for kind, count in sorted(progress.failed.items())))
    if progress.retries:
        parts.append(f"{progress.retries} retries")
    if progress.waiting_seconds > 2 and progress.status is RunStatus.PLAYING:
        parts.append(f"waiting {_duration(progress.waiting_seconds)}, as the server asked")
    if progress.from_journal:
        parts.append(f"{progress.from_journal} replies from the journal")
    spent = progress.budget.spent
    if spent.requests:
        tokens = f"{spent.input_tokens + spent.output_tokens:,} tokens"
        parts.append(tokens + (f" ({spent.unmetered} replies unmetered)" if spent.unmetered else ""))
        parts.append(cost_in_words(spent.cost, spent.priced, spent.unpriced, spent.charged_cost))
    parts.append(f"{progress.rate:.1f}/s")
    left = progress.seconds_left
    if left is not None and progress.status is RunStatus.PLAYING:
        parts.append(f"{_duration(left)} left")
    else:
        parts.append(_duration(progress.elapsed_seconds))
    return " · ".join(parts)


def how_it_ended(run: str, progress: Progress, ending: Ending) -> str:
    """What to do next after a run that did not simply finish; empty where there is nothing to do."""
    if ending.status is RunStatus.STOPPED:
        more = f" {ending.cause} MORE" if ending.cause is not None and ending.cause.is_cap else ""
        return f"stopped: {ending.reason.rstrip('.')}. Nothing is lost; play on with: sociometer resume {run}{more}"
    if ending.status is RunStatus.FAILED:
        return f"failed: {ending.reason}\nMend it, then play on with: sociometer resume {run}"
    if progress.failed:
        kind, count = progress.failed.most_common(1)[0]
        told = f" ({progress.last_failure[kind]})" if kind in progress.last_failure else ""
        return f"{count} failed: {kind}{told}\nTry these again with: sociometer resume {run}"
    return ""


def cost_in_words(cost: float, priced: int, unpriced: int, charged: float = 0.0) -> str:
    """What was spent, and how much of it nobody can say; `charged` is the worst case of what no server reported."""
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
