"""Decides which key may be sent to which server: only to its provider's own host, or to one that the user named."""

import ipaddress
import os
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from sociometer.core.config import RunConfig
from sociometer.core.conversation import SUBJECT, Reply, Request
from sociometer.core.errors import FailureKind, MachineryError, SociometerError, UsageError
from sociometer.core.player import Player, WrappedPlayer
from sociometer.core.server_fields import ServerFields
from sociometer.models.failures import reply_without_key, without_secrets
from sociometer.models.usage import possible_usage

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
HOLDS_A_KEY = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}
_encode, _decode = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder(Reply).decode


class Key(Struct, frozen=True):
    """The variable with a server's key (empty: no key is sent), and the advice if the server requires one."""

    variable: str
    advice: str = ""


class KeyPolicy(Struct, frozen=True):
    """Which key may be sent to which server, for all roles of a run.

    A stored run or an instrument's card may come from somebody else: a server that only they name gets no key, unless
    it is the provider's own. Over plain HTTP no key goes to another machine.
    """

    named: frozenset[str] = frozenset((SUBJECT,))
    """The roles whose server the user names in this command."""
    variables: Mapping[str, str] = {}
    """The environment variables with the keys, by role; the provider's own if there is none."""
    insecure_http: bool = False
    """Whether keys may be sent over plain HTTP to other machines."""
    stored: bool = False
    """Whether the servers are those of a stored run."""

    @classmethod
    def of_command(cls, config: RunConfig) -> "KeyPolicy":
        """For a command: the user names the subject and the roles."""
        variables = {SUBJECT: config.key_variable} if config.key_variable else {}
        return cls(frozenset((SUBJECT, *config.roles)), variables, config.insecure_http)

    @classmethod
    def of_stored_run(cls, config: RunConfig, again: Mapping[str, str]) -> "KeyPolicy":
        """For a stored run: a role's server counts as named if the user names the role's variable again."""
        stored = {SUBJECT: config.key_variable} if config.key_variable else {}
        return cls(frozenset(again), {**stored, **again}, stored=True, insecure_http=config.insecure_http)

    def key(self, role: str, base_url: str, home: str, own: str) -> Key:
        """The key for a server of a provider whose own address is `home` and whose variable is `own`.

        Raises a UsageError for a variable that the user did not name, and for a key that would be sent unencrypted.
        """
        key = self._belonging(role, base_url, home, own)
        server = origin(base_url or home)
        if self._is_unsafe(server) and read_key(key.variable):
            raise UsageError(
                f"the key in {key.variable} would be sent to {server} unencrypted. Use https://, unset {key.variable}"
                " if this server needs no key, or add -o insecure-http to send it anyway."
            )
        return key

    def check_fields(self, fields: ServerFields, role: str, base_url: str, home: str) -> None:
        """Raise a UsageError if headers or a query of the user would go to a server that the user did not name.

        To the server of a stored run go only headers that the run had, and the query that its store has.
        """
        known = self.stored or role in self.named or origin(base_url) == origin(home)
        if (fields.headers or fields.query) and not known:
            again = f"--model MODEL@{base_url}" if role == SUBJECT else f"--role {role}=MODEL@{base_url}"
            raise UsageError(
                f"-o header and -o query are sent only to a server that this command names, not to {origin(base_url)};"
                f" give its address on the command line: {again}."
            )
        for name, value in (*fields.headers.items(), *fields.query.items(), *fields.body.items()):
            if without_secrets(str(value)) != str(value):
                raise UsageError(f"the value of '{name}' looks like a key; keys come from --key-variable NAME.")

    def key_of_another_package(self, role: str, base_url: str) -> Key:
        """The key for a provider of another package, which may choose a key itself: so its server must be safe for any.

        Raises a UsageError for a server that the user did not name, or that would be asked unencrypted.
        """
        key, server = self._belonging(role, base_url, "", ""), origin(base_url)
        if base_url and role not in self.named:
            raise UsageError(
                f"this command does not name the address {server or base_url}, and the model's package could send any"
                f" of your keys there; add --key-variable {_of(role)}NAME, with the environment variable of the key"
                " that may be sent there."
            )
        if self._is_unsafe(server):
            raise UsageError(
                f"a key would be sent to {server} unencrypted. Use https://, or add -o insecure-http to send it anyway."
            )
        return key

    def _belonging(self, role: str, base_url: str, home: str, own: str) -> Key:
        variable, server = self.variables.get(role, ""), origin(base_url or home)
        if variable and (not _VARIABLE.fullmatch(variable) or without_secrets(variable) != variable):
            raise UsageError(
                "--key-variable takes the name of an environment variable, such as OPENAI_API_KEY; the given value"
                " is not such a name (it is not shown, because it may be a key)."
            )
        if role in self.named:
            return Key(variable or own)
        if variable not in ("", own):
            raise UsageError(
                f"the stored run asks for the environment variable {variable} to be sent to {server or 'its server'} as"
                " a key; a stored name alone is not trusted. To send this key to the server, repeat the name:"
                f" --key-variable {_of(role)}{variable}."
            )
        if server == origin(home):
            return Key(own)
        why = f"no key was sent, because this command does not name the address {server}"
        return Key("", f"{why}; to send your key to this server, add --key-variable {_of(role)}{own}.")

    def _is_unsafe(self, server: str) -> bool:
        there = urlsplit(server)
        return there.scheme == "http" and not self.insecure_http and not is_loopback(there.hostname or "")


def _of(role: str) -> str:
    return "" if role == SUBJECT else f"{role}="


class PlayerOfAnotherPackage(WrappedPlayer):
    """A player that another package provides; keys that its server repeats are removed from replies and errors."""

    def __init__(self, player: Player, key: Key) -> None:
        super().__init__(player)
        # Which key it uses is its own affair, so that all are looked for.
        found = {name for name in os.environ if HOLDS_A_KEY.search(name)} | {key.variable}
        self._keys = tuple({os.environ.get(name, "").strip() for name in found} - {""})

    async def answer(self, request: Request) -> Reply:
        try:
            # As it will be stored: what is no reply, or has no text, fails here.
            reply = _decode(_encode(possible_usage(await super().answer(request))))
        except SociometerError as error:
            error.args = (self._clean(str(error)),)
            raise
        except Exception as error:
            raise MachineryError(self._clean(f"{type(error).__name__}: {error}"), FailureKind.PROVIDER_ERROR) from None
        for key in self._keys:
            reply = reply_without_key(reply, key)
        return reply

    def _clean(self, text: str) -> str:
        for key in self._keys:
            text = without_secrets(text, key)
        return without_secrets(text)


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
