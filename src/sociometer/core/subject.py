"""Who was measured: a model with everything that a user changes about it, and the name that people type for it."""

import hashlib
from datetime import UTC, datetime

import msgspec
from msgspec import Struct, structs

from sociometer.core.config import RunConfig, model_label
from sociometer.core.conversation import Identity, Sampling
from sociometer.core.errors import UsageError

LONGEST_NAME = 80
RESERVED = ("all", "last")
"""Words that have a meaning of their own in commands."""
_OPTIONS = {"max_tokens": "reply-tokens", "server_default": "server-sampling"}
"""What the command line calls a sampling parameter, where its name differs."""


class Subject(Struct, frozen=True):
    """A model, function or baseline, with everything that a user changes about it."""

    label: str
    """The name of the model, without what was changed about it."""
    identity: Identity
    sampling: Sampling = Sampling()
    base: bool = False

    @property
    def digest(self) -> str:
        """The same for the same subject; its address counts only where nothing else identifies it."""
        who = self.identity
        address = "" if who.revision else who.base_url
        known = (who.wire, who.name, address, who.revision, who.fields, self.sampling, self.base)
        return hashlib.blake2b(msgspec.json.encode(known), digest_size=12).hexdigest()

    @property
    def name(self) -> str:
        """Its name where the user gave none: the model's, and in brackets what was changed about it."""
        changed = ["base"] if self.base else []
        for option, value in structs.asdict(self.sampling).items():
            if value not in (None, (), False):
                changed.append(_in_words(option, value))
        if self.identity.fields:
            changed.append("added fields")
        return f"{self.label} ({', '.join(changed)})" if changed else self.label


def _in_words(option: str, value: object) -> str:
    name = _OPTIONS.get(option, option.replace("_", "-"))
    return name if value is True else f"{name} {value}"


def subject_of(config: RunConfig, identity: Identity) -> Subject:
    """The subject of a run."""
    return Subject(model_label(config.subject), identity, config.sampling, config.base)


def dated(name: str, moment: float, *, exactly: bool = False) -> str:
    """The name of a measurement of a model whose weights may have changed since the last one."""
    form = "%Y-%m-%d %H:%M:%S" if exactly else "%Y-%m-%d %H:%M"
    return f"{name} ({datetime.fromtimestamp(moment, UTC).strftime(form)})"


def check_name(name: str) -> None:
    """Raise a UsageError if a name of a subject cannot be typed, or means something else."""
    shown = name[:LONGEST_NAME].encode("utf-8", "replace").decode()
    objection = ""
    if any("\ud800" <= sign <= "\udfff" for sign in name):
        objection = "is not UTF-8"
    elif len(name) > LONGEST_NAME:
        objection = f"has more than {LONGEST_NAME} characters"
    elif name.startswith("-"):
        objection = "begins with '-', like an option"
    elif name in RESERVED:
        objection = "has a meaning of its own in commands"
    elif name != name.strip():
        objection = "begins or ends with a space"
    elif not name.isprintable() or not any(map(str.isalnum, name)):
        objection = "has no letter or digit, or a sign that cannot be printed"
    if objection:
        raise UsageError(f"the name '{shown}' {objection}; choose another.")
