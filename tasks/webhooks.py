"""Webhooks tell other programs when a run ends, a red flag of high severity appears or a sign-off reopens.

They are signed according to Standard Webhooks (https://www.standardwebhooks.com) with the secret in
`DILIGENCE_WEBHOOK_SECRET`, and retried after 5 seconds, 5 minutes, half an hour, 2, 5, 10 and 24 hours, as that
standard advises. Deliveries are stored first: those that did not arrive are continued by the next run or the service. A
receiver on a private network needs permission (`DILIGENCE_WEB_ALLOW`), like pages. An event names the run, the company
and the criterion, and contains no words of documents.
"""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from hashlib import sha256
from typing import Annotated, Any, Final
from urllib.parse import quote

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode
from standardwebhooks import Webhook

from storage import database, runs
from storage.columns import now
from storage.runs import WebhookDelivery
from storage.settings import Settings, is_web_address
from tasks.companies.web.client import FetchLimits, Web
from tasks.documents.drive.drive import DocumentSettings
from tasks.errors import DiligenceError, NotConfigured
from tasks.reports.findings import find_red_flags
from tasks.reports.models import Report
from tasks.reports.report import build

logger = logging.getLogger(__name__)

_PAUSES: Final = tuple(timedelta(seconds=seconds) for seconds in (5, 300, 1800, 7200, 18_000, 36_000, 86_400))
_LIMITS: Final = FetchLimits(total=15, attempts=1, packed=1 << 16, unpacked=1 << 16, cut=True, redirects=0)
_SENDING: Final = timedelta(minutes=2)
"""For how long nobody else sends what a process is sending."""


def _split(value: Any) -> Any:
    return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value


def _check_addresses(addresses: tuple[str, ...]) -> tuple[str, ...]:
    if wrong := [address for address in addresses if not is_web_address(address)]:
        raise ValueError(f"{len(wrong)} of its addresses do not begin with https:// or http://")
    return addresses


def _check_secret(secret: SecretStr | None) -> SecretStr | None:
    if secret is not None:
        try:
            Webhook(secret.get_secret_value())
        except Exception:  # noqa: BLE001 - whatever is wrong with it
            raise ValueError("it must be whsec_ and random bytes in base64") from None
    return secret


class WebhookSettings(Settings):
    """Who is told about runs."""

    webhooks: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split), AfterValidator(_check_addresses)] = Field(
        (), description="addresses that hear when a run ends, a red flag appears, a sign-off reopens; comma-separated"
    )
    webhook_secret: Annotated[SecretStr | None, AfterValidator(_check_secret)] = Field(
        None, description="signs webhooks: whsec_ and 24 to 64 random bytes in base64"
    )


def check_webhooks() -> None:
    """Check, before anything runs, that events can be signed.

    Raises:
        NotConfigured: there are receivers and no secret.
    """
    settings = WebhookSettings.current()
    if settings.webhooks and settings.webhook_secret is None:
        raise NotConfigured(
            "DILIGENCE_WEBHOOKS names receivers, and nothing signs what they get. Set DILIGENCE_WEBHOOK_SECRET to "
            "whsec_ and 32 random bytes in base64 (`openssl rand -base64 32`)."
        )


def end_run(run_id: str) -> None:
    """Note that the report of a run is written, which ends it, together with what receivers hear of it; then send that.

    One transaction does both, so that a process that is killed has told nothing or leaves it to be sent. A failure of
    webhooks is in the log and in the deliveries, and is never raised.
    """
    deliveries: list[WebhookDelivery] = []
    with _logging_failures():
        deliveries += _deliveries(run_id)
    with database.writing() as session:
        runs.note_report(session, run_id)
        for delivery in deliveries:
            runs.add_delivery(session, delivery)
    with _logging_failures():
        send_due()


@contextmanager
def _logging_failures() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the run has ended well all the same
        logger.warning("webhooks of this run were not sent: %s", type(error).__qualname__)


def _deliveries(run_id: str) -> Iterator[WebhookDelivery]:
    receivers = WebhookSettings.current().webhooks
    for message, event, data in _events(run_id) if receivers else ():
        body = json.dumps({"type": event, "timestamp": now().isoformat(), "data": data})
        for url in receivers:
            yield WebhookDelivery(message=message, event=event, url=url, body=body, next_at=now())


def send_due() -> int:
    """Send what is due; returns how many deliveries were tried. A receiver that fails does not hold up the others."""
    settings = WebhookSettings.current()
    if not settings.webhooks or settings.webhook_secret is None:
        return 0
    signing = Webhook(settings.webhook_secret.get_secret_value())
    count = 0
    while True:
        with database.writing() as session:
            delivery = runs.take_due(session, now() + _SENDING)
        if delivery is None:
            return count
        count += 1
        problem = _send(delivery, signing) if delivery.url in settings.webhooks else "It is no longer a receiver."
        gone = delivery.url not in settings.webhooks or delivery.attempts >= len(_PAUSES)
        again = None if problem is None or gone else now() + _PAUSES[delivery.attempts]
        with database.writing() as session:
            runs.note_attempt(session, delivery.id or 0, problem, again)


def _send(delivery: WebhookDelivery, signing: Webhook) -> str | None:
    """Why a delivery failed; None where it arrived."""
    at = now()
    headers = {
        "webhook-id": delivery.message,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": signing.sign(delivery.message, at, delivery.body),
        "Content-Type": "application/json",
    }
    try:
        Web.current().post(delivery.url, delivery.body.encode(), headers=headers, limits=_LIMITS)
    except DiligenceError as error:
        return error.message
    return None


def _events(run_id: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The events of a run: id, type and data. What its last run told already is not told again."""
    report = build(run_id)
    before: set[tuple[str, str, str]] = set()
    if report.run.previous is not None:
        with suppress(DiligenceError):  # it may have been pruned
            before = set(_matters(build(report.run.previous.id)))
    base = DocumentSettings.current().base_url.rstrip("/")
    of_run = {"run_id": run_id, "batch": report.run.name, "url": f"{base}/runs/{quote(run_id, safe='')}/report.html"}
    ranking = [
        {"name": one.name, "domain": one.domain, "rank": one.rank, "proven": one.standing.proven}
        for one in report.companies
    ]
    yield _id(run_id), "run.finished", {**of_run, "status": report.run.status, "companies": ranking}
    for event, domain, criterion in sorted(set(_matters(report)) - before):
        data = {**of_run, "domain": domain, "criterion_id": criterion or None}
        yield _id(run_id, event, domain, criterion), event, data


def _matters(report: Report) -> Iterator[tuple[str, str, str]]:
    """What somebody should hear of: the event, the company's domain, the criterion's id ("" for the company)."""
    for company in report.companies:
        for flag in find_red_flags(company, report.run.scale):
            if flag.severity == "high":
                yield "red_flag.appeared", company.domain, flag.criterion.id
        for decision in company.decisions:
            if decision.kind == "sign_off" and decision.is_open:
                yield "sign_off.reopened", company.domain, decision.criterion_id or ""


def _id(*parts: str) -> str:
    """The same for the same event, however often it is announced."""
    return f"msg_{sha256(json.dumps(parts).encode()).hexdigest()[:32]}"
