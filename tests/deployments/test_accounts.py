"""`diligence keys`: a key is printed once, listed without itself, and revoked by its name.

`diligence login` and what the command line does with it, as users run it, beside an emulated Google.
"""

import io
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread

import httpx
import pytest

from deployments.accounts import log_in, manage_keys
from storage import database, logins
from tasks.errors import BadRequest, Conflict, NotFound, TookTooLong
from tests.deployments.test_command_line import DILIGENCE, call, clean_environment
from tests.google.credentials import SERVICE, service_account_file
from tests.google.server import DriveEmulator
from tests.tasks.documents.drive.google.emulated import agree, point_at, settings_of


def test_a_key_is_shown_once_and_listed_without_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manage_keys("add", "alpha", "ai,documents")
    key = capsys.readouterr().out.strip()
    assert len(key) > 40
    manage_keys("list")
    listed = capsys.readouterr().out
    assert listed.split("\t")[:2] == ["alpha", "ai,documents"]
    assert key not in listed
    with database.reading() as session:
        assert logins.all_keys(session)[0].digest == logins.hash_key(key)


def test_a_revoked_name_can_be_given_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manage_keys("add", "alpha")
    with pytest.raises(Conflict, match="alpha"):
        manage_keys("add", "alpha")
    manage_keys("revoke", "alpha")
    manage_keys("add", "alpha")
    capsys.readouterr()
    manage_keys("list")
    assert [line.rsplit("\t", 1)[1].split()[0] for line in capsys.readouterr().out.splitlines()] == ["revoked", "in"]


def test_wrong_use_is_told(home: Path) -> None:
    with pytest.raises(BadRequest, match="documents, ai, companies, runs"):
        manage_keys("add", "alpha", "everything")
    with pytest.raises(BadRequest, match="name"):
        manage_keys("add")
    with pytest.raises(NotFound, match="keys list"):
        manage_keys("revoke", "nobody")


ADA, BOB = "ada@example.com", "bob@example.com"


@pytest.fixture
def google() -> Iterator[DriveEmulator]:
    with DriveEmulator() as emulator:
        emulator.world.user(ADA)
        emulator.world.user(BOB)
        yield emulator


@contextmanager
def logging_in(google: DriveEmulator, folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command, waiting, with the address that it printed."""
    with subprocess.Popen(
        [*DILIGENCE, "login", "--no-browser", *options],
        cwd=folder,
        env=clean_environment(folder) | settings_of(google),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        url = ""
        for line in process.stderr:
            if line.startswith("http"):
                url = line.strip()
                break
        try:
            yield process, url
        finally:
            process.kill()


def test_whoever_follows_the_address_logs_the_machine_in(google: DriveEmulator, tmp_path: Path) -> None:
    with logging_in(google, tmp_path) as (process, url):
        assert "code_challenge_method=S256" in url
        page = httpx.get(f"{url}&login_hint={BOB}", follow_redirects=True)
        assert "You are logged in as bob@example.com" in page.text
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (0, "bob@example.com\n")
    assert "Traceback" not in stderr

    room = google.world.folder("Room", google.world.root(BOB))
    plan = google.world.file("plan.txt", room, b"The plan.")
    index = call(["index", room.id], tmp_path, **settings_of(google))
    assert index.returncode == 0, index.stderr
    assert json.loads(index.stdout)["document_index"][0]["documents"][0]["document_name"] == "plan.txt"
    assert call(["text", plan.id], tmp_path, **settings_of(google)).stdout == "The plan.\n"
    doctor = call(["doctor"], tmp_path, **settings_of(google))
    assert "runs act as bob@example.com (`diligence login`)" in doctor.stdout
    for token in [*google.accounts.access, *google.accounts.refresh]:
        assert token not in doctor.stdout + doctor.stderr + stdout + stderr + index.stdout

    google.accounts.revoke_user(BOB)
    refused = call(["index", room.id], tmp_path, **settings_of(google))
    assert refused.returncode == 1
    assert "`diligence login`" in refused.stderr


def test_a_user_who_does_not_agree_is_told_in_both_places(google: DriveEmulator, tmp_path: Path) -> None:
    google.accounts.consent = "deny"
    with logging_in(google, tmp_path) as (process, url):
        assert "denied" in httpx.get(url, follow_redirects=True).text
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (1, "")
    assert "denied" in stderr


def test_without_a_login_commands_say_what_to_do(google: DriveEmulator, tmp_path: Path) -> None:
    for words in (["index", "root"], ["text", "some-id"]):
        done = call(words, tmp_path, **settings_of(google))
        assert done.returncode == 1
        assert "`diligence login`" in done.stderr
    doctor = call(["doctor"], tmp_path, **settings_of(google))
    assert doctor.returncode == 1
    assert "✗ drive" in doctor.stdout
    assert "/login/callback" in doctor.stdout
    doctor = call(["doctor"], tmp_path, **settings_of(google), DILIGENCE_SECRET_KEY="short")
    assert "DILIGENCE_SECRET_KEY" in doctor.stdout


def test_local_files_are_read_without_a_login(google: DriveEmulator, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Here.")
    assert call(["text", "a.txt"], tmp_path, **settings_of(google)).stdout == "Here.\n"


def test_the_doctor_names_the_service_account(google: DriveEmulator, tmp_path: Path) -> None:
    key = service_account_file(google, tmp_path / "key.json")
    settings = settings_of(google) | {"DILIGENCE_GOOGLE_CREDENTIALS": str(key)}
    del settings["DILIGENCE_GOOGLE_CLIENT_ID"]
    doctor = call(["doctor"], tmp_path, **settings)
    assert f"runs act as {SERVICE} (DILIGENCE_GOOGLE_CREDENTIALS)" in doctor.stdout
    assert "DILIGENCE_GOOGLE_CLIENT_ID" in doctor.stdout


@pytest.fixture
def inside(google: DriveEmulator, home: Path, monkeypatch: pytest.MonkeyPatch) -> DriveEmulator:
    """The emulator, for a login within this process."""
    point_at(google, monkeypatch)
    return google


class Heard(io.StringIO):
    """A stderr whose writes another thread waits for. One that asks a capture again and again can lose a line between
    two of its steps."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: Queue[str] = Queue()

    def write(self, text: str) -> int:
        self.writes.put(text)
        return len(text)

    def address(self) -> str:
        """The first address that is written.

        Raises:
            queue.Empty: nothing was written for 20 s.
        """
        while not (address := re.search(r"http\S+", self.writes.get(timeout=20))):
            pass
        return address.group()


def test_a_forged_state_logs_nobody_in(inside: DriveEmulator, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[httpx.Response] = []
    stderr = Heard()
    monkeypatch.setattr("sys.stderr", stderr)

    def forge() -> None:
        answer = agree(stderr.address(), ADA)
        back = answer.pop("to")
        assert httpx.get(f"{back}favicon.ico").status_code == 404
        answers.append(httpx.get(back, params=answer | {"state": "forged"}))

    browser = Thread(target=forge)
    browser.start()
    with pytest.raises(BadRequest, match="another login"):
        log_in(0, browser=False, patience=60)
    browser.join(20)
    assert "another login" in answers[0].text


def test_a_login_that_nobody_makes_ends(inside: DriveEmulator) -> None:
    with pytest.raises(TookTooLong, match="diligence login"):
        log_in(0, browser=False, patience=0.01)


def test_a_port_that_is_taken_is_told(inside: DriveEmulator) -> None:
    with pytest.raises(BadRequest, match="--port"):
        log_in(int(inside.base.rpartition(":")[2]), browser=False)
