"""`sociometer study`: people take the same tests in the browser."""

import secrets
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import msgspec
from msgspec import structs

from sociometer.cli.options import open_engine, pairs_of, shown_command, store_path, stored_command
from sociometer.cli.output import Display, Group, Range, confirm, link_teller, option, print_table, print_text, tell
from sociometer.cli.view import place_options, who_can_open
from sociometer.core.card import Card
from sociometer.core.config import RunConfig
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import DataError, NotFound, StoreError, UsageError, hint, unknown
from sociometer.core.language import ENGLISH, language_of, written_in
from sociometer.core.measure import Cell, Table
from sociometer.core.words import counted, grouped, listed
from sociometer.engine.engine import Engine
from sociometer.engine.plan import ReadPlan
from sociometer.engine.run_options import chosen_items, make_config
from sociometer.instruments import card_of, cards, load
from sociometer.results.norms import norm_tables, study_norm, write_norm
from sociometer.results.participants import Scores, participants_table
from sociometer.results.study_tables import about_columns, write_study
from sociometer.statistics.intervals import MINIMUM_CLUSTERS
from sociometer.store import studies
from sociometer.store.person_questions import checked_question
from sociometer.store.place import StorePlace, file_of
from sociometer.store.store import Store
from sociometer.web.forms import people_folder
from sociometer.web.seats import FormPlayer
from sociometer.web.serving import Place
from sociometer.web.study import PER_ADDRESS, serve_study

_ASKED_ONCE = {"orders", "votes"}
"""Settings that ask the same question several times; people are asked once unless the study says otherwise."""


def _create(instruments: tuple[str, ...], name: str, store: StorePlace | None, as_json: bool, **given: Any) -> None:
    if not name.replace("-", "").replace("_", "").isalnum():
        raise UsageError(f"--name must consist of letters, digits, '-' and '_', not '{name}'.")
    cards = list(map(card_of, dict.fromkeys(instruments)))
    first, *further = (_config(card, cards, name, given) for card in cards)
    study = studies.Study(
        name=name,
        config=first,
        further=tuple(further),
        sample=given["sample"],
        asks=tuple(map(checked_question, given["asks"])),
        secret=secrets.token_urlsafe(16),
        spaces_checks=True,
        fastest_seconds=given["fastest_seconds"],
        excludes_flagged=bool(given["excludes_flagged"]),
        **_texts(given),
        **{one: given[one] for one in ("language", "shows", "quota", "order", "attention", "most_failed")},
    )
    _refuse_most_failed(study, study.most_failed)
    if len(set(study.questions)) < len(study.asks):
        raise UsageError("two of the questions --ask have the same name.")
    path = _file(store).absolute()
    told: list[str] = []
    counts: dict[str, dict[str, int]] = {}
    too_few: list[str] = []
    alone: dict[str, bool] = {}
    with open_engine(path) as engine:
        engine.naming.check_free(name)
        for config in study.parts.values():
            plan = _playable(engine, study, config)
            own = {task: min(study.sample or items.count, items.count) for task, items in plan.lists.items()}
            alone |= _why_alone(plan, own) if study.shows == "place" else {}
            counts[config.instrument] = own
            wanted = max(study.sample, config.limit or 0)
            few = {task: f" (there are only {one.count})" * (one.count < wanted) for task, one in plan.lists.items()}
            said = (f"{counted(n, 'item')} of {task}{few[task]}" for task, n in own.items())
            told.append(", ".join((config.instrument, *said)))
            for task, its in plan.lists.items():
                if (count := len({item.cluster or item.id for item in its})) < MINIMUM_CLUSTERS:
                    too_few.append(f"{counted(count, plan.instrument.card.cluster_of(task))} of {task}")
    if alone and not any(alone.values()):
        raise UsageError(f"{' '.join(alone)} --shows score shows the score only.")
    items = sum(sum(own.values()) for own in counts.values())
    if study.attention > (most := max(1, items - 1)):
        raise UsageError(
            f"--attention is at most {most} for {counted(items, 'item')}: each check is between two items."
        )
    study = structs.replace(study, items=items)
    with closing(studies.StudyBook(studies.book_path(path))) as book:
        book.create(study)
    foreign = [pair for pair in about_columns(study.questions).items() if not pair[0].isascii()]
    tell(
        as_json,
        {"study": name, "items": counts, "quota": study.quota, "asks": study.asked},
        f"Study {name}: {'; '.join(told)} for each of at most {study.quota:,} participants."
        f" Open it with: {hint('study open', name)}",
        *([f"Questions about the person: {'; '.join(map(str, study.asked))}"] if study.asks else ()),
        *([f"Their columns in tables: {', '.join(map(' is '.join, foreign))}"] if foreign else ()),
        *([f"Too few for a verdict of compare, at least {MINIMUM_CLUSTERS}: {'; '.join(too_few)}"] if too_few else ()),
        *filter(None, (*alone, _missing_texts(study))),
    )


