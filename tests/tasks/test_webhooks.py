"""Webhooks: signed as Standard Webhooks says, tried again, told once, and never to a private address without leave."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event
from sqlmodel import update
from standardwebhooks import Webhook

from storage import database, runs
from storage.columns import now
from storage.runs import WebhookDelivery
from storage.scores import ScoreStatus
from tasks.errors import NotConfigured
from tasks.webhooks import WebhookSettings, check_webhooks, end_run, send_due
from tests.tasks.reports.everything import report_with_everything
from tests.tasks.reports.rows import CRITERIA, company, outcome, quote, write_company, write_run
from tests.web.server import LoopbackServer, Reply

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture
def receiver(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    with LoopbackServer({"/hook": Reply(status=204)}) as receiver:
        monkeypatch.setenv("DILIGENCE_WEBHOOKS", f"{receiver.url}/hook")
        monkeypatch.setenv("DILIGENCE_WEBHOOK_SECRET", SECRET)
        monkeypatch.setenv("DILIGENCE_WEB_ALLOW", "127.0.0.1")
        yield receiver


def verified(receiver: LoopbackServer) -> list[dict[str, Any]]:
    return [Webhook(SECRET).verify(asked.body, dict(asked.headers)) for asked in receiver.asked]


def rows() -> list[WebhookDelivery]:
    with database.reading() as session:
        return list(runs.newest_deliveries(session, 100))


def let_time_pass() -> None:
    with database.writing() as session:
        waiting = update(WebhookDelivery).where(WebhookDelivery.next_at.is_not(None))  # type: ignore[union-attr]
        session.connection().execute(waiting.values(next_at=now() - timedelta(seconds=1)))


def test_a_run_that_ended_is_told_once_signed_and_without_words_of_documents(receiver: LoopbackServer) -> None:
    report = report_with_everything("Alpha")
    end_run(report.run.id)
    end_run(report.run.id)
    told = verified(receiver)
    assert [one["type"] for one in told].count("run.finished") == 1
    finished = next(one["data"] for one in told if one["type"] == "run.finished")
    assert (finished["run_id"], len(finished["companies"])) == (report.run.id, len(report.companies))
    assert finished["url"].endswith(f"/runs/{report.run.id}/report.html")
    assert len({asked.headers["webhook-id"] for asked in receiver.asked}) == len(receiver.asked)
    quotes = [quote.text for each in report.companies for one in each.criteria for quote in one.quotes]
    assert quotes
    sent = b"".join(asked.body for asked in receiver.asked)
    assert not [quote for quote in quotes if json.dumps(quote)[1:-1].encode() in sent]


def test_no_run_ends_without_what_there_is_to_tell_of_it(receiver: LoopbackServer) -> None:
    write_run("r1", [company("Alpha", total=0.5, coverage=1, rank=1)], reported_at=None)
    seen: list[tuple[bool, ...]] = []

    @event.listens_for(Engine, "commit")
    def look(connection: Connection) -> None:
        told = "SELECT reported_at IS NOT NULL, EXISTS (SELECT 1 FROM webhook_deliveries) FROM runs"
        seen.append(tuple(map(bool, connection.exec_driver_sql(told).one())))

    try:
        end_run("r1")
    finally:
        event.remove(Engine, "commit", look)
    assert set(seen) == {(True, True)}


def test_a_red_flag_is_told_when_it_appears_and_not_again(receiver: LoopbackServer) -> None:
    for run_id, days in (("r1", 0), ("r2", 1)):
        write_run(run_id, [company("Alpha", total=0.0, coverage=1, rank=1)], days=days)
        criterion = CRITERIA["criteria"][0]["id"]
        write_company(run_id, "alpha.example", outcomes=[(outcome(criterion, 0, ScoreStatus.SCORED), [quote()])])
        end_run(run_id)
    flags = [one["data"] for one in verified(receiver) if one["type"] == "red_flag.appeared"]
    assert [(one["run_id"], one["domain"], one["criterion_id"]) for one in flags] == [
        ("r1", "alpha.example", criterion)
    ]


def test_a_receiver_that_fails_is_tried_again_with_the_same_id_until_it_is_given_up(receiver: LoopbackServer) -> None:
    receiver.then(*[Reply(status=500)] * 8)
    write_run("r1", [company("Alpha", total=0.5, coverage=1, rank=1)])
    end_run("r1")
    (row,) = rows()
    assert (row.attempts, row.delivered_at) == (1, None)
    assert row.problem
    assert row.next_at
    assert now() < row.next_at < now() + timedelta(seconds=6)
    assert send_due() == 0  # not yet
    for _ in range(7):
        let_time_pass()
        assert send_due() == 1
    (row,) = rows()
    assert (row.attempts, row.next_at) == (8, None)
    assert len({asked.headers["webhook-id"] for asked in receiver.asked}) == 1
    with database.writing() as session:
        assert runs.make_due(session) == 1
    assert send_due() == 1
    assert rows()[0].delivered_at


def test_a_receiver_on_a_private_address_needs_leave(receiver: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DILIGENCE_WEB_ALLOW")
    write_run("r1", [company("Alpha", total=0.5, coverage=1, rank=1)])
    end_run("r1")
    assert not receiver.asked
    assert "DILIGENCE_WEB_ALLOW" in (rows()[0].problem or "") or "private" in (rows()[0].problem or "")


def test_receivers_without_a_secret_and_a_secret_that_is_none_are_refused(
    receiver: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_webhooks()
    monkeypatch.delenv("DILIGENCE_WEBHOOK_SECRET")
    with pytest.raises(NotConfigured, match="openssl rand"):
        check_webhooks()
    monkeypatch.setenv("DILIGENCE_WEBHOOK_SECRET", "whsec_")
    with pytest.raises(ValueError, match="random bytes") as error:
        WebhookSettings.current()
    assert SECRET not in str(error.value)
