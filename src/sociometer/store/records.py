"""The records that the store writes and reads."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct, structs

from sociometer.core.card import Card
from sociometer.core.config import Caps, RunConfig
from sociometer.core.conversation import SUBJECT, Identity, Message, Usage
from sociometer.core.form import Form, WhoseItems, norm_digest, read_settings
from sociometer.core.settings import Settings, SettingValue, without_folders
from sociometer.core.stopping import Until
from sociometer.core.task import TASK


class RunStatus(StrEnum):
    """The status of a run: in progress, stopped early, failed, or finished; `damaged` if it cannot be read."""

    PLAYING = "playing"
    STOPPED = "stopped"
    FAILED = "failed"
    FINISHED = "finished"
    DAMAGED = "damaged"


_PROMPTS_THAT_STAY: Mapping[str, str] = {
    "febef76395c0a1e7": "6584e609fde0564a",  # sesi
    "ede7392551b1cf7b": "202d49586e1853c7",  # sesi, for people
    "660b817acc2d2a8f": "2e040a79bbbb2a62",  # socialeval
    "be2dd0f943a69d6e": "e51836fc4abe1fb7",  # socialeval, for people
    "173620d4a556b5a7": "a080eb1e06e52d59",  # sage
}
"""Digests of the prompts of version 0.3, each with that of the same prompts without those that no task reads now."""


def present_prompts(digest: str) -> str:
    """The digest of the same prompts in this version."""
    return _PROMPTS_THAT_STAY.get(digest, digest)


class RoleRecord(Struct, frozen=True, omit_defaults=True):
    """The player of a role: as given, its name in tables, its identity, the digest of its function; never a key."""

    spec: str
    identity: Identity
    label: str
    code_digest: str = ""
    later_code: tuple[str, ...] = ()
    """The digests of the function's file where the run went on with a changed one; they are not in its plan."""

    @property
    def own_name(self) -> str:
        """Its name in tables; that of a baseline or a script whatever its label is."""
        who = self.identity
        return f"{who.wire}/{who.name}" if who.wire in ("baseline", "scripted") else self.label

    def weights(self, run: str) -> str:
        """What tells its weights apart from those of another player with this name; unknown ones hold for one run."""
        who = self.identity
        known = (who.wire, who.base_url, who.name, who.revision, who.fields, self.code_digest)
        return " ".join(filter(None, known if who.certain else (*known, run)))


