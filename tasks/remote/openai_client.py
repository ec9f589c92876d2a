"""A client of the `openai` library for a server's address.

The library takes 0.7 s to import: modules that are imported without a model configured import this one when they
need it.
"""

import os
import ssl
from functools import cache

from httpx2 import create_ssl_context
from openai import DefaultHttpxClient, OpenAI, Timeout

_CONNECTING = 10.0  # seconds at most to open a connection


def open_client(address: str, key: str | None, timeout: float, *, retries: int = 0) -> OpenAI:
    """A client that follows no redirect, which would take texts to another address.

    `timeout` is in seconds, between two pieces of a response; `retries` is how often the library itself tries again.
    """
    limits = Timeout(timeout, connect=min(_CONNECTING, timeout))
    return OpenAI(
        api_key=key or "none",  # a server that needs no key still gets a header
        base_url=address,
        timeout=limits,
        max_retries=retries,
        http_client=DefaultHttpxClient(base_url=address, timeout=limits, follow_redirects=False, verify=tls_context()),
    )


def tls_context() -> ssl.SSLContext:
    """The context that checks servers' certificates: by `SSL_CERT_FILE` or `SSL_CERT_DIR`, else the system's store.

    It is shared by all clients: reading the certificates takes 22 ms of processor time, which each would spend again.
    """
    return _context(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _context(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    return create_ssl_context()  # it reads both variables itself
