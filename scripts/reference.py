"""What the documentation site adds to the pages of docs/reference: the help of all commands, Python names, columns.

The pages in docs/reference are written by hand; `scripts/site_pages.py` puts these texts below them.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click

from sociometer.cli.main import sociometer_command
from sociometer.cli.options import HELP_ALL
from sociometer.core.card import column
from sociometer.engine.run_options import OPTIONS, as_python
from sociometer.instruments import cards
from sociometer.results.export import COLUMNS as EXPORTED

ROOT = Path(__file__).parent.parent
COLUMNS = 100
SCORES = (
    "The measure of `sociometer show RUN` is the mean over items of each item's mean of a column, without the rows that"
    " have a `failure`. With several prompting methods of SECEU, take the rows of one `facet.prompting`. `share` is"
    " right or wrong, or a part of 1. A run has only the columns of its settings.\n"
    "Columns that are not listed are steps of the test's scoring."
)
SCORE_HEAD = "| task | column | its mean over items | unit | scale |\n| --- | --- | --- | --- | --- |\n"
COMPARED = {
    "comparisons": "results.verdicts.Comparison",
    "comparisons[].measures": "results.verdicts.ComparedMeasure",
    "comparisons[].measures[].paired": "statistics.paired.PairedDifference",
    "comparisons[].measures[].paired.interval": "core.measure.Interval",
    "comparisons[].measures[].place": "statistics.people.PlaceAmongPeople",
    "rankings": "results.leaderboard.Leaderboard",
    "rankings[].standings": "results.leaderboard.Standing",
}
"""The parts of `compare --json`, and the record that each is made of."""
COMPARE_JSON = "[What `--json` prints](commands.md#what---json-prints) says when it has which part, and has examples."
OPTION = re.compile(r"\n  (-\S*)[^\n]*(?:\n {8,}\S[^\n]*)*")
"""An option in a help text, with its first word and the lines that continue it."""
EVERYWHERE = {"--store", "--json", "--format", "--quiet", "--help", "-h,"}
"""The first words of options that many commands share; the page explains them once."""

PYTHON = {
    "Run": ("api.run", "api.arun", "api.resume", "engine.run_options.RunOptions", "engine.progress.RunEvent"),
    "Read stored runs": (
        "api.runs",
        "api.get_run",
        "store.stored_run.StoredRun: id reference subject instrument version tasks status why_ended created official"
        " people settings manifest summary episodes transcript failures spent stopping rescore",
        "core.measure.Summary: measures measure tables notes",
        "core.measure.Table: columns rows note records frame",
        "core.measure.Measure: name value group interval items clusters unreadable errors note cases",
        "core.measure.Interval: low high level method clusters",
        "core.task.Episode",
        "api.frame",
        "api.figures",
        "core.measure.Figure: save",
    ),
    "Compare and report": (
        "api.choose",
        "results.choice.ChosenRuns: runs notes left_out",
        "api.compare",
        "results.runs.Comparisons",
        "results.verdicts.Comparison: where first second value low high verdict measure measures sentence notes refused"
        " worse primary_rows",
        "results.verdicts.ComparedMeasure: name group value low high verdict paired p_adjusted detectable margin"
        " primary failed place",
        "statistics.people.PlaceAmongPeople",
        "statistics.paired.PairedDifference: first second difference interval p_value effect items clusters",
        "api.gate",
        "results.runs.Gate",
        "results.runs.Rankings: boards unranked sentence frame",
        "api.reliability",
        "results.reliability.Reliabilities",
        "api.report",
        "api.export",
        "api.paper",
    ),
    "Studies of people": ("api.study", "results.study_tables.StudyResults", "results.norms.NormTable"),
    "Instruments and models": ("api.list_instruments", "api.list_models", "api.check", "core.conversation.Reply"),
    "Published figures": ("api.reproduce", "api.Reproduction"),
    "Errors": tuple(
        f"core.errors.{name}"
        for name in (
            *("SociometerError", "UsageError", "NotFound", "NeverAnswered", "DataError", "StoreError", "Busy"),
            *("MachineryError", "Stopped", "ExitCode"),
        )
    ),
    "For authors of instruments": ("core.command.CommandContext",),
}
"""The names of each section, below `sociometer`; after a colon the members, if not all of them are described."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def commands() -> str:
    """A table of all commands, and a section with the help of each."""
    group = sociometer_command
    context = click.Context(group, info_name="sociometer", terminal_width=COLUMNS)
    known = list(_leaves(group, context))
    rows = [
        f"| [`{name}`](#{_anchor(name)}) | {_cell(command.get_short_help_str(200))} |" for name, command, _ in known
    ]
    parts = ["\n## All commands\n\n| command | what it does |\n| --- | --- |\n" + "\n".join(rows) + "\n"]
    for name, command, inner in known:
        parts.append(f"\n## {name}\n\n```text\n{_help(command, inner)}\n```\n")
    return "".join(parts)


