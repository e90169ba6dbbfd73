"""The name of the form of a run: the item set and the wording that the subject saw, such as `sesi-5`."""

from sociometer.core.card import Card
from sociometer.core.form_name import CHANGED, LANGUAGE, OFFICIAL, form_name
from sociometer.store.records import Manifest


def has_official_files(manifest: Manifest, card: Card) -> bool:
    """Whether the official files that a run used have the checksums of the paper's own."""
    pinned = {file.name: file.sha256 for file in card.file}
    return all(pinned.get(name) in (None, "", found) for name, found in manifest.data_files.items())


def usual_form_name(manifest: Manifest, card: Card, version: str = "") -> str:
    """The name that follows from the options of a run; empty if the items are neither ours nor the paper's."""
    config = manifest.config
    if manifest.card is not None or manifest.imported or manifest.given_items:
        return ""
    if config.official and not has_official_files(manifest, card):
        return ""
    settings = any(
        not setting.is_default(config.settings.get(setting.name))
        for setting in card.setting
        if setting.name != LANGUAGE
    )
    changed = settings or bool(config.prompts_folder or config.ways)
    name = form_name(config.instrument, version or manifest.instrument_version)
    return name + OFFICIAL * config.official + CHANGED * changed
