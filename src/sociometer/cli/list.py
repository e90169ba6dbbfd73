"""`sociometer list`: the instruments, the models, the other tools; or one instrument, from its card."""

from importlib.util import find_spec
from pathlib import Path

import click

import sociometer.adapters
from sociometer.cli.output import Display, TableCommand, display_options, print_line
from sociometer.core.card import Card, column
from sociometer.core.errors import UsageError, hint, install, unknown
from sociometer.core.lazy import PACKAGES
from sociometer.core.measure import Cell, Table
from sociometer.instruments import card_of, cards
from sociometer.models.files import file_of, local_models
from sociometer.models.registry import ModelEntry, describe
from sociometer.results.measured import measured, reached

LM_EVAL = "lm-eval"
_SIZES = ("capable", "small")
_KINDS = {"whole": "whole number", "flag": "yes or no"}


def list_what(what: str | None, name: str | None, display: Display) -> None:
    """Show the instruments, one of them, the models, or the other tools."""
    if name is not None and (what, name) != ("adapters", LM_EVAL):
        raise UsageError(f"'list' takes one word; only 'list adapters' takes another: {LM_EVAL}.")
    if name is not None:
        print_line(_lm_eval_folder())
    elif what == "models":
        _list_models(display)
    elif what == "adapters":
        _list_adapters(display)
    elif what in ("model", "adapter"):
        raise unknown("word for 'list'", what, ("models", "adapters"))
    elif what not in (None, "instruments"):
        show_card(card_of(what), display)
    else:
        _list_instruments(display)


def _list_instruments(display: Display) -> None:
    every = cards().values()
    table = Table(
        "instruments",
        "Instruments",
        ("name", "version", "languages", "measures", "capable models", "small models", "how"),
        tuple(
            (c.name, c.version, ", ".join(c.languages), c.about, *(_reached(c, kind) for kind in _SIZES), c.how)
            for c in every
        ),
        note="The columns of models say what was measured so far: choose tests with room for your model."
        f" Run '{hint('list NAME')}' to see the tasks, settings, roles, commands and figures of one;"
        f" '{hint('list models')}' shows what to write after --model.",
        details=("how",),
    )
    data = [
        {
            "name": c.name,
            "version": c.version,
            "title": c.title,
            "languages": c.languages,
            "measures": c.about,
            "reached": {kind: reached(kind, c.name) for kind in _SIZES},
            "tasks": [task.name for task in c.task],
            "commands": [command.verb for command in c.command],
        }
        for c in every
    ]
    display.show([table], data=data)


def _reached(card: Card, kind: str) -> str | None:
    found = reached(kind, card.name).items()
    return "; ".join(f"{test.partition('/')[2]} {end}" for test, end in found) or None


def show_card(card: Card, display: Display) -> None:
    """The card of an instrument: tasks, measures, roles, settings, commands, files."""
    said = [f"{card.title}  (version {card.version})"]
    if card.paper.title:
        said.append(f"{card.paper.authors} ({card.paper.year}). {card.paper.title}. {card.paper.venue}".rstrip())
    said += [f"Measures {card.about}: {card.how}.", card.licence]
    tables = [table for table in _tables(card) if table.rows]
    limits = [len(table.rows) for table in tables]
    cite = ["To cite the paper and Sociometer:" if card.paper.title else "To cite Sociometer:", *card.citations]
    display.show(tables, finding="\n".join(filter(None, said)), limits=limits, notes=cite, data=card)


