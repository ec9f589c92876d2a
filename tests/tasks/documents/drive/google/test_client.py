"""The client against the emulator, through faults, and against servers that answer as no server should."""

import logging
import socket
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any

import pytest
from google.oauth2.credentials import Credentials

from tasks.documents.drive.google import GoogleDriveSettings
from tasks.documents.drive.google import client as client_module
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.errors import Refused
from tasks.errors import DiligenceError, NotFound, NotLoggedIn, SourceFailed, TookTooLong, TooManyRequests, Unavailable
from tasks.remote import retry
from tasks.remote.retry import Backoff
from tests.cases import cases
from tests.google.faults import Fault
from tests.google.server import DriveEmulator
from tests.matrices import quick_cases
from tests.tasks.documents.drive.google.connection import ADA, Scripted, client_of, client_with, reply, settings_of
from tests.waiting import free_port

FILE = b'{"id": "1", "name": "a.txt"}'

pytestmark = pytest.mark.usefixtures("brief")


def make(drive: Any, file_id: str = "1") -> Any:
    return drive.files().get(fileId=file_id, fields="id,name")


def files(emulator: DriveEmulator, count: int) -> list[str]:
    root = emulator.world.root(ADA)
    return [emulator.world.file(f"{number}.txt", root, b"words").id for number in range(count)]


def names(client: Client, ids: list[str], threads: int = 8) -> list[str]:
    """What the calls for all these files answer, made by many threads."""
    with ThreadPoolExecutor(threads) as pool:
        return [each["name"] for each in pool.map(lambda id_: client.call(lambda drive: make(drive, id_)), ids)]


def test_call_gives_googles_answer(emulator: DriveEmulator) -> None:
    [file_id] = files(emulator, 1)
    with client_of(emulator) as client:
        assert client.call(lambda drive: make(drive, file_id)) == {"id": file_id, "name": "0.txt"}


def test_one_client_serves_many_threads_and_reuses_its_connections(emulator: DriveEmulator) -> None:
    ids = files(emulator, 200)
    with client_of(emulator) as client:
        assert names(client, ids, threads=16) == [f"{number}.txt" for number in range(200)]
        assert 1 <= len(client.connections.connections) <= 16


def test_query_longer_than_an_address_may_be_is_sent(emulator: DriveEmulator) -> None:
    [file_id] = files(emulator, 1)
    query = " or ".join(f"name = '{number}.txt'" for number in range(140))
    assert len(query) > 2048
    emulator.faults.set(Fault(every=2))
    with client_of(emulator) as client:
        for _ in range(4):
            found = client.call(lambda drive: drive.files().list(q=query, fields="files(id)"))
            assert found == {"files": [{"id": file_id}]}


MATRIX = [
    Fault(every=5, reason="userRateLimitExceeded"),
    Fault(every=5, reason="rateLimitExceeded"),
    Fault(every=5, reason="rateLimitExceeded", status=429),
    Fault(every=5, reason="rateLimitExceeded", status=429, retry_after=0.1),
    Fault(every=5, reason="userRateLimitExceeded", retry_after=1, retry_after_date=True, times=2),
    Fault(every=5, reason="backendError"),
    Fault(every=5, reason="badGateway", html=True),
    Fault(every=5, reason="serviceUnavailable", retry_after=0.1),
    Fault(every=5, do="reset"),
    Fault(every=5, do="reset_body"),
    Fault(every=5, do="truncate"),
    Fault(every=5, do="drip", seconds=8),
    Fault(every=5, do="delay", seconds=2),
]


@pytest.mark.parametrize(
    "fault",
    quick_cases(MATRIX, quick=(3, 4, 6, 10, 12)),
    ids=lambda fault: f"{fault.do}-{fault.status or fault.reason}",
)
def test_fault_at_every_fifth_call_changes_no_answer(emulator: DriveEmulator, fault: Fault) -> None:
    ids = files(emulator, 40)
    emulator.faults.set(fault)
    with client_of(emulator, seconds=60) as client:
        assert names(client, ids) == [f"{number}.txt" for number in range(40)]
    assert emulator.counts.faults >= min(8, fault.times or 8)


def test_drives_clock_may_be_an_hour_off(emulator: DriveEmulator) -> None:
    """By our clock, its "in a second" would be an hour away, and beyond every deadline."""
    emulator.settings.clock_ahead = 3600
    ids = files(emulator, 1)
    emulator.faults.set(Fault(reason="rateLimitExceeded", status=429, retry_after=1, retry_after_date=True, times=1))
    with client_of(emulator, seconds=30) as client:
        assert names(client, ids) == ["0.txt"]


