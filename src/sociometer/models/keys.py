"""Decides which key may be sent to which server: only to its preset's host, or to one that the user named."""

import ipaddress
import os
import re
from urllib.parse import urlsplit

from msgspec import Struct

from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import UsageError
from sociometer.models.failures import without_secrets
from sociometer.models.presets import Preset

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PORTS = {"http": 80, "https": 443}


class Key(Struct, frozen=True):
    """The variable with a server's key (empty: no key is sent), and the advice if the server requires one."""

    variable: str
    advice: str = ""


def key_for(
    preset: Preset | None,
    base_url: str,
    key_variable: str,
    *,
    named_by_user: bool,
    role: str = SUBJECT,
    insecure_http: bool = False,
    from_project: bool = False,
) -> Key:
    """The key that may be sent to a server; raise a UsageError for a variable that the user did not name.

    `preset` is None for providers of other packages. `named_by_user` is false if base URL and variable come from a
    stored run, an instrument's card or a project file, which may come from somebody else. Over plain HTTP a key
    is sent to another machine only with `insecure_http`.
    """
    key = _belonging(preset, base_url, key_variable, named_by_user=named_by_user, role=role)
    if from_project and key.advice:
        key = Key("", _name_the_server(base_url, role))
    host = origin(base_url or (preset.base_url if preset else ""))
    if host.startswith("http:") and not insecure_http and not is_loopback(urlsplit(host).hostname or ""):
        _refuse_plain_http(key.variable, host)
    return key


def _refuse_plain_http(variable: str, host: str) -> None:
    if read_key(variable):
        raise UsageError(
            f"the key in {variable} would be sent to {host} unencrypted. Use https://, unset {variable} if this server"
            " needs no key, or add -o insecure-http to send it anyway."
        )


def _name_the_server(base_url: str, role: str) -> str:
    again = f"--model MODEL@{base_url}" if role == SUBJECT else f"--role {role}=MODEL@{base_url}"
    return (
        f"no key was sent, because only sociometer.toml names the address {origin(base_url)}; to send your key to this"
        f" server, give its address on the command line: {again}."
    )


def _belonging(preset: Preset | None, base_url: str, key_variable: str, *, named_by_user: bool, role: str) -> Key:
    if key_variable and (not _VARIABLE.fullmatch(key_variable) or without_secrets(key_variable) != key_variable):
        raise UsageError(
            "--key-variable takes the name of an environment variable, such as OPENAI_API_KEY; the given value"
            " is not such a name (it is not shown, because it may be a key)."
        )
    own = preset.key_variable if preset else ""
    if named_by_user:
        return Key(key_variable or own)
    home = preset.base_url if preset else ""
    host = origin(base_url or home)
    again = f"--key-variable {'' if role == SUBJECT else f'{role}='}"
    if key_variable not in ("", own):
        raise UsageError(
            f"the stored run asks for the environment variable {key_variable} to be sent to {host or 'its server'} as a"
            f" key; a stored name alone is not trusted. To send this key to the server, repeat the name:"
            f" {again}{key_variable}."
        )
    if preset is None or host == origin(home):
        return Key(own)
    return Key(
        "",
        f"no key was sent, because this command does not name the address {host}; to send your key to this server,"
        f" add {again}{own}.",
    )


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_key(variable: str) -> str:
    """The key in a variable; empty if there is none. Raises a UsageError if it cannot be sent in a header."""
    key = os.environ.get(variable, "").strip() if variable else ""
    if not (key.isascii() and key.isprintable()):
        raise UsageError(
            f"the environment variable {variable} contains characters that no key has, such as a line break; set it to"
            " the key only."
        )
    return key


def origin(base_url: str) -> str:
    """Scheme, host and port of a URL; empty if it is not a URL."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if not host or parts.scheme not in _PORTS:
        return ""
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + ("" if port in (None, _PORTS[parts.scheme]) else f":{port}")
