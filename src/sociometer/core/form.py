"""What was asked, as a value, and the one relation that says what may be put together.

A form belongs to a task. It does not contain how many items were played, how often, at what price
or by whom: results of one subject on one form are one result, however many commands it took.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from sociometer.core.card import Card
from sociometer.core.settings import Setting, SettingValue

LANGUAGE = "language"
WhoseItems = Literal["official", "own", "bundled", "imported", "runs"]
"""The origin of items: the paper's own by their checksums, others in their place, ours, those of a benchmark that
another tool ran, or earlier runs, for an analysis."""
Purpose = Literal["result", "table", "pair", "probe"]
"""What is put together: the parts of one result; results in one table; the two sides of a comparison; two
conditions of one subject."""


class Form(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was asked of a subject in one task."""

    test: str = ""
    task: str = ""
    version: str = ""
    whose_items: WhoseItems = "bundled"
    files: dict[str, str] = {}
    """The checksums of the files that the items come from, by name; none for the bundled items of a version."""
    picked: tuple[str, ...] = ()
    """The items that were picked by hand."""
    given: str = ""
    """The digest of items that a command gave."""
    language: str = ""
    apart: dict[str, str] = {}
    """The settings whose values give the scores another meaning."""
    settings: dict[str, str] = {}
    """The other settings that the task reads."""
    prompts: str = ""
    second_question: str = "yes"
    """Whether a reply without an answer is asked about: `yes`, `no`, or `usual` where the task decides it."""
    tools: str = ""
    """How a subject uses the tools of a task that has some."""
    seed: int = 0
    roles: dict[str, str] = {}
    """The players in the other roles that the task uses."""
    weights: dict[str, str] = {}
    """What tells the weights of those players apart, where their names do not."""
    norm: str = ""
    """The digest of a norm that changes the scores of items."""

    def projection(self, purpose: Purpose) -> dict[str, str]:
        """The fields that must be equal for a purpose, by what a message calls them."""
        fields = {
            "task": f"{self.test}/{self.task}",
            "version": self.version,
            "items": self.whose_items,
            "language": self.language,
            "norm": self.norm,
        }
        if purpose == "probe":
            return fields
        fields |= {f"role {role}": label for role, label in self.roles.items()}
        fields |= {f"setting {name}": value for name, value in self.apart.items()}
        fields["tools"] = self.tools
        if purpose == "pair":
            return fields
        fields |= {f"setting {name}": value for name, value in self.settings.items()}
        fields |= {f"file {name}": checksum for name, checksum in self.files.items()}
        fields["picked items"] = ", ".join(self.picked)
        fields["given items"] = self.given
        fields["prompts"] = self.prompts
        fields["second question"] = self.second_question
        fields["seed"] = str(self.seed)
        if purpose == "result":
            fields |= {f"weights {role}": mark for role, mark in self.weights.items()}
        return fields

    def key(self, purpose: Purpose) -> tuple[tuple[str, str], ...]:
        """What is equal for two forms that may be put together for a purpose, so that forms can be grouped by it."""
        return tuple(sorted(self.projection(purpose).items()))


NO_FORM = Form()
"""The form of a view in memory of which nothing is known."""


class Difference(Struct, frozen=True):
    """A field in which two forms differ, with both values; empty where a form does not have it."""

    field: str
    first: str
    second: str


def differs(one: Form, other: Form, purpose: Purpose) -> tuple[Difference, ...]:
    """The fields that prevent two forms from being put together for a purpose; none if they may be."""
    first = one.projection(purpose)
    second = other.projection(purpose)
    names = dict.fromkeys((*first, *second))
    return tuple(
        Difference(name, first.get(name, ""), second.get(name, ""))
        for name in names
        if first.get(name, "") != second.get(name, "")
    )


def why_apart(differences: tuple[Difference, ...], test: str = "") -> str:
    """Why two results cannot be put together, from the first field in which they differ; empty if there is none."""
    if not differences:
        return ""
    found = differences[0]
    kind, _, name = found.field.partition(" ")
    first, second = found.first, found.second
    if found.field == "task":
        return f"they are runs of different tasks: {first} and {second}"
    if found.field == "version":
        return (
            f"they come from versions {first} and {second} of {test}; measure one of them again with the other's"
            " version of the package"
        )
    if found.field == "items":
        return f"one has {first} items and the other {second} ones; measure both on the same items"
    if found.field == "language":
        return f"their languages differ: {first} and {second}; give both runs the same --language"
    if found.field == "norm":
        return "they were scored on different norms; run both with the same --norm, or both without one"
    if found.field == "tools":
        return (
            f"their subjects use tools in different ways ({first or 'none'} and {second or 'none'}); give both -o"
            " tools=told"
        )
    if found.field == "second question":
        return f"they differ in the second question after a reply without an answer: {first} and {second}"
    if kind == "role":
        return f"they have different models in the role {name}: {first or 'no model'} and {second or 'no model'}"
    if kind == "weights":
        return f"the weights of the model in the role {name} may have changed; give it a #REVISION"
    if kind == "setting":
        return f"they differ in the setting '{name}': {first or 'not set'} and {second or 'not set'}"
    if kind == "file":
        return f"they were made from different files {name}"
    return f"they differ in the {found.field}: {first or 'none'} and {second or 'none'}"


def setting_words(value: object) -> str:
    """The value of a setting as text."""
    if value is None or value == "":
        return "not set"
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value))
    return str(value)


def norm_digest(norm: Any) -> str:
    """A digest of the norm that scores depend on; empty without one, and for one that changes no score of an item."""
    places = isinstance(norm, dict) and norm.get("kind") == "people"
    if norm is None or places:
        return ""
    return hashlib.sha256(msgspec.json.encode(norm, order="deterministic")).hexdigest()


def read_settings(
    card: Card, task: str, chosen: Mapping[str, SettingValue], files: Mapping[str, str], *, official: bool
) -> tuple[str, dict[str, str], dict[str, str]]:
    """The language, the settings that give scores another meaning, and the others, of those that a task reads."""
    language = ""
    apart: dict[str, str] = {}
    others: dict[str, str] = {}
    for setting in card.setting:
        is_read = not setting.tasks or task in setting.tasks
        is_idle = setting.of_subject or (setting.bundled and official)
        if is_idle or not is_read:
            continue
        value = _value_of(setting, chosen.get(setting.name), files)
        if setting.name == LANGUAGE:
            language = value
        elif setting.name == "norm":
            continue  # the form has its digest, if it changes scores
        elif setting.apart:
            apart[setting.name] = value
        else:
            others[setting.name] = value
    return language, apart, others


def _value_of(setting: Setting, chosen: SettingValue, files: Mapping[str, str]) -> str:
    """The value of a setting as text; of a file its checksum, since its path says nothing."""
    value = setting.default if chosen is None else chosen
    if setting.kind != "path" or not value:
        return setting_words(value)
    paths = value if isinstance(value, tuple | list) else (value,)
    return ", ".join(files.get(f"--{setting.name} {path}", str(path)) for path in paths)
