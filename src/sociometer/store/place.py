"""Where the store is; apart from the store itself, so that naming the place loads nothing else."""

from pathlib import Path


def default_path() -> Path:
    """Where the store lies unless --store, SOCIOMETER_STORE or a project file says otherwise."""
    from platformdirs import user_data_path

    return user_data_path("sociometer", appauthor=False) / "sociometer.db"