@pytest.mark.parametrize("retry_after", quick_cases([False, True], quick=(0,)))
def test_quota_slows_calls_down_and_lets_them_finish(emulator: DriveEmulator, retry_after: bool) -> None:
    ids = files(emulator, 60)
    emulator.settings.quota, emulator.settings.quota_window = 20, 1.0
    emulator.settings.quota_retry_after = retry_after
    with client_of(emulator, seconds=60) as client:
        assert names(client, ids, threads=16) == [f"{number}.txt" for number in range(60)]
    assert emulator.counts.by_status[403] < 120


@pytest.mark.parametrize(
    "fault",
    quick_cases([*MATRIX[:4], *MATRIX[5:8]], quick=(0,)),
    ids=lambda fault: f"{fault.status or fault.reason}",
)
def test_parts_of_a_batch_are_asked_again_on_their_own(emulator: DriveEmulator, fault: Fault) -> None:
    ids = files(emulator, 130)
    with client_of(emulator, seconds=60) as client:
        emulator.faults.set(Fault(**{**{name: getattr(fault, name) for name in fault.__struct_fields__}, "every": 7}))
        found = client.batch([partial(make, file_id=id_) for id_ in ids])
    assert [each["name"] for each in found if isinstance(each, dict)] == [f"{number}.txt" for number in range(130)]
    assert 130 < emulator.counts.calls < 260


@pytest.mark.parametrize("do", ["reset", "reset_body", "truncate", "drip"])
def test_batch_that_breaks_off_is_sent_again(emulator: DriveEmulator, do: Any) -> None:
    ids = files(emulator, 30)
    emulator.faults.set(Fault(on="batch", do=do, seconds=8, at=[1, 2]))
    with client_of(emulator, seconds=60) as client:
        found = client.batch([partial(make, file_id=id_) for id_ in ids])
    assert len([each for each in found if isinstance(each, dict)]) == 30


def test_error_of_a_part_is_that_parts_alone(emulator: DriveEmulator) -> None:
    [file_id] = files(emulator, 1)
    with client_of(emulator) as client:
        good, unknown, other = client.batch([partial(make, file_id=id_) for id_ in (file_id, "no", file_id)])
        assert good == other == {"id": file_id, "name": "0.txt"}
        assert isinstance(unknown, NotFound)
        assert client.batch([]) == []


def test_part_that_fails_each_time_leaves_the_others_their_answers(emulator: DriveEmulator) -> None:
    ids = files(emulator, 3)
    emulator.faults.set(Fault(file=ids[1]))
    with client_of(emulator) as client:
        found = client.batch([partial(make, file_id=id_) for id_ in ids])
    assert [type(each) for each in found] == [dict, Unavailable, dict]


@pytest.mark.parametrize(
    ("fault", "error", "calls"),
    [
        (Fault(reason="cannotDownloadFile"), DiligenceError, 1),
        (Fault(reason="badRequest", status=400), Refused, 1),
        (Fault(reason="notFound", status=404), NotFound, 1),
        (Fault(reason="dailyLimitExceeded"), TooManyRequests, 1),
        (Fault(reason="backendError"), Unavailable, 8),
        (Fault(do="reset"), Unavailable, 8),
        (Fault(do="truncate"), SourceFailed, 8),
    ],
    ids=lambda value: value.reason + value.do if isinstance(value, Fault) else None,
)
def test_what_lasts_is_told_after_as_many_calls_as_help(
    emulator: DriveEmulator, fault: Fault, error: type[DiligenceError], calls: int
) -> None:
    [file_id] = files(emulator, 1)
    emulator.faults.set(fault)
    with client_of(emulator) as client, pytest.raises(error):
        client.call(lambda drive: make(drive, file_id))
    assert emulator.counts.requests == calls


def test_expired_token_without_a_login_behind_it_is_not_logged_in(emulator: DriveEmulator) -> None:
    [file_id] = files(emulator, 1)
    with client_of(emulator, emulator.token(ADA, expires_in=0)) as client:
        with pytest.raises(NotLoggedIn, match="Log in again"):
            client.call(lambda drive: make(drive, file_id))
        with pytest.raises(NotLoggedIn):
            client.batch([lambda drive: make(drive, file_id)])
    assert emulator.counts.requests == 2


def login(emulator: DriveEmulator, token: str | None = None, refresh: str | None = None) -> Credentials:
    app = next(iter(emulator.accounts.clients.values()))
    made: Credentials = Credentials(  # type: ignore[no-untyped-call]
        token,
        refresh_token=refresh or emulator.accounts.refresh_token(ADA),
        token_uri=emulator.token_uri,
        client_id=app.id,
        client_secret=app.secret,
    )
    return made


