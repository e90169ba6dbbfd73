"""What only SocialEval offers on the command line: lint, draw and build."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from sociometer.core.errors import DataError, UsageError, unknown
from sociometer.core.measure import Figure, Table
from sociometer.core.settings import Settings
from sociometer.core.workbench import Result, Workbench
from sociometer.instruments.socialeval import items
from sociometer.instruments.socialeval.assembly import documents
from sociometer.instruments.socialeval.build import (
    accept,
    load_draft,
    missing_parts,
    stage_file,
    stage_parts,
    stage_text,
    wrong_parts,
)
from sociometer.instruments.socialeval.drafts import STAGES, Draft, StageName, read_brief
from sociometer.instruments.socialeval.drawing import draw_tree, page
from sociometer.instruments.socialeval.layout import read_tree_file
from sociometer.instruments.socialeval.lint import MEANINGS, Finding
from sociometer.instruments.socialeval.lint import lint as lint_trees
from sociometer.instruments.socialeval.solution import solve
from sociometer.instruments.socialeval.worldtree import Tree


def lint(bench: Workbench, options: Settings) -> Result:
    """Every finding with file and node, and a count by kind; the exit code says whether there were any."""
    trees = _given_trees(options.texts("files")) or items.trees(bench.source())
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
    )
    note = f"{len(trees)} trees, {len(found)} findings"
    return Result(tables=tables if found else tables[2:], notes=(note,), failed=bool(found))


def _row(finding: Finding) -> tuple[str, str, int | None, str]:
    return finding.kind, finding.source, finding.node, finding.detail


def _given_trees(names: tuple[str, ...]) -> list[Tree]:
    trees: list[Tree] = []
    for name in names:
        path = Path(name)
        if not path.exists():
            raise DataError("no such file or folder; give tree files in either released layout", path)
        files = items.tree_files_in(path) if path.is_dir() else [path]
        trees += [tree for file in files for tree in read_tree_file(file)]
    return trees


def _values(trees: list[Tree]) -> Table:
    """The exact solution of every tree."""
    rows = []
    for tree in trees:
        solution = solve(tree)
        episodes = sum(bool(node.choices) for node in tree.nodes)
        rows.append((tree.id, episodes, round(solution.random.full, 4), solution.best_full))
    columns = ("tree", "episodes", "random walk (exact)", "best possible")
    return Table("values", "Every tree solved exactly", columns, tuple(rows))


def draw(bench: Workbench, options: Settings) -> Result:
    """Draws one tree into a page; with a run, the walks of its subject are drawn on it."""
    tree = _one_tree(bench, options.text("tree"))
    taken = _taken(bench, options.text("run"), tree) if options.text("run") else None
    svg = draw_tree(tree, taken)
    out = Path(options.text("out") or f"{tree.id}.html")
    wrote = bench.write(out, page(tree, svg))
    solution = solve(tree)
    note = f"random walk {solution.random.full:.1%}, best possible {solution.best_full:.0%}"
    return Result(notes=(note,), figures=(Figure("tree", tree.id, svg=svg),), wrote=(wrote,))


def _one_tree(bench: Workbench, name: str) -> Tree:
    if Path(name).is_file():
        return read_tree_file(Path(name))[0]
    trees = items.trees(bench.source())
    exact = [tree for tree in trees if name in (tree.id, tree.source)]
    found = exact or [tree for tree in trees if tree.id.startswith(name) or tree.twin == name]
    if not found:
        raise unknown("tree", name, (tree.id for tree in trees))
    return found[0]


def _taken(bench: Workbench, reference: str, tree: Tree) -> dict[tuple[int, int], int]:
    counts: Counter[tuple[int, int]] = Counter()
    for item, outcome, _ in bench.run(reference).view("goals").scored():
        if item.id == tree.id:
            counts.update((step.node, step.picked) for step in outcome.steps)
    if not counts:
        raise UsageError(f"run '{reference}' has no walk through {tree.id}; draw it without --run.")
    return dict(counts)


def build(bench: Workbench, options: Settings) -> Result:
    """Takes a brief through the stages; what a stage gave is kept in a file, which an author may edit."""
    brief = read_brief(Path(options.text("brief")))
    folder = Path(options.text("out") or brief.name)
    draft = load_draft(brief, folder)
    wrote: list[str] = []
    last = options.text("until")
    for stage in STAGES:
        draft, problems = _stage(bench, stage, draft, folder, wrote)
        if problems:
            path = stage_file(folder, stage)
            advice = f"mend {path} (or use another builder, or --fresh) and run the same command again."
            return Result(notes=(*problems, advice), wrote=tuple(wrote), failed=True)
        if stage == last and stage != STAGES[-1]:
            again = f"stopped after '{stage}'; edit {stage_file(folder, stage)} and run again without --until."
            return Result(notes=(again,), wrote=tuple(wrote))
    return _finish(bench, draft, folder, wrote)


def _stage(bench: Workbench, stage: StageName, draft: Draft, folder: Path, wrote: list[str]) -> tuple[Draft, list[str]]:
    """One stage: checks what is there, has the rest written, and keeps the file."""
    problems = wrong_parts(stage, draft)
    if problems:
        return draft, problems
    missing = missing_parts(stage, draft)
    if not missing:
        return draft, []
    run = bench.play("build", items=missing)
    draft, refused = accept(stage, draft, run.view("build"))
    wrote.append(bench.write(stage_file(folder, stage), stage_text(stage_parts(stage, draft))))
    return draft, refused


def _finish(bench: Workbench, draft: Draft, folder: Path, wrote: list[str]) -> Result:
    trees: list[Tree] = []
    for name, text in documents(draft).items():
        wrote.append(bench.write(folder / name, text))
        trees += read_tree_file(folder / name)
    found = lint_trees(trees)
    rows = tuple(_row(finding) for finding in found)
    tables = [_values(trees)]
    if rows:
        tables.insert(0, Table("findings", "Findings", ("kind", "file", "node", "detail"), rows))
    return Result(tables=tuple(tables), wrote=tuple(wrote), failed=bool(found))
