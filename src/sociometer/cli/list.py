"""`sociometer list`: lists the instruments or describes one; reads only the cards."""

from pathlib import Path

import click

from sociometer.cli.output import Display, display_options, print_json, print_line, print_text
from sociometer.core.card import Card, TaskCard
from sociometer.core.measure import Cell, Table
from sociometer.instruments import card_of, cards

_KINDS = {"whole": "whole number", "flag": "yes or no"}


def _list(instrument: str | None, everything: bool, csv: Path | None, as_json: bool) -> None:
    if instrument is not None:
        card = card_of(instrument)
        if as_json:
            print_json(card)
        else:
            _show(card, Display(everything, csv))
        return
    if as_json:
        print_json(list(cards().values()))
        return
    table = Table(
        "instruments",
        "Instruments",
        ("name", "version", "languages", "measures", "how"),
        tuple((c.name, c.version, ", ".join(c.languages), c.about, c.how) for c in cards().values()),
        note="Run 'sociometer list NAME' to see the tasks, settings, roles and commands of one.",
        details=("how",),
    )
    Display(everything, csv).show([table])


def _show(card: Card, display: Display) -> None:
    print_line(f"{card.title}  (version {card.version})")
    print_text(f"{card.paper.authors} ({card.paper.year}). {card.paper.title}. {card.paper.venue}".rstrip())
    print_text(f"Measures {card.about}: {card.how}.")
    if card.licence:
        print_text(card.licence)
    print_line()
    tables = [table for table in _tables(card) if table.rows]
    display.show(tables, limits=[len(table.rows) for table in tables])


def _tables(card: Card) -> list[Table]:
    settings = [
        (f"--{s.name}", s.help, ", ".join(s.choices) or _KINDS.get(s.kind, s.kind), _default(s.default))
        for s in card.setting
    ]
    files = [(f.name, f.repository, "pinned" if f.sha256 else "recorded at the first fetch") for f in card.file]
    tables: list[tuple[str, tuple[str, ...], list[tuple[Cell, ...]]]] = [
        ("Tasks", ("task", "what", "played by `run`", "repeats", "also with"),
         [(t.name, t.title, t.default, t.repeats, _ways(t)) for t in card.task]),
        ("Measures", ("measure", "task", "what", "unit", "better", "chance", "best"),
         [(m.name, m.task, m.title, m.unit, m.better, m.chance, m.top) for m in card.measure]),
        ("Roles", ("role", "what", "default", "tasks"),
         [(r.name, r.help, r.default or None, ", ".join(r.tasks) or "all") for r in card.role]),
        ("Settings", ("option", "what", "values", "default"), [*settings]),
        ("Commands", ("command", "what"), [(f"sociometer {c.verb} {card.name}", c.help) for c in card.command]),
        ("Players included", ("player", "role", "what", "stand-in"),
         [(p.name, p.role, p.help, p.stand_in) for p in card.player]),
        ("Official files (sociometer data fetch)", ("file", "from", "checksum"), [*files]),
    ]  # fmt: skip
    return [Table(title.split()[0].lower(), title, columns, tuple(rows)) for title, columns, rows in tables]


def _ways(task: TaskCard) -> str | None:
    """The options that change how the subject answers, if the task has them."""
    options = (("--base", task.base), ("--answer probability", task.probability))
    return ", ".join(option for option, has in options if has) or None


def _default(value: object) -> str | None:
    if value in (None, "", ()):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


command = click.Command(
    "list",
    callback=_list,
    params=[click.Argument(["instrument"], required=False), *display_options()],
    help="List the instruments, or describe INSTRUMENT: tasks, measures, roles, settings, commands.",
)
