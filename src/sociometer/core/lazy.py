"""Libraries that are slow to load, and those of extras: loaded when first used. pyproject.toml has their versions."""

from importlib import import_module
from types import ModuleType
from typing import Any

from sociometer.core.errors import UsageError, install

PACKAGES = {
    "inspect": "inspect_ai", "lm-eval": "lm_eval", "frame": "pyarrow", "verifiers": "verifiers", "local": "xllamacpp",
    "hf": "torch",
}  # fmt: skip
"""The module that each extra is for."""


class _Lazy:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


def lazy(name: str) -> Any:
    """The module of that name, which is imported when one of its attributes is used."""
    return _Lazy(name)


def require(extra: str, module: str = "") -> ModuleType:
    """The module of an extra, or one inside its package; a UsageError says what to install if it is missing."""
    try:
        return import_module(module or PACKAGES[extra])
    except ImportError as error:
        raise UsageError(f"the extra '{extra}' is not installed ({error}); to install it: {install(extra)}") from None
