"""Installs the old quiz as a package of its own, with its entry points, into a folder."""

import zipfile
from pathlib import Path

QUIZ = Path(__file__).parent / "fixtures" / "oldquiz"
_INFO = {
    "METADATA": "Metadata-Version: 2.1\nName: oldquiz\nVersion: 1.0\n",
    "WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "entry_points.txt": (
        "[sociometer.instruments]\noldquiz = oldquiz\n\n[sociometer.models]\noldecho = oldquiz.provider:Echo\n"
    ),
}


def install_quiz(folder: Path) -> Path:
    """The folder to put on PYTHONPATH, with the package in it."""
    wheel, target = folder / "oldquiz-1.0-py3-none-any.whl", folder / "site"
    with zipfile.ZipFile(wheel, "w") as packed:
        for path in sorted(QUIZ.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                packed.write(path, Path("oldquiz") / path.relative_to(QUIZ))
        for name, text in _INFO.items():
            packed.writestr(f"oldquiz-1.0.dist-info/{name}", text)
        records = "".join(f"{name},,\n" for name in [*packed.namelist(), "oldquiz-1.0.dist-info/RECORD"])
        packed.writestr("oldquiz-1.0.dist-info/RECORD", records)
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(target)  # what pip does with a wheel of Python alone
    return target
