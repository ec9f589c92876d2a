"""A Prefect server that lives as long as one command, used when PREFECT_API_URL names none.

Prefect's own ephemeral server survives a parent that is killed, keeps its database locked, and answers every web page
that the user visits. This one always ends with its parent and answers nobody else (`prefect_child`). It starts in the
background from a prepared database, because Prefect's migrations take 6 s.
"""

import logging
import os
import re
import secrets
import select
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import certifi

from storage import database
from storage.pruning import GivenBack, give_back_file
from storage.settings import is_web_address
from tasks import child_process
from tasks.errors import NotConfigured, Unavailable
from tasks.files import process_folder, temporary_folder
from tasks.prefect_setup import TAG, TRACKING_LOG, name_profiles
from tasks.remote.environment import usable_environment

SCHEMA = Path(__file__).parent / "prefect_database.sql"
"""An empty database as the migrations of Prefect 3.8.8 leave it; a later Prefect migrates it further.

`{new_id}` stands in it for `NEW_ID`, as which `schema` reads it.
"""
NEW_ID = (
    "((lower(hex(randomblob(4))) || '-' || lower(hex(randomblob(2))) || '-4' || substr(lower(hex(randomblob(2))),2) "
    "|| '-' || substr('89ab',abs(random()) % 4 + 1, 1) || substr(lower(hex(randomblob(2))),2) "
    "|| '-' || lower(hex(randomblob(6)))))"
)
"""What Prefect has SQLite make a new id with, in every table (prefect/server/utilities/database.py)."""

_SETTINGS = {
    "PREFECT_UI_ENABLED": "0",
    "PREFECT__SERVER_EPHEMERAL": "1",
    "PREFECT__SERVER_FINAL": "1",
    "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",  # no flow of ours uses blocks, and 2 s
    "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": "",
    # Several states of a task's run are written at once, after a second: one by one they take half the server's time.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",  # nobody can have an automation here
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",  # states of runs are kept by themselves
}
_DATABASE = "DATABASE_CONNECTION_URL"
_OTHER_KEYS = {"PREFECT_API_KEY", "PREFECT_API_AUTH_STRING", "PREFECT_CLIENT_CUSTOM_HEADERS"}
_ERROR = re.compile(r"^ *(?:\w+\.)*\w*(?:Error|Exception): (.+)$", re.MULTILINE)
"""The last line of a traceback."""
_START_TIMEOUT = 90.0  # seconds; a start takes 4 on an idle machine
_END_TIMEOUT = 5.0  # seconds for what is left to send
_WRITE_TIMEOUT = 1.5  # seconds in which the server may write what it was sent last; it takes 0.3


def prepare() -> None:
    """Set Prefect's home and output in the environment; Prefect reads it on import.

    Raises:
        NotConfigured: its server's address or its profiles, without which it cannot be imported, cannot be used.
    """
    address = os.environ.get("PREFECT_API_URL")
    if address and not is_web_address(address):
        raise NotConfigured(
            "PREFECT_API_URL is not a web address. Set it to one such as http://127.0.0.1:4200/api, or leave it out."
        )
    os.environ.setdefault("PREFECT_HOME", str(database.home() / "prefect"))
    profiles = name_profiles()
    try:
        profiles.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise NotConfigured("profiles.toml in PREFECT_HOME is not UTF-8. Fix or remove it.") from None
    except OSError as error:
        if profiles.exists():
            raise NotConfigured(f"profiles.toml in PREFECT_HOME cannot be read ({error.strerror}).") from None
    for level in ("HANDLERS_CONSOLE", "INTERNAL"):
        os.environ.setdefault(f"PREFECT_LOGGING_{level}_LEVEL", "CRITICAL")


@contextmanager
def server() -> Iterator[None]:
    """Let flows in the block use the server that PREFECT_API_URL names, or one started for the block.

    Raises:
        Unavailable: the server did not start; the message says why.
    """
    prepare()
    with usable_environment(), starting() as started, started.used():
        yield


