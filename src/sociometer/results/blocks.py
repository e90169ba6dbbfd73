"""Which results are shown together: those on one form, and beside them what can be compared with them."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.core.task import AnyRun
from sociometer.core.words import grouped


class Blocks(Struct, frozen=True):
    """The results of tasks in groups that are compared, and those that no other can be compared with."""

    together: tuple[tuple[AnyRun, ...], ...]
    alone: tuple[AnyRun, ...] = ()


def blocks(candidates: Sequence[AnyRun]) -> Blocks:
    """The results of each task, grouped by what was asked; nothing chooses between forms.

    Results on one form are a group. A result on a form of its own joins the only group that it can be compared with,
    unless its subject is there already; so do the people of a study, who are asked in their own words. Where no two
    subjects were asked the same, all that can be compared are one group.
    """
    together: list[tuple[AnyRun, ...]] = []
    alone: list[AnyRun] = []
    by_task = grouped(((one.card.name, one.task), one) for one in candidates)
    for of_task in by_task.values():
        groups: list[list[AnyRun]] = []
        for comparable in grouped((one.form.key("pair"), one) for one in of_task).values():
            made, left = _of_one_kind(comparable)
            groups += made
            alone += left
        together += [tuple(group) for group in groups]
    return Blocks(tuple(together), tuple(alone))


def _of_one_kind(comparable: Sequence[AnyRun]) -> tuple[list[list[AnyRun]], list[AnyRun]]:
    """The groups of results that can all be compared, and those that are in none."""
    if len(comparable) < 2:
        return [], list(comparable)
    models = [one for one in comparable if not one.people]
    people = [one for one in comparable if one.people]
    tables = list(grouped((one.form.key("table"), one) for one in models).values())
    groups = [members for members in tables if len(_subjects(members)) > 1 or (people and len(tables) == 1)]
    singles = [one for members in tables if members not in groups for one in members]
    if not groups:
        return [list(comparable)], []
    left = singles
    if len(groups) == 1:
        present = _subjects(groups[0])
        joining = [one for one in singles if _who(one) not in present]
        left = [one for one in singles if _who(one) in present]
        groups = [[*groups[0], *joining]]
    order = {id(one): place for place, one in enumerate(comparable)}
    return [sorted([*group, *people], key=lambda one: order[id(one)]) for group in groups], left


def _who(one: AnyRun) -> str:
    return one.name or one.subject


def _subjects(members: Sequence[AnyRun]) -> set[str]:
    return {_who(one) for one in members}
