"""Where the store is: a file, or a PostgreSQL database; a separate module, so that commands need not load the store."""

import os
import re
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from sociometer.core.errors import UsageError

_SCHEMES = ("postgresql", "postgres")
_SECRET = ("password", "sslpassword")
_URL = re.compile(rf"(?:{'|'.join(_SCHEMES)})://\S+", re.IGNORECASE)


class StoreUrl:
    """The address of a store on PostgreSQL; as text it never has its password."""

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            parts.port  # noqa: B018  (raises if it is not a number)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in _SCHEMES or not parts.path.strip("/"):
            # The address may have a password anywhere, so that only its scheme is shown.
            raise UsageError(
                f"'{url.partition('://')[0]}://…' is not the address of a store; give postgresql://USER@HOST/DATABASE,"
                " with special characters of the password percent-encoded."
            )
        self.url = url

    def __str__(self) -> str:
        return without_passwords(self.url)

    def __repr__(self) -> str:
        return f"StoreUrl({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoreUrl) and other.url == self.url

    def __hash__(self) -> int:
        return hash(self.url)

    def exists(self) -> bool:
        """True: a database is never created, and a wrong name fails when it is opened."""
        return True

    def absolute(self) -> "StoreUrl":
        """The same address."""
        return self


StorePlace = Path | StoreUrl


def parse_place(text: "str | Path | StoreUrl") -> StorePlace:
    """The place that a user named: a URL of PostgreSQL, or else a file."""
    if isinstance(text, StoreUrl | Path):
        return text
    scheme, separator, _ = text.partition("://")
    if separator and scheme.isalnum():
        return StoreUrl(text)
    return Path(text)


def file_of(place: StorePlace, what: str) -> Path:
    """The file of the store, for files that are next to it."""
    if isinstance(place, StoreUrl):
        raise UsageError(f"{what} needs a store file, and {place} is a database; give --store FILE.")
    return place


def without_passwords(text: str) -> str:
    """The text with the passwords of all PostgreSQL addresses in it removed."""
    return _URL.sub(lambda found: _without_password(found.group()), text)


def _without_password(url: str) -> str:
    try:
        parts = urlsplit(url)
        user, _, host = parts.netloc.rpartition("@")
        if "@" in url and not user:
            raise ValueError("a password with a character that ends the host")
        name = user.partition(":")[0]
        query = [(key, value) for key, value in parse_qsl(parts.query, keep_blank_values=True) if key not in _SECRET]
    except ValueError:
        return f"{url.partition('://')[0]}://…"
    netloc = f"{name}@{host}" if name else host
    more = urlencode(query, quote_via=quote, safe="/")
    return f"{parts.scheme}://{netloc}{parts.path}" + (f"?{more}" if more else "")


def default_path() -> Path:
    """The path of the store if neither --store nor SOCIOMETER_STORE gives one."""
    from platformdirs import user_data_path

    return user_data_path("sociometer", appauthor=False) / "sociometer.db"


def chosen_place(given: "str | Path | StoreUrl | None" = None) -> StorePlace:
    """The store that is named, or else that of SOCIOMETER_STORE, or the user's own."""
    chosen = given or os.environ.get("SOCIOMETER_STORE")
    return parse_place(chosen).absolute() if chosen else default_path()
