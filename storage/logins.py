"""Who may call and who has logged in: API keys, Google logins, browser sessions, and the encryption that protects them.

An API key is 32 random bytes; only its SHA-256 is stored, which grants no access. (Slow hashes are for passwords, which
people choose and others guess.) A revoked key stays in its table: a service whose last key was revoked is closed, not
open. The record of calls has no content: which key, which operation, when, and how it ended.

Refresh tokens are encrypted ("sealed") before they are stored, as is the note that a browser keeps while its user logs
in. The key comes from DILIGENCE_SECRET_KEY, otherwise from a file in DILIGENCE_HOME that only its owner may read. To
change the key, give several: the first one seals, and each of them unseals.

Users are the people who use the pages of the service, with their names, roles and browser sessions. Where the drive
has its own accounts, people come through its login, and a row here only gives an account's role. Passwords are hashed
by argon2 with the parameters that `pwdlib` recommends.
"""

import os
import secrets
import stat
import tempfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeVar

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from pwdlib import PasswordHash
from sqlalchemy import JSON, Column, ColumnElement, delete, update
from sqlmodel import Field, Session, SQLModel, UniqueConstraint, col, select

from storage import database
from storage.columns import UtcDateTime, find_table, now, put, put_new, string_enum
from storage.settings import StorageSettings

SCOPES: Final = ("documents", "ai", "companies", "runs")
_PREFIX: Final = "dk_"  # so that a key that leaked into a file or a log can be searched for


class ApiKey(SQLModel, table=True):
    """A key by its name. `digest` is the SHA-256 of the key in hex."""

    __tablename__ = "api_keys"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(index=True)
    digest: str = Field(unique=True)
    scopes: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    created_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    revoked_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class AuditedCall(SQLModel, table=True):
    """A call with a known key. `operation` is the method and the path as the service names it; `status` is HTTP's."""

    __tablename__ = "audit_calls"

    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(index=True)
    operation: str
    at: datetime = Field(default_factory=now, sa_type=UtcDateTime, index=True)
    status: int


def hash_key(key: str) -> str:
    """What is stored of a key, or of another random secret: its SHA-256 in hex."""
    return sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def add_key(session: Session, name: str, scopes: Sequence[str]) -> str | None:
    """Add a key and return it; the key itself is not stored. None if the name already has a key in use."""
    if find_key(session, name) is not None:
        return None
    key = _PREFIX + secrets.token_urlsafe(32)
    session.add(ApiKey(name=name, digest=hash_key(key), scopes=list(scopes)))
    return key


def find_key(session: Session, name: str) -> ApiKey | None:
    """The key of that name, if it is in use."""
    return session.exec(select(ApiKey).where(ApiKey.name == name, col(ApiKey.revoked_at).is_(None))).first()


def all_keys(session: Session) -> Sequence[ApiKey]:
    """All keys, including revoked ones, in the order in which they were added."""
    return session.exec(select(ApiKey).order_by(col(ApiKey.id))).all()


def revoke_key(session: Session, name: str) -> bool:
    """Revoke the key of that name; False if none is in use."""
    key = find_key(session, name)
    if key is None:
        return False
    key.revoked_at = now()
    session.add(key)
    return True


def add_audited_call(session: Session, call: AuditedCall) -> None:
    """Add a row to the record of calls."""
    session.add(call)


LONGEST_SESSION = timedelta(days=7)
"""After this time a user logs in again, however active the session was."""
LONGEST_PAUSE = timedelta(hours=12)
"""A session that is unused for this long has ended."""
LONGEST_LOGIN = timedelta(minutes=10)
"""How long a user may take on Google's login page."""
_STEP = timedelta(minutes=5)  # how exactly a session's last use is known: a write for each request would be too many


class Whose(StrEnum):
    """Who a login belongs to: this machine, for scheduled runs and the command line, or a user of the web pages."""

    MACHINE = "machine"
    WEB = "web"


