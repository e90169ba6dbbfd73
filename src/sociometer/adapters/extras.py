"""The other tools' packages: one message where one is missing. The extras in pyproject.toml say which versions."""

from importlib import import_module
from types import ModuleType

from sociometer.core.errors import UsageError

PACKAGES = {"inspect": "inspect_ai", "lm-eval": "lm_eval", "frame": "pyarrow", "verifiers": "verifiers"}
"""The module that each extra is for."""


def require(extra: str, module: str = "") -> ModuleType:
    """The module of an extra, or one inside its package; a UsageError says what to install where it is missing."""
    wanted = module or PACKAGES[extra]
    try:
        return import_module(wanted)
    except ImportError as error:
        raise UsageError(f"this needs the extra '{extra}' ({error}): pip install 'sociometer[{extra}]'.") from None