def _refuse_most_failed(study: studies.Study, most: int | None) -> None:
    """Raises a UsageError if as many attention checks may fail as there are."""
    if most is not None and most >= (count := study.attention):
        why = f"with {counted(count, 'check')} it is at most {count - 1}" if count else "the study has no checks"
        raise UsageError(f"--most-failed {most} flags nobody: {why}.")


def _missing_texts(study: studies.Study) -> str:
    """What to type for the texts that participants of a real study need; empty if they are given."""
    missing = [word for name in ("contact", "consent") if not getattr(study, name) for word in (f"--{name}", "TEXT")]
    return f"Before people take it, add your own texts: {hint('study change', study.name, *missing)}" if missing else ""


def _why_alone(plan: ReadPlan, items: Mapping[str, int]) -> dict[str, bool]:
    """Why participants do not see their place among people (empty if they see it), and whether there are people."""
    card, norms = plan.instrument.card, plan.described().norms
    known = any(one.value and one.human is not None for task in norms for one in card.measures_of(task))
    able = [task.name for task in plan.tasks if task.of_people is not None]
    if known or any(norms[task] for task in able):
        short = [task for task, count in items.items() if count < MINIMUM_CLUSTERS]
        seen = {one["order"] for one in norms.values() if one and plan.config.settings.get("shuffle")}
        why = "the people of the norm saw the options in another order" if seen - {"shuffled"} else ""
        why = why or (f"{listed(short)} has fewer than {MINIMUM_CLUSTERS} items" if short else "")
        return {f"--shows place: participants see only their score, because {why}." if why else "": True}
    how = f"; give a norm: --set norm=FILE ('{hint('study norms STUDY --to FILE')}' makes one)" if able else ""
    return {f"--shows place: {card.name} has no people to compare with{how}.": False}


def _config(card: Card, cards: Sequence[Card], name: str, given: Mapping[str, Any]) -> RunConfig:
    """What the runs of one of several instruments are made of: it gets the tasks and settings that it knows."""

    def own(wanted: Mapping[str, str], kind: str) -> dict[str, str]:
        elsewhere = {one.name for other in cards if other is not card for one in getattr(other, kind)}
        mine = {one.name for one in getattr(card, kind)}
        return {key: value for key, value in wanted.items() if key in mine or key not in elsewhere}

    known = {setting.name for setting in card.setting}
    chosen = own(dict(pairs_of("--set", given["settings"])), "setting")
    for key in chosen.keys() - known:
        every = {one.name for other in cards for one in other.setting}
        raise unknown("setting", key, every, written=f"--set {{}}={chosen[key]}")
    settings = {**dict.fromkeys(_ASKED_ONCE & known, "1"), **chosen}
    if "language" in known:
        if settings.setdefault("language", given["language"]) != given["language"]:
            raise UsageError("give the language with --language, not with --set: items and pages have the same one.")
    elif given["language"] not in card.languages:
        raise UsageError(f"{card.name} has no items in '{given['language']}'; it has {', '.join(card.languages)}.")
    tasks = tuple(own(dict.fromkeys(given["tasks"], ""), "task"))
    _refuse_models_only(card, tasks or [task.name for task in card.task if task.default])
    config = make_config(
        card,
        studies.PERSON,
        tasks=tasks,
        settings=settings,
        repeats=1,
        name=name,
        **{one: given[one] for one in ("items", "limit", "official", "data")},
    )
    return structs.replace(config, name="", command=("sociometer", *sys.argv[1:]))


