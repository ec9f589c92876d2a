"""Calls of a real service on the sample's data rooms, for the reference: each operation, and errors."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

SAMPLE: Final = Path(__file__).parents[2] / "deployments" / "sample"
DILIGENCE: Final = Path(sys.executable).with_name("diligence")
_ASK: Final = {
    "question": "When does the lease end?",
    "context": "The lease ends on 30 June 2031. The rent is EUR 4,000.",
}


@dataclass(frozen=True)
class Call:
    """A call and its answer; `template` is the path as the description of the service has it."""

    method: str
    path: str
    body: Any
    status: int
    answer: Any

    def as_markdown(self) -> str:
        """The request and the answer as blocks."""
        sent = f"{self.method} {self.path}" + (f"\n\n{_as_json(self.body)}" if self.body is not None else "")
        return f"```http\n{sent}\n```\n\n```json\n{_as_json(shorten(self.answer))}\n```\n"


def _as_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def shorten(value: Any) -> Any:
    """A JSON value with the beginnings of its long texts and lists, and without what is null."""
    if isinstance(value, dict):
        return {key: shorten(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [shorten(part) for part in value[:1]] + (["…"] if len(value) > 1 else [])
    return f"{value[:160]}…" if isinstance(value, str) and len(value) > 200 else value


def record_calls() -> list[Call]:
    """What a service answers: one without keys, then one with keys and low limits."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "rooms"
        shutil.copytree(SAMPLE / "rooms" / "cuidara" / "Financials", root / "cuidara" / "Financials")
        damaged = SAMPLE / "rooms" / "kessler-prueftechnik" / "Personal" / "Pensionsgutachten 2024.pdf"
        shutil.copy(damaged, root / "cuidara" / "Financials" / "Damaged.pdf")
        (root / "cuidara" / "Financials" / "Logo.psd").write_bytes(b"8BPS" + bytes(32))
        settings = {
            "DILIGENCE_HOME": str(Path(folder) / "home"),
            "DILIGENCE_DRIVE_ROOT": str(root),
            "DILIGENCE_FACTS": str(SAMPLE / "facts"),
            "DILIGENCE_FACT_SOURCES": "files",
        }
        with _serve(settings) as client:
            open_calls = list(_call_openly(client))
        limits = {"DILIGENCE_API_KEYS": "known", "DILIGENCE_MAX_BODY_MB": "1", "DILIGENCE_RATE_LIMIT": "4/hour"}
        key = _run(["keys", "add", "reporting", "--scope", "ai"], settings).strip().splitlines()[-1]
        with _serve(settings | limits | {"DILIGENCE_FACT_SOURCES": "wikidata"}) as client:
            return open_calls + list(_call_with_keys(client, key))


def _call_openly(client: httpx.Client) -> Iterator[Call]:
    yield _send(client, "GET", "/schema/openapi.json")
    yield _send(client, "GET", "/health/live")
    yield _send(client, "GET", "/health/ready")
    index = _send(client, "POST", "/v1/drive/document-index", {"cloud_drive_folder": "root"})
    yield index
    inside = index.answer["document_index"][1]["subfolders"][0]["documents"]
    ids = {document["document_name"]: document["document_id"] for document in inside}
    readable = next(name for name in ids if name.endswith(".pdf") and name != "Damaged.pdf")
    for name in (readable, "Damaged.pdf", "Logo.psd"):
        yield _send(client, "POST", "/v1/drive/document-text", {"document_id": ids[name]})
    yield _send(client, "POST", "/v1/drive/document-text", {"document_id": "unknown"})
    yield _send(client, "GET", "/v1/drive/document-text")
    yield _send(client, "GET", f"/file/d/{ids[readable]}/view", headers={"Range": "bytes=999999999-"})
    yield _send(client, "POST", "/v1/ai/question", _ASK)
    yield _send(client, "POST", "/v1/companies/get-core-fields", {"domain": "cuidara.example"})
    yield _send(client, "POST", "/v1/companies/get-core-fields", {"domain": "https://www.cuidara.example/about"})
    question = {
        "question_prompt": "When was it founded?",
        "company_name": "Cuidara",
        "company_domain": "cuidara.example",
    }
    yield _send(client, "POST", "/v1/companies/get-answer", question)


def _call_with_keys(client: httpx.Client, key: str) -> Iterator[Call]:
    known = {"X-API-Key": "known"}
    yield _send(client, "POST", "/v1/ai/question", _ASK)
    yield _send(client, "POST", "/v1/drive/document-index", {"cloud_drive_folder": "root"}, {"X-API-Key": key})
    yield _send(client, "POST", "/v1/companies/get-core-fields", {"domain": "cuidara.example"}, known)
    large = _send(client, "POST", "/v1/ai/question", _ASK | {"context": "words " * 200_000}, known)
    yield Call(large.method, large.path, _ASK | {"context": "words words words …"}, large.status, large.answer)
    for _ in range(4):
        last = _send(client, "POST", "/v1/ai/question", _ASK, known)
    yield last


def _send(
    client: httpx.Client, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
) -> Call:
    answer = client.request(method, path, json=body, headers=headers)
    return Call(method, path, body, answer.status_code, answer.json())


def _environment(settings: dict[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DILIGENCE_", "OPENAI_"))}
    return kept | settings


def _run(words: list[str], settings: dict[str, str]) -> str:
    return subprocess.run(
        [DILIGENCE, *words], env=_environment(settings), capture_output=True, text=True, check=True
    ).stdout


@contextmanager
def _serve(settings: dict[str, str]) -> Iterator[httpx.Client]:
    """A client of `diligence serve` with these settings, on a free port of this machine."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    command: list[str | Path] = [DILIGENCE, "serve", "--port", str(port)]
    with subprocess.Popen(command, env=_environment(settings), stderr=subprocess.DEVNULL) as service:
        try:
            # With a growing pause, four minutes in all: a busy machine starts slowly.
            transport = httpx.HTTPTransport(retries=10)
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, transport=transport) as client:
                yield client
        finally:
            service.terminate()
