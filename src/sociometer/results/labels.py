"""The label of a run, the same on a terminal, a page and in a notebook."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from sociometer.core.conversation import SUBJECT
from sociometer.core.settings import SettingValue
from sociometer.store.stored_run import StoredRun

LONGEST_REMARK = 48
"""If the differing settings of a run are longer than this, its id replaces them in the label."""


def run_labels(runs: Sequence[StoredRun]) -> dict[str, str]:
    """The label of each run: its subject, with what differs between runs if the subject took a task more than once."""
    groups: dict[tuple[str, str], list[StoredRun]] = {}
    for run in runs:
        groups.setdefault((run.instrument, who(run)), []).append(run)
    remarks: dict[str, str] = {}
    for same in groups.values():
        often = Counter(task for run in same for task in run.tasks)
        facts = {run.id: _facts(run) for run in same if any(often[task] > 1 for task in run.tasks)}
        told = {run: _what_differs(mine, facts.values()) for run, mine in facts.items()}
        counts = Counter(told.values())
        remarks |= {
            run: run if len(remark) > LONGEST_REMARK or counts[remark] > 1 else remark for run, remark in told.items()
        }
    return {run.id: who(run) + (f" ({remarks[run.id]})" if remarks.get(run.id) else "") for run in runs}


def who(run: StoredRun) -> str:
    """The subject of a run in tables; one person is never all of them."""
    alone = run.subject == "human" and not run.people
    return f"one person ({printable(run.revision) or run.id})" if alone else printable(run.subject)


def _what_differs(mine: Mapping[str, SettingValue], others: Collection[Mapping[str, SettingValue]]) -> str:
    """What differs between a run and the others of its subject, in words: “condition anxiety, simulator gpt-4o”."""
    names = [name for name in mine if any(other.get(name) != mine[name] for other in others)]
    words = (name if mine[name] is True else f"{name} {setting_words(mine[name])}" for name in names if mine[name])
    return printable(", ".join(words))


def _facts(run: StoredRun) -> dict[str, SettingValue]:
    """What can differ between runs of a subject: settings, models in other roles, official items."""
    view = run.view(run.tasks[0])
    others = {role: name for role, name in view.roles.items() if role != SUBJECT}
    return {**view.settings, **others, "official items": run.official}


def printable(name: str) -> str:
    """A name as one line of text: unprintable characters (line separators, controls) become spaces."""
    return "".join(character if character.isprintable() else " " for character in name)


def setting_words(value: SettingValue) -> str:
    """The value of a setting as text."""
    return ", ".join(value) if isinstance(value, tuple) else str(value)