def exported() -> str:
    """The columns of an export, and the measure of each score by instrument."""
    parts = ["\n## Columns of CSV, Parquet and `frame`\n\n| column | type | meaning |\n| --- | --- | --- |\n"]
    for name, meaning in EXPORTED.items():
        kind, _, what = meaning.partition("; ")
        parts.append(f"| `{name}` | {kind} | {_cell(what)} |\n")
    parts.append(f"\n## Fields of `compare --json`\n\n{COMPARE_JSON}\n")
    for part, entry in COMPARED.items():
        source, node = _definition(*entry.rsplit(".", 1))
        rows = (f"| `{name}` | {_cell(text.replace('None', 'null'))} |\n" for name, _, text in _fields(source, node))
        parts.append(f"\n### `{part}`\n\n| key | meaning |\n| --- | --- |\n{''.join(rows)}")
    parts.append(f"\n## Scores of each test\n\n{SCORES}\n")
    for card in cards().values():
        parts.append(f"\n### {card.short_title}\n\n{SCORE_HEAD}")
        for one in (measure for measure in card.measure if measure.value):
            low, high = ("" if end is None else f"{end:g}" for end in (one.low, one.high))
            scale = f"{low} to {high}" if high else f"{low} or more" if low else "any"
            row = (f"`{one.task}`", f"`{column('score', one.value)}`", _cell(one.title), one.unit, scale)
            parts.append(f"| {' | '.join(row)} |\n")
    return "".join(parts)


def _leaves(
    group: click.Group, context: click.Context, before: str = ""
) -> Iterator[tuple[str, click.Command, click.Context]]:
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, info_name=word, parent=context, terminal_width=COLUMNS)
        if isinstance(command, click.Group):
            yield from _leaves(command, inner, f"{before}{word} ")
        else:
            yield f"{before}{word}", command, inner


def _help(command: click.Command, context: click.Context) -> str:
    """The help of a command; that of `run` with every option, which the others share."""
    if context.command_path == "sociometer run":
        context = click.Context(command, info_name="sociometer run", terminal_width=COLUMNS)
        context.meta[HELP_ALL] = True
    return OPTION.sub(lambda one: "" if one[1] in EVERYWHERE else one[0], command.get_help(context)).strip()


def python() -> str:
    """A section for each group of names."""
    parts = []
    for title, names in PYTHON.items():
        parts.append(f"\n## {title}\n")
        parts += [_described(name) for name in names]
    return "".join(parts)


def _described(entry: str) -> str:
    name, _, chosen = entry.partition(": ")
    module, _, name = name.rpartition(".")
    source, node = _definition(module, name)
    if isinstance(node, ast.ClassDef):
        return _class(source, node, chosen.split())
    return f"\n### {name}\n\n{_signature(source, node)}\n{_docstring(node)}"


