"""Forms: the items and the wording of one version of an instrument, frozen in a small file so that it stays playable.

A form has the items of every task with the default settings, in each language, and all prompts. Its digest covers both.
Replies are read and scored by the installed code.
"""

import hashlib
import lzma
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

import sociometer
from sociometer.core.card import Card
from sociometer.core.errors import DataError, UsageError, unknown
from sociometer.core.form_name import FORM_FILE, LANGUAGE, form_name
from sociometer.core.prompts import FrozenPrompts, Prompts, digest_of, read_prompts
from sociometer.core.settings import Settings
from sociometer.core.task import SHARED_PROMPTS, Instrument, Item, Source, Task

FOLDER = "forms"
_MOST_BYTES = 64 << 20
_FORMAT = 1
_READER = Path(sociometer.__file__).parent / "elicit"


class FormItems(Struct, frozen=True, omit_defaults=True):
    """The items of one task in one language; the language is empty if a task has only one."""

    items: tuple[msgspec.Raw, ...]
    language: str = ""


class Form(Struct, frozen=True, kw_only=True):
    """The content of a form's file."""

    instrument: str
    version: str
    sociometer: str
    """The version of Sociometer that froze it."""
    prompts: dict[str, str]
    """The instrument's prompts by `language/name`."""
    shared_prompts: dict[str, str]
    tasks: dict[str, tuple[FormItems, ...]]
    format: int = _FORMAT

    @property
    def name(self) -> str:
        """The name, such as `sesi-5`."""
        return form_name(self.instrument, self.version)

    @property
    def digest(self) -> str:
        """What identifies the items and the wording."""
        parts = (self.instrument, self.version, self.prompts, self.shared_prompts, self.tasks)
        return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()[:16]

    @property
    def prompts_digest(self) -> str:
        """The digest of the instrument's prompts, as manifests have it."""
        return digest_of(_by_place(self.prompts))

    def counts(self) -> dict[str, int]:
        """The number of items of each task, over all languages without counting one twice."""
        return {
            task: len({bytes(item) for held in variants for item in held.items})
            for task, variants in self.tasks.items()
        }

    def items(self, task: Task[Any, Any], language: str = "") -> tuple[Item, ...]:
        """The items of a task in a language, as the installed code reads them."""
        variants = {held.language: held for held in self.tasks.get(task.name, ())}
        if not variants:
            raise UsageError(f"{self.name} has no items of task {task.name}; it has: {', '.join(self.tasks)}.")
        held = variants.get(language) or variants.get("")
        if held is None:
            raise unknown(f"language of {self.name}", language, variants)
        try:
            return tuple(msgspec.json.decode(item, type=task.item_type) for item in held.items)
        except msgspec.ValidationError as error:
            raise DataError(f"the items of {self.name}/{task.name} do not fit this version: {error}.") from None

    def frozen_prompts(self) -> FrozenPrompts:
        """The prompts as the instrument takes them in place of its own."""
        return FrozenPrompts(_by_place(self.prompts), _by_place(self.shared_prompts))


def freeze(instrument: Instrument, tasks: Iterable[str] | None = None) -> Form:
    """The current items and prompts of an instrument as a form, or of some of its tasks."""
    prompts, names = instrument.prompts(), instrument.tasks if tasks is None else tuple(tasks)
    found = {name: tuple(_variants(instrument.card, instrument.task(name), prompts)) for name in names}
    return Form(
        instrument=instrument.card.name,
        version=instrument.card.version,
        sociometer=sociometer.__version__,
        prompts=_by_name(read_prompts(instrument.folder / "prompts")),
        shared_prompts=_by_name(read_prompts(SHARED_PROMPTS)),
        tasks={name: variants for name, variants in found.items() if variants},
    )


def differences(form: Form, instrument: Instrument, tasks: Iterable[str] | None = None) -> list[str]:
    """The differences between a form and the current items (of some tasks) and prompts, each in a few words."""
    chosen = set(instrument.tasks if tasks is None else tasks)
    today = freeze(instrument, chosen)
    found = []
    for kind, then, now in (
        ("prompt", form.prompts, today.prompts),
        ("shared prompt", form.shared_prompts, today.shared_prompts),
    ):
        found += [f"{kind} {name}" for name in sorted({*then, *now}) if then.get(name) != now.get(name)]
    for name in sorted({*form.tasks, *today.tasks} & chosen):
        task = instrument.task(name)
        languages = {held.language for one in (form, today) for held in one.tasks.get(name, ())}
        found += [
            f"items of {name}" + f" ({language})" * bool(language)
            for language in sorted(languages)
            if _held(form, task, language) != _held(today, task, language)
        ]
    return found


def _held(form: Form, task: Task[Any, Any], language: str) -> tuple[Item, ...]:
    return form.items(task, language) if task.name in form.tasks else ()


