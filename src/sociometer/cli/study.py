"""`sociometer study`: people take the same tests in the browser."""

import asyncio
import secrets
import shlex
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec import structs

from sociometer.cli.options import cap_options, open_engine, store_path, stored_command
from sociometer.cli.output import Group, Range, link_teller, option, print_table, tell, tell_rows
from sociometer.cli.view import place_options, who_can_open
from sociometer.core.errors import DataError, ExitCode, NotFound, StoreError, UsageError
from sociometer.core.language import ENGLISH, language_of, written_in
from sociometer.core.measure import Cell, Table
from sociometer.core.settings import Settings
from sociometer.core.sheets import whole_file, write_sheet
from sociometer.core.words import lowered
from sociometer.engine.run_options import make_config
from sociometer.instruments import card_of, load
from sociometer.results.groups import exported_rows, participants_table, study_run
from sociometer.results.norms import norm_of_study, norm_tables
from sociometer.results.people_needed import people_needed
from sociometer.statistics.formatting import number
from sociometer.store.place import StorePlace, file_of
from sociometer.store.store import Store
from sociometer.store.studies import PERSON, Study, StudyBook, book_path, study_books, study_lock
from sociometer.web.seats import FormPlayer, refuse_unplayable
from sociometer.web.serving import Place
from sociometer.web.study import PER_ADDRESS, serve_study

_ASKED_ONCE = {"orders", "votes"}
"""Settings that ask the same question several times; people are asked once unless the study says otherwise."""


def _create(instrument: str, name: str, store: StorePlace | None, as_json: bool, **given: Any) -> None:
    if not name or "." in name:
        raise UsageError(f"--name must consist of letters, digits, '-' and '_', not '{name}'.")
    card = card_of(instrument)
    known = {setting.name for setting in card.setting}
    settings = {**dict.fromkeys(_ASKED_ONCE & known, "1"), **_pairs("--set", given["settings"])}
    if "language" in known:
        if settings.setdefault("language", given["language"]) != given["language"]:
            raise UsageError("give the language with --language, not with --set: items and pages have the same one.")
    elif given["language"] not in card.languages:
        raise UsageError(f"{instrument} has no items in '{given['language']}'; it has {', '.join(card.languages)}.")
    config = make_config(
        card, PERSON, roles=_pairs("--role", given["roles"]), tasks=given["tasks"], settings=settings,
        items=given["items"], limit=given["limit"], repeats=1, official=given["official"], data=given["data"],
        max_cost=given["max_cost"], max_requests=given["max_requests"], max_tokens=given["max_tokens"], name=name,
    )  # fmt: skip
    study = Study(
        name=name,
        config=structs.replace(config, name="", command=("sociometer", *sys.argv[1:])),
        language=given["language"],
        sample=given["sample"],
        questions=tuple(given["asks"]),
        shows=given["shows"],
        quota=given["quota"],
        secret=secrets.token_urlsafe(16),
        order=given["order"],
        attention=given["attention"],
        most_failed=given["most_failed"],
        fastest_seconds=given["fastest"],
    )
    study = structs.replace(study, **_texts(given))
    path = _file(store).absolute()
    with open_engine(path) as engine:
        plan = engine.plan(study.config, players={PERSON: FormPlayer("nobody", 0)})
        lists = plan.lists
        first: dict[str, Any] = {task: next(iter(items)) for task, items in lists.items()}
        asyncio.run(refuse_unplayable(plan, first))
        engine.check_name(name)
    spoken = {
        task: getattr(item, "language", None) or written_in(msgspec.json.encode(item).decode())
        for task, item in first.items()
    }
    if wrong := [task for task, code in spoken.items() if code != study.language]:
        others, only = [task for task in lists if task not in wrong], language_of(spoken[wrong[0]])
        choose = f"choose others with --task: {', '.join(others)}" if others else f"choose --language {only.code}"
        raise UsageError(f"{instrument} has {', '.join(wrong)} in {only.english} only; {choose}.")
    with closing(StudyBook(book_path(path))) as book:
        book.create(study)
    counts = {task: min(study.sample or items.count, items.count) for task, items in lists.items()}
    told = ", ".join(f"{count} items of {task}" for task, count in counts.items())
    tell(
        as_json,
        {"study": name, "instrument": instrument, "items": counts, "quota": study.quota},
        f"Study {name}: {instrument}, {told} for each of at most {study.quota:,} participants."
        f" Open it with: sociometer study open {name}",
    )


def _file(store: StorePlace | None) -> Path:
    """The store of a study, which has its own file next to it."""
    return file_of(store_path(store), "a study")