@cache
def _module(name: str) -> tuple[str, ast.Module]:
    source = (ROOT / "src/sociometer" / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8")
    return source, ast.parse(source)


def _definition(module: str, name: str) -> tuple[str, ast.ClassDef | Function]:
    source, tree = _module(module)
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return source, node
    raise SystemExit(f"sociometer.{module} has no {name}: change PYTHON in scripts/reference.py.")


def _class(source: str, node: ast.ClassDef, chosen: list[str]) -> str:
    named = map(ast.unparse, node.bases)
    bases = ", ".join(base for base in named if base not in ("Struct", "Shown", "Protocol"))
    parts = [f"\n### {node.name}\n\n`class {node.name}{f'({bases})' if bases else ''}`\n\n{_docstring(node)}"]
    rows, methods = _fields(source, node), []
    for member in node.body:
        if isinstance(member, ast.Assign) and isinstance(member.value, ast.Constant) and node.name == "ExitCode":
            rows.append((ast.unparse(member.targets[0]), "", str(member.value.value)))
        elif isinstance(member, Function) and not member.name.startswith("_"):
            marks = {one.id for one in member.decorator_list if isinstance(one, ast.Name)}
            if marks & {"property", "cached_property"}:
                returns = ast.unparse(member.returns) if member.returns else ""
                rows.append((member.name, returns, " ".join((ast.get_docstring(member) or "").split())))
            else:
                methods.append(member)
    rows = [row for row in rows if (row[0] in chosen if chosen else "ClassVar" not in row[1] and row[0][0] != "_")]
    if rows:
        head = (
            "\n| name | value |\n| --- | --- |\n"
            if node.name == "ExitCode"
            else "\n| field | type | meaning |\n| --- | --- | --- |\n"
        )
        cells = [[f"`{one}`", _code(kind), _cell(text)] for one, kind, text in rows]
        shown = [row[:1] + row[2:] if node.name == "ExitCode" else row for row in cells]
        parts.append(head + "".join(f"| {' | '.join(row)} |\n" for row in shown))
    parts += [
        f"\n#### {node.name}.{method.name}\n\n{_signature(source, method)}\n{_docstring(method)}"
        for method in methods
        if not chosen or method.name in chosen
    ]
    return "".join(parts)


def _fields(source: str, node: ast.stmt) -> list[tuple[str, str, str]]:
    """The fields of a record: name, type and meaning."""
    if not isinstance(node, ast.ClassDef):
        raise TypeError(f"{ast.unparse(node)[:60]} is no record")
    return [
        (
            member.target.id,
            ast.unparse(member.annotation),
            _text(after) or _comment(source, member) or _option(node, member.target.id),
        )
        for member, after in zip(node.body, [*node.body[1:], None], strict=True)
        if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name)
    ]


def _option(node: ast.ClassDef, name: str) -> str:
    """The help of an option of `run`, in the words of Python."""
    text = next((one.help for one in OPTIONS if one.name == name), "") if node.name == "RunOptions" else ""
    return re.sub(r"; repeat for several(?: roles)?\b", "", as_python(text))


def _signature(source: str, node: Function) -> str:
    """The lines of the source from `def` to the body."""
    lines = source.splitlines()[node.lineno - 1 : node.body[0].lineno - 1]
    indent = len(lines[0]) - len(lines[0].lstrip())
    text = "\n".join(line[indent:] for line in lines)
    return f"```py\n{text.rstrip().removesuffix(':')}\n```\n"


def _docstring(node: ast.ClassDef | Function) -> str:
    text = ast.get_docstring(node) or ""
    return f"{text}\n" if text else ""


def _text(node: ast.stmt | None) -> str:
    """The text below a field, in one line."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return " ".join(node.value.value.split())
    return ""


def _comment(source: str, node: ast.AnnAssign) -> str:
    """The comment after a field."""
    line = source.splitlines()[(node.end_lineno or 1) - 1].encode()
    return line[node.end_col_offset :].decode().partition("# ")[2]


def _code(text: str) -> str:
    return f"`{text}`".replace("|", r"\|") if text else ""


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("<", "&lt;")


def _anchor(title: str) -> str:
    """The anchor that forges and the site give to a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


TEXTS = {"reference/commands.md": commands, "reference/python.md": python, "reference/export.md": exported}
"""What makes the text below a page of the site."""