def _playable(engine: Engine, study: studies.Study, config: RunConfig) -> ReadPlan:
    """The plan of an instrument as people read it; raises a UsageError if people of this study cannot play it."""
    shown = structs.replace(config, prompts_folder=people_folder(load(config.instrument)))
    plan = engine.plan(shown, players={studies.PERSON: FormPlayer("nobody", 0)})
    first: dict[str, Any] = {task: next(iter(items)) for task, items in plan.lists.items()}
    spoken = {
        task: getattr(item, "language", None) or written_in(msgspec.json.encode(item).decode())
        for task, item in first.items()
    }
    if wrong := [task for task, code in spoken.items() if code != study.language]:
        others, only = [task for task in first if task not in wrong], language_of(spoken[wrong[0]])
        choose = f"choose others with --task: {', '.join(others)}" if others else f"choose --language {only.code}"
        raise UsageError(f"{config.instrument} has {', '.join(wrong)} in {only.english} only; {choose}.")
    return plan


def _refuse_models_only(card: Card, tasks: Sequence[str]) -> None:
    """Raises a UsageError for a task that is not for people."""
    able = [task.name for task in card.task if task.people and _needs_no_model(card, task.name)]
    for task in tasks:
        if task not in able:
            known = ", ".join(sorted(able)) or "none"
            raise UsageError(f"'{task}' is not for people; tasks of {card.name} for people: {known}.")


def _needs_no_model(card: Card, task: str) -> bool:
    """Whether a person can take a task alone: rules play all other roles, since a study calls no model."""
    roles = {role.name: role for role in card.roles_of(task)}
    own = roles.pop(SUBJECT, None)
    return own is not None and all(role.default and not role.scores for role in roles.values())


def _file(store: StorePlace | None) -> Path:
    """The store of a study, which has its own file next to it."""
    return file_of(store_path(store), "a study")


def _study(store: StorePlace | None, name: str) -> tuple[Path, str]:
    """The store of a study and the study's name, from its own name or that of a part."""
    path = _file(store).absolute()
    return path, studies.find_study(path, name)[0].name


def _texts(given: dict[str, Any]) -> dict[str, Any]:
    """The texts of the study's owner; one that begins with `@` is in the file that it names."""
    texts = {name: given[name] for name in _TEXTS if given[name] is not None}
    for name, text in texts.items():
        try:
            texts[name] = Path(text[1:]).read_text(encoding="utf-8").strip() if text.startswith("@") else text
        except UnicodeDecodeError:
            raise DataError("is not UTF-8 text", text[1:]) from None
        except OSError as error:
            raise UsageError(f"--{name} {text} cannot be read: {error.strerror}.") from None
    return texts