def test_token_is_renewed_once_for_all_threads(emulator: DriveEmulator) -> None:
    ids = files(emulator, 40)
    stale = emulator.token(ADA, expires_in=0)
    credentials = login(emulator, stale)
    with client_with(credentials, emulator.base) as client:
        assert names(client, ids, threads=16) == [f"{number}.txt" for number in range(40)]
        assert emulator.counts.token_requests == 1
        emulator.accounts.expire(str(credentials.token))
        assert names(client, ids, threads=16) == [f"{number}.txt" for number in range(40)]
        assert emulator.counts.token_requests == 2
        emulator.accounts.expire(str(credentials.token))
        assert client.batch([lambda drive: make(drive, ids[0])]) == [{"id": ids[0], "name": "0.txt"}]


def test_login_whose_renewed_tokens_are_refused_too_is_not_logged_in(emulator: DriveEmulator) -> None:
    emulator.faults.set(Fault(reason="authError"))
    with client_with(login(emulator), emulator.base) as client:
        with pytest.raises(NotLoggedIn):
            client.call(make)
        assert emulator.counts.token_requests == 3  # the first, and two renewed
        with pytest.raises(NotLoggedIn):
            client.batch([make])
        assert emulator.counts.token_requests == 5


def test_token_endpoint_that_fails_at_first_is_asked_again(emulator: DriveEmulator) -> None:
    [file_id] = files(emulator, 1)
    emulator.faults.set(Fault(on="token", do="reset", at=[1]), Fault(on="token", do="truncate", at=[2]))
    with client_with(login(emulator), emulator.base) as client:
        assert client.call(lambda drive: make(drive, file_id))["name"] == "0.txt"


def test_revoked_login_is_not_logged_in(emulator: DriveEmulator) -> None:
    [file_id] = files(emulator, 1)
    refresh = emulator.accounts.refresh_token(ADA)
    emulator.accounts.revoke(refresh)
    credentials = login(emulator, refresh=refresh)
    with client_with(credentials, emulator.base) as client, pytest.raises(NotLoggedIn, match="Log in again") as refused:
        client.call(lambda drive: make(drive, file_id))
    assert refresh not in repr(refused.value)


def test_google_out_of_reach_is_unavailable(home: object) -> None:
    with (
        client_with("t", f"http://127.0.0.1:{free_port()}") as client,
        pytest.raises(Unavailable, match="out of reach"),
    ):
        client.call(make)


def test_deadline_ends_a_call_that_is_held_back(emulator: DriveEmulator) -> None:
    [file_id] = files(emulator, 1)
    emulator.faults.set(Fault(reason="rateLimitExceeded", status=429, retry_after=3600))
    with client_of(emulator, seconds=5) as client:
        with pytest.raises(TooManyRequests) as refused:
            client.call(lambda drive: make(drive, file_id))
        with pytest.raises(TooManyRequests):  # told at once, without another call
            client.call(lambda drive: make(drive, file_id))
    assert refused.value.retry_after == 3600
    assert emulator.counts.requests == 1


def test_deadline_around_a_call_holds_within_it(emulator: DriveEmulator, monkeypatch: pytest.MonkeyPatch) -> None:
    [file_id] = files(emulator, 1)
    monkeypatch.setattr(client_module, "BACKOFF", Backoff(60, jitter=(1, 1)))
    emulator.faults.set(Fault())
    with client_of(emulator) as client, retry.within(5), pytest.raises(TookTooLong):
        copy_context().run(client.call, lambda drive: make(drive, file_id))


def test_retries_wait_as_long_as_google_asks(emulator: DriveEmulator, monkeypatch: pytest.MonkeyPatch) -> None:
    [file_id] = files(emulator, 1)
    pauses: list[float] = []

    def sleep(seconds: float) -> bool:
        pauses.append(seconds)
        return True

    monkeypatch.setattr(retry, "sleep", sleep)
    emulator.faults.set(Fault(reason="serviceUnavailable", retry_after=7, times=2))
    with client_of(emulator) as client:
        client.call(lambda drive: make(drive, file_id))
    assert pauses == [7.0, 7.0]


# answers that no emulator gives


