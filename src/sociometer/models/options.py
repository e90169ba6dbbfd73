"""What a user may set for a model beside its name."""

from msgspec import Struct


class ModelOptions(Struct, frozen=True, omit_defaults=True):
    """Where a model is served and how long a reply may take; the key itself is never here, only its variable's name."""

    base_url: str = ""
    revision: str = ""
    timeout_seconds: float = 300.0
    key_variable: str = ""
    sends: bool = True
    """False for a plan that is only shown: then no key is needed."""
