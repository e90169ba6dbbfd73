"""Shows a run in progress: done, in flight, errors by kind, tokens, cost, rate, time left."""

import re
import shutil
import sys
import threading
from types import TracebackType

from sociometer.engine.runner import Ending
from sociometer.engine.tally import Tally

_REFRESH_SECONDS = 0.25
_PLAIN_SECONDS = 10.0


class Progress:
    """A live line on a terminal, a plain line now and then when piped, nothing when quiet; always on standard error."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty() and not quiet
        self._tally: Tally | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._join()

    def started(self, run: str, tally: Tally) -> None:
        """Begins to show a run."""
        if self._quiet:
            return
        sys.stderr.write(f"{run}  {tally.label}\n")
        self._tally = tally
        if tally.people:
            return
        self._stop.clear()
        self._thread = threading.Thread(target=self._watch, args=(tally,), name="progress", daemon=True)
        self._thread.start()

    def ended(self, run: str, ending: Ending) -> None:
        """Shows the last line of a run."""
        self._join()
        if self._quiet or self._tally is None:
            if ending.status == "failed":
                sys.stderr.write(f"failed: {ending.reason}\n")
            return
        if ending.status == "gone":
            return
        self._write(line(self._tally), last=True)
        said = how_it_ended(run, self._tally, ending)
        if said:
            sys.stderr.write(said + "\n")
        sys.stderr.flush()

    def _join(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _watch(self, tally: Tally) -> None:
        while not self._stop.wait(_REFRESH_SECONDS if self._live else _PLAIN_SECONDS):
            self._write(line(tally))

    def _write(self, text: str, last: bool = False) -> None:
        if self._live:
            # A line wider than the terminal would wrap and could not be drawn over.
            shown = text if last else text[: shutil.get_terminal_size().columns - 1]
            sys.stderr.write(f"\r\x1b[2K{shown}" + ("\n" if last else ""))
        else:
            sys.stderr.write(text + "\n")
        sys.stderr.flush()


def line(tally: Tally) -> str:
    """The present state in one line."""
    finished = tally.done + sum(tally.failed.values())
    parts = [f"{finished}/{tally.total} done"]
    if tally.in_flight:
        parts.append(f"{tally.in_flight} in flight")
    if tally.failed:
        parts.append("errors: " + ", ".join(f"{count} {kind}" for kind, count in sorted(tally.failed.items())))
    if tally.retries:
        parts.append(f"{tally.retries} retries")
    if tally.waiting_seconds > 2 and tally.state == "playing":
        parts.append(f"waiting {_duration(tally.waiting_seconds)}, as the server asked")
    if tally.from_journal:
        parts.append(f"{tally.from_journal} replies from the journal")
    budget = tally.budget
    if budget.requests:
        tokens = f"{budget.input_tokens + budget.output_tokens:,} tokens"
        parts.append(tokens + (f" ({budget.unmetered} replies unmetered)" if budget.unmetered else ""))
        parts.append(cost_in_words(budget.cost, budget.priced, budget.unpriced))
    parts.append(f"{tally.rate:.1f}/s")
    left = tally.seconds_left
    if left is not None and tally.state == "playing":
        parts.append(f"{_duration(left)} left")
    else:
        parts.append(_duration(tally.elapsed_seconds))
    return " · ".join(parts)


def how_it_ended(run: str, tally: Tally, ending: Ending) -> str:
    """What to do next after a run that did not simply finish; empty where there is nothing to do."""
    if ending.status == "stopped":
        cap = re.match(r"(--max-[a-z]+) ", ending.reason)
        more = f" {cap[1]} MORE" if cap else ""
        return f"stopped: {ending.reason.rstrip('.')}. Nothing is lost; play on with: sociometer resume {run}{more}"
    if ending.status == "failed":
        return f"failed: {ending.reason}\nMend it, then play on with: sociometer resume {run}"
    if tally.failed:
        kind, count = tally.failed.most_common(1)[0]
        told = f" ({tally.last_failure[kind]})" if kind in tally.last_failure else ""
        return f"{count} failed: {kind}{told}\nTry these again with: sociometer resume {run}"
    return ""


def cost_in_words(cost: float, priced: int, unpriced: int) -> str:
    """What was spent, and how much of it nobody can say."""
    if not priced and unpriced:
        return "cost unknown"
    known = f"${cost:.4f}" if cost >= 0.001 or not cost else f"${cost:.2g}"
    return known + (f" + {unpriced} unpriced" if unpriced else "")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