class StoredLogin(SQLModel, table=True):
    """A Google account whose owner agreed that we read its files. `refresh_token` is sealed (see `seal`) and belongs to
    `client_id`.

    `account` is the e-mail address, `account_id` Google's permissionId; both are None if Google did not give them.
    """

    __tablename__ = "logins"
    # Ids are never reused: what a process still caches for a deleted login cannot pass to another account.
    __table_args__ = (UniqueConstraint("whose", "account_id"), {"sqlite_autoincrement": True})

    id: int | None = Field(default=None, primary_key=True)
    whose: Whose = Field(sa_type=string_enum(Whose))
    account: str | None = None
    account_id: str | None = None
    client_id: str
    refresh_token: str
    created_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    used_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    revoked_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class BrowserSession(SQLModel):
    """A browser that is logged in. `key` is the SHA-256 in hex of its cookie's secret, so the table
    grants no access.
    """

    key: str = Field(primary_key=True)
    created_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    used_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)


S = TypeVar("S", bound=BrowserSession)
Owner = TypeVar("Owner", bound=SQLModel)


class WebSession(BrowserSession, table=True):
    """A browser that acts for a login of the drive."""

    __tablename__ = "sessions"

    login_id: int = Field(foreign_key="logins.id", ondelete="CASCADE", index=True)


class SpentState(SQLModel, table=True):
    """The `state` of a finished login, by its SHA-256, so that it cannot be used a second time."""

    __tablename__ = "spent_states"

    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(unique=True)
    spent_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)


def save_login(session: Session, login: StoredLogin) -> int:
    """Store a login in place of an earlier one of the same account; the machine has only one. Returns its id."""
    if login.account_id is None:
        session.add(login)
        session.flush()
    else:
        put(session, login, "whose", "account_id")
    same = col(StoredLogin.account_id) == login.account_id if login.account_id else col(StoredLogin.id) == login.id
    stored = session.exec(select(StoredLogin).where(StoredLogin.whose == login.whose, same)).one()
    assert stored.id is not None
    if login.whose is Whose.MACHINE:
        session.connection().execute(
            delete(StoredLogin).where(col(StoredLogin.whose) == Whose.MACHINE, col(StoredLogin.id) != stored.id)
        )
    return stored.id


def find_login(session: Session, login_id: int) -> StoredLogin | None:
    """The login of that id, revoked or not."""
    return session.get(StoredLogin, login_id)


def machine_login(session: Session) -> StoredLogin | None:
    """The login of the machine, revoked or not."""
    return session.exec(select(StoredLogin).where(StoredLogin.whose == Whose.MACHINE)).first()


def mark_used(session: Session, login_id: int, refresh_token: str | None = None) -> None:
    """Record that the login gave an access token; `refresh_token` is the new sealed one, if Google sent one."""
    values = {"used_at": now()} | ({"refresh_token": refresh_token} if refresh_token else {})
    session.connection().execute(update(StoredLogin).where(col(StoredLogin.id) == login_id).values(values))


def mark_revoked(session: Session, login_id: int, refresh_token: str) -> None:
    """Record that Google refused this sealed refresh token; a newer token remains valid."""
    session.connection().execute(
        update(StoredLogin)
        .where(col(StoredLogin.id) == login_id, col(StoredLogin.refresh_token) == refresh_token)
        .values(revoked_at=now())
    )


def spend_state(session: Session, state: str) -> bool:
    """Accept the `state` of a login once; False if it was accepted before. States are deleted after an hour."""
    table = find_table(SpentState)
    session.connection().execute(delete(table).where(table.c.spent_at < now() - timedelta(hours=1)))
    return put_new(session, SpentState(key=hash_key(state)), "key") is not None


def start_session(session: Session, secret: str, login: StoredLogin) -> None:
    """Store a web login and let the browser whose cookie holds `secret` act for it; expired sessions are deleted."""
    _forget_ended(session)
    session.add(WebSession(key=hash_key(secret), login_id=save_login(session, login)))


