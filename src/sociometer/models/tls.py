"""Explains failed TLS connections, and detects servers that require TLS."""

import asyncio
import contextlib
import ssl

import aiohttp

_EXPIRED, _NOT_YET, _SELF_SIGNED = 10, 9, 18
_UNKNOWN_AUTHORITY = (2, 19, 20, 21, 27)
_OTHER_HOST = (62, 63, 64)
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL")
_TRUST = "If you trust it, set SSL_CERT_FILE to a file with"
_PROBE_SECONDS = 5.0


def why_not_secure(base_url: str, error: aiohttp.ClientSSLError) -> str:
    """The problem with the server's TLS, and what to do."""
    return f"no secure connection to {base_url}: {_reason(base_url, _cause(error))} No key was sent."


async def speaks_tls(host: str, port: int) -> bool:
    """Whether a TLS handshake with the server succeeds; nothing else is sent."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            _, writer = await asyncio.open_connection(host, port, ssl=context)
    except (OSError, TimeoutError):
        return False
    writer.close()
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(_PROBE_SECONDS):
            await writer.wait_closed()
    return True


def _cause(error: aiohttp.ClientSSLError) -> Exception:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return error.certificate_error
    return error.os_error


def _reason(base_url: str, error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return _about_certificate(error.verify_code, error.verify_message)
    if isinstance(error, ssl.SSLError) and error.reason in _NO_TLS:
        plain = base_url.replace("https:", "http:", 1)
        return f"the server does not use TLS on this port; use {plain} if it is your own server."
    named = error.reason if isinstance(error, ssl.SSLError) else type(error).__name__
    return f"the TLS handshake failed ({named}). Check the base URL."


def _about_certificate(code: int, message: str) -> str:
    if code == _EXPIRED:
        return "its certificate has expired; the server needs a new one."
    if code == _NOT_YET:
        return "its certificate is not valid yet; check this machine's clock."
    if code == _SELF_SIGNED:
        return f"its certificate is self-signed. {_TRUST} its certificate."
    if code in _UNKNOWN_AUTHORITY:
        return (
            f"its certificate is signed by an authority that is not trusted here. {_TRUST} the authority's certificate."
        )
    if code in _OTHER_HOST:
        return "its certificate is for another host; use the host name in the certificate."
    return f"its certificate cannot be verified ({message})."
