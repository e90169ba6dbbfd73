"""From stored runs to the items of analyses: dialogues and contexts, drawn reproducibly."""

from collections.abc import Iterable, Iterator
from random import Random

from sociometer.core.command import Run
from sociometer.core.errors import UsageError
from sociometer.core.task import AnyRun
from sociometer.instruments.sage.analyses.stability import Context, contexts
from sociometer.instruments.sage.dialogue import REHEARSAL, Dialogue, StoredDialogue, is_rehearsed
from sociometer.instruments.sage.items import Scenario

_WITH_DIALOGUES = ("dialogue", "rejudge")


def dialogue_task(run: Run) -> str:
    """The task of a run that has dialogues of SAGE; a rehearsal is no run."""
    for task in _WITH_DIALOGUES:
        if task in run.tasks:
            if is_rehearsed(run.view(task).roles.get("simulator", "")):
                raise UsageError(
                    f"run {run.reference} is a {REHEARSAL}; play it with a simulator: --role simulator=MODEL."
                )
            return task
    contents = ", ".join(run.tasks) or "only numbers of an earlier version"
    raise UsageError(
        f"run {run.reference} contains {contents}, not dialogues; give a run of the task dialogue or rejudge."
    )


def stored_dialogues(run: Run) -> Iterator[StoredDialogue]:
    """The dialogues of a run, each under its scenario's id (and the number of its repeat after the first)."""
    return dialogues_of(run.view(dialogue_task(run)))


def dialogues_of(run: AnyRun) -> Iterator[StoredDialogue]:
    """The dialogues of a task of a run."""
    for episode in run.episodes():
        if not isinstance(episode.outcome, Dialogue):
            continue
        item = episode.item
        scenario = item.scenario if isinstance(item, StoredDialogue) else item
        if not isinstance(scenario, Scenario):
            continue
        name = scenario.id + (f"#{episode.repeat}" if episode.repeat else "")
        yield StoredDialogue(
            id=name,
            cluster=scenario.cluster or scenario.id,
            run=run.run,
            subject=run.subject,
            scenario=scenario,
            dialogue=episode.outcome,
        )


def some_dialogues(run: Run, count: int | None, seed: int) -> list[StoredDialogue]:
    """All dialogues of a run, or a number of them drawn by the seed, in their original order."""
    found = list(stored_dialogues(run))
    if not found:
        raise UsageError(f"run {run.reference} has no finished dialogue; play or import one first.")
    if count is None or count >= len(found):
        return found
    chosen = set(Random(f"sage/dialogues/{seed}").sample(sorted(each.id for each in found), count))
    return [each for each in found if each.id in chosen]


def some_contexts(
    dialogues: Iterable[StoredDialogue], count: int, seed: int, latter: float | None = None
) -> list[Context]:
    """Contexts drawn by the seed; with `latter`, that share of them from the second half of their dialogues."""
    every = [context for dialogue in dialogues for context in contexts(dialogue)]
    rng = Random(f"sage/contexts/{seed}")
    if latter is None:
        return rng.sample(every, min(count, len(every)))
    late = [context for context in every if context.latter]
    early = [context for context in every if not context.latter]
    wanted = round(count * latter)
    if wanted > len(late) or count - wanted > len(early):
        raise UsageError(
            f"{count} contexts with {latter:.0%} from second halves need {wanted} and {count - wanted}, but "
            f"there are {len(late)} and {len(early)}; ask for fewer or give more runs."
        )
    return [*rng.sample(late, wanted), *rng.sample(early, count - wanted)]


def simulator_of_run(run: Run) -> str:
    """The simulator's name in the dialogues, because a role can be written in two ways."""
    named = (each.dialogue.simulator for each in stored_dialogues(run))
    return next(filter(None, named), run.view(dialogue_task(run)).roles.get("simulator", "unnamed simulator"))
