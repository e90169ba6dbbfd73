"""Libraries that are slow to load: imported at the top of a file, loaded when first used."""

from importlib import import_module
from typing import Any


class _Lazy:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


def lazy(name: str) -> Any:
    """The module of that name, which is imported when one of its attributes is used."""
    return _Lazy(name)