def find_session(session: Session, secret: str) -> tuple[WebSession, StoredLogin] | None:
    """The session of the browser whose cookie holds `secret`, with its login, unless it has expired."""
    return _find_open(session, secret, WebSession, StoredLogin, col(StoredLogin.id) == col(WebSession.login_id))


def _find_open(
    session: Session, secret: str, model: type[S], owner: type[Owner], belongs: ColumnElement[bool]
) -> tuple[S, Owner] | None:
    open_ones = select(model, owner).join(owner, belongs).where(model.key == hash_key(secret), ~has_ended(model))
    row = session.exec(open_ones).first()
    return None if row is None else (row[0], row[1])


def has_ended(model: type[BrowserSession]) -> ColumnElement[bool]:
    """Whether a session of this kind has expired: it began, or was last used, too long ago."""
    return (col(model.created_at) <= now() - LONGEST_SESSION) | (col(model.used_at) <= now() - LONGEST_PAUSE)


def wants_noting(browser: BrowserSession) -> bool:
    """Whether the last recorded use of the session is old enough to be updated."""
    return browser.used_at < now() - _STEP


def note_use(session: Session, secret: str, model: type[BrowserSession] = WebSession) -> None:
    """Record that the session is in use."""
    session.connection().execute(update(model).where(col(model.key) == hash_key(secret)).values({"used_at": now()}))


def end_session(session: Session, secret: str) -> None:
    """End the session of either kind. A web login without any other session is deleted together with its token."""
    for model in (WebSession, UserSession):
        session.connection().execute(delete(model).where(col(model.key) == hash_key(secret)))
    _forget_ended(session)


def _forget_ended(session: Session) -> None:
    session.connection().execute(delete(WebSession).where(has_ended(WebSession)))
    unused = col(StoredLogin.id).not_in(select(WebSession.login_id))
    session.connection().execute(delete(StoredLogin).where(col(StoredLogin.whose) == Whose.WEB, unused))


KEY_FILE = "secret.key"
_MAKE_ONE = "Create one with `openssl rand -base64 32`."


class SecretKeyUnusable(Exception):
    """There is no usable key; the message names the setting or the file, and says what to do."""


class NotSealedHere(Exception):
    """The text was not sealed with one of our keys, has another purpose, is too old, or was changed."""


def seal(text: str, purpose: str) -> str:
    """The text encrypted and signed (Fernet: AES-128-CBC, HMAC-SHA-256), for `unseal` with the same purpose.

    Raises:
        SecretKeyUnusable: there is no usable key.
    """
    return _keys().encrypt(f"{purpose}\0{text}".encode()).decode()


def unseal(sealed: str, purpose: str, max_age: int | None = None) -> str:
    """The text that was sealed for this purpose, at most `max_age` seconds ago.

    Raises:
        NotSealedHere: it cannot be opened.
        SecretKeyUnusable: there is no usable key.
    """
    keys = _keys()
    try:
        sealed_for, _, text = keys.decrypt(sealed.encode(), ttl=max_age).decode().partition("\0")
    except (InvalidToken, UnicodeError):
        raise NotSealedHere from None
    if sealed_for != purpose:
        raise NotSealedHere
    return text


def _keys() -> MultiFernet:
    secret_key = StorageSettings.current().secret_key
    if secret_key is not None:
        return _fernet(secret_key.get_secret_value(), "DILIGENCE_SECRET_KEY holds")
    return _fernet(_key_in(database.home() / KEY_FILE), f"{KEY_FILE} in DILIGENCE_HOME holds")


@lru_cache(maxsize=4)
def _fernet(keys: str, place: str) -> MultiFernet:
    try:
        return MultiFernet([Fernet(key.strip()) for key in keys.split(",") if key.strip()])
    except ValueError:  # also when there is none
        raise SecretKeyUnusable(f"{place} no key of 32 bytes in base64. {_MAKE_ONE}") from None


