"""What the environment says about connections, checked before a client is made: proxies and certificates.

The libraries read these variables themselves, and raise whatever their parts raise (ImportError, FileNotFoundError,
ValueError) wherever a client is first made, for every proxy that is named, whichever the address needs. Here each
unusable variable gives one sentence with its name. Proxies are chosen as in curl:
https://www.python-httpx.org/environment_variables/.
"""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from storage.settings import is_web_address
from tasks.errors import NotConfigured

HTTPX: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")
"""What httpx reads of certificates, and the `openai` library and Prefect with it."""
GOOGLE: Final = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "HTTPLIB2_CA_CERTS", "SSLKEYLOGFILE")
"""What requests and httplib2 read of certificates, on which Google's libraries are built."""
_PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy")


def check_connection(address: str, certificates: tuple[str, ...] = HTTPX) -> str | None:
    """Check the variables that a connection to this address needs; returns its proxy, None if it has none.

    Raises:
        NotConfigured: one cannot be used; the message names it.
    """
    for name in certificates:
        _check(name)
    parts = urlsplit(address)
    proxies = getproxies()
    scheme = parts.scheme if proxies.get(parts.scheme) else "all"
    if not proxies.get(scheme) or proxy_bypass(parts.netloc.rpartition("@")[2]) or proxy_bypass(parts.hostname or ""):
        return None
    _check(next(filter(os.environ.get, _spellings(f"{scheme}_proxy")), scheme))
    return _with_scheme(proxies[scheme])


@contextmanager
def usable_environment() -> Iterator[None]:
    """In the block, remove unusable variables from the environment, and proxies for this machine's own address.

    This is for Prefect, which makes clients on import and needs none of this to reach its own server. Code that needs
    such a variable has reported it before (`check_connection`).
    """
    named = [name for proxy in _PROXIES for name in _spellings(proxy)]
    taken = {name: os.environ.pop(name) for name in (*HTTPX, *named) if name in os.environ and not _is_usable(name)}
    bypass = "no_proxy" if "no_proxy" in os.environ else "NO_PROXY"
    before = os.environ.get(bypass)
    os.environ[bypass] = f"{before},127.0.0.1" if before else "127.0.0.1"
    try:
        yield
    finally:
        os.environ.update(taken)
        if before is None:
            del os.environ[bypass]
        else:
            os.environ[bypass] = before


def _is_usable(name: str) -> bool:
    try:
        _check(name)
    except NotConfigured:
        return False
    return True


def _check(name: str) -> None:
    """Raises NotConfigured where the variable of that name is set and cannot be used."""
    value = os.environ.get(name)
    if not value or (name == "SSL_CERT_DIR" and os.environ.get("SSL_CERT_FILE")):  # which comes first
        return
    if name.lower() in _PROXIES:
        if not is_web_address(_with_scheme(value)):
            raise NotConfigured(
                f"{name} names a kind of proxy that is not supported, such as SOCKS. Set it to one such as "
                "http://proxy.example:3128, or name the servers that need none in NO_PROXY."
            )
        return
    try:
        if name == "SSLKEYLOGFILE":
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).keylog_filename = value
        elif name == "SSL_CERT_DIR" or (name in GOOGLE and Path(value).is_dir()):
            next(path for path in value.split(os.pathsep) if Path(path).is_dir())
        else:
            _load_certificates(value, Path(value).stat().st_mtime_ns)
    except (OSError, ValueError, StopIteration) as error:
        why = getattr(error, "strerror", None) or "No such folder"
        what = "cannot be written" if name == "SSLKEYLOGFILE" else "gives no certificates"
        raise NotConfigured(f"{name} {what} ({why}). Set it to the right path, or leave it out.") from error


@lru_cache(maxsize=16)
def _load_certificates(path: str, changed: int) -> None:  # noqa: ARG001 - loaded again once the file has changed
    """Takes 25 ms for the certificates of the whole web, and each opened drive asks for three variables."""
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)


def _spellings(name: str) -> tuple[str, str]:
    return name, name.upper()


def _with_scheme(proxy: str) -> str:
    return proxy if "://" in proxy else f"http://{proxy}"