def chosen_items(form: Form, task: Task[Any, Any], source: Source, card: Card) -> tuple[Item, ...]:
    """The form's items for a run; an error if its settings ask for others."""
    if changes_items(task, source, card):
        names = [f"--{one.name}" for one in card.setting if not one.is_default(source.settings.get(one.name))]
        raise UsageError(
            f"{form.name} has the items of the default settings, and these settings change them:"
            f" {', '.join(name for name in names if name != f'--{LANGUAGE}')}. Leave them out, or leave out --form."
        )
    return form.items(task, str(source.settings.get(LANGUAGE) or ""))


def changes_items(task: Task[Any, Any], source: Source, card: Card) -> bool:
    """Whether these settings give other items than the default settings, in the same language."""
    usual = Settings.chosen(card.setting, _language_of(source.settings))
    if usual == source.settings:
        return False
    return list(task.items(source)) != list(task.items(structs.replace(source, settings=usual)))


def depends_on_seed(task: Task[Any, Any], source: Source) -> bool:
    """Whether the seed of a run draws other items than the seed 0; checks the first item."""
    if source.seed == 0:
        return False
    first, usual = (next(iter(task.items(one)), None) for one in (source, structs.replace(source, seed=0)))
    return first != usual


def load_form(instrument: Instrument, text: str) -> Form:
    """The form with a name (`sesi-5`) or in a file; the current version is a form even if it is not frozen yet."""
    card = instrument.card
    if text.endswith(FORM_FILE):
        form = read_form(Path(text).expanduser())
    else:
        name, _, version = text.rpartition("-")
        known = {
            card.version: "",
            **{path.name.removesuffix(FORM_FILE).rpartition("-")[2]: "" for path in files(instrument)},
        }
        if name != card.name or version not in known:
            names = sorted(form_name(card.name, one) for one in known)
            raise unknown(f"form of {card.name}", text, names, f"Or give a file that ends in {FORM_FILE}.")
        path = form_file(instrument, version)
        form = read_form(path) if path.exists() else freeze(instrument)
    if form.instrument != card.name:
        raise UsageError(f"{form.name} is a form of {form.instrument}, not of {card.name}.")
    return form


def frozen_form(instrument: Instrument) -> Form | None:
    """The frozen form of the current version, or None if it is not frozen yet."""
    path = form_file(instrument, instrument.card.version)
    return read_form(path) if path.exists() else None


def files(instrument: Instrument) -> list[Path]:
    """The files of an instrument's frozen forms."""
    return sorted((instrument.folder / FOLDER).glob(f"{instrument.card.name}-*{FORM_FILE}"))


def form_file(instrument: Instrument, version: str) -> Path:
    """The path of a frozen form."""
    return instrument.folder / FOLDER / f"{form_name(instrument.card.name, version)}{FORM_FILE}"


def write_form(form: Form, path: Path) -> int:
    """Writes a form; the same form always makes the same file. Returns its size in bytes."""
    body = lzma.compress(msgspec.json.encode(form, order="deterministic"), preset=9 | lzma.PRESET_EXTREME)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return len(body)


def read_form(path: Path) -> Form:
    """The form in a file; a DataError says what is wrong with it."""
    unpacker = lzma.LZMADecompressor(memlimit=256 << 20)
    try:
        body = unpacker.decompress(path.read_bytes(), max_length=_MOST_BYTES)
        if not unpacker.eof:
            raise DataError(f"the form is damaged or has more than {_MOST_BYTES:,} bytes", path)
        form = msgspec.json.decode(body, type=Form)
    except (OSError, lzma.LZMAError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        said = getattr(error, "strerror", None) or error
        raise DataError(f"the form cannot be read ({said}); 'sociometer forms freeze' writes one", path) from None
    if form.format != _FORMAT:
        raise DataError(f"the form has format {form.format}; this version reads {_FORMAT}", path)
    return form


@cache
def reader_version() -> str:
    """What identifies the code that reads replies: a digest of its files."""
    total = hashlib.sha256()
    for path in sorted(_READER.glob("*.py")):
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()[:12]


def _variants(card: Card, task: Task[Any, Any], prompts: Prompts) -> Iterator[FormItems]:
    """The items of a task in each language, or none if they are official files or come from a command."""
    languages = next((one.choices for one in card.setting if one.name == LANGUAGE), ()) or ("",)
    for language in languages:
        settings = Settings.chosen(card.setting, {LANGUAGE: language} if language else {})
        try:
            items = tuple(task.items(Source(settings, prompts, card.name)))
        except DataError:
            continue
        if items:
            yield FormItems(tuple(map(_raw, items)), language)


def _raw(item: Item) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(item, order="deterministic"))


def _language_of(settings: Settings) -> dict[str, object]:
    return {LANGUAGE: settings[LANGUAGE]} if settings.get(LANGUAGE) else {}


def _by_name(texts: dict[tuple[str, str], str]) -> dict[str, str]:
    return {f"{language}/{name}": text for (language, name), text in texts.items()}


def _by_place(texts: dict[str, str]) -> dict[tuple[str, str], str]:
    found: Iterable[tuple[str, str, str]] = ((*name.partition("/")[::2], text) for name, text in texts.items())
    return {(language, name): text for language, name, text in found}
