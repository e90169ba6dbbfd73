"""Names of forms: an instrument and a version, as in `sesi-5`."""

OFFICIAL = " official"
CHANGED = "+"
"""Ends the name of a form if a run changed something: settings, wording or the way of answering."""
LANGUAGE = "language"
"""The setting for which a form has the items of every value."""
FORM_FILE = ".json.xz"
"""The ending of a form's file."""


def form_name(instrument: str, version: str) -> str:
    """The name of a form."""
    return f"{instrument}-{version}"


def unchanged_name(name: str) -> str:
    """The name of the form without the mark of a changed one."""
    return name.removesuffix(CHANGED)
