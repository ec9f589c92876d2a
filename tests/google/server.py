"""The emulator on a port of its own, in a thread.

with DriveEmulator() as drive:
    room = drive.world.folder("Room", drive.world.root("ada@example.com"))
    token = drive.token("ada@example.com")
    ...                                   # a client of drive.endpoint
    assert drive.counts.requests == 1
"""

from collections.abc import Iterable
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any, Self

from tests.google.accounts import READONLY, Accounts
from tests.google.app import App
from tests.google.control import reset
from tests.google.counting import Counts, Logged
from tests.google.faults import Faults
from tests.google.listener import Listener, listening
from tests.google.service import Service
from tests.google.settings import Settings
from tests.google.tunnel import certificates
from tests.google.world import World


class DriveEmulator:
    """Drive and its sign-in over loopback. `settings` are those of `Settings`; `seed` fixes the ids.

    With a folder for certificates in `tunnel`, `proxy` is the address of a CONNECT proxy for programs that
    know Google's own address only, and `authority` the certificate that they must trust.
    """

    def __init__(self, *, seed: int = 0, port: int = 0, tunnel: Path | None = None, **settings: Any) -> None:
        self.world = World(seed)
        self._tunnel = tunnel
        self.proxy: str | None = None
        self.authority: Path | None = None
        self.settings = Settings(**settings)
        self.service = Service(self.world, self.settings)
        self._port = port

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        self._socket = listening(self._port)
        self._port = self._socket.getsockname()[1]
        self.service.base = self.base
        self.service.oauth.audiences.add(self.token_uri)
        context = None
        if self._tunnel:
            context, self.authority = certificates(self._tunnel)
        self._listener = Listener(App(self.service), context)
        self._thread = Thread(target=self._listener.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()
        while not self._listener.started:
            sleep(0.002)
        if self._listener.proxy_port:
            self.proxy = f"http://127.0.0.1:{self._listener.proxy_port}"

    def stop(self) -> None:
        self._listener.end()
        self._thread.join()
        self._socket.close()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def endpoint(self) -> str:
        return f"{self.base}/drive/v3/"

    @property
    def batch_uri(self) -> str:
        return f"{self.base}/batch/drive/v3"

    @property
    def token_uri(self) -> str:
        return f"{self.base}/token"

    @property
    def auth_uri(self) -> str:
        return f"{self.base}/o/oauth2/v2/auth"

    @property
    def accounts(self) -> Accounts:
        return self.service.accounts

    @property
    def faults(self) -> Faults:
        return self.service.faults

    @property
    def counts(self) -> Counts:
        """The figures until now; a copy."""
        return self.service.counting.counts(self.faults.struck)

    @property
    def log(self) -> list[Logged]:
        return list(self.service.counting.log)

    def reset(self) -> None:
        """Figures to 0, the log empty, no faults; the world and the settings stay."""
        reset(self.service)

    def token(self, email: str, scopes: Iterable[str] = (READONLY,), expires_in: float | None = None) -> str:
        """An access token for a user, who is made if need be; `expires_in` in seconds."""
        return self.accounts.token(email, scopes, expires_in)
