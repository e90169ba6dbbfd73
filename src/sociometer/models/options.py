"""What a user may set for a model beside its name."""

from msgspec import Struct


class ModelOptions(Struct, frozen=True, omit_defaults=True):
    """Where a model is served and how long a reply may take; the key itself is never here, only its variable's name."""

    base_url: str = ""
    revision: str = ""
    timeout_seconds: float = 300.0
    key_variable: str = ""
    named_by_user: bool = True
    """False where base URL and variable come from a stored run or a card: then a key goes only to the preset's host."""
    insecure_http: bool = False
    """Whether a key may travel over plain HTTP to another machine."""
    role: str = "subject"
    """Who the model plays, for messages."""
    sends: bool = True
    """False for a plan that is only shown: then no key is needed."""