def _change(name: str, store: StorePlace | None, as_json: bool, **given: Any) -> None:
    because = (given["because"] or "").strip()
    if bool(given["excluded"]) != bool(because):
        raise UsageError("--exclude PERSON and --because TEXT belong together: the reason is stored and shown.")
    changes = {**_texts(given), **{field: given[field] for field in _CHANGED if given[field] is not None}}
    if not (changes or given["excluded"] or given["included"]):
        raise UsageError(f"nothing to change; '{hint('study change --help')}' lists what can change.")
    path, name = _study(store, name)
    with closing(studies.StudyBook(studies.book_path(path))) as book:
        study = structs.replace(book.study(name), **changes)
        out, back = (
            [_participant(book, name, who.strip()) for who in ",".join(given[which]).split(",") if who.strip()]
            for which in ("excluded", "included")
        )
        _refuse_most_failed(study, given["most_failed"])
        if other := ", ".join(one.id for one in back if not one.excluded):
            raise UsageError(f"{other} was not excluded by hand; '{hint('study show', name)}' says if a rule does it.")
        book.change(study)
        full = (started := book.started(name)) >= study.quota
        for one in (*out, *back):
            book.exclude(one.id, because if one in out else "")
    told = {
        "quota": f"its quota is {study.quota}" + f" and {started} have started, so nobody else can" * full,
        "excludes_flagged": f"results {'leave out' if study.excludes_flagged else 'count'} flagged people",
    }
    told |= dict.fromkeys(_LIMITS, f"flagged are participants with {'; '.join(map(str, studies.flag_rules(study)))}")
    said = [*dict.fromkeys(told.get(field, f"its {field} is new") for field in changes)]
    said += [f"results leave out {one.id} ({because})" for one in out]
    said += [f"{one.id} is not excluded by hand any more" for one in back]
    about = {"study": name, **{one: getattr(study, one) for one in (*_CHANGED, *_TEXTS)}}
    about |= {"excluded": [one.id for one in out], "included": [one.id for one in back]}
    tell(as_json, about, f"Study {name} is changed: {'; '.join(said)}.")


def _participant(book: studies.StudyBook, study: str, given: str) -> studies.Participant:
    """The participant of a study with this id or code; also `STUDY.ID` or `PART.ID`, as comparisons name them."""
    own = given.rpartition(".")[2] if given.startswith(f"{study}.") else given
    found = book.with_code(study, given) or book.participant(own)
    if found is None or found.study != study:
        raise NotFound(f"study {study} has no participant '{given}'; '{hint('study show', study)}' lists them.")
    return found


def _open(
    name: str, port: int, host: str, public_url: str, per_address: int, lab: bool, preview: bool,
    store: StorePlace | None, as_json: bool,
) -> None:  # fmt: skip
    place = Place(host, port, public_url)
    stop = "Press Ctrl-C to close the study. Answers are stored, and you can open it again."
    stop = "This is a preview: nothing is stored. Press Ctrl-C to end it." if preview else stop
    links = link_teller(who_can_open(place) + stop, as_json)
    path, name = _study(store, name)
    with TemporaryDirectory() as folder:
        if preview:  # the same study in a store that is deleted
            with closing(studies.StudyBook(studies.book_path(path))) as book:
                study, path = book.study(name), Path(folder) / "preview.db"
            with closing(studies.StudyBook(studies.book_path(path))) as book:
                book.create(study)
        serve_study(path, name, load, place, links, per_address, lab=lab, preview=preview)
        joined = sum(not one.screened_out for one in studies.find_study(path, name)[1])
    people = counted(joined, "person has", "people have")
    said = "The preview has ended; nothing was stored" if preview else f"Study {name} is closed; {people} joined so far"
    if not as_json:
        print_text(f"{said}. Next: {hint('study open' if preview else 'study show', name)}")


def _list(store: StorePlace | None, display: Display) -> None:
    rows = tuple(_listed(book, name) for book in studies.study_books(_file(store)) for name in book.names())
    columns = ("study", "instrument", "language", "participants", "quota", "withdrawn")
    note = "" if rows else f"There are no studies yet. Create one with: {hint('study create INSTRUMENT --name NAME')}"
    display.show([table := Table("studies", "Studies", columns, rows, note)], limits=[len(rows)], data=table.records())


