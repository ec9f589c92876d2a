"""The people who use the pages of the service: their names, roles, and browser sessions.

Where the drive has its own accounts, people come through its login, and a row here only gives an account's role.
Passwords are hashed by argon2 with the parameters that `pwdlib` recommends.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from functools import cache

from pwdlib import PasswordHash
from sqlalchemy import delete
from sqlmodel import Field, Session, SQLModel, col, select

from storage.columns import UtcDateTime, now, put, string_enum
from storage.logins import BrowserSession, has_ended, secret_key


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
    session.add(UserSession(key=secret_key(secret), user_id=user_id))


def find_user_session(session: Session, secret: str) -> tuple[UserSession, User] | None:
    """The session of the browser whose cookie holds `secret`, with its person, unless it has expired."""
    row = session.exec(
        select(UserSession, User)
        .join(User, col(User.id) == col(UserSession.user_id))
        .where(UserSession.key == secret_key(secret), ~has_ended(UserSession))
    ).first()
    return None if row is None else (row[0], row[1])


def end_user_session(session: Session, secret: str) -> None:
    """End the session."""
    session.connection().execute(delete(UserSession).where(col(UserSession.key) == secret_key(secret)))