class StartedServer:
    """The server for flows: the one that PREFECT_API_URL names, or a process of our own that may still be starting."""

    def __init__(self, process: subprocess.Popen[bytes] | None, secret: str, log: Path) -> None:
        self._process = process
        self._secret = secret
        self._log = log

    @contextmanager
    def used(self) -> Iterator[None]:
        """Wait until the server answers; flows in the block then use it.

        Raises:
            Unavailable: it did not start; the message says why.
        """
        # 1.2 s, and Prefect reads the environment that `prepare` sets when it is imported.
        from tasks.tracking import using_settings  # noqa: PLC0415

        values: dict[str, str | None] = {}
        if self._process is not None:
            values = {
                "PREFECT_API_URL": f"http://127.0.0.1:{self._port(self._process)}/api",
                "PREFECT_API_AUTH_STRING": self._secret,
                # Heartbeats are for a server that outlives its clients; here they cost a second a flow.
                "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": None,
                # Prefect loads the certificates for each of its many clients, for http too: 120 ms with all of them.
                "PREFECT_API_SSL_CERT_FILE": _one_certificate(),
            }
        with using_settings(values, _END_TIMEOUT):
            yield

    def _port(self, process: subprocess.Popen[bytes]) -> int:
        """The port on which the server says it listens."""
        assert process.stdout is not None
        line = b""
        if select.select([process.stdout], [], [], _START_TIMEOUT)[0]:  # Ctrl-C gets through
            line = process.stdout.readline()
        if line.strip():
            return int(line)
        raise Unavailable(f"Prefect's server did not start: {self._why_not(process)}.")

    def _why_not(self, process: subprocess.Popen[bytes]) -> str:
        try:
            status = process.wait(0.5)
        except subprocess.TimeoutExpired:
            return f"it was not there after {_START_TIMEOUT:g} s"
        errors = _ERROR.findall(self._log.read_text(encoding="utf-8", errors="replace"))
        return errors[-1].rstrip(". ") if errors else f"its process ended with status {status} and printed nothing"


@contextmanager
def starting() -> Iterator[StartedServer]:
    """Start a server in the background, unless PREFECT_API_URL names one; it ends with the block.

    Raises:
        Unavailable: it cannot be started; the message says why.
    """
    if os.environ.get("PREFECT_API_URL"):
        yield StartedServer(None, "", Path())
        return
    secret = f"diligence:{secrets.token_urlsafe(32)}"
    home = Path(os.environ["PREFECT_HOME"]).absolute()
    log = home / "server.log"
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        _prepare_database(home / "prefect.db")
        with log.open("wb") as errors:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "flows.prefect_child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=_environment() | {"PREFECT_HOME": str(home), "PREFECT_SERVER_API_AUTH_STRING": secret},
                cwd=process_folder(),  # where no .env and no prefect.toml of others lies
                process_group=0,  # Ctrl-C must not end it first: what Prefect still has to tell would be lost
            )
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise Unavailable(f"Prefect's server did not start: PREFECT_HOME cannot be used ({why}).") from error
    try:
        yield StartedServer(process, secret, log)
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_WRITE_TIMEOUT)
        process.kill()  # its database is a log of what was: what it has not written by now is given up
        with process:
            pass


def has_other_database() -> bool:
    """Whether the environment puts the database of Prefect's server outside Prefect's home."""
    return any(name.endswith(_DATABASE) for name in os.environ)


