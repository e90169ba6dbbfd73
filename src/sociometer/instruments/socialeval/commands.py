"""The instrument's own commands: lint, draw and build; blind, review and inside have their own files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from sociometer.core.command import CommandContext
from sociometer.core.errors import UsageError, unknown
from sociometer.core.instrument import Result
from sociometer.core.measure import Figure, Table
from sociometer.core.settings import Settings
from sociometer.instruments.socialeval import items
from sociometer.instruments.socialeval.blind import blind
from sociometer.instruments.socialeval.build import parts
from sociometer.instruments.socialeval.build.drafts import STAGES, Draft, StageName, read_brief
from sociometer.instruments.socialeval.drawing import draw_tree, page
from sociometer.instruments.socialeval.inside.command import inside as inside
from sociometer.instruments.socialeval.items import read_tree_file
from sociometer.instruments.socialeval.lint import MEANINGS, Finding, statistics_table
from sociometer.instruments.socialeval.lint import lint as lint_trees
from sociometer.instruments.socialeval.lint import review as review
from sociometer.instruments.socialeval.solution import solve
from sociometer.instruments.socialeval.worldtree import Tree
from sociometer.statistics.formatting import number

__all__ = ["blind", "build", "draw", "lint", "review"]

_NAMED = 6


def lint(context: CommandContext, options: Settings) -> Result:
    """Every finding with file and node, and a count by kind; the exit code is 1 if there are any."""
    files = options.texts("files")
    trees = items.given_trees(files) if files else items.trees(context.source())
    wanted = options.texts("kind")
    for kind in wanted:
        if kind not in MEANINGS:
            raise unknown("kind of finding", kind, MEANINGS)
    found = [finding for finding in lint_trees(trees) if not wanted or finding.kind in wanted]
    counts = Counter(finding.kind for finding in found)
    by_kind = tuple((kind, counts[kind], MEANINGS[kind]) for kind in MEANINGS if counts[kind])
    tables = (
        Table("findings", "Findings", ("kind", "file", "node", "detail"), tuple(_row(finding) for finding in found)),
        Table("kinds", "Findings by kind", ("kind", "findings", "meaning"), by_kind),
        _values(trees),
        statistics_table(trees),
    )
    finding = f"{len(trees)} trees, {len(found) or 'no'} findings."
    return Result(tables=tables if found else tables[2:], failed=bool(found), finding=finding)


def _row(finding: Finding) -> tuple[str, str, int | None, str]:
    return finding.kind, finding.source, finding.node, finding.detail


def _values(trees: list[Tree]) -> Table:
    """The exact solution of every tree."""
    rows = []
    for tree in trees:
        solution = solve(tree)
        episodes = sum(bool(node.choices) for node in tree.nodes)
        rows.append((tree.id, episodes, solution.random.full, solution.best_full))
    columns = ("tree", "episodes", "random walk (exact)", "best possible")
    units = {"random walk (exact)": "share", "best possible": "share"}
    return Table("values", "Exact solution of each tree", columns, tuple(rows), units=units)


def draw(context: CommandContext, options: Settings) -> Result:
    """Draws one tree as a page; with a run, adds the walks of its subject."""
    tree, others = _one_tree(context, options.text("tree"))
    taken = _taken(context, options.text("run"), tree) if options.text("run") else None
    svg = draw_tree(tree, taken)
    out = Path(options.text("to") or f"{tree.id}.html")
    wrote = context.write(out, page(tree, svg))
    solution = solve(tree)
    notes = [
        f"random walk {number(solution.random.full, 'share')}, best possible {number(solution.best_full, 'share')}"
    ]
    if others:
        notes.append(_also_meant(tree, others))
    return Result(notes=tuple(notes), figures=(Figure("tree", tree.id, svg=svg),), wrote=(wrote,))


def _one_tree(context: CommandContext, name: str) -> tuple[Tree, list[Tree]]:
    """The tree of that name, and the other matches: FILE, FILE#NAME, or NAME (or its beginning)."""
    file, _, inner = (name, "", "") if Path(name).is_file() else name.partition("#")
    if Path(file).is_file():
        trees = [tree for tree in read_tree_file(Path(file)) if items.wanted(tree.language, context.source())]
        wanted, source = inner, f"{Path(file).name}#{inner}"
    else:
        trees, wanted, source = items.trees(context.source()), name, name
    exact = [tree for tree in trees if tree.id == wanted or tree.source == source]
    twins = [tree for tree in trees if tree.twin == wanted]
    found = exact or twins or [tree for tree in trees if tree.id.startswith(wanted)]
    if not found:
        raise unknown("tree", wanted or name, (tree.id for tree in trees))
    return found[0], found[1:]


def _also_meant(tree: Tree, others: list[Tree]) -> str:
    more = ", ".join(other.id for other in others[:_NAMED]) + (", …" if len(others) > _NAMED else "")
    return (
        f"drew {tree.id}, the first of {len(others) + 1} matching trees; to draw another, give its name "
        f"(FILE#NAME for one tree of a file) or --language: {more}"
    )


def _taken(context: CommandContext, reference: str, tree: Tree) -> dict[tuple[int, int], int]:
    counts: Counter[tuple[int, int]] = Counter()
    for item, outcome, _ in context.run(reference).view("goals").scored():
        if item.id == tree.id:
            counts.update((step.node, step.picked) for step in outcome.steps)
    if not counts:
        raise UsageError(f"run '{reference}' has no walk through {tree.id}; draw it without --run.")
    return dict(counts)


class _Step(Struct, frozen=True):
    """A finished stage; `problems` and `advice` say why the later ones must wait."""

    draft: Draft
    origins: parts.Origins
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    advice: str = ""
    wrote: tuple[str, ...] = ()


