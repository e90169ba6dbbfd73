"""Which stored runs a command is about, and how analysis and report see them."""

from collections.abc import Iterator, Sequence

import click
from msgspec import Struct

from sociometer.analysis.stand_ins import SUBJECT
from sociometer.cli.output import harmless
from sociometer.core.card import Card
from sociometer.core.errors import UsageError
from sociometer.engine.engine import Engine
from sociometer.instruments import card_of
from sociometer.item_origin import whose_items
from sociometer.store.records import RoleRecord, RunRecord, RunStatus
from sociometer.store.stored_run import StoredRun

EVERY = "all"


def runs_argument(required: bool = False) -> click.Argument:
    """RUN…, ids or beginnings of ids, `last`, or `all`."""
    return click.Argument(["runs"], nargs=-1, required=required, metavar="RUN…")


def chosen_runs(
    engine: Engine,
    references: Sequence[str],
    *,
    instrument: str = "",
    subject: str = "",
    one_kind: bool = False,
    told: bool = True,
) -> list[StoredRun]:
    """The runs that were named; with none or `all`, the fullest of every subject on every instrument.

    The fullest run has the most items of the instrument's own test, the newest among equals; where an
    instrument was played on official and on bundled items, or with other models in its other roles, the kind
    that most subjects had goes first, and `one_kind` leaves out who has the others alone; of one `subject`
    every kind is given. `told` says on standard error which runs were chosen.
    """
    if references and EVERY not in references:
        chosen = list({stored.id: stored for stored in map(engine.stored, references)}.values())
        wrong = [stored for stored in chosen if instrument and stored.instrument != instrument]
        if wrong:
            raise UsageError(f"run '{wrong[0].id}' is of {wrong[0].instrument}, not of {instrument}.")
        return chosen
    standing = [
        _Standing(record, _Kind(whose_items(record), _company(record)), _items_of_the_test(engine, record))
        for record in engine.store.runs.all()
        if record.subject and (not instrument or record.instrument == instrument) and _stands_for_its_subject(record)
    ]
    fullest = _fullest_of_one(standing, subject) if subject else _fullest(standing, one_kind)
    if not fullest:
        what = f" of {instrument}" if instrument else ""
        who = f" with subject '{subject}'" if subject else ""
        raise UsageError(f"the store has no run{what}{who}. Start one with: sociometer run INSTRUMENT --model MODEL")
    if told:
        for line in _choice_in_words(fullest, standing, subject):
            click.echo(harmless(line), err=True)
    return [engine.stored(one.record.id) for one in fullest]


def named_card(engine: Engine, instrument: str) -> Card:
    """The card of an instrument, or of a benchmark that runs were imported of; an unknown name is an error."""
    stored = [
        one.manifest.card for one in engine.store.runs.all() if one.instrument == instrument and one.manifest.card
    ]
    return card_of(instrument, stored[-1] if stored else None)


class _Kind(Struct, frozen=True):
    """What runs must have in common to stand on one scale: whose items, and who played the other roles."""

    whose: str
    company: tuple[str, ...]


class _Standing(Struct, frozen=True):
    """A run that may stand for its subject, with what decides whether it does."""

    record: RunRecord
    kind: _Kind
    items: int


def _fullest(standing: Sequence[_Standing], one_kind: bool) -> list[_Standing]:
    """For each instrument and subject the run with the most items, the newest among equals, oldest subject first."""
    groups: dict[tuple[str, str], list[_Standing]] = {}
    for one in standing:
        groups.setdefault((one.record.instrument, one.record.subject), []).append(one)
    found = []
    for (instrument, _), members in groups.items():
        first = _first_kind([one for one in standing if one.record.instrument == instrument])
        of_kind = [one for one in members if one.kind == first]
        if of_kind or not one_kind:
            found.append(max(of_kind or members, key=_fullness))
    return found


def _fullest_of_one(standing: Sequence[_Standing], subject: str) -> list[_Standing]:
    """For each instrument the subject's fullest run of each kind."""
    groups: dict[tuple[str, _Kind], list[_Standing]] = {}
    for one in standing:
        if one.record.subject == subject:
            groups.setdefault((one.record.instrument, one.kind), []).append(one)
    return [max(members, key=_fullness) for members in groups.values()]


def _fullness(one: _Standing) -> tuple[int, float]:
    return one.items, one.record.created


def _first_kind(standing: Sequence[_Standing]) -> _Kind:
    """The kind that most subjects had, of equals the one played last; one with a stand-in beside them is last."""

    def weight(kind: _Kind) -> tuple[bool, int, float]:
        of_kind = [one.record for one in standing if one.kind == kind]
        real = not any(who.identity.stand_in for who in _others(of_kind[0]).values())
        return real, len({record.subject for record in of_kind}), max(record.created for record in of_kind)

    return max(dict.fromkeys(one.kind for one in standing), key=weight)


def _company(record: RunRecord) -> tuple[str, ...]:
    """Who played the other roles of a run."""
    return tuple(f"{role}={who.label}" for role, who in sorted(_others(record).items()))


def _others(record: RunRecord) -> dict[str, RoleRecord]:
    return {role: who for role, who in record.manifest.roles.items() if role != SUBJECT}


def _choice_in_words(chosen: Sequence[_Standing], standing: Sequence[_Standing], subject: str) -> Iterator[str]:
    """One line an instrument: the runs that were chosen, their items, and who is left out."""
    for instrument in dict.fromkeys(one.record.instrument for one in chosen):
        mine = [one for one in chosen if one.record.instrument == instrument]
        names = ", ".join(f"{one.record.subject} {one.record.id} ({one.items} {one.kind.whose} items)" for one in mine)
        others = {one.record.subject for one in standing if one.record.instrument == instrument}
        left = sorted(others - {one.record.subject for one in mine}) if not subject else []
        also = f"; left out, with other items or other roles alone: {', '.join(left)}" if left else ""
        yield f"{instrument}: the fullest run of each subject: {names}{also}."


def _items_of_the_test(engine: Engine, record: RunRecord) -> int:
    """How many items of the instrument's own test have an outcome, whatever their repeats."""
    tasks = set(record.manifest.config.tasks) & set(card_of(record.instrument, record.manifest.card).default_tasks())
    return sum(len({item for item, _ in engine.store.episodes.finished(record.id, task)}) for task in tasks)


def _stands_for_its_subject(record: RunRecord) -> bool:
    """Whether a run is of the instrument's own test, unaltered, and no step of a probe, analysis or construction."""
    manifest, card = record.manifest, card_of(record.instrument, record.manifest.card)
    if not set(manifest.config.tasks) & set(card.default_tasks()):
        return False
    if any(
        setting.alters and not setting.is_default(manifest.config.settings.get(setting.name))
        for setting in card.setting
    ):
        return False
    if manifest.imported:
        return record.status is RunStatus.FINISHED
    return not (manifest.given_items or manifest.config.step_of)


def terms_options() -> list[click.Parameter]:
    """What a comparison may be told: margin, power, level."""
    margin = "The difference that would matter, in the measure's own scale (0.03 is three points of a share)."
    return [
        click.Option(["--margin"], type=float, default=None, help=margin),
        click.Option(
            ["--power"], type=float, default=0.8, show_default=True, help="Power of the stated detectability."
        ),
        click.Option(["--level"], type=float, default=0.95, show_default=True, help="Level of intervals and verdicts."),
    ]