def _tables(card: Card) -> list[Table]:
    settings = [
        (f"--{s.name}", s.help, ", ".join(s.choices) or _KINDS.get(s.kind, s.kind), _default(s.default))
        for s in card.setting
    ]
    files = [(f.name, f.repository, "pinned" if f.sha256 else "recorded at the first fetch") for f in card.file]
    tables: list[tuple[str, tuple[str, ...], list[tuple[Cell, ...]]]] = [
        ("Tasks", ("task", "what", "played by `run`", "repeats", "also with"),
         [(t.name, t.title, t.default, t.repeats, "-o base" if t.base else None) for t in card.task]),
        ("Measures", ("measure", "task", "what", "unit", "better", "chance", "best", "in exports"),
         [(m.name, m.task, m.title, m.unit, m.better, m.chance, m.top, column("score", m.value) * bool(m.value))
          for m in card.measure]),
        ("Measured so far", (*measured().columns[1:],),
         [row[1:] for row in measured().rows if row[0] == card.name]),
        ("Roles", ("role", "what", "default", "tasks"),
         [(r.name, r.help, r.default or None, ", ".join(r.tasks) or "all") for r in card.role]),
        ("Settings", ("option", "what", "values", "default"), [*settings]),
        ("Commands", ("command", "what"), [(hint(card.name, c.verb), c.help) for c in card.command]),
        ("Players included", ("player", "role", "what", "stand-in"),
         [(p.name, p.role, p.help, p.stand_in) for p in card.player]),
        (f"Official files ({hint('get data')})", ("file", "from", "checksum"), [*files]),
    ]  # fmt: skip
    return [Table(title.split()[0].lower(), title, columns, tuple(rows)) for title, columns, rows in tables]


def _default(value: object) -> str | None:
    if value in (None, "", ()):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _list_models(display: Display) -> None:
    entries = describe()
    licences = {f"local/{name}": model.licence for name, model in local_models().items()}
    table = Table(
        "models",
        "Accepted values for --model and --role ROLE=",
        ("model", "ready", "what", "licence", "key", "server", "file"),
        tuple(
            (
                one.spec,
                _ready(one),
                one.help,
                licences.get(one.spec),
                one.key_variable or None,
                one.base_url or None,
                _file(one),
            )
            for one in entries
        ),
        note="For a server of your own: NAME@URL, or NAME@URL#REVISION to name its weights. Keys are read only from"
        f" environment variables. '{hint('get model NAME')}' fetches a local model; your own GGUF file needs no"
        " fetching: local/PATH.gguf.",
        details=("licence", "key", "server", "file"),
    )
    display.show([table], limits=[len(entries)], data=entries)


def _ready(entry: ModelEntry) -> str:
    if entry.ready is None:
        return "if its server is running" if entry.base_url else "if it exists"
    if entry.ready:
        return "yes"
    return f"key not set: {entry.key_variable}" if entry.key_variable else "not fetched"


def _file(entry: ModelEntry) -> str | None:
    name = entry.spec.removeprefix("local/")
    path = file_of(name) if name in local_models() else None
    return f"{path} ({path.stat().st_size / 1e6:,.0f} MB)" if path else None


_HOW = {
    "inspect": "inspect eval sociometer/INSTRUMENT; --model inspect/PROVIDER/NAME",
    "verifiers": "vf-eval sociometer-training: the training environment",
    LM_EVAL: f"lm_eval --tasks sociometer_sesi --include_path $({hint('list adapters lm-eval')})",
}


def _lm_eval_folder() -> str:
    return str(Path(sociometer.adapters.__file__).parent / "lm_eval")


def _list_adapters(display: Display) -> None:
    found = [(extra, find_spec(PACKAGES[extra]) is not None, how) for extra, how in _HOW.items()]
    note = f"To install an extra: {install('NAME')}"
    table = Table("adapters", "Other tools", ("extra", "installed", "how"), tuple(found), note)
    named = [{"name": extra, "installed": here, "how": how} for extra, here, how in found]
    display.show([table], data={"adapters": named, "lm_eval_folder": _lm_eval_folder()})


command = TableCommand(
    "list",
    callback=list_what,
    params=[
        click.Argument(["what"], required=False, metavar="[INSTRUMENT|models|adapters]"),
        click.Argument(["name"], required=False, metavar=""),
        *display_options(),
    ],
    help="List the instruments; describe INSTRUMENT (tasks, measures, roles, settings, commands); list the accepted"
    " values for --model, or the other tools that Sociometer works with.",
)