class Manifest(Struct, frozen=True, omit_defaults=True):
    """The record that makes a run repeatable: the user's options with all tasks and settings, models and files."""

    config: RunConfig
    instrument_version: str
    roles: dict[str, RoleRecord]
    repeats: dict[str, int]
    prompts_digest: str
    data_files: dict[str, str]
    norms: dict[str, Any]
    sociometer_version: str
    python_version: str
    platform: str
    episodes: int = 0
    """The number of planned episodes; 0 if unknown."""
    given_items: bool = False
    """Whether the items came from a command."""
    imported: bool = False
    card: Card | None = None
    """The card of a benchmark that another tool ran; None for a run of an instrument."""
    official_files: bool = False
    """Whether the official files that the run used have the checksums of the paper's own."""
    items_digests: dict[str, str] = {}
    """The digest of the contents of the items, by task; runs on different items are not compared."""
    prices_as_of: dict[str, str] = {}
    """The date of the price of each role's model, where it has one."""
    shuffled: dict[str, int] = {}
    """The number of items of each task that is played in the seeded random order: those played are a sample of all."""
    removed: tuple[str, ...] = ()
    """Options of a run of an earlier version that this version does not have; they are found when it is read."""
    subject: str = ""
    """The name of the subject."""
    key: str = ""
    """The key of the subject in the table of names."""
    scope: str = ""
    """The run whose replies this one uses as its own; empty means itself."""
    served: str = ""
    """What the server called the model of the subject in its first reply."""
    later_caps: Caps | None = None
    """The caps that a later `resume` gave, for the next one; they are not in its plan."""

    @property
    def other_roles(self) -> dict[str, str]:
        """The labels of the models in the roles besides the subject."""
        return {role: one.label for role, one in self.roles.items() if role != SUBJECT}

    def shown_settings(self, card: Card) -> Settings:
        """The settings that its items follow, as tables show them: paths without their folders."""
        config = self.config
        own = config.official and {*config.tasks} <= {*card.default_tasks(official=True)}
        idle = {one.name for one in card.setting if one.bundled and own}
        return without_folders(card.setting, {name: one for name, one in config.settings.items() if name not in idle})

    def form(self, task: str, card: Card, run: str) -> Form:
        """What was asked in a task; `run` tells players apart whose weights are known for this run only."""
        config = self.config
        is_official = config.official and task in card.default_tasks(official=True)
        language, apart, settings = read_settings(card, task, config.settings, self.data_files, official=is_official)
        task_card = next((one for one in card.task if one.name == task), None)
        players = {role: player for role, player in self.roles.items() if role in _roles_of(card, task)}
        return Form(
            test=config.instrument,
            task=task,
            version=self.instrument_version,
            whose_items=self.whose_items,
            files=self._files_of(task, card),
            picked=tuple(sorted(config.items)),
            given=self.items_digests.get(task, "") if self.given_items else "",
            language=language,
            apart=apart,
            settings=settings,
            prompts=present_prompts(self.prompts_digest),
            second_question=_asked_again(config),
            tools=config.tools if task_card is not None and task_card.tools else "",
            seed=config.seed,
            roles={role: player.label for role, player in players.items()},
            weights={role: player.weights(run) for role, player in players.items()},
            norm=norm_digest(self.norms.get(task)),
        )

    def _files_of(self, task: str, card: Card) -> dict[str, str]:
        """The checksums of the files with the items of a task, if they are not the bundled ones."""
        if self.whose_items not in ("official", "own"):
            return {}
        needed = {file.name for file in card.files() if not file.prompts}
        if any(one.name == task and one.needs for one in card.task):
            needed = {file.name for file in card.files_of(task)}
        return {name: checksum for name, checksum in self.data_files.items() if name in needed}

    @property
    def whose_items(self) -> WhoseItems:
        """The origin of the items."""
        subject = self.roles.get(SUBJECT)
        if self.card is not None:
            return "imported"
        if self.imported and (subject is None or subject.identity.wire == "imported"):
            return "official"  # read from the paper's released files
        if not self.config.official:
            return "bundled"
        return "official" if self.official_files else "own"


def _asked_again(config: RunConfig) -> str:
    """Whether a reply without an answer was asked about; `usual` where the task decides it."""
    if config.second_question is None and config.official:
        return "usual"
    return "no" if config.second_question is False else "yes"


def _roles_of(card: Card, task: str) -> set[str]:
    """The roles besides the subject that a task uses, or may use."""
    used = {role.name for role in card.roles_of(task)} | {role.name for role in card.role if task in role.optional}
    return used - {SUBJECT}


class _Options(Struct):
    """The options in a stored manifest, with those that this version does not have."""

    config: dict[str, Any]


_LABEL = "label"
"""What a subject was called besides its name; the name of a subject is in the column of its run."""
_HARMLESS = {"answer": "reply", "batch": True, "cancel_batches": True}
"""Values of removed options on which no number depends, besides empty ones."""
_decode_manifest = msgspec.json.Decoder(Manifest).decode
_decode_options = msgspec.json.Decoder(_Options).decode


_LENGTHS_OF_TALKS: Mapping[str, dict[str, SettingValue]] = {"full": {}, "short": {"turns": 3, "judge-last": True}}
"""The values of SAGE's setting `form`, which version 0.3 had, and the settings that say the same now."""


def _present(manifest: Manifest) -> Manifest:
    """The manifest with the length of SAGE's talks in the settings of this version."""
    settings = manifest.config.settings
    lengths = _LENGTHS_OF_TALKS.get(str(settings.get("form")))
    if manifest.config.instrument != "sage" or lengths is None:
        return manifest
    others = {name: value for name, value in settings.items() if name != "form"}
    return structs.replace(manifest, config=structs.replace(manifest.config, settings={**others, **lengths}))


def read_manifest(body: bytes) -> Manifest:
    """A stored manifest, with the options that an earlier version had and this one does not."""
    manifest = _present(_decode_manifest(body))
    removed = _removed_options(_decode_options(body).config)
    if not removed:
        return manifest
    return structs.replace(manifest, removed=(*manifest.removed, *removed))