def _listed(book: studies.StudyBook, name: str) -> tuple[Cell, ...]:
    try:
        study, joined = book.study(name), sum(not one.screened_out for one in book.participants(name))
    except StoreError:
        return name, "damaged", None, None, None, None
    instruments = " ".join(config.instrument for config in study.parts.values())
    return name, instruments, study.language, joined, study.quota, study.withdrawn


def _show(name: str, store: StorePlace | None, display: Display) -> None:
    path, name = _study(store, name)
    with closing(studies.StudyBook(studies.book_path(path))) as book, Store(path) as opened:
        study, scores = book.study(name), Scores(opened, load)
        people, settings = participants_table(study, book, opened, scores), _settings(study)
        said = [] if display.as_json else [str(one) for one in scores.of_people(name)]
        limits = len(people.rows), len(settings.rows)
        display.show([people, settings], limits=limits, notes=said, data=people.records())


def _settings(study: studies.Study) -> Table:
    """What the owner chose, by the options of `study create`."""
    tests = (" ".join((one.instrument, *chosen_items(one, card_of(one.instrument)))) for one in study.parts.values())
    own = {*studies.Study.__struct_fields__} - {*RunConfig.__struct_fields__}
    values = {one.opts[0]: getattr(study, one.name) for one in _COMMANDS[0].params if one.name in own}
    values["--ask"] = "; ".join(map(str, study.asked))
    models = ", ".join(one.subject for one in study.parts.values() if study.talks)
    if models:
        values["models"] = models
    rows = [("test", "; ".join(dict.fromkeys(tests))), *(row for row in values.items() if row[1] not in (None, ""))]
    return Table("settings", "Settings", ("setting", "value"), tuple(rows))


def _export(name: str, to: Path, store: StorePlace | None, as_json: bool) -> None:
    path, name = _study(store, name)
    if not studies.find_study(path, name)[1]:
        raise UsageError(f"nobody has joined study {name} yet; let people in with '{hint('study open', name)}'.")
    with Store(path) as opened:
        wrote = write_study(opened, name, load, to)
    told = ", ".join(f"{file} ({counted(rows, 'row')})" for file, rows in wrote.items())
    tell(as_json, {"study": name, "wrote": str(to), "rows": wrote}, f"wrote {to}: {told}")


def _norms(name: str, to: Path, store: StorePlace | None, as_json: bool) -> None:
    with open_engine(_file(store)) as engine:
        made, people, taken = study_norm(engine.store, name, load)
        write_norm(made, taken, to, partial(engine.plan, sends=False))
    if as_json:
        sem = {task: norm_tables(norm, task, people)[0].sem for task, norm in made.tasks.items()}
        return tell(as_json, {"study": name, "wrote": str(to), "norm": made, "sem": sem})
    for task, norm in made.tasks.items():
        for table in norm_tables(norm, task, people):
            print_table(table)
    left_out = f"\nExcluded: {people.why_excluded} ('{hint('study show', name)}')." if people.excluded else ""
    chosen = chosen_items(taken, card_of(taken.instrument), without="norm")
    play = hint("run", made.instrument, "--model", "MODEL", "--norm", to, *chosen)
    tell(as_json, made, f"wrote {to}: {norm.sample}{left_out}", f"Use it with: {play}")


def _withdraw(name: str, participant: str, yes: bool, store: StorePlace | None, as_json: bool) -> None:
    path, name = _study(store, name)
    with closing(studies.StudyBook(studies.book_path(path))) as book:
        found = _participant(book, name, participant)
    confirm(f"everything that is stored about {found.id} of study {name}", yes)
    with studies.study_lock(path, name):
        erased = Store(path).withdraw(found.id)
    tell(
        as_json,
        {"study": name, "withdrawn": found.id, "deleted": erased},
        f"Deleted: {found.id}, {counted(erased.answers, 'answer')}, {counted(erased.texts, 'text')},"
        f" {counted(erased.analyses, 'analysis', 'analyses')}, {counted(erased.units, 'unit')} for raters with"
        f" {counted(erased.labels, 'label')}.",
        f"Kept: how many participants withdrew, had started and had finished, and"
        f" {counted(erased.shared_texts, 'text')} that other runs have too, such as"
        " questions. Files that were exported or copied before are not changed.",
    )


