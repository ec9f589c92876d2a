"""Who is signed in: OAuth clients, access and refresh tokens, authorisation codes, service accounts."""

import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

from tests.google.world import World

DRIVE = "https://www.googleapis.com/auth/drive"
READONLY = DRIVE + ".readonly"
METADATA = DRIVE + ".metadata.readonly"


@dataclass(frozen=True)
class Client:
    """An OAuth client. Loopback addresses are always good redirect addresses, as for desktop apps."""

    id: str = "1234567890-emulator.apps.googleusercontent.com"
    secret: str = "GOCSPX-emulator"
    redirects: frozenset[str] = frozenset()


@dataclass
class Access:
    """What an access token stands for; `until` in seconds since 1970."""

    email: str
    scopes: frozenset[str]
    until: float
    refresh: str | None = None


@dataclass
class Refresh:
    email: str
    scopes: frozenset[str]
    client: str
    until: float | None = None
    revoked: bool = False


@dataclass(frozen=True)
class Code:
    """An authorisation code: good once, for ten minutes, for the one who began."""

    email: str
    scopes: frozenset[str]
    client: str
    redirect: str
    challenge: str | None
    method: str
    offline: bool
    until: float


@dataclass(frozen=True)
class ServiceAccount:
    """`delegates`: the users that it may act for (`*`: all), for the scopes given."""

    email: str
    key: RSAPrivateKey
    key_id: str
    delegates: frozenset[str]
    scopes: frozenset[str]


@dataclass
class Accounts:
    """All logins. `consents` decides what the authorise page does: `grant` or `deny`."""

    world: World
    clients: dict[str, Client] = field(default_factory=lambda: {Client().id: Client()})
    access: dict[str, Access] = field(default_factory=dict)
    refresh: dict[str, Refresh] = field(default_factory=dict)
    codes: dict[str, Code] = field(default_factory=dict)
    services: dict[str, ServiceAccount] = field(default_factory=dict)
    chosen: str | None = None  # who signs in when no login_hint is given
    consent: str = "grant"
    consented: set[tuple[str, str]] = field(default_factory=set)
    lifetime: float = 3600  # seconds, of access tokens

    def token(
        self, email: str, scopes: Iterable[str] = (READONLY,), expires_in: float | None = None,
        refresh: str | None = None,
    ) -> str:  # fmt: skip
        """A new access token; one that is expired already with `expires_in` of 0 or less."""
        with self.world.lock:
            self.world.user(email)
            made = "ya29.a0" + secrets.token_urlsafe(60)
            until = time.time() + (self.lifetime if expires_in is None else expires_in)
            self.access[made] = Access(email, frozenset(scopes), until, refresh)
            return made

    def refresh_token(
        self, email: str, scopes: Iterable[str] = (READONLY,), expires_in: float | None = None,
        client: str | None = None,
    ) -> str:  # fmt: skip
        """A new refresh token; those of apps in testing expire after seven days."""
        with self.world.lock:
            self.world.user(email)
            made = "1//0" + secrets.token_urlsafe(60)
            until = None if expires_in is None else time.time() + expires_in
            self.refresh[made] = Refresh(email, frozenset(scopes), client or next(iter(self.clients)), until)
            return made

    def service(self, email: str, delegates: Iterable[str] = (), scopes: Iterable[str] = (READONLY,)) -> ServiceAccount:
        """A service account with a key; a user of its own besides."""
        with self.world.lock:
            self.world.user(email)
            made = ServiceAccount(email, _key(), secrets.token_hex(20), frozenset(delegates), frozenset(scopes))
            self.services[email] = made
            return made

    def who(self, token: str) -> Access | None:
        """What a good token stands for; None for one that is unknown, expired or revoked."""
        found = self.access.get(token)
        return found if found and found.until > time.time() else None

    def expire(self, token: str) -> None:
        """Lets an access token's time run out now."""
        self.access[token].until = 0

    def revoke(self, token: str) -> None:
        """Takes back a token of either kind, and the access tokens that came from it."""
        with self.world.lock:
            grant = token
            if token in self.access:
                grant = self.access.pop(token).refresh or ""
            if grant in self.refresh:
                self.refresh[grant].revoked = True
            for one in [one for one, access in self.access.items() if access.refresh == grant and grant]:
                del self.access[one]

    def revoke_user(self, email: str) -> None:
        """The user withdraws the app's access: all its tokens are void."""
        for token in [token for token, access in self.access.items() if access.email == email]:
            del self.access[token]
        for refresh in self.refresh.values():
            if refresh.email == email:
                refresh.revoked = True


@lru_cache(maxsize=1)
def _key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)
