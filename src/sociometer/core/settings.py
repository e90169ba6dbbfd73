"""The settings of an instrument: declared in its card, chosen by the user, stored with the run."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from sociometer.core.errors import UsageError, unknown

SettingValue = str | int | float | bool | tuple[str, ...] | None
SettingKind = Literal["text", "choice", "number", "whole", "flag", "path"]


class Setting(Struct, frozen=True):
    """One setting; with `many` its value is a tuple, given by repeating the option."""

    name: str
    help: str
    kind: SettingKind = "text"
    default: str | int | float | bool | tuple[str, ...] | None = None
    choices: tuple[str, ...] = ()
    many: bool = False
    required: bool = False
    positional: bool = False
    tasks: tuple[str, ...] = ()
    """The tasks that read it; empty means all."""
    of_subject: bool = False
    """Whether it states a fact about the subject and changes nothing that is asked."""
    every_kind: bool = False
    """Whether `all` means runs with every model in the other roles, such as simulators that are compared."""
    least: float | None = None
    most: float | None = None
    alters: bool = False
    """Whether a value other than the default makes it a different test, whose score does not count as the subject's."""
    unaltered: tuple[str, ...] = ()
    """Values that do not make it a different test, besides the default."""
    apart: bool | Literal["runs"] = False
    """Whether runs with different values are never compared, because their scores have different meanings.

    With `runs`, a norm of people may have another value, which it states."""
    bundled: bool = False
    """Whether only bundled items follow it: a run of official ones, which have their own language, does not show it."""

    def is_default(self, value: object) -> bool:
        """Whether a stored value is the default."""
        chosen = tuple(value) if isinstance(value, list) else value
        return chosen in (None, "", (), self.default)

    def makes_another_test(self, value: object) -> bool:
        """Whether a run with this value is of a different test."""
        return self.alters and not self.is_default(value) and value not in self.unaltered

    def parse(self, raw: object) -> SettingValue:
        """The value in its own type; raise a UsageError with the allowed values."""
        if raw is None:
            return () if self.many else None
        if self.many:
            values = raw if isinstance(raw, tuple | list) else (raw,)
            return tuple(str(self._parse_one(value)) for value in values)
        return self._parse_one(raw)

    def _parse_one(self, raw: object) -> str | int | float | bool:
        if self.kind == "flag":
            return _flag(self.name, raw)
        if self.kind in ("number", "whole"):
            number = _number(self.name, raw, whole=self.kind == "whole")
            if self.least is not None and number < self.least:
                raise UsageError(f"--{self.name} must be at least {self.least:g}, not {number:g}.")
            if self.most is not None and number > self.most:
                raise UsageError(f"--{self.name} must be at most {self.most:,g}, not {number:g}.")
            return number
        if self.kind == "choice" and str(raw) not in self.choices:
            raise unknown(f"value for --{self.name}", str(raw), self.choices)
        return str(raw)


class Settings(dict[str, SettingValue]):
    """The chosen values, with a typed accessor for each kind."""

    @classmethod
    def chosen(cls, declared: tuple[Setting, ...], given: Mapping[str, object]) -> "Settings":
        """The declared settings with the user's choices in place of the defaults."""
        names = {setting.name for setting in declared}
        for name in given:
            if name not in names:
                raise unknown("setting", f"--{name}", (f"--{known}" for known in names))
        return cls({s.name: s.parse(given.get(s.name, s.default)) for s in declared})

    def text(self, name: str) -> str:
        """A text or choice; empty if none was given."""
        value = self[name]
        return "" if value is None else str(value)

    def whole(self, name: str) -> int:
        """A whole number."""
        return int(self.number(name))

    def number(self, name: str) -> float:
        """A number."""
        value = self[name]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UsageError(f"--{name} needs a number, not {value!r}.")
        return float(value)

    def flag(self, name: str) -> bool:
        """A yes or no."""
        return bool(self[name])

    def texts(self, name: str) -> tuple[str, ...]:
        """The values of a setting that may be given several times."""
        value = self[name]
        if isinstance(value, tuple):
            return value
        return () if value is None else (str(value),)


def without_folders(declared: Iterable[Setting], chosen: Mapping[str, SettingValue]) -> Settings:
    """The settings with the file name of each path instead of the whole path."""
    paths = {setting.name for setting in declared if setting.kind == "path"}

    def bare(value: SettingValue) -> SettingValue:
        return tuple(Path(one).name for one in value) if isinstance(value, tuple) else Path(str(value)).name

    return Settings({name: bare(value) if name in paths and value else value for name, value in chosen.items()})


def _flag(name: str, raw: object) -> bool:
    said = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}
    if (value := said.get(str(raw).lower())) is None:
        raise UsageError(f"--{name} must be yes or no, not '{raw}'.")
    return value


def _number(name: str, raw: object, *, whole: bool) -> int | float:
    try:
        if abs(number := int(str(raw)) if whole else float(str(raw))) < math.inf:
            return number
    except ValueError:
        pass
    raise UsageError(f"--{name} needs a {'whole ' if whole else ''}number, not '{raw}'.")


SETTING = "wording"


PAPER = "paper"
"""The value of the setting `wording` that uses the authors' prompts."""


def is_paper(settings: Mapping[str, object]) -> bool:
    """Whether these settings ask for the authors' wording."""
    return settings.get(SETTING) == PAPER