_OFFICIAL = (
    option("--official", "Use the official items ('sociometer get data'), not the bundled ones.", is_flag=True),
    option("--data", "Folder that holds the official files; implies --official.", type=click.Path(), default=""),
)
_NAME = click.Argument(["name"])
_COUNT = click.IntRange(0)
_LIMITS = ("fastest_seconds", "most_failed")
_CHANGED = ("quota", "excludes_flagged", *_LIMITS)
"""The fields of a study that can change later, besides the texts."""
_TEXTS = {
    "title": "Title that participants see.",
    "contact": "Whom participants can ask: a name and an address.",
    "consent": "Text that participants agree to.",
    "debriefing": "Text that participants read at the end.",
    "completion": "Code that participants take back to a panel, or the https:// address that they return to; add others"
    " with ' screened-out=CODE', ' failed-checks=CODE' and ' no-consent=CODE'.",
}


_PANELS = {
    "The test": ("tasks", "limit", "items", "sample", "order", "language", "official", "data", "settings"),
    "What participants read and are asked": (*_TEXTS, "asks", "shows"),
    "How many take part, and who counts": ("attention", *_CHANGED, "excluded", "because", "included"),
}
"""The groups of options in the help."""


class _Described(click.Command):
    """`create` and `change`: options in groups; for an option that is given elsewhere, the error says where."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        title_of = {name: title for title, names in _PANELS.items() for name in names}
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        for title, members in grouped((title_of.get(one.name or "", "Options"), one) for one in options).items():
            with formatter.section(title):
                formatter.write_dl([record for one in members if (record := one.get_help_record(ctx))])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            known = {f"--{one.name}": one for card in cards().values() for one in card.setting}
            if self.name == "create" and (setting := known.get(name)):
                give = f"--set {setting.name}={'true' if setting.kind == 'flag' else 'VALUE'}"
                raise UsageError(f"{name} is a setting of the instrument; give it as {give}.") from None
            if self.name == "create" and name in ("--exclude", "--include", "--because"):
                leave_out = hint("study change NAME --exclude PERSON")
                raise UsageError(f"{name} is for people who took part: {leave_out}.") from None
            if name in known or any(name in one.opts for one in _COMMANDS[0].params):
                why = f"{name} is fixed when a study is created, so that all participants take the same test"
                another = hint("study create INSTRUMENT --name NAME")
                raise UsageError(f"{why}. For another test, create another study: {another}") from None
            raise


def _text_options() -> list[click.Option]:
    return [option(f"--{name}", f"{text} @FILE reads it from a file.") for name, text in _TEXTS.items()]


def _flag_options(fastest: float | None) -> list[click.Option]:
    return [
        option(
            "--most-failed",
            "Largest number of failed attention checks that flags nobody: with 1, two failed checks flag. Less than"
            " --attention [default: 0 of 1 check, 1 of 2 to 12, 2 of 13 to 20; people who read rarely fail more].",
            type=_COUNT,
        ),
        option(
            "--fastest fastest_seconds",
            "Shortest median response time; faster participants are flagged.",
            type=Range(0),
            default=fastest,
            metavar="SECONDS",
        ),
        option(
            "--exclude-flagged/--count-flagged excludes_flagged",
            "Whether results leave out people who may not have"
            " read the questions: too fast, the same answer everywhere, failed attention checks.",
            default=None,
        ),
    ]


_COMMANDS = [
    stored_command(
        "create",
        _create,
        "Create a study of an instrument, or of several in one sitting.",
        click.Argument(["instruments"], nargs=-1, required=True, metavar="INSTRUMENT..."),
        option("--name", "Name of the study.", required=True),
        option("--language", "Language of items and pages.", default=ENGLISH),
        option("--task tasks", "Task of the instrument to include; repeat for several.", multiple=True),
        option("--limit", "Number of items to sample; the same for everyone.", type=int),
        option("--item items", "Item to include; repeat for several.", multiple=True),
        option("--sample", "Number of items of each task, drawn at random for each person.", type=_COUNT, default=0),
        *_OFFICIAL,
        option("--set settings", "Setting of the instrument; repeat for several.", multiple=True, metavar="NAME=VALUE"),
        *_text_options(),
        option(
            "--ask asks",
            "Question about the person, such as 'age; number 18..99; required', or 'PROLIFIC_PID;"
            " panel' for the id in a panel's link; repeat for several.",
            multiple=True,
        ),
        option(
            "--shows",
            "Feedback at the end: nothing, the score, or the score compared with people.",
            type=click.Choice(["nothing", "score", "place"]),
            default="nothing",
        ),
        option(
            "--order",
            "Order of the items: as in the files but with twins far apart, as in the files, or random for each person.",
            type=click.Choice(["apart", "fixed", "random"]),
            default="apart",
        ),
        option("--attention", "Number of attention checks among the items.", type=click.IntRange(0, 20), default=0),
        *_flag_options(studies.FASTEST_SECONDS),
        option("--quota", "Maximum number of participants who start.", type=click.IntRange(1), default=1_000),
        of=_Described,
    ),
    stored_command(
        "open",
        _open,
        "Serve a study until Ctrl-C, and print the link for participants.",
        _NAME,
        *place_options(8766),
        option(
            "--per-address",
            "Maximum number of people who join from one network address in an hour; raise it for a classroom.",
            type=click.IntRange(1),
            default=PER_ADDRESS,
        ),
        option("--lab", "People use one browser after the other; the link begins with the next.", is_flag=True),
        option("--preview", "Try the study yourself: what you answer is stored nowhere.", is_flag=True),
    ),
    stored_command(
        "change",
        _change,
        "Change the quota, the texts and the exclusions of a study.",
        _NAME,
        option(
            "--exclude excluded",
            "Participant whom results leave out, such as your own trial; repeat for several.",
            multiple=True,
            metavar="PERSON",
        ),
        option("--because", "Why; stored, and shown wherever people are listed.", metavar="TEXT"),
        option(
            "--include included",
            "Participant whom --exclude left out, and who counts again; repeat for several.",
            multiple=True,
            metavar="PERSON",
        ),
        *_flag_options(None),
        option("--quota", "Maximum number of participants who start.", type=click.IntRange(1)),
        *_text_options(),
        of=_Described,
    ),
    shown_command("list", _list, "List the studies."),
    shown_command("show", _show, "Show the participants with their scores, and the settings.", _NAME),
    stored_command(
        "export",
        _export,
        "Write all data of a study as CSV files. They have the answers to each task with times and scores, the people"
        " and what they said, the same with a column for each item (wide.csv), the items, and a codebook.",
        _NAME,
        option("--to", "Folder to write to.", type=click.Path(path_type=Path), required=True),
    ),
    stored_command(
        "norms",
        _norms,
        "Write a norm of the people who count. It has percentiles, strata by sex and age, and"
        " items. 'run --norm' then shows the share of people with a worse score. Nobody can be recognised in it.",
        _NAME,
        option("--to", "File to write.", type=click.Path(path_type=Path, dir_okay=False), required=True),
    ),
    stored_command(
        "withdraw",
        _withdraw,
        "Delete all data of a participant of a closed study. PARTICIPANT is an id or a code. The command asks first."
        " Participants can do so themselves at any time.",
        _NAME,
        click.Argument(["participant"]),
        option("--yes", "Do not ask.", is_flag=True),
    ),
]

command = Group(
    "study",
    commands=_COMMANDS,
    help="Give the same tests to people, in the browser. 'sociometer store delete STUDY' deletes a study.",
)
