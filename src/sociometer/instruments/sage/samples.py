"""From stored runs to the items of analyses: dialogues and contexts, drawn reproducibly."""

from collections.abc import Iterable, Iterator, Sequence
from random import Random

from sociometer.core.errors import UsageError
from sociometer.instruments.sage.analyses.stability import Context, contexts
from sociometer.instruments.sage.dialogue import Dialogue, StoredDialogue
from sociometer.instruments.sage.items import Scenario
from sociometer.store.stored_run import StoredRun

_WITH_DIALOGUES = ("dialogue", "rejudge")


def dialogue_task(run: StoredRun) -> str:
    """The task of a run that holds dialogues."""
    for task in _WITH_DIALOGUES:
        if task in run.tasks:
            return task
    raise UsageError(
        f"run {run.id} contains {', '.join(run.tasks)}, not dialogues; give a run of the task dialogue or rejudge."
    )


def stored_dialogues(run: StoredRun) -> Iterator[StoredDialogue]:
    """The dialogues of a run, each under its scenario's id (and the number of its repeat after the first)."""
    for episode in run.view(dialogue_task(run)).episodes():
        if not isinstance(episode.outcome, Dialogue):
            continue
        item = episode.item
        scenario = item.scenario if isinstance(item, StoredDialogue) else item
        if not isinstance(scenario, Scenario):
            continue
        yield StoredDialogue(
            id=scenario.id + (f"#{episode.repeat}" if episode.repeat else ""),
            cluster=scenario.cluster or scenario.id,
            run=run.id,
            subject=run.subject,
            scenario=scenario,
            dialogue=episode.outcome,
        )


def some_dialogues(run: StoredRun, count: int | None, seed: int) -> list[StoredDialogue]:
    """All dialogues of a run, or a number of them drawn by the seed."""
    found = list(stored_dialogues(run))
    if not found:
        raise UsageError(f"run {run.id} has no finished dialogue; play or import one first.")
    return drawn(found, count, seed)


def drawn(dialogues: list[StoredDialogue], count: int | None, seed: int) -> list[StoredDialogue]:
    """A number of dialogues drawn by the seed, in their original order; all without a count."""
    if count is None or count >= len(dialogues):
        return dialogues
    names = sorted(each.id for each in dialogues)
    chosen = set(Random(f"sage/dialogues/{seed}").sample(names, count))
    return [each for each in dialogues if each.id in chosen]


def some_contexts(dialogues: Iterable[StoredDialogue], count: int, latter: float | None, seed: int) -> list[Context]:
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


def simulator_of_run(run: StoredRun) -> str:
    """The simulator's name in the dialogues, because a role can be typed in two ways."""
    named = (each.dialogue.simulator for each in stored_dialogues(run))
    return next(filter(None, named), run.view(dialogue_task(run)).roles.get("simulator", "unnamed simulator"))


def finals(run: StoredRun) -> dict[str, float]:
    """The final emotion by scenario, repeats averaged."""
    values: dict[str, list[float]] = {}
    for each in stored_dialogues(run):
        values.setdefault(each.scenario.id, []).append(float(each.dialogue.final))
    return {name: sum(found) / len(found) for name, found in values.items()}


def typical(dialogues: Sequence[StoredDialogue]) -> StoredDialogue:
    """The dialogue whose final emotion is nearest to the mean of all, with the most turns among equals."""
    mean = sum(each.dialogue.final for each in dialogues) / len(dialogues)
    return min(dialogues, key=lambda each: (abs(each.dialogue.final - mean), -len(each.dialogue.turns), each.id))
