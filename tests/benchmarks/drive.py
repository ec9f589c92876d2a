"""Listing a folder of Google Drive beside other ways, on the same emulator, in turns: requests, wall seconds, memory.

1,000 folders with 20,000 files, six deep, 50 ms a call. The naive ways ask a folder at a time, one after
the other and with 16 threads; rclone is asked where it is installed.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, NamedTuple

from tests.google.process import EmulatorProcess
from tests.google.rclone import installed, list_with_rclone

ROUNDS = 3
FOLDERS, FILES, DEPTH, LATENCY = 1000, 20_000, 6, 0.05

_INDEX = """
import resource, sys, time
from tasks.documents.index import index_room

start = time.perf_counter()
index_room(sys.argv[1])
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


class Listed(NamedTuple):
    """What one listing took: seconds, HTTP requests; the entries that it found; seconds of this process's processor."""

    seconds: float
    requests: int
    entries: int
    processor: float = 0.0


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    for shared in (False, True):
        yield from _listings(shared=shared)
    yield from _memory()


def _listings(*, shared: bool) -> Iterator[tuple[str, str, str]]:
    with _emulator(folders=FOLDERS, files=FILES, shared_drive=shared) as emulator:
        place = "a shared drive's root" if shared else "a folder"
        ways: dict[str, Callable[[], int]] = {
            "ours": lambda: _ours(emulator),
            "16 threads": lambda: _naive(emulator, 16),
        }
        taken: dict[str, list[Listed]] = {}
        _ours(emulator)  # what is read and opened once a process
        for _ in range(ROUNDS):
            for name, way in ways.items():
                taken.setdefault(name, []).append(_timed(emulator, way))
            if installed():
                taken.setdefault("rclone", []).append(Listed(*list_with_rclone(emulator)))
        taken["one after the other"] = [_timed(emulator, lambda: _naive(emulator, 1))]
        ours = _middle(taken.pop("ours"))
        yield f"Listing {place} of {FILES} files, processor time", f"{ours.processor:.2f} s", "1.2 s"
        for name, others in taken.items():
            other = _middle(others)
            target = "-"
            if name == "rclone":
                target = "-" if shared else "0.70 × and 0.75 ×"
            figures = (
                f"{ours.requests / other.requests:.2f} × and {ours.seconds / other.seconds:.2f} × "
                f"({ours.requests} : {other.requests}; {ours.seconds:.2f} s : {other.seconds:.2f} s; "
                f"{ours.entries} : {other.entries} entries)"
            )
            yield f"Listing {place} of {FILES} files : {name}, HTTP requests and wall", figures, target
        with tempfile.TemporaryDirectory() as home:
            _index(emulator, home)
            emulator.reset()
            seconds, _ = _index(emulator, home)
            again = emulator.counts()["requests"]
        yield f"Indexing {place} again, unchanged", f"{again} requests, {seconds:.2f} s", "3 requests"


def _memory() -> Iterator[tuple[str, str, str]]:
    """What indexing takes of a process, at the highest."""
    sizes: dict[int, int] = {}
    for files in (2000, 20_000, 200_000):
        with _emulator(folders=files // 20, files=files, latency=0) as emulator, tempfile.TemporaryDirectory() as home:
            _, sizes[files] = _index(emulator, home)
    yield (
        "Memory of a process that indexes 2,000, 20,000 and 200,000 files",
        ", ".join(f"{size} MB" for size in sizes.values()),
        "-",
    )


def _emulator(**options: Any) -> EmulatorProcess:
    return EmulatorProcess(**{"depth": DEPTH, "latency": LATENCY, "parents_page_cap": 460} | options)


def _timed(emulator: EmulatorProcess, way: Callable[[], int]) -> Listed:
    emulator.reset()
    start, used = time.perf_counter(), time.process_time()
    entries = way()
    seconds, processor = time.perf_counter() - start, time.process_time() - used
    return Listed(seconds, int(emulator.counts()["requests"]), entries, processor)


def _middle(taken: list[Listed]) -> Listed:
    """The median of each figure."""
    seconds, requests, entries, processor = (statistics.median_low(column) for column in zip(*taken, strict=True))
    return Listed(float(seconds), int(requests), int(entries), float(processor))


def _ours(emulator: EmulatorProcess) -> int:
    from tasks.documents.drive.drive import Bearer
    from tasks.documents.drive.google.drive import open_drive as open_google_drive

    os.environ |= _settings(emulator)
    drive = open_google_drive(Bearer(emulator.addresses["access_token"]))
    listing = drive.list_folder(emulator.addresses["folder_id"], recursive=True)
    return len(listing.folders) + len(listing.documents)


def _naive(emulator: EmulatorProcess, threads: int) -> int:
    """A folder at a time, in full pages, as document loaders do; with the client library alone."""
    import google_auth_httplib2  # type: ignore[import-untyped]  # it has no types
    import httplib2
    from google.oauth2.credentials import Credentials
    from googleapiclient.discovery import build

    credentials = Credentials(emulator.addresses["access_token"])  # type: ignore[no-untyped-call]
    drive = build(
        "drive", "v3", credentials=credentials, client_options={"api_endpoint": emulator.addresses["endpoint"]}
    )
    files = drive.files()
    idle = deque(google_auth_httplib2.AuthorizedHttp(credentials, http=httplib2.Http()) for _ in range(threads))

    def children(folder: str) -> list[Any]:
        http, found, token = idle.pop(), [], None
        while True:
            page: Any = files.list(
                q=f"'{folder}' in parents and trashed = false",
                pageSize=1000,
                fields="nextPageToken,files(id,name,mimeType,size,createdTime,modifiedTime,md5Checksum,version)",
                supportsAllDrives=True,
                includeItemsFromAllDrives=True,
                **({"pageToken": token} if token else {}),
            ).execute(http=http)
            found += page["files"]
            token = page.get("nextPageToken")
            if not token:
                idle.append(http)
                return found

    entries = 0
    with ThreadPoolExecutor(threads) as pool:
        under_way = {pool.submit(children, emulator.addresses["folder_id"])}
        while under_way:
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                entries += len(future.result())
                under_way |= {
                    pool.submit(children, file["id"])
                    for file in future.result()
                    if file["mimeType"] == "application/vnd.google-apps.folder"
                }
    return entries


def _index(emulator: EmulatorProcess, home: str) -> tuple[float, int]:
    """Index in a process of its own; gives the seconds and the most memory that it took, in MB."""
    words = [sys.executable, "-c", _INDEX, emulator.addresses["folder_id"]]
    login = Path(home, "login.json")
    known = ("client_id", "client_secret", "refresh_token", "token_uri")
    login.write_text(json.dumps({"type": "authorized_user"} | {name: emulator.addresses[name] for name in known}))
    login.chmod(0o600)
    environment = (
        os.environ | _settings(emulator) | {"DILIGENCE_HOME": home, "DILIGENCE_GOOGLE_CREDENTIALS": str(login)}
    )
    run = subprocess.run(words, env=environment, check=True, capture_output=True, text=True)
    seconds, megabytes = run.stdout.split()
    return float(seconds), int(megabytes)


def _settings(emulator: EmulatorProcess) -> dict[str, str]:
    return {
        "DILIGENCE_DRIVE": "google",
        "DILIGENCE_GOOGLE_API_ENDPOINT": emulator.addresses["endpoint"],
        "DILIGENCE_GOOGLE_BATCH_URI": emulator.addresses["batch_uri"],
        "DILIGENCE_GOOGLE_TOKEN_URI": emulator.addresses["token_uri"],
    }
