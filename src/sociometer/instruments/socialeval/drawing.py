"""A world tree as an SVG: episodes from left to right, choices with their ability, endings coloured by goal."""

from __future__ import annotations

import textwrap
from collections.abc import Collection
from html import escape
from pathlib import Path

import msgspec

from sociometer.instruments.socialeval.abilities import canonical_all
from sociometer.instruments.socialeval.worldtree import GOAL_FULL, GOAL_NOT, GOAL_PARTLY, Choice, Node, Tree, solve

_COLUMN, _ROW, _WIDE, _TALL = 356, 92, 176, 62
_MARGIN = 24
_HEAD = 54
_LEGEND = 980
_ENDS = {GOAL_FULL: "full", GOAL_PARTLY: "partly", GOAL_NOT: "missed"}
_WORDS = {
    "full": "goal achieved",
    "partly": "partly achieved",
    "missed": "not achieved",
    "open": "no goal flag",
}
STYLE = Path(__file__).with_name("drawing.css").read_text(encoding="utf-8")


class Place(msgspec.Struct, frozen=True):
    """The position of a node."""

    x: float
    y: float


def places(tree: Tree) -> dict[int, Place]:
    """A position for every node: the column is the longest path to it, endings keep the order of the tree."""
    nodes = tree.by_id()
    depth = _depths(tree)
    rows: dict[int, float] = {}
    free = 0

    def settle(node: Node, path: frozenset[int]) -> float:
        nonlocal free
        if node.id in rows:
            return rows[node.id]
        below = [nodes[c.target] for c in node.choices if c.target in nodes and c.target not in path]
        inner = [settle(child, path | {node.id}) for child in below]
        if inner:
            rows[node.id] = sum(inner) / len(inner)
        else:
            rows[node.id], free = float(free), free + 1
        return rows[node.id]

    for node in tree.nodes:
        settle(node, frozenset({node.id}))
    placed: dict[int, Place] = {}
    last: dict[int, float] = {}
    for id_ in sorted(nodes, key=lambda id_: (depth[id_], rows[id_])):
        column = depth[id_]
        row = max(rows[id_], last.get(column, -1.0) + 1.0)
        last[column] = row
        placed[id_] = Place(_MARGIN + column * _COLUMN, _HEAD + _MARGIN + row * _ROW)
    return placed


def _depths(tree: Tree) -> dict[int, int]:
    """The number of choices on the longest path to each node without repeats; zero if there is none."""
    nodes = tree.by_id()
    depth = dict.fromkeys(nodes, 0)
    for _ in range(len(nodes)):
        changed = False
        for node in nodes.values():
            for choice in node.choices:
                if choice.target in nodes and depth[node.id] + 1 > depth[choice.target] and depth[node.id] < len(nodes):
                    depth[choice.target] = depth[node.id] + 1
                    changed = True
        if not changed:
            break
    return {id_: min(column, len(nodes)) for id_, column in depth.items()}


def draw_tree(tree: Tree, taken: Collection[tuple[int, int]]) -> str:
    """The drawing; `taken` has the (node, choice) pairs of a walk, which are blue."""
    placed = places(tree)
    solution = solve(tree)
    parts = [_title(tree, f"random walk {solution.random:.1%}, best possible {solution.best_full:.0%}")]
    names: list[str] = []
    for node in tree.nodes:
        for index, choice in enumerate(node.choices):
            if choice.target in placed:
                best = index in solution.best_choices.get(node.id, ()) and solution.best_at[node.id] == GOAL_FULL
                ends = placed[node.id], placed[choice.target]
                parts.append(_way(*ends, choice, best, (node.id, index) in taken))
                names.append(_way_name(*ends, choice))
    parts += [_box(node, placed[node.id]) for node in tree.by_id().values()]
    parts += names
    wide = max(max(place.x for place in placed.values()) + _WIDE + _MARGIN, _LEGEND)
    tall = max(place.y for place in placed.values()) + _TALL + _MARGIN + 30
    parts.append(_legend(tall - 22))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="wt" viewBox="0 0 {wide:.0f} {tall:.0f}" role="img">'
    return f"{head}<style>{STYLE}</style>{''.join(parts)}</svg>"


