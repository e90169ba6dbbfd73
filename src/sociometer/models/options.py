"""What a user may set for a model beside its name."""

from msgspec import Struct


class ModelOptions(Struct, frozen=True, omit_defaults=True):
    """Where a model is served and how long a reply may take; the key itself is never here, only its variable's name."""

    base_url: str = ""
    revision: str = ""
    timeout_seconds: float = 300.0
    key_variable: str = ""
    named_by_user: bool = True
    """False where a stored run, a card or a project file gives them: then a key goes only to the preset's host."""
    from_project: bool = False
    """Whether they come from `sociometer.toml` and the command line does not name the server, for messages."""
    insecure_http: bool = False
    """Whether a key may travel over plain HTTP to another machine."""
    role: str = "subject"
    """Who the model plays, for messages."""
    sends: bool = True
    """False for a plan that is only shown: then no key is needed."""
