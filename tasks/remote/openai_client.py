"""A client of the `openai` library for a server's address.

Azure's addresses of before `/openai/v1` carry an `api-version`, name the deployment in their path and take the key in
the header `api-key` (https://learn.microsoft.com/azure/ai-services/openai/reference):
`https://NAME.openai.azure.com/openai/deployments/DEPLOYMENT?api-version=2024-10-21`. They are known by that
parameter. The deployment may be left out; it is then the model's name.

The library takes 0.7 s to import: modules that are imported without a model configured import this one when they
need it.
"""

import os
import re
import ssl
from functools import cache
from typing import Final, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit, urlunsplit

from httpx2 import Request, create_ssl_context
from openai import AzureOpenAI, DefaultHttpxClient, OpenAI, Timeout

from storage.context import REQUEST_ID_HEADER, current_request_id
from tasks.remote.environment import check_connection

_CONNECTING = 10.0  # seconds at most to open a connection
_DEPLOYMENT: Final = re.compile(r"/deployments/([^/]+)")


def open_client(address: str, key: str | None, timeout: float, *, retries: int = 0) -> OpenAI:
    """A client that follows no redirects, which would send texts to another address.

    Requests carry the id of the request that they are made for (`X-Request-ID`), so that the server's log can be
    matched with ours.

    `timeout` is in seconds, between two pieces of a response; `retries` is how often the library itself tries again.

    Raises:
        NotConfigured: a variable that names proxy or certificates cannot be used.
    """
    proxy = check_connection(address)
    limits = Timeout(timeout, connect=min(_CONNECTING, timeout))
    http_client = DefaultHttpxClient(
        timeout=limits,
        follow_redirects=False,
        verify=tls_context(),
        event_hooks={"request": [_name_request]},
        proxy=proxy,
        trust_env=False,
    )
    azure = AzureAddress.parse(address)
    if azure:
        return AzureOpenAI(
            azure_endpoint=azure.endpoint,
            azure_deployment=azure.deployment,
            api_version=azure.version,
            api_key=key or "none",
            timeout=limits,
            max_retries=retries,
            http_client=http_client,
        )
    return OpenAI(
        api_key=key or "none",  # a server that needs no key still gets a header
        base_url=address,
        timeout=limits,
        max_retries=retries,
        http_client=http_client,
    )


def _name_request(outgoing: Request) -> None:
    request_id = current_request_id()
    if request_id is not None:
        outgoing.headers[REQUEST_ID_HEADER] = request_id


class AzureAddress(NamedTuple):
    """The parts of an address with an `api-version`. `deployment` is None if the model's name is the deployment."""

    endpoint: str
    deployment: str | None
    version: str

    @classmethod
    def parse(cls, address: str) -> "AzureAddress | None":
        """The parts of that address; None if it has no `api-version`. The path of an operation may follow."""
        parts = urlsplit(address)
        version = parse_qs(parts.query).get("api-version", [""])[0]
        if not version:
            return None
        before, _, after = parts.path.partition("/openai")
        deployment = _DEPLOYMENT.match(after)
        endpoint = urlunsplit((parts.scheme, parts.netloc, before.rstrip("/"), "", ""))
        return cls(endpoint, unquote(deployment[1]) if deployment else None, version)


def tls_context() -> ssl.SSLContext:
    """The context that verifies servers' certificates: by `SSL_CERT_FILE` or `SSL_CERT_DIR`, else the system's store.

    It is shared by all clients, because loading the certificates takes 22 ms of processor time.
    """
    return _context(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _context(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    return create_ssl_context()  # it reads both variables itself