def _title(tree: Tree, figures: str) -> str:
    goal = _cut(f"{tree.protagonist.name}: {tree.protagonist.goal}", 120)
    return (
        f'<text class="title" x="{_MARGIN}" y="24">{escape(tree.id)}</text>'
        f'<text class="small" x="{_MARGIN}" y="42">{escape(goal)} · {escape(figures)}</text>'
    )


def _box(node: Node, place: Place) -> str:
    kind = _ENDS.get(node.goal, "open") if node.is_end else "box"
    words = " ".join(line.text for line in node.lines)
    name = f"{node.id} · {_WORDS[kind] if node.is_end else node.kind}"
    lines = _wrap(words)
    texts = "".join(
        f'<text class="small" x="{place.x + 8:.0f}" y="{place.y + 34 + 14 * i:.0f}">{escape(line)}</text>'
        for i, line in enumerate(lines)
    )
    return (
        f'<g><title>{escape(words)}</title><rect class="{kind}" x="{place.x:.0f}" y="{place.y:.0f}" '
        f'width="{_WIDE}" height="{_TALL}" rx="7"/>'
        f'<text x="{place.x + 8:.0f}" y="{place.y + 18:.0f}">{escape(name)}</text>{texts}</g>'
    )


def _way(start: Place, end: Place, choice: Choice, best: bool, taken: bool) -> str:
    """A choice, green if it keeps the goal, over a wide blue line if the walk took it."""
    x1, y1, x2, y2 = start.x + _WIDE, start.y + _TALL / 2, end.x, end.y + _TALL / 2
    middle = (x1 + x2) / 2
    kind = "way best" if best else "way"
    curve = f"M{x1:.0f},{y1:.0f} C{middle:.0f},{y1:.0f} {middle:.0f},{y2:.0f} {x2:.0f},{y2:.0f}"
    walked = f'<path class="taken" d="{curve}"/>' if taken else ""
    return f'<g><title>{escape(choice.text)}</title>{walked}<path class="{kind}" d="{curve}"/></g>'


def _way_name(start: Place, end: Place, choice: Choice) -> str:
    """The ability of a choice, in the middle of its curve."""
    shown = canonical_all(choice.abilities) or choice.abilities or (("situation",) if choice.situation else ())
    x, y = (start.x + _WIDE + end.x) / 2, (start.y + end.y + _TALL) / 2 - 3
    return f'<text class="small name" text-anchor="middle" x="{x:.0f}" y="{y:.0f}">{escape(", ".join(shown))}</text>'


def _legend(y: float) -> str:
    parts = []
    for i, (kind, words) in enumerate(_WORDS.items()):
        x = _MARGIN + i * 150
        parts.append(f'<rect class="{kind}" x="{x}" y="{y - 10:.0f}" width="14" height="12" rx="3"/>')
        parts.append(f'<text class="small" x="{x + 20}" y="{y:.0f}">{words}</text>')
    for i, (kind, words) in enumerate((("key best", "keeps the goal"), ("taken", "taken")), len(_WORDS)):
        x = _MARGIN + i * 150
        parts.append(f'<path class="{kind}" d="M{x},{y - 4:.0f} h16"/>')
        parts.append(f'<text class="small" x="{x + 26}" y="{y:.0f}">{words}</text>')
    return "".join(parts)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _wrap(text: str) -> list[str]:
    """The beginning of a text in two lines; Chinese has no spaces and takes twice the width."""
    if any("一" <= sign <= "鿿" for sign in text):
        cut = _cut(text, 28)
        return [cut[i : i + 14] for i in range(0, len(cut), 14)]
    return textwrap.wrap(text, 28, max_lines=2, placeholder="…")
