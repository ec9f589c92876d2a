"""One TLS context for all clients of the `openai` library.

A context reads the certificates of all authorities: 22 ms of processor time, which every new client would spend again.
The library takes a shared one (`http_client=DefaultHttpxClient(verify=...)`).
"""

import os
import ssl
from functools import cache


def tls_context() -> ssl.SSLContext:
    """What servers' certificates are checked against: `SSL_CERT_FILE` or `SSL_CERT_DIR`, else the system's store."""
    return _context(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _context(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    from httpx2 import create_ssl_context  # noqa: PLC0415 - 0.1 s; it reads both settings itself

    return create_ssl_context()
