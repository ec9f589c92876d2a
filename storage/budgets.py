"""A rate limit that all processes on one database share: one row for each outside server.

The row is a bucket of the generic cell rate algorithm (GCRA): a call may begin `burst` calls ahead of an even rate,
so that in any window at most `burst + window / interval` calls begin. Times are those of one clock, the
database's own, so that machines whose clocks differ share a budget too.
"""

import time

from sqlalchemy import text
from sqlmodel import Field, Session, SQLModel, select

from storage.upserts import put_new


class SourceBudget(SQLModel, table=True):
    """The budget of a server. `next_at` is when the next call of an even rate begins, `held_until` the end of a hold.

    Both are seconds since 1970 by the database's clock.
    """

    __tablename__ = "source_budgets"

    id: int | None = Field(default=None, primary_key=True)
    server: str = Field(unique=True)
    next_at: float = 0.0
    held_until: float = 0.0


def reserve_call(session: Session, server: str, interval: float, burst: int, most: float) -> tuple[float, bool]:
    """Reserve a slot for the next call to a server, if it comes soon enough.

    Args:
        session: one that writes.
        server: its name.
        interval: seconds between calls of an even rate.
        burst: calls that may begin at once after a pause.
        most: seconds that the caller waits at most; where the call may begin later only, nothing is reserved.

    Returns:
        Seconds until the call may begin, and whether it was reserved.
    """
    row = _row(session, server)
    now = _now(session)  # after the wait for the row
    begins = max(now, row.next_at - (burst - 1) * interval, row.held_until)
    if begins - now > most:
        return begins - now, False
    row.next_at = max(row.next_at, begins) + interval
    session.add(row)
    return begins - now, True


def hold_calls(session: Session, server: str, seconds: float) -> None:
    """Let no call to the server begin for so long, in any process; a longer hold stays."""
    row = _row(session, server)
    row.held_until = max(row.held_until, _now(session) + seconds)
    session.add(row)


def _row(session: Session, server: str) -> SourceBudget:
    """The server's row, which no other process changes until the session ends."""
    put_new(session, SourceBudget(server=server), "server")
    return session.exec(select(SourceBudget).where(SourceBudget.server == server).with_for_update()).one()


def _now(session: Session) -> float:
    connection = session.connection()
    if connection.dialect.name == "sqlite":  # a file of this machine
        return time.time()
    return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
