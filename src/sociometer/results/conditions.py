"""The conditions of a number: what must agree before it can be shown next to another number without its episodes."""

from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.card import Card
from sociometer.core.form_name import unchanged_name
from sociometer.core.task import RunView
from sociometer.statistics.item_values import content_digest
from sociometer.statistics.stand_ins import other_stand_ins

Value = str | int | float | bool | tuple[str, ...] | None


class Conditions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a number was made; items, prompts and norms are given by their digests."""

    instrument: str
    task: str
    version: str
    form: str
    """The item set and the wording, such as `sesi-5`; empty for items that belong to no form."""
    whose_items: str
    """Whose items they are: bundled, official, own or imported."""
    items: str
    """Digest of the contents of all items, failed ones included."""
    prompts: str
    settings: dict[str, Value]
    repeats: int
    roles: dict[str, str] = {}
    """The models in the roles other than the subject's."""
    norm: str = ""
    stand_ins: tuple[str, ...] = ()
    second_question: bool = True
    sociometer: str = ""
    """The version of Sociometer that made the run."""
    form_digest: str = ""
    """The digest of the form, if it is frozen and was not changed."""
    reader: str = ""
    """What identifies the code that read the replies."""


def why_apart(mine: Conditions, other: Conditions, card: Card) -> str:
    """Why a number made under `other` cannot be shown next to one made under `mine`; empty if it can."""
    used = other_stand_ins(other.stand_ins)
    if used:
        return f"played with a stand-in ({', '.join(used)})"
    if unchanged_name(mine.form) != unchanged_name(other.form):
        return f"form {_shown(other.form)}, here {_shown(mine.form)}"
    if mine.form_digest and other.form_digest and mine.form_digest != other.form_digest:
        return f"another form with the name {mine.form}"
    if not mine.form and mine.version != other.version:
        return f"version {other.version} of {mine.instrument}, here {mine.version}"
    if mine.whose_items != other.whose_items:
        return f"{other.whose_items} items, here {mine.whose_items} ones"
    if mine.prompts != other.prompts:
        return "another wording of the prompts"
    for role in sorted({*mine.roles, *other.roles}):
        first, second = mine.roles.get(role, "no model"), other.roles.get(role, "no model")
        if first != second:
            return f"{role} is {second}, here {first}"
    strict = {setting.name for setting in card.setting if setting.apart or setting.alters}
    for name in sorted(strict):
        if mine.settings.get(name) != other.settings.get(name):
            return f"{name} {_shown(other.settings.get(name))}, here {_shown(mine.settings.get(name))}"
    if mine.norm != other.norm:
        return "scored on another norm"
    return "" if mine.items == other.items else "played on other items"


def differences(mine: Conditions, other: Conditions) -> tuple[str, ...]:
    """Differences that do not prevent showing both: settings, repeats, second question, version of Sociometer."""
    names = sorted({*mine.settings, *other.settings})
    pairs = [(name, mine.settings.get(name), other.settings.get(name)) for name in names]
    pairs += [
        ("repeats", mine.repeats, other.repeats),
        ("second question", mine.second_question, other.second_question),
        ("version", mine.version, other.version),
        ("reader", mine.reader, other.reader),
        ("Sociometer", mine.sociometer, other.sociometer),
    ]
    return tuple(f"{name} {_shown(theirs)}, here {_shown(ours)}" for name, ours, theirs in pairs if ours != theirs)


def items_digest(view: RunView[Any, Any]) -> str:
    """One digest for all items of a run, in any order."""
    found = {episode.item.id: content_digest(episode.item) for episode in view.episodes()}
    total = sha256()
    for name in sorted(found):
        total.update(name.encode() + b"\0" + found[name])
    return total.hexdigest()[:32]


def value_digest(value: object) -> str:
    """The digest of a JSON value; empty for None."""
    if value is None:
        return ""
    return sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()[:32]


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return "none" if value in (None, "") else str(value)
