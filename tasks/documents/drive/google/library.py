"""Google's client library as we use it: it builds requests without a network, logs nothing, renews no token."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import google.auth.exceptions
import httplib2
from google.auth.credentials import Credentials
from googleapiclient.discovery import build

from tasks.documents.drive.google.silence import silence

if TYPE_CHECKING:
    from googleapiclient._apis.drive.v3.resources import DriveResource


silence()


class Stale(google.auth.exceptions.RefreshError):
    """Google did not take the access token."""


class Token(Credentials):
    """The access token at hand. The client renews it: once for all threads, within the deadline.

    Those of service accounts would start a thread that looks up their region over our connection
    (google-auth 2.62), and a batch would renew one over a connection without a time-out.
    """

    def __init__(self, of: Credentials) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.token = of.token
        self._of = of

    def apply(self, headers: Any, token: str | None = None) -> None:
        self._of.apply(headers, token)  # type: ignore[no-untyped-call]

    def refresh(self, request: Any) -> None:  # noqa: ARG002 - the library's signature
        raise Stale("refused")  # type: ignore[no-untyped-call]


@lru_cache(maxsize=4)
def drive_at(endpoint: str) -> "DriveResource":
    """What builds the requests, from the library's own description of the API.

    `endpoint` is completed to what the library wants: with the version's path, and a slash at its end.
    """
    endpoint = endpoint.rstrip("/") + "/"
    if urlsplit(endpoint).path == "/":
        endpoint += "drive/v3/"
    drive = build(
        "drive",
        "v3",
        http=httplib2.Http(),  # requests are executed on connections of their own
        static_discovery=True,
        cache_discovery=False,
        client_options={"api_endpoint": endpoint},
    )
    for name in ("about", "changes", "drives", "files", "operations"):  # making one builds all its methods: 2 ms
        collection = getattr(drive, name)()
        setattr(drive, name, lambda collection=collection: collection)
    return drive
