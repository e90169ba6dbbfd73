"""The passport as tables and as a page, the one that is kept on this machine, and what `run sage` says of it."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from platformdirs import user_data_path

from sociometer.core.errors import hint
from sociometer.core.measure import Cell, Table
from sociometer.instruments.sage.passport import against_people
from sociometer.instruments.sage.passport.probes import ARMS
from sociometer.instruments.sage.passport.verdict import Passport
from sociometer.statistics.formatting import estimate, number

_WITHOUT = "which has no passport and is not checked against people"
_OF_PROBES = "Of exactly these judgements, as the verdict compares them: without intervals."


def tables(found: Passport) -> list[Table]:
    """The passport as tables."""
    agreed = tuple(
        (each.released_by, each.turns, estimate(each.r, "number", each.interval), each.again,
         estimate(each.bias, "points", each.bias_interval), each.error, each.constant, each.order)
        for each in found.agreement
    )  # fmt: skip
    columns = ("released simulator", "turns", "r", "r asked twice", "bias", "error", "of a constant",
               "order of subjects")  # fmt: skip
    note = "Shown only; the verdict uses the agreement given the state. Ceiling: the simulator asked twice."
    given = [(each.released_by, each.beyond) for each in found.agreement] + [("all", found.beyond)]
    beyond = tuple(
        (
            name,
            each.turns,
            each.state,
            estimate(each.r, "number", each.interval),
            each.first_turns,
            estimate(each.first, "number", each.first_interval),
        )
        for name, each in given
        if each is not None
    )
    felt: list[tuple[Cell, ...]] = [(arm, found.means.get(arm)) for arm in ARMS]
    felt += [(arm, value) for arm, value in sorted(found.means.items()) if arm not in ARMS]
    facts: tuple[tuple[Cell, ...], ...] = (
        ("unreadable answers", number(found.unreadable, "share")),
        ("pairs of replies in order", "–" if found.ordered is None else number(found.ordered, "share")),
        ("spread of one turn asked five times, points", number(found.spread, "points")),
        ("judgements of one turn that change sign", "–" if found.fragile is None else number(found.fragile, "share")),
        ("refusals in the person's words", number(found.refused, "share")),
        ("leaks of the script", number(found.leaked, "share")),
        ("judgements asked for", found.requests),
        *([("judgements left out", found.left_out)] if found.left_out else []),
        ("tokens, read and written", found.tokens),
    )
    shown: list[Table] = []
    if found.requests:
        shown.append(Table("facts", "What was found", ("what", "value"), facts, _OF_PROBES))
        held = f"{_OF_PROBES} 'Held' was written without the simulator's prompts and never used for tuning."
        title = "Mean change of the feeling after a reply"
        shown.append(Table("felt", title, ("reply", "change"), tuple(felt), note=held, units={"change": "points"}))
    for study in found.against:
        shown += against_people.tables(study)
    if beyond:
        shown.append(_beyond_table(beyond))
    if agreed:
        shown.append(Table("agreement", "Agreement with released judgements", columns, agreed, note=note))
    return shown


def _beyond_table(rows: tuple[tuple[Cell, ...], ...]) -> Table:
    columns = (
        "released simulator",
        "turns",
        "r of the state (floor)",
        "r given the state",
        "first turns",
        "r on first turns",
    )
    note = (
        "State: what the feeling before, the turn and the length of the reply predict, fitted on other "
        "scenarios. First turns: within one opening; the feeling is 40."
    )
    title = "Agreement with released judgements, given the state of the talk"
    return Table("beyond-state", title, columns, rows, note=note)


def page(found: Passport) -> str:
    """The passport as a page of Markdown."""
    lines = [f"# Passport of {found.simulator}", "", f"SAGE version {found.version}. **{found.verdict}**", ""]
    lines += [f"- {reason}" for reason in found.reasons]
    for table in tables(found):
        shown = [
            [number(cell, "number") if isinstance(cell, float) else str(cell or "") for cell in row]
            for row in table.rows
        ]
        lines += ["", f"## {table.title}", "", f"| {' | '.join(table.columns)} |", "| --- " * len(table.columns) + "|"]
        lines += [f"| {' | '.join(row)} |" for row in shown] + (["", table.note] if table.note else [])
    return "\n".join(lines) + "\n"


def kept_at(simulator: str) -> Path:
    """The file of a simulator's passport on this machine."""
    name = "".join(letter if letter.isalnum() or letter in ".-" else "-" for letter in simulator)
    return user_data_path("sociometer", appauthor=False) / "passports" / f"{name}.json"


def kept_passport(simulator: str) -> Passport | None:
    """The passport of a simulator on this machine; None if it has none."""
    try:
        return msgspec.json.decode(kept_at(simulator).read_bytes(), type=Passport)
    except (OSError, msgspec.DecodeError):
        return None


def notices(players: Mapping[str, str], typed: Mapping[str, str], version: str) -> list[str]:
    """The verdict of each simulator's passport, or that it has none: for `run`, or in short if nothing was typed."""
    said = []
    for role, name in players.items():
        if not role.startswith(("simulator", "person")) or name.startswith("sage/"):
            continue
        found = kept_passport(name)
        if not typed:
            which = f"whose passport (version {found.version}) says: {found.verdict}" if found else _WITHOUT
            said.append(f"the person is played by {name}, {which}")
        elif found is None:
            said.append(
                f"sage: {name} has no passport, which says whether it is fit to play the person, and is not checked"
                f" against people: {hint('sage passport --role', f'simulator={typed.get(role, name)}')}"
            )
        else:
            old = f" Made with version {found.version} of sage; make it anew." if found.version != version else ""
            said.append(f"sage: {found.line}{old}")
    return said


def as_json(found: Passport) -> str:
    """The passport as the JSON that is kept."""
    return msgspec.json.format(msgspec.json.encode(found), indent=1).decode() + "\n"
