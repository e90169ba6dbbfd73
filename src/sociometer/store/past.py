"""Which numbers of a stored run this version can only show: those of tasks, options and records that it lacks.

A stored summary is a fact. Such numbers are shown as they were stored, never computed again and never compared.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import structs

from sociometer.core.card import Card
from sociometer.core.config import RunConfig
from sociometer.core.instrument import Instrument
from sociometer.core.settings import Setting, SettingValue
from sociometer.core.task import Task
from sociometer.core.version import __version__
from sociometer.store.records import RunRecord
from sociometer.store.store import Store
from sociometer.store.texts import OtherVersion

_ORDINARY_SETTINGS: Mapping[tuple[str, str], SettingValue] = {
    ("egosocial/generated", "tier"): ("seen",),
    ("egosocial/holdem", "change"): "never",
    ("sesi/questions", "blind"): False,
    ("socialeval/abilities", "blind"): False,
}
"""Settings of version 0.3, by task, and the value with which a run is like one of this version."""


def past_tasks(store: Store, record: RunRecord, instrument: Instrument) -> dict[str, str]:
    """The tasks of a run whose numbers are only shown, each with the reason as the end of a sentence."""
    found = {}
    for name in record.manifest.config.tasks:
        if why := _why_past(store, record, instrument, name):
            found[name] = f"made by version {record.manifest.sociometer_version}{why}"
    return found


def present_settings(config: RunConfig, card: Card) -> RunConfig:
    """The choices of a run without the settings that its instrument no longer has, which had their ordinary value."""
    names = {setting.name for setting in card.setting}
    return structs.replace(config, settings={name: value for name, value in config.settings.items() if name in names})


def _why_past(store: Store, record: RunRecord, instrument: Instrument, task: str) -> str:
    """Why this version cannot compute a task of a run, as the rest of a sentence; empty if it can."""
    if task not in instrument.tasks:
        return f"; this version has no task '{task}'"
    removed = next(_removed(record, instrument.card, task), "")
    if removed:
        return f" with {removed}, which this version does not have"
    if not _can_be_read(store, record, instrument.tasks[task], instrument.card.version):
        return f"; this version cannot read its records of '{task}'"
    return ""


def _removed(record: RunRecord, card: Card, task: str) -> Iterator[str]:
    """The options, settings and roles of a run that this version does not have and its numbers depend on."""
    manifest = record.manifest
    yield from manifest.removed
    if manifest.card is not None:  # of a benchmark that another tool ran
        return
    settings = {one.name: one for one in card.setting}
    for name, value in manifest.config.settings.items():
        usual = _ORDINARY_SETTINGS.get((f"{card.name}/{task}", name), value)
        if name not in settings and not _same(value, usual):
            yield f"--{name}" if value is True else f"--{name} {_words(value)}"
        if name in settings and (gone := _gone(settings[name], value)):
            yield f"--{name} {gone}"
    if "human" in manifest.config.roles.values():
        yield "'study create --model'"
    roles = {one.name for one in card.role}
    yield from (f"the role '{role}'" for role in manifest.config.roles if role not in roles)


def _same(value: object, usual: object) -> bool:
    return bool(msgspec.to_builtins(value) == msgspec.to_builtins(usual))


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _gone(setting: Setting, value: object) -> str:
    """The first value of a choice that it does not have any more; empty if it has all."""
    chosen = value if isinstance(value, list | tuple) else [value]
    gone = [one for one in chosen if setting.choices and isinstance(one, str) and one not in setting.choices]
    return next(iter(gone), "")


def _can_be_read(store: Store, record: RunRecord, task: Task[Any, Any], installed: str) -> bool:
    """Whether the items and outcomes of a run have the form that this version gives them."""
    made = record.manifest.sociometer_version, record.manifest.instrument_version
    if made == (__version__, installed):
        return True
    place = str(store.path), record.id, task.name
    if place not in _readable:
        _readable[place] = _has_the_form_of(store, record, task)
    return _readable[place]


_readable: dict[tuple[str, str, str], bool] = {}
"""What was found out: the records of a run keep their form, and a page asks again and again."""


def _has_the_form_of(store: Store, record: RunRecord, task: Task[Any, Any]) -> bool:
    try:
        for _ in store.episodes.walk(record.id, task.name, task, scored=False):
            pass
    except OtherVersion:
        return False
    except Exception:  # 'check store' names the damage
        return True
    return True
