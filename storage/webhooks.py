"""Deliveries of webhooks: what is sent to which receiver, and how often that was tried."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import update
from sqlmodel import Field, Session, SQLModel, UniqueConstraint, col, select

from storage.columns import UtcDateTime, now, put_new


class WebhookDelivery(SQLModel, table=True):
    """An event on its way to a receiver.

    `message` is the event's id, the same at each attempt and for each receiver. `next_at` is when it will next be
    tried: null once it has arrived (`delivered_at`) or was given up. `problem` says why the last attempt failed.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (UniqueConstraint("message", "url"),)

    id: int | None = Field(default=None, primary_key=True)
    message: str
    event: str
    url: str
    body: str
    created_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    attempts: int = 0
    next_at: datetime | None = Field(default_factory=now, sa_type=UtcDateTime, index=True)
    delivered_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    problem: str | None = None


def add_delivery(session: Session, delivery: WebhookDelivery) -> None:
    """Add a delivery, unless the same event is on its way to the same receiver already."""
    put_new(session, delivery, "message", "url")


def take_due(session: Session, until: datetime) -> WebhookDelivery | None:
    """The delivery that has been due longest; nobody else takes it before `until`. None if none is due."""
    due = select(WebhookDelivery).where(col(WebhookDelivery.next_at) <= now()).order_by(col(WebhookDelivery.next_at))
    for delivery in session.exec(due.limit(10)).all():
        ours = update(WebhookDelivery).where(
            col(WebhookDelivery.id) == delivery.id, col(WebhookDelivery.next_at) == delivery.next_at
        )
        if session.connection().execute(ours.values(next_at=until)).rowcount:
            session.expunge(delivery)
            return delivery
    return None


def note_attempt(session: Session, delivery_id: int, problem: str | None, next_at: datetime | None) -> None:
    """Store how an attempt ended: delivered if there is no problem, otherwise when to try again."""
    outcome = {"problem": problem, "next_at": next_at, "delivered_at": None if problem else now()}
    this = update(WebhookDelivery).where(col(WebhookDelivery.id) == delivery_id)
    session.connection().execute(this.values(attempts=WebhookDelivery.attempts + 1, **outcome))


def newest_deliveries(session: Session, most: int) -> Sequence[WebhookDelivery]:
    """The newest deliveries, newest first, at most that many."""
    return session.exec(select(WebhookDelivery).order_by(col(WebhookDelivery.id).desc()).limit(most)).all()


def make_due(session: Session) -> int:
    """Make every delivery that did not arrive due now; returns how many there are."""
    lost = update(WebhookDelivery).where(col(WebhookDelivery.delivered_at).is_(None))
    return session.connection().execute(lost.values(next_at=now(), attempts=0)).rowcount
