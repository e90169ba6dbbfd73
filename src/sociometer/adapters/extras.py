"""Imports the packages of other tools, with one message for a missing one. pyproject.toml has their versions."""

from importlib import import_module
from types import ModuleType

from sociometer.core.errors import UsageError

PACKAGES = {"inspect": "inspect_ai", "lm-eval": "lm_eval", "frame": "pyarrow", "verifiers": "verifiers", "mcp": "mcp"}
"""The module that each extra is for."""


def require(extra: str, module: str = "") -> ModuleType:
    """The module of an extra, or one inside its package; a UsageError says what to install if it is missing."""
    wanted = module or PACKAGES[extra]
    try:
        return import_module(wanted)
    except ImportError as error:
        raise UsageError(f"this needs the extra '{extra}' ({error}): pip install 'sociometer[{extra}]'.") from None