def _prepare_database(path: Path) -> None:
    """Give a new home an empty database with Prefect's newest schema."""
    if has_other_database() or (path.exists() and not _set_aside(path)):
        return
    with temporary_folder(path.parent, ".new-") as folder:
        with closing(sqlite3.connect(folder / path.name)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")  # as Prefect opens it
            connection.execute("PRAGMA synchronous=OFF")
            connection.executescript(schema())
        (folder / path.name).replace(path)


def schema() -> str:
    """An empty database of Prefect's, in SQL."""
    return SCHEMA.read_text(encoding="utf-8").replace("{new_id}", NEW_ID)


def _environment() -> dict[str, str]:
    """The server's environment: settings of Prefect and its database, but no key for another server."""
    given = child_process.environment("PREFECT_", "PG", "DO_NOT_TRACK") | _SETTINGS
    addresses = {name: database.absolute_address(given[name]) for name in given if name.endswith(_DATABASE)}
    return {name: value for name, value in (given | addresses).items() if name not in _OTHER_KEYS}


def _set_aside(path: Path) -> bool:
    """Rename a damaged database, which only Prefect's pages of old runs need; returns whether there was one."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            if connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",):
                return False
    except sqlite3.OperationalError:  # it is locked, or no file: the server says why it cannot start
        return False
    except sqlite3.DatabaseError:  # no database at all, or one that cannot even be checked
        pass
    for ending in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + ending).replace(path.with_name(f"{path.name}.damaged{ending}"))
    logging.getLogger(TRACKING_LOG).warning(
        "Prefect's database was damaged: a new one is used, the old one stays as prefect.db.damaged."
    )
    return True


def _one_certificate() -> str:
    """The path of a file with one certificate of the usual bundle; connections to this machine need none."""
    end = "-----END CERTIFICATE-----\n"
    path = Path(os.environ["PREFECT_HOME"]) / "one-certificate.pem"
    path.write_text(Path(certifi.where()).read_text(encoding="utf-8").split(end)[0] + end, encoding="utf-8")
    return str(path)


if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient

_AT_ONCE = 50  # flow runs that the API deletes in one call; artifacts that are listed in one
_LONGEST_RUN = timedelta(days=1)
"""A flow run without an end that began so long before the runs that are kept was killed."""
_LONGEST_WAIT = 10.0  # seconds for the server to delete the logs of what it has deleted, which it does by the way


@dataclass(frozen=True, slots=True)
class PrunedHistory:
    """How many flow runs and artifacts were deleted, and how much space Prefect's database in the home gave back."""

    flow_runs: int
    artifacts: int
    room: GivenBack | None


def is_embedded() -> bool:
    """Whether flows use a server that each command starts, rather than one of the user's."""
    return not os.environ.get("PREFECT_API_URL")


def prune_history(before: datetime) -> PrunedHistory | None:
    """Delete flow runs that ended before that time, with their tasks, artifacts and logs.

    On a permanent server, which others may use, only our own runs are deleted. None if there is no history, or if it is
    in a database of our server outside the home.

    Raises:
        Unavailable: the server did not start, or does not answer.
    """
    prepare()
    file = Path(os.environ["PREFECT_HOME"]) / "prefect.db"
    if is_embedded() and (not file.exists() or has_other_database()):
        return None
    with server():
        # Prefect takes 1.2 s to import, and reads then where its home is.
        from flows.engine import open_client  # noqa: PLC0415

        with open_client() as client:
            flow_runs, artifacts = delete_history(client, before, None if is_embedded() else TAG)
    return PrunedHistory(flow_runs, artifacts, give_back_file(file) if is_embedded() else None)


def delete_history(client: "SyncPrefectClient", before: datetime, tag: str | None = None) -> tuple[int, int]:
    """Delete flow runs that ended before that time from a server; returns how many, and how many artifacts they had.

    With `tag`, only runs that have it: a server may hold runs of others.
    """
    olds = [old | ({"tags": {"all_": [tag]}} if tag else {}) for old in _old(before)]
    artifacts = list(_old_artifacts(client, olds))
    for artifact in artifacts:
        client.delete_artifact(artifact)
    flow_runs = list(_delete_flow_runs(client, olds))
    _wait_for_logs(client, flow_runs)
    return len(flow_runs), len(artifacts)


def _old(before: datetime) -> Iterator[dict[str, Any]]:
    """Filters for flow runs that ended before that time, or were killed and began a day before it."""
    yield {"end_time": {"before_": before.isoformat()}}
    yield {"end_time": {"is_null_": True}, "start_time": {"before_": (before - _LONGEST_RUN).isoformat()}}


def _delete_flow_runs(client: "SyncPrefectClient", olds: Sequence[dict[str, Any]]) -> Iterator[UUID]:
    for old in olds:
        query = {"flow_runs": old, "limit": _AT_ONCE}
        # The types of Prefect's client do not list this path of its server.
        while deleted := client.request("POST", "/flow_runs/bulk_delete", json=query).json()["deleted"]:  # type: ignore[arg-type]
            yield from map(UUID, deleted)


def _old_artifacts(client: "SyncPrefectClient", olds: Sequence[dict[str, Any]]) -> Iterator[UUID]:
    for old in olds:
        query: dict[str, Any] = {"flow_runs": old, "sort": "ID_DESC", "limit": _AT_ONCE, "offset": 0}
        while artifacts := client.request("POST", "/artifacts/filter", json=query).json():
            yield from (UUID(artifact["id"]) for artifact in artifacts)
            query["offset"] += _AT_ONCE


def _wait_for_logs(client: "SyncPrefectClient", flow_runs: list[UUID]) -> None:
    until = time.monotonic() + _LONGEST_WAIT
    for start in range(0, len(flow_runs), _AT_ONCE):
        some = [str(flow_run) for flow_run in flow_runs[start : start + _AT_ONCE]]
        query = {"logs": {"flow_run_id": {"any_": some}}, "limit": 1}
        while client.request("POST", "/logs/filter", json=query).json() and time.monotonic() < until:
            time.sleep(0.1)
