"""The replies of a stored run, for players named `replay/RUN`."""

from collections.abc import Callable, Iterable, Iterator

from sociometer.core.errors import UsageError
from sociometer.core.transcript import Asked
from sociometer.engine.stored import Stored
from sociometer.models.replay import Recording

_PREFIX = "replay/"


def recorded_replies(open_run: Callable[[str], Stored], specs: Iterable[str]) -> Recording | None:
    """What was said in the run that a specification names, or None where nobody replays."""
    wanted = {spec.removeprefix(_PREFIX) for spec in specs if spec.startswith(_PREFIX)}
    if not wanted:
        return None
    if len(wanted) > 1:
        raise UsageError(f"only one run can be replayed at a time, not {', '.join(sorted(wanted))}.")
    run = open_run(wanted.pop())
    return Recording(run.id, _asked(run))


def _asked(run: Stored) -> Iterator[Asked]:
    for task in run.tasks:
        for episode in run.view(task).episodes():
            for event in run.transcript(task, episode.item.id, episode.repeat):
                if isinstance(event, Asked):
                    yield event
