"""The options of a model besides its name."""

from msgspec import Struct


class ModelOptions(Struct, frozen=True, omit_defaults=True):
    """The server of a model and its time limit; never contains the key, only the name of its variable."""

    base_url: str = ""
    revision: str = ""
    timeout_seconds: float = 300.0
    key_variable: str = ""
    named_by_user: bool = True
    """False if a stored run, a card or a project file gives them: then a key is sent only to the preset's host."""
    from_project: bool = False
    """Whether the server is named in `sociometer.toml` and not on the command line, for messages."""
    insecure_http: bool = False
    """Whether a key may be sent over plain HTTP to another machine."""
    role: str = "subject"
    """The role of the model, for messages."""
    sends: bool = True
    """False for a plan that is only shown: then no key is needed."""