def _pairs(option: str, given: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise UsageError(f"{option} needs NAME=VALUE, not '{text}'.")
        pairs[name] = value
    return pairs


def _texts(given: dict[str, Any]) -> dict[str, str]:
    """The texts of the study's owner; one that begins with `@` is in the file that it names."""
    texts = {name: given[name] for name in _TEXTS if given[name] is not None}
    for name, text in texts.items():
        try:
            texts[name] = Path(text[1:]).read_text(encoding="utf-8").strip() if text.startswith("@") else text
        except UnicodeDecodeError:
            raise DataError("is not UTF-8 text", text[1:]) from None
    return texts


def _change(name: str, quota: int | None, store: StorePlace | None, as_json: bool, **given: Any) -> None:
    with closing(StudyBook(book_path(_file(store)))) as book:
        changes: dict[str, Any] = {**_texts(given), **({"quota": quota} if quota is not None else {})}
        if not changes:
            raise UsageError("nothing to change; give --quota or one of the texts, such as --title.")
        book.change(structs.replace(book.study(name), **changes))
        study = book.study(name)
    about = {"study": name, "quota": study.quota, **{one: getattr(study, one) for one in _TEXTS}}
    tell(as_json, about, f"Study {name} is changed; its quota is {study.quota}.")


def _open(
    name: str,
    port: int,
    host: str,
    public_url: str,
    roles: tuple[str, ...],
    per_address: int,
    store: StorePlace | None,
    as_json: bool,
) -> int:
    place = Place(host, port, public_url)
    stop = "Press Ctrl-C to close the study. Answers are stored, and you can open it again."
    tell = link_teller("participants", who_can_open(place) + stop, as_json)
    serve_study(
        _file(store).absolute(), name, load, place, tell, confirmed=_pairs("--role", roles), per_address=per_address
    )
    return int(ExitCode.OK)


def _list(store: StorePlace | None, as_json: bool) -> None:
    rows = tuple(_listed(book, name) for book in study_books(_file(store)) for name in book.names())
    columns = ("study", "instrument", "language", "participants", "quota", "withdrawn")
    note = "" if rows else "There are no studies yet. Create one with: sociometer study create INSTRUMENT --name NAME"
    tell_rows(as_json, Table("studies", "Studies", columns, rows, note))


def _listed(book: StudyBook, name: str) -> tuple[Cell, ...]:
    try:
        study, joined = book.study(name), len(book.participants(name))
    except StoreError:
        return name, "damaged", None, None, None, None
    return name, study.config.instrument, study.language, joined, study.quota, study.withdrawn


def _show(name: str, store: StorePlace | None, as_json: bool) -> None:
    path = _file(store)
    with closing(StudyBook(book_path(path))) as book:
        study = book.study(name)
        with Store(path) as opened:
            tell_rows(as_json, participants_table(study, book, opened))


def _export(name: str, to: Path, store: StorePlace | None, as_json: bool) -> None:
    if to.suffix not in (".csv", ".jsonl"):
        raise UsageError(f"--to must end in .csv or .jsonl, not '{to.name}'.")
    path = _file(store)
    with closing(StudyBook(book_path(path))) as book:
        book.study(name)
    with Store(path) as opened:
        rows = exported_rows(name, opened, load)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    if to.suffix == ".csv":
        text = write_sheet(columns, [[row.get(column) for column in columns] for row in rows], guard_formulas=True)
    else:
        text = "".join(msgspec.json.encode(row).decode() + "\n" for row in rows)
    with whole_file(to, private=True) as file:
        file.write_text(text, encoding="utf-8")
    who = len({row["participant"] for row in rows})
    about = {"study": name, "rows": len(rows), "wrote": str(to)}
    tell(as_json, about, f"wrote {to}: {len(rows)} answers of {who} participants")


def _norms(name: str, to: Path, store: StorePlace | None, as_json: bool) -> None:
    path = _file(store)
    with closing(StudyBook(book_path(path))) as book:
        study, about = book.study(name), {one.run: one.about for one in book.participants(name)}
    with open_engine(path) as engine:
        people = study_run(engine.store, name, load)
        assert people is not None, "the book has the study"
        made = norm_of_study(people, [about[run] for run in people.members], study.language)
        with whole_file(to) as draft:
            draft.write_bytes(msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n")
            # Read and checked as 'run --norm' does on the items of the study.
            settings = {**study.config.settings, "norm": str(draft)}
            config = structs.replace(study.config, subject=_ANY, tasks=tuple(made.tasks), settings=settings)
            engine.plan(config, sends=False)
    if as_json:
        return tell(as_json, {"study": name, "wrote": str(to), "norm": made})
    for task, norm in made.tasks.items():
        for table in norm_tables(norm, card_of(made.instrument).primary_of(task)):
            print_table(table)
    left_out = f", {people.excluded} excluded ('sociometer study show {name}' says why)" if people.excluded else ""
    play = shlex.join(["sociometer", "run", made.instrument, "--model", "MODEL", "--norm", str(to), *_chosen(study)])
    tell(as_json, made, f"wrote {to}: {norm.sample}{left_out}", f"Use it with: {play}")


def _chosen(study: Study) -> list[str]:
    """The options of `run` that choose the items of a study."""
    config, card = study.config, card_of(study.config.instrument)
    given: list[tuple[str, object]] = [("limit", config.limit), ("data", config.data_folder)]
    given += [(name, value) for name, values in (("item", config.items), ("task", config.tasks)) for value in values]
    given += [("role", f"{role}={model}") for role, model in config.roles.items()]
    flags = [one.name for one in card.setting if one.kind == "flag"]
    usual = {one.name: one.default for one in card.setting}
    chosen = Settings.chosen(card.setting, config.settings)
    given += [(name, value) for name, value in chosen.items() if value != usual[name] and name not in flags]
    words = ["--official"] * (config.official and not config.data_folder) + [f"--{one}" for one in flags if chosen[one]]
    return words + [word for name, value in given if value for word in (f"--{name}", str(value))]


def _plan(
    instrument: str, tasks: tuple[str, ...], limit: int | None, width: float, percentile: float,
    mean_width: float | None, spread: float | None, store: StorePlace | None, as_json: bool,
) -> None:  # fmt: skip
    card = card_of(instrument)
    with open_engine(_file(store)) as engine:
        lists = engine.plan(make_config(card, _ANY, tasks=tasks, limit=limit), sends=False).lists
    known = [(task, measure) for task in lists if (measure := card.primary_of(task)) is not None]
    if not known:
        raise UsageError(f"{', '.join(lists)} of {instrument} has no score that is a mean over items.")
    task, measure = known[0]
    items = [item.cluster or item.id for item in lists[task]]
    found = people_needed(measure, items, percent=percentile, width=width, mean_width=mean_width, spread=spread)
    if as_json:
        return tell(as_json, {"instrument": instrument, "task": task, "items": len(items), "needed": found})
    print_table(found.table)
    said = f"{found.percentile} people for ± {width:g} at the {percentile:g}th percentile"
    said += f", {found.mean} for a mean within ± {mean_width:g}" if found.mean is not None else ""
    tell(
        as_json, found, f"{instrument}, {lowered(measure.title)} of {task}, {len(items)} items: {said} (95 %).",
        f"Spread of people's scores: SD {number(found.spread, 'points')} ({found.source}). Change it with --spread.",
        "A model's percentile also has the error of the model over the items, which more people do not reduce.",
    )  # fmt: skip


def _withdraw(name: str, participant: str, store: StorePlace | None, as_json: bool) -> None:
    path = _file(store)
    with closing(StudyBook(book_path(path))) as book:
        book.study(name)
        found = book.with_code(name, participant) or book.participant(participant)
    if found is None or found.study != name:
        raise NotFound(f"study {name} has no participant '{participant}'; 'sociometer study show {name}' lists them.")
    with study_lock(path, name):
        erased = Store(path).withdraw(found.id)
    tell(
        as_json,
        {"study": name, "withdrawn": found.id, "deleted": erased},
        f"Deleted: {found.id}, {erased.answers} answers, {erased.texts} texts, {erased.analyses} analyses,"
        f" {erased.units} units for raters with {erased.labels} labels.",
        f"Kept: the number of participants who withdrew, and {erased.shared_texts} texts that other runs have too, such"
        " as questions. Files that were exported or copied before are not changed.",
    )


_ANY = "baseline/random"
"""Stands for a subject that plans need: the items do not depend on it."""
_NAME = click.Argument(["name"])
_COUNT = click.IntRange(0)
_TEXTS = {
    "title": "Title that participants see.",
    "contact": "Whom participants can ask: a name and an address.",
    "consent": "Text that participants agree to.",
    "debriefing": "Text that participants read at the end.",
    "completion": "Code that participants take back to a panel, or the https:// address that they return to.",
}


def _text_options() -> list[click.Option]:
    return [option(f"--{name}", f"{text} @FILE reads it from a file.") for name, text in _TEXTS.items()]


_COMMANDS = [
    stored_command(
        "create",
        _create,
        "Create a study of INSTRUMENT.",
        click.Argument(["instrument"]),
        option("--name", "Name of the study.", required=True),
        option("--language", "Language of items and pages.", default=ENGLISH),
        option("--task tasks", "Task of the instrument to include; repeat for several.", multiple=True),
        option("--limit", "Number of items to sample; the same for everyone.", type=int),
        option("--item items", "Item to include; repeat for several.", multiple=True),
        option("--sample", "Number of items of each task, drawn at random for each person.", type=_COUNT, default=0),
        option("--official", "Use the official items ('sociometer get data'), not the bundled ones.", is_flag=True),
        option("--data", "Folder that holds the official files; implies --official.", type=click.Path(), default=""),
        option("--role roles", "Model for another role; repeat for several.", multiple=True, metavar="ROLE=MODEL"),
        option("--set settings", "Setting of the instrument; repeat for several.", multiple=True, metavar="NAME=VALUE"),
        *_text_options(),
        option("--ask asks", "Question about the person, such as age; participants may skip it.", multiple=True),
        option(
            "--shows",
            "Feedback at the end: nothing, the score, or the score compared with people.",
            type=click.Choice(["nothing", "score", "place"]),
            default="nothing",
        ),
        option(
            "--order",
            "Order of the items: as in the files, or random for each participant.",
            type=click.Choice(["fixed", "random"]),
            default="fixed",
        ),
        option("--attention", "Number of attention checks among the items.", type=click.IntRange(0, 20), default=0),
        option(
            "--most-failed",
            "Number of attention checks that a participant may fail without being excluded.",
            type=_COUNT,
            default=0,
        ),
        option(
            "--fastest",
            "Shortest median response time; faster participants are excluded.",
            type=Range(0),
            default=0.0,
            metavar="SECONDS",
        ),
        option("--quota", "Maximum number of participants who start.", type=click.IntRange(1), default=1_000),
        *cap_options("for each participant's run"),
    ),
    stored_command(
        "open",
        _open,
        "Serve a study until Ctrl-C, and print the link for participants.",
        _NAME,
        *place_options(8766),
        option(
            "--role roles",
            "Model for a role, if it has an address or is a Python function; given again to confirm it.",
            multiple=True,
            metavar="ROLE=MODEL",
        ),
        option(
            "--per-address",
            "Maximum number of people who join from one network address in an hour; raise it for a classroom.",
            type=click.IntRange(1),
            default=PER_ADDRESS,
        ),
    ),
    stored_command(
        "change",
        _change,
        "Change the quota or the texts of a study.",
        _NAME,
        option("--quota", "Maximum number of participants who start.", type=click.IntRange(1)),
        *_text_options(),
    ),
    stored_command("list", _list, "List the studies."),
    stored_command("show", _show, "Show the progress of each participant.", _NAME),
    stored_command(
        "export",
        _export,
        "Write every participant's answers, scores and what they said about themselves, as .csv or .jsonl.",
        _NAME,
        option("--to", "File to write.", type=click.Path(path_type=Path, dir_okay=False), required=True),
    ),
    stored_command(
        "norms",
        _norms,
        "Write a norm of the people who count: percentiles, strata by sex and age, and items. 'run --norm'"
        " then shows the share of people below a model. Nobody can be recognised in it.",
        _NAME,
        option("--to", "File to write.", type=click.Path(path_type=Path, dir_okay=False), required=True),
    ),
    stored_command(
        "plan",
        _plan,
        "Show how many people a norm of INSTRUMENT needs: simulated people take its items.",
        click.Argument(["instrument"]),
        option("--task tasks", "Task of the instrument.", multiple=True),
        option("--limit", "Number of items to sample.", type=int),
        option("--percentile", "Percentile to measure.", type=Range(1, 99), default=50.0),
        option("--width", "Half-width of its interval, in percent.", type=Range(0.5, 50), default=5.0),
        option(
            "--mean mean_width",
            "Half-width of the interval of the mean, as the measure is shown.",
            type=Range(0, min_open=True),
        ),
        option(
            "--spread",
            "Standard deviation of people's scores, as the measure is shown [default: that of the paper,"
            " or of abilities with a standard deviation of 1 logit].",
            type=Range(0, min_open=True),
        ),
    ),
    stored_command(
        "withdraw",
        _withdraw,
        "Delete all data of a participant of a closed study, given by id or code. Participants can do so themselves at"
        " any time.",
        _NAME,
        click.Argument(["participant"]),
    ),
]

command = Group("study", commands=_COMMANDS, help="Give the same tests to people, in the browser.")
