"""The instrument's own commands for its stories and worlds."""

from collections import Counter
from collections.abc import Iterable

from sociometer.core.command import CommandContext
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.settings import Settings
from sociometer.instruments.egosocial import items
from sociometer.instruments.egosocial.games.blackjack.grading import grade
from sociometer.instruments.egosocial.scene import Scene
from sociometer.instruments.egosocial.stories.pairs import names_left
from sociometer.instruments.egosocial.stories.tomi import agreement_table, read_archive

__all__ = ["grade", "lint"]


def lint(context: CommandContext, options: Settings) -> Result:
    """Checks the bundled and generated scenes, and the official ToMi file if it is available."""
    source = context.source()
    scenes = {
        "generated": list(items.generated(source)),
        "counterfactual": list(items.counterfactual(source)),
        "worlds": list(items.worlds(source)),
        "customs": list(items.customs(source)),
    }
    archive = source.find(items.TOMI)
    if archive is not None:
        scenes["tomi"] = list(items.tomi(context.source(selection="all")))
    faults = [f"{name}: {fault}" for name, found in scenes.items() for fault in _faults(found)]
    tables = [_positions(name, found) for name, found in scenes.items()]
    if archive is not None:
        tables.append(agreement_table(read_archive(archive, source.settings.text("split"))))
    finding = f"{sum(map(len, scenes.values()))} items, {len(faults) or 'no'} faults."
    return Result(tables=tuple(tables), notes=tuple(faults), failed=bool(faults), finding=finding)


def _faults(scenes: list[Scene]) -> Iterable[str]:
    for name, count in Counter(scene.id for scene in scenes).items():
        if count > 1:
            yield f"id {name} appears {count} times"
    for scene in scenes:
        for telling in scene.tellings:
            text = "\n".join((telling.story, telling.question, *telling.options))
            if telling.name == "first" and scene.ego and names_left(text, scene.ego):
                yield f"{scene.id}: {scene.ego} is still named in the first person"
            if len(set(telling.options)) != len(telling.options):
                yield f"{scene.id}: two options are the same"


def _positions(name: str, scenes: list[Scene]) -> Table:
    places = Counter("ABCD"[scene.tellings[0].answer] for scene in scenes)
    return Table(
        f"positions-{name}",
        f"{name}: positions of right answers",
        ("position", "items"),
        tuple(sorted(places.items())),
    )
