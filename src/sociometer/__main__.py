"""The command `sociometer`, also as `python -m sociometer`; its version takes no time to load."""

import sys

from sociometer.core.version import __version__


def main() -> None:
    """Print the version, or load the command line."""
    if sys.argv[1:] == ["--version"]:
        print(f"sociometer {__version__}")  # noqa: T201
        return
    from sociometer.cli.main import main as load_and_run  # here, since it takes longer than the version

    load_and_run()


if __name__ == "__main__":
    main()
