"""The default path of the store; a separate module, so that commands can use it without loading the store."""

from pathlib import Path


def default_path() -> Path:
    """The path of the store if --store, SOCIOMETER_STORE and the project file give none."""
    from platformdirs import user_data_path

    return user_data_path("sociometer", appauthor=False) / "sociometer.db"
