"""Faults as a client meets them on the wire, and the figures that are kept."""

import hashlib
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import pytest

from tests.google.conftest import ADA, BOB, Connect
from tests.google.faults import Fault
from tests.google.server import DriveEmulator


@pytest.fixture
def ask(drive: DriveEmulator) -> Iterator[Any]:
    file = drive.world.file("a.bin", drive.world.root(ADA), b"abcdefghij" * 1000)
    with httpx.Client(headers={"Authorization": f"Bearer {drive.token(ADA)}"}) as client:
        yield lambda path="files": client.get(drive.endpoint + path.replace("FILE", file.id))


MEDIA = "files/FILE?alt=media"


@pytest.mark.parametrize(
    ("fault", "status", "reason"),
    [
        (Fault(reason="userRateLimitExceeded"), 403, "userRateLimitExceeded"),
        (Fault(reason="rateLimitExceeded", status=429), 429, "rateLimitExceeded"),
        (Fault(reason="backendError"), 500, "backendError"),
        (Fault(reason="badGateway"), 502, "badGateway"),
        (Fault(reason="backendError", status=503), 503, "backendError"),
    ],
)
def test_refusals_in_googles_envelope(
    drive: DriveEmulator, ask: Any, fault: Fault, status: int, reason: str
) -> None:  # fmt: skip
    drive.faults.set(fault)
    answer = ask()
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["errors"][0]["reason"]) == (status, status, reason)
    drive.faults.set()
    assert ask().status_code == 200


def test_a_page_instead_of_json(drive: DriveEmulator, ask: Any) -> None:
    drive.faults.set(Fault(reason="serviceUnavailable", html=True))
    answer = ask()
    assert (answer.status_code, answer.headers["content-type"]) == (503, "text/html; charset=UTF-8")
    assert answer.text.startswith("<html")


def test_retry_after_in_seconds_and_as_a_date(drive: DriveEmulator, ask: Any) -> None:
    drive.faults.set(Fault(reason="rateLimitExceeded", status=429, retry_after=7))
    assert ask().headers["retry-after"] == "7"
    drive.faults.set(Fault(reason="rateLimitExceeded", status=429, retry_after=7, retry_after_date=True))
    assert 0 < parsedate_to_datetime(ask().headers["retry-after"]).timestamp() - time.time() <= 8


def test_every_nth_call_chosen_calls_and_a_number_of_times(drive: DriveEmulator, ask: Any) -> None:
    def failures(fault: Fault, calls: int = 10) -> list[int]:
        drive.faults.set(fault)
        return [number for number in range(1, calls + 1) if ask().status_code != 200]

    assert failures(Fault(every=5)) == [5, 10]
    assert failures(Fault(at=[1, 4])) == [1, 4]
    assert failures(Fault(times=2)) == [1, 2]
    assert failures(Fault(on="files.get")) == []
    assert failures(Fault(on="files.list", every=3)) == [3, 6, 9]


def test_one_file_only(drive: DriveEmulator, ask: Any, connect: Connect) -> None:
    other = drive.world.file("b.txt", drive.world.root(ADA), b"b")
    drive.faults.set(Fault(on="files.media", file=other.id, reason="cannotDownloadFile"))
    assert ask(MEDIA).status_code == 200
    assert ask(f"files/{other.id}?alt=media").status_code == 403
    assert ask(f"files/{other.id}").status_code == 200


def test_a_connection_reset_before_the_answer(drive: DriveEmulator, ask: Any) -> None:
    drive.faults.set(Fault(do="reset", times=1))
    with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
        ask()
    assert ask().status_code == 200


@pytest.mark.parametrize("do", ["reset_body", "truncate"])
def test_a_body_that_stops_short(drive: DriveEmulator, ask: Any, do: Any) -> None:
    drive.faults.set(Fault(do=do, times=1, on="files.media"))
    with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
        ask(MEDIA)
    assert ask(MEDIA).content == b"abcdefghij" * 1000


def test_wrong_bytes_of_the_right_length(drive: DriveEmulator, ask: Any) -> None:
    drive.faults.set(Fault(do="corrupt", times=1, on="files.media"))
    expected = ask("files/FILE?fields=md5Checksum").json()["md5Checksum"]
    contents = [ask(MEDIA).content for _ in range(2)]
    assert [len(content) for content in contents] == [10_000, 10_000]
    assert [hashlib.md5(content).hexdigest() == expected for content in contents] == [False, True]


def test_slow_bodies_and_slow_answers(drive: DriveEmulator, ask: Any) -> None:
    def seconds() -> float:
        start = time.monotonic()
        assert ask(MEDIA).content == b"abcdefghij" * 1000
        return time.monotonic() - start

    drive.faults.set(Fault(do="drip", seconds=0.4))
    assert seconds() >= 0.4
    drive.faults.set(Fault(do="delay", seconds=0.3))
    assert seconds() >= 0.3
    drive.faults.set()
    drive.settings.latency = 0.2
    assert seconds() >= 0.2


def test_the_token_endpoint_fails_only_when_named(drive: DriveEmulator) -> None:
    drive.faults.set(Fault(on="*"))
    assert httpx.post(drive.token_uri).status_code == 400
    drive.faults.set(Fault(on="token", status=503))
    assert httpx.post(drive.token_uri).status_code == 503


def test_a_quota_is_each_users_own_and_slides(drive: DriveEmulator, ask: Any, connect: Connect) -> None:
    drive.settings.quota = 3
    assert [ask().status_code for _ in range(5)] == [200, 200, 200, 403, 403]
    connect(BOB).files().list().execute()
    drive.settings.quota_window = 0.001  # those before lie outside now
    assert ask().status_code == 200


def test_a_quota_can_tell_when_to_come_back(drive: DriveEmulator, ask: Any) -> None:
    drive.settings.quota, drive.settings.quota_status = 1, 429
    drive.settings.quota_reason, drive.settings.quota_retry_after = "rateLimitExceeded", True
    ask()
    answer = ask()
    assert (answer.status_code, answer.json()["error"]["errors"][0]["reason"]) == (429, "rateLimitExceeded")
    assert 1 <= int(answer.headers["retry-after"]) <= 61


def test_figures(drive: DriveEmulator, ask: Any) -> None:
    ask()
    ask(MEDIA)
    ask("files/unknown")
    counts = drive.counts
    assert (counts.requests, counts.calls, counts.by_status) == (3, 3, {200: 2, 404: 1})
    assert counts.by_method == {"files.list": 1, "files.media": 1, "files.get": 1}
    assert counts.sent > 10_000
    drive.reset()
    assert (drive.counts.requests, drive.log) == (0, [])


def test_json_is_compressed_when_set(drive: DriveEmulator, ask: Any) -> None:
    drive.settings.gzip = True
    answer = ask()
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.json()["files"]


def test_an_unknown_address_is_a_page(ask: Any) -> None:
    assert ask("nonsense/x").status_code == 404
    assert ask("nonsense/x").text.startswith("<!DOCTYPE html>")
