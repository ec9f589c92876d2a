"""Google logins with their sealed refresh tokens, and the sessions of browsers that are logged in with one."""

from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256

from sqlalchemy import delete, update
from sqlmodel import Field, Session, SQLModel, UniqueConstraint, col, select

from storage.database import UtcDateTime, now, string_enum
from storage.upserts import put, put_new, table_of

LONGEST_SESSION = timedelta(days=7)
"""After this a user logs in again, whatever happened in between."""
LONGEST_PAUSE = timedelta(hours=12)
"""A session that nobody used for so long has ended."""
LONGEST_LOGIN = timedelta(minutes=10)
"""How long a user may take at Google's."""
_STEP = timedelta(minutes=5)  # how exactly a session's last use is known: a write for each request would be too many


class Whose(StrEnum):
    """Whose login it is: that of the machine, for scheduled runs and the command line, or a web user's."""

    MACHINE = "machine"
    WEB = "web"


class StoredLogin(SQLModel, table=True):
    """A Google account that agreed to be read. `refresh_token` is sealed (secrets.py) and belongs to `client_id`.

    `account` is the e-mail address, `account_id` Google's permissionId; both are None where Google did not say.
    """

    __tablename__ = "logins"
    # An id is never given twice: what a process still remembers of a login that is gone is nobody else's.
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


class WebSession(SQLModel, table=True):
    """A browser that is logged in. `key` is the SHA-256 in hex of what its cookie holds: the table opens no session."""

    __tablename__ = "sessions"

    key: str = Field(primary_key=True)
    login_id: int = Field(foreign_key="logins.id", ondelete="CASCADE", index=True)
    created_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    used_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)


class SpentState(SQLModel, table=True):
    """The state of a login that came back, by its SHA-256: it opens nothing a second time."""

    __tablename__ = "spent_states"

    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(unique=True)
    spent_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)


def key_of(secret: str) -> str:
    """The key under which a random secret is known: its SHA-256 in hex."""
    return sha256(secret.encode()).hexdigest()


def save_login(session: Session, login: StoredLogin) -> int:
    """Keep a login, in place of an earlier one of the same account; the machine has one only. Gives its id."""
    if login.account_id is None:
        session.add(login)
        session.flush()
    else:
        put(session, login, "whose", "account_id")
    same = col(StoredLogin.account_id) == login.account_id if login.account_id else col(StoredLogin.id) == login.id
    kept = session.exec(select(StoredLogin).where(StoredLogin.whose == login.whose, same)).one()
    assert kept.id is not None
    if login.whose is Whose.MACHINE:
        session.connection().execute(
            delete(StoredLogin).where(col(StoredLogin.whose) == Whose.MACHINE, col(StoredLogin.id) != kept.id)
        )
    return kept.id


def find_login(session: Session, login_id: int) -> StoredLogin | None:
    """The login of that id, revoked or not."""
    return session.get(StoredLogin, login_id)


def machine_login(session: Session) -> StoredLogin | None:
    """The login of the machine, revoked or not."""
    return session.exec(select(StoredLogin).where(StoredLogin.whose == Whose.MACHINE)).first()


def mark_used(session: Session, login_id: int, refresh_token: str | None = None) -> None:
    """Note that an access token was had with the login; `refresh_token` is the new sealed one if there came one."""
    values = {"used_at": now()} | ({"refresh_token": refresh_token} if refresh_token else {})
    session.connection().execute(update(StoredLogin).where(col(StoredLogin.id) == login_id).values(values))


def mark_revoked(session: Session, login_id: int, refresh_token: str) -> None:
    """Note that Google refused this sealed refresh token. One that came in the meantime stays good."""
    session.connection().execute(
        update(StoredLogin)
        .where(col(StoredLogin.id) == login_id, col(StoredLogin.refresh_token) == refresh_token)
        .values(revoked_at=now())
    )


def spend_state(session: Session, state: str) -> bool:
    """Let a login's state pass once; gives False when it has passed before. Old ones are forgotten after an hour."""
    table = table_of(SpentState)
    session.connection().execute(delete(table).where(table.c.spent_at < now() - timedelta(hours=1)))
    return put_new(session, SpentState(key=key_of(state)), "key") is not None


def start_session(session: Session, secret: str, login: StoredLogin) -> None:
    """Keep a web login, and let the browser whose cookie holds `secret` act as it; what has ended is cleared away."""
    _forget_ended(session)
    session.add(WebSession(key=key_of(secret), login_id=save_login(session, login)))


def find_session(session: Session, secret: str) -> tuple[WebSession, StoredLogin] | None:
    """The session of the browser whose cookie holds `secret`, with its login, unless it has ended."""
    found = session.exec(
        select(WebSession, StoredLogin)
        .join(StoredLogin, col(StoredLogin.id) == col(WebSession.login_id))
        .where(
            WebSession.key == key_of(secret),
            col(WebSession.created_at) > now() - LONGEST_SESSION,
            col(WebSession.used_at) > now() - LONGEST_PAUSE,
        )
    ).first()
    return None if found is None else (found[0], found[1])


def wants_noting(found: WebSession) -> bool:
    """Whether the session's last use was noted so long ago that it should be noted again."""
    return found.used_at < now() - _STEP


def note_use(session: Session, secret: str) -> None:
    """Note that the session is in use."""
    session.connection().execute(
        update(WebSession).where(col(WebSession.key) == key_of(secret)).values({"used_at": now()})
    )


def end_session(session: Session, secret: str) -> None:
    """End the session. A web login that no session uses any more is forgotten with its token."""
    session.connection().execute(delete(WebSession).where(col(WebSession.key) == key_of(secret)))
    _forget_ended(session)


def _forget_ended(session: Session) -> None:
    table = table_of(WebSession)
    ended = (table.c.created_at <= now() - LONGEST_SESSION) | (table.c.used_at <= now() - LONGEST_PAUSE)
    session.connection().execute(delete(table).where(ended))
    unused = col(StoredLogin.id).not_in(select(WebSession.login_id))
    session.connection().execute(delete(StoredLogin).where(col(StoredLogin.whose) == Whose.WEB, unused))
