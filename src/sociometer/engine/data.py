"""Where official data lies: a folder the user names, or the user's data folder that `data fetch` fills."""

import hashlib
import os
from pathlib import Path

from platformdirs import user_data_path

from sociometer.core.card import Card
from sociometer.core.errors import DataError
from sociometer.core.settings import Settings


def data_root() -> Path:
    """The folder that `data fetch` fills; SOCIOMETER_DATA overrides it."""
    given = os.environ.get("SOCIOMETER_DATA")
    return Path(given) if given else user_data_path("sociometer", appauthor=False) / "data"


def data_folders(given: str) -> tuple[Path, ...]:
    """The folder that is searched: the one the user names and no other, or the one that `data fetch` fills."""
    if not given:
        return (data_root(),)
    if not Path(given).is_dir():
        raise DataError("no such folder; --data needs the folder that holds the official files", given)
    return (Path(given),)


def checksum(path: Path) -> str:
    """The SHA-256 of a file, or of all files below a folder."""
    total = hashlib.sha256()
    files = sorted(part for part in path.rglob("*") if part.is_file()) if path.is_dir() else [path]
    for part in files:
        if path.is_dir():
            total.update(part.relative_to(path).as_posix().encode())
        with part.open("rb") as stream:
            while block := stream.read(1 << 20):
                total.update(block)
    return total.hexdigest()


def official_checksums(card: Card, folders: tuple[Path, ...]) -> dict[str, str]:
    """The checksums of the official files that are present, by name."""
    found: dict[str, str] = {}
    for file in card.file:
        for folder in folders:
            for candidate in (folder / file.name, folder / Path(file.name).name):
                if file.name not in found and candidate.is_file():
                    found[file.name] = checksum(candidate)
    return found


def bundled_checksum(folder: Path) -> str:
    """The checksum of the items an instrument ships."""
    return checksum(folder / "data") if (folder / "data").is_dir() else ""


def with_whole_paths(card: Card, settings: Settings) -> Settings:
    """The settings with every path made absolute, so that a run can be resumed from another folder."""
    return Settings(
        {
            **settings,
            **{
                name: tuple(str(Path(text).absolute()) for text in settings.texts(name))
                if isinstance(settings[name], tuple)
                else str(Path(settings.text(name)).absolute())
                for name in _paths(card, settings)
            },
        }
    )


def setting_checksums(card: Card, settings: Settings) -> dict[str, str]:
    """The checksums of the files that settings name: with other contents it is another run."""
    found = {}
    for name in _paths(card, settings):
        for text in settings.texts(name):
            if Path(text).exists():
                found[f"--{name} {text}"] = checksum(Path(text))
    return found


def _paths(card: Card, settings: Settings) -> list[str]:
    return [setting.name for setting in card.setting if setting.kind == "path" and settings[setting.name]]