def _removed_options(config: dict[str, Any]) -> list[str]:
    """Options that this version does not have and numbers depend on, as they are typed."""
    known = set(RunConfig.__struct_fields__)
    given = {name: value for name, value in config.items() if value and value != _HARMLESS.get(name) and name != _LABEL}
    removed = [_as_typed(name, value) for name, value in given.items() if name not in known]
    until = config.get("until") or {}
    unknown = until.keys() - set(Until.__struct_fields__)
    if "goal" in unknown and until["goal"] != "decided":
        removed.append(f"--until {until['goal']}")
    if "measure" in unknown:
        removed.append(f"--measure {until['measure']}")
    if "checkpoint" in unknown:
        removed.append("--watch")
    return removed


def _as_typed(name: str, value: object) -> str:
    if name == "answer":
        return f"-o answer={value}"
    option = f"--{name.replace('_', '-')}"
    return option if value is True else f"{option} {value}"


def changed_code(manifest: Manifest) -> list[str]:
    """Of which functions the file changed while the run was played, in a sentence each."""
    labels = [one.label for one in manifest.roles.values() if one.later_code]
    return [f"The file of {label} was changed after the plan: items were played with other code." for label in labels]


class Charge(Struct, frozen=True):
    """The charge of a request: its cost (None: unknown), and what counts against the caps beyond the reported usage."""

    cost: float | None
    charged_tokens: int = 0
    """The worst case of a reply without a token count."""
    charged_cost: float = 0.0


class JournalEntry(Struct, frozen=True):
    """A reply to store, with its request."""

    key: bytes
    identity: Identity
    run: str
    messages: tuple[Message, ...]
    reply: bytes
    usage: Usage
    charge: Charge


class Spent(Struct):
    """The usage of a run so far; `unpriced` and `unmetered` count replies whose price or tokens are unknown.

    An attempt without a response is a request, but neither priced nor unpriced. Charged amounts count against the caps
    in addition to the reported ones.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    unmetered: int = 0
    charged_tokens: int = 0
    charged_cost: float = 0.0
    priced: int = 0

    @property
    def against_caps(self) -> tuple[int, int, float]:
        """Requests, tokens and cost as caps count them."""
        tokens = self.input_tokens + self.output_tokens + self.charged_tokens
        return self.requests, tokens, self.cost + self.charged_cost


class Totals(Struct, frozen=True, omit_defaults=True):
    """The counts and the spending of a run, stored when it ends, so that a list of runs need not add them up again."""

    done: int
    failed: int
    spent: Spent
    why: str = ""
    """Why the run ended before all items were played; empty if it did not, or in stores of earlier versions."""


class RunRecord(Struct, frozen=True):
    """A row of `sociometer runs`."""

    id: str
    instrument: str
    subject: str
    """The subject's label."""
    status: RunStatus
    manifest: Manifest
    created: float
    finished: float | None
    name: str = ""
    totals: Totals | None = None
    """None while it is played."""
    damage: str = ""
    """Why it cannot be read, if its status is `damaged`."""
    is_copied: bool = False
    """Whether it was made elsewhere and copied here, without trust."""

    @property
    def measures_a_subject(self) -> bool:
        """Whether its numbers are those of a model: not of a person, nobody, stored runs or a damaged row."""
        if self.damage or not self.subject or self.manifest.given_items:
            return False
        return not self.manifest.config.of_people

    @property
    def is_check(self) -> bool:
        """Whether it only checks what the subject knows by heart."""
        return set(self.manifest.config.tasks) == {TASK}

    @property
    def tested(self) -> str:
        """The subject's label; of a run that asks no subject, such as a passport, the models in its roles."""
        return self.subject or ", ".join(one.label for one in self.manifest.roles.values())

    @property
    def reference(self) -> str:
        """What a user types for the run: its id; the name of a person's run."""
        return self.name if self.name and self.name != self.subject else self.id

    def resume_command(self, why: str) -> str:
        """What to type to continue the run after it ended for this reason: with a higher cap, if it reached one."""
        cap = re.search(r"--max-[a-z]+", why)
        return self.manifest.config.resume_command(self.reference, *((cap[0], "MORE") if cap else ()))