def _key_in(file: Path) -> str:
    """The key of this home, created at first use."""
    try:
        if not file.exists():
            _make(file)
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, encoding="ascii") as opened:
            status = os.fstat(descriptor)
            if (
                not stat.S_ISREG(status.st_mode)
                or stat.S_IMODE(status.st_mode) & 0o077
                or status.st_uid != os.geteuid()
            ):
                raise SecretKeyUnusable(
                    f"{KEY_FILE} in DILIGENCE_HOME must be a file that this user owns and nobody else can read "
                    "(`chmod 600`). If others could read it, remove it and log in again."
                )
            return opened.read(10_000)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise SecretKeyUnusable(f"{KEY_FILE} in DILIGENCE_HOME cannot be read or made ({reason}).") from None


def _make(file: Path) -> None:
    """Write the key file completely or not at all; if two processes start together, only one creates it."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=".secret-")  # 0600
    try:
        with os.fdopen(descriptor, "wb") as new:
            new.write(Fernet.generate_key() + b"\n")
        os.link(name, file)
    except FileExistsError:
        pass
    finally:
        Path(name).unlink()


class Role(StrEnum):
    """What a person may do: view; also decide; also start and stop runs."""

    READER = "reader"
    REVIEWER = "reviewer"
    ADMIN = "admin"

    def includes(self, other: "Role") -> bool:
        """Whether this role may do everything that the other may."""
        roles = list(Role)
        return roles.index(self) >= roles.index(other)


class User(SQLModel, table=True):
    """A person, by name. `password` is an argon2 hash; None for people who come through the drive's login.

    The row of a removed person stays: a service that nobody may use any more is closed, not open.
    """

    __tablename__ = "users"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    role: Role = Field(sa_type=string_enum(Role))
    password: str | None = None
    created_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    removed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class UserSession(BrowserSession, table=True):
    """A browser that a person is logged in with."""

    __tablename__ = "user_sessions"

    user_id: int = Field(foreign_key="users.id", ondelete="CASCADE", index=True)


@cache
def _hasher() -> PasswordHash:
    return PasswordHash.recommended()


@cache
def _nobody() -> str:
    return _hasher().hash("nobody")


def add_user(session: Session, name: str, role: Role, password: str | None) -> bool:
    """Add a person; False if the name is taken."""
    if find_user(session, name) is not None:
        return False
    put(session, User(name=name, role=role, password=None if password is None else _hasher().hash(password)), "name")
    return True


def find_user(session: Session, name: str) -> User | None:
    """The person of that name."""
    return session.exec(select(User).where(User.name == name, col(User.removed_at).is_(None))).first()


def all_users(session: Session) -> Sequence[User]:
    """All people, in the order in which they were added."""
    return session.exec(select(User).where(col(User.removed_at).is_(None)).order_by(col(User.id))).all()


def had_users(session: Session) -> bool:
    """Whether there is, or ever was, anybody with a password."""
    return session.exec(select(User.id).where(col(User.password).is_not(None))).first() is not None


def remove_user(session: Session, name: str) -> bool:
    """Remove a person and end their sessions; False if nobody has that name. Decisions keep the name."""
    user = find_user(session, name)
    if user is None:
        return False
    user.removed_at, user.password = now(), user.password and ""
    session.add(user)
    session.connection().execute(delete(UserSession).where(col(UserSession.user_id) == user.id))
    return True


def check_password(session: Session, name: str, password: str) -> User | None:
    """The person, if the password is right. It takes equally long whether or not the person exists."""
    user = find_user(session, name)
    is_right = _hasher().verify(password, (user and user.password) or _nobody())
    return user if user is not None and user.password is not None and is_right else None


def start_user_session(session: Session, secret: str, user_id: int) -> None:
    """Let the browser whose cookie holds `secret` act as that person; expired sessions are deleted."""
    session.connection().execute(delete(UserSession).where(has_ended(UserSession)))
    session.add(UserSession(key=hash_key(secret), user_id=user_id))


def find_user_session(session: Session, secret: str) -> tuple[UserSession, User] | None:
    """The session of the browser whose cookie holds `secret`, with its person, unless it has expired."""
    return _find_open(session, secret, UserSession, User, col(User.id) == col(UserSession.user_id))