def build(context: CommandContext, options: Settings) -> Result:
    """Takes a brief through the stages; each stage is stored in a file, which an author may edit."""
    brief = read_brief(Path(options.text("brief")))
    folder = Path(options.text("to") or brief.name)
    draft = parts.load_draft(brief, folder)
    origins = parts.settled(draft, parts.read_origins(folder))
    notes, wrote = list[str](), list[str]()
    last = options.text("until")
    for stage in STAGES:
        step = _work_on(context, stage, draft, origins, folder, options.text("outdated"))
        draft, origins = step.draft, step.origins
        notes += step.notes
        wrote += step.wrote
        if step.problems:
            told = (*notes, *step.problems, step.advice)
            return Result(notes=told, wrote=tuple(dict.fromkeys(wrote)), failed=True)
        if stage == last and stage != STAGES[-1]:
            notes.append(
                f"stopped after '{stage}'; edit {parts.stage_file(folder, stage)} and run again without --until."
            )
            return Result(notes=tuple(notes), wrote=tuple(dict.fromkeys(wrote)))
    return _finish(context, draft, folder, notes, wrote)


def _work_on(
    context: CommandContext, stage: StageName, draft: Draft, origins: parts.Origins, folder: Path, when_outdated: str
) -> _Step:
    """One stage: checks the existing parts, requests the missing ones, and writes the files."""
    old = parts.outdated(stage, draft, origins)
    if old and when_outdated == "stop":
        return _outdated(stage, draft, origins)
    notes: tuple[str, ...] = ()
    if old:
        done = "kept" if when_outdated == "keep" else "removed, and rewritten if still needed"
        notes = (f"{stage} {', '.join(old)}: {done}, because their source has changed",)
    if when_outdated == "rewrite":
        draft = parts.without(stage, draft, old)
    path = parts.stage_file(folder, stage)
    problems = parts.wrong_parts(stage, draft)
    if problems:
        return _Step(draft, origins, notes, tuple(problems), f"fix {path} and run the same command again.")
    draft, accepted, stale = _write_missing(context, stage, draft, origins, when_outdated)
    wrote: list[str] = []
    if (accepted or (when_outdated == "rewrite" and old)) and parts.stage_parts(stage, draft):
        wrote.append(context.write(path, parts.stage_text(parts.stage_parts(stage, draft))))
    if stale:
        return replace(_outdated(stage, draft, origins), wrote=tuple(wrote))
    now = parts.in_step(stage, draft, origins)
    if now != origins:
        wrote.append(context.write(parts.origins_file(folder), parts.origins_text(now)))
    if accepted and accepted.problems:
        return _refused(context, stage, folder, _Step(draft, now, notes, accepted.problems, "", tuple(wrote)), accepted)
    parts.refused_file(folder, stage).unlink(missing_ok=True)
    return _Step(draft, now, notes, wrote=tuple(wrote))


def _write_missing(
    context: CommandContext, stage: StageName, draft: Draft, origins: parts.Origins, when_outdated: str
) -> tuple[Draft, parts.Accepted | None, bool]:
    """Requests the missing parts, in the order in which they need each other.

    The last value says that parts are left whose names have just been translated anew.
    """
    accepted: parts.Accepted | None = None
    written: set[str] = set()
    while missing := parts.missing_parts(stage, draft):
        accepted = parts.accept(stage, draft, context.play("build", items=missing).view("build"))
        draft = accepted.draft
        written |= {part.key for part in missing}
        stale = [key for key in parts.outdated(stage, draft, origins) if key not in written]
        if accepted.problems or (stale and when_outdated == "stop"):
            return draft, accepted, not accepted.problems
        if when_outdated == "rewrite":
            draft = parts.without(stage, draft, stale)
    return draft, accepted, False


def _outdated(stage: StageName, draft: Draft, origins: parts.Origins) -> _Step:
    named = parts.all_outdated(stage, draft, origins)
    problem = f"their source was edited after they were written: {', '.join(named)}"
    advice = (
        "run again with --outdated rewrite to rewrite them, or with --outdated keep to keep them; a part "
        "that you edit yourself counts as up to date."
    )
    return _Step(draft, origins, problems=(problem,), advice=advice)


def _refused(context: CommandContext, stage: StageName, folder: Path, step: _Step, accepted: parts.Accepted) -> _Step:
    """Stores the last drafts of the rejected parts, so that an author can fix them."""
    path, again = (
        parts.stage_file(folder, stage),
        "(or use another builder, or --fresh) and run the same command again.",
    )
    if not accepted.refused:
        advice = f"the builder gave no readable reply: write {path} {again}"
        return replace(step, advice=advice)
    kept = context.write(parts.refused_file(folder, stage), parts.stage_text(accepted.refused))
    whole = "save it as" if not parts.stage_parts(stage, step.draft) else "move its parts into"
    return replace(step, advice=f"fix {kept}, {whole} {path} {again}", wrote=(*step.wrote, kept))


def _finish(context: CommandContext, draft: Draft, folder: Path, notes: list[str], wrote: list[str]) -> Result:
    trees: list[Tree] = []
    for name, text in parts.documents(draft).items():
        wrote.append(context.write(folder / name, text))
        trees += read_tree_file(folder / name)
    found = lint_trees(trees)
    rows = tuple(_row(finding) for finding in found)
    tables = [_values(trees)]
    if rows:
        tables.insert(0, Table("findings", "Findings", ("kind", "file", "node", "detail"), rows))
    return Result(tables=tuple(tables), notes=tuple(notes), wrote=tuple(dict.fromkeys(wrote)), failed=bool(found))