def drip(connection: socket.socket) -> None:
    """A head that never ends, byte by byte."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nx: ")
    for _ in range(200):
        connection.sendall(b"y")
        threading.Event().wait(0.02)


def drip_body(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
    for _ in range(200):
        connection.sendall(b"y")
        threading.Event().wait(0.02)


@pytest.mark.parametrize(
    "bad",
    [
        reply(200, b""),
        reply(200, b"<html>Please log in to the hotel's network</html>", "text/html"),
        reply(200, b"[]"),
        reply(200, b"\xff\xfe"),
        reply(200, FILE[:-5]),
        reply(200, FILE, content_length="99", connection="close"),
        reply(200, b"5\r\n{", transfer_encoding="chunked", connection="close"),
        reply(200, b"not gzip", content_encoding="gzip"),
        reply(302, b""),
        reply(302, b"", location="/drive/v3/files/1"),
        reply(500, b"<html>"),
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\n",
        drip,
        drip_body,
    ],
    ids=[
        "empty",
        "web page",
        "list",
        "not unicode",
        "cut JSON",
        "shorter than said",
        "broken chunk",
        "not gzip",
        "redirect to nowhere",
        "redirect",
        "web page with 500",
        "no HTTP",
        "nothing after the head",
        "drip",
        "drip_body",
    ],
)
def test_answer_that_is_not_well_formed_is_asked_for_again(home: object, bad: Any) -> None:
    with Scripted(bad, bad, reply(200, FILE)) as server, server.client(seconds=30) as client:
        assert client.call(make) == {"id": "1", "name": "a.txt"}


def test_body_that_drips_until_the_deadline_ends_with_it(home: object) -> None:
    with Scripted(drip_body) as server, server.client(seconds=1) as client, pytest.raises((TookTooLong, Unavailable)):
        client.call(make)


def test_answer_without_end_is_not_taken_into_memory(home: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "LARGEST_ANSWER", 100_000)
    with (
        Scripted(reply(200, b" " * 200_000)) as server,
        server.client() as client,
        pytest.raises(SourceFailed, match="larger"),
    ):
        client.call(make)


def test_token_is_sent_to_no_other_place(home: object) -> None:
    with Scripted(reply(200, FILE)) as other, Scripted(reply(302, b"", location=other.base + "/x")) as server:
        with server.client() as client, pytest.raises(SourceFailed, match="not Google's"):
            client.call(make)
        assert other.requests == []


@cases(
    ("url", "trusted"),
    [
        ("https://www.googleapis.com/drive/v3/files", True),
        ("https://docs.google.com/feeds/download", True),
        ("https://doc-0s-docs.googleusercontent.com/x", True),
        ("http://127.0.0.1:9/x", True),
        ("http://www.googleapis.com/drive", False),
        ("https://google.com.evil.example/", False),
        ("https://evilgoogle.com/", False),
        ("https://www.googleapis.com@evil.example/", False),
        ("http://127.0.0.1:10/x", False),
        ("https://127.0.0.1:9/x", False),
        ("file:///etc/passwd", False),
        ("", False),
    ],
)
def test_places_that_a_token_may_go_to(url: str, trusted: bool) -> None:
    assert client_module.may_hold_token(url, {"http://127.0.0.1:9"}) is trusted


@pytest.mark.parametrize("path", ["", "/", "/drive/v3", "/drive/v3/"])
def test_address_of_the_api_may_be_given_with_or_without_its_path(home: object, path: str) -> None:
    with Scripted(reply(200, FILE)) as server:
        settings = GoogleDriveSettings(google_api_endpoint=server.base + path)
        client = Client(Credentials("t"), settings)  # type: ignore[no-untyped-call]
        client.call(make)
        client.connections.close()
        assert server.requests[0].startswith("GET /drive/v3/files/1?")


def test_connections_are_shared_by_accounts(emulator: DriveEmulator) -> None:
    [file_id] = files(emulator, 1)
    client_module.share_connections(None).close()
    for _ in range(5):
        client = Client(Credentials(emulator.token(ADA)), settings_of(emulator.base))  # type: ignore[no-untyped-call]
        client.call(lambda drive: make(drive, file_id))
    assert len(client_module.share_connections(None).connections) == 1
    client_module.share_connections(None).close()


def test_connection_of_a_redirect_is_used_again(home: object) -> None:
    with Scripted(reply(302, b"moved", location="/x"), reply(200, FILE)) as server, server.client() as client:
        client.call(make)
        assert len(server.connections) == 1


def test_nothing_of_a_call_is_logged(emulator: DriveEmulator, caplog: pytest.LogCaptureFixture) -> None:
    [file_id] = files(emulator, 1)
    for name in [*logging.root.manager.loggerDict]:
        caplog.set_level(logging.DEBUG, logger=name)
    caplog.set_level(logging.DEBUG)
    emulator.faults.set(Fault(every=2, reason="userRateLimitExceeded"), Fault(every=3, html=True))
    token = emulator.token(ADA)
    with client_of(emulator, token) as client:
        for _ in range(4):
            client.call(lambda drive: make(drive, file_id))
    logging.getLogger("googleapiclient.other").debug("this is seen")
    said = " ".join(
        str(vars(record)) for record in caplog.records if not record.name.startswith("uvicorn")
    )  # the emulator's
    assert "this is seen" in said
    assert file_id not in said
    assert token not in said


def test_certificate_of_a_companys_proxy_is_held_to_no_stricter_rules_than_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    context = ssl.create_default_context()
    context.verify_flags |= ssl.VERIFY_X509_STRICT  # as Python 3.13 makes it
    monkeypatch.setattr(ssl, "create_default_context", lambda **_: context)
    client_module.share_connections.__wrapped__(None).close()
    assert not context.verify_flags & ssl.VERIFY_X509_STRICT
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
