"""Where a task's items come from: the bundled set, or official files the user has."""

from pathlib import Path

from sociometer.core.errors import DataError
from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings


class Source:
    """What `items` may draw on."""

    def __init__(
        self,
        settings: Settings,
        prompts: Prompts,
        *,
        instrument: str = "",
        official: bool = False,
        folders: tuple[Path, ...] = (),
        seed: int = 0,
    ) -> None:
        """`folders` are searched in order."""
        self.settings = settings
        self.prompts = prompts
        self.official = official
        self.seed = seed
        self._instrument = instrument
        self._folders = folders

    def find(self, name: str) -> Path | None:
        """The official file or folder of that name (such as `sesi/sesi.csv`), or None."""
        for folder in self._folders:
            for candidate in (folder / name, folder / Path(name).name):
                if candidate.exists():
                    return candidate
        return None

    def path(self, name: str) -> Path:
        """The official file or folder of that name; a DataError says how to get it."""
        found = self.find(name)
        if found is None:
            looked = ", ".join(str(folder) for folder in self._folders) or "nowhere"
            raise DataError(
                f"official file '{name}' not found (looked in {looked}); "
                f"run 'sociometer data fetch {self._instrument}' or give --data DIR."
            )
        return found
