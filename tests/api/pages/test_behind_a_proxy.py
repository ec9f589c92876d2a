"""The service behind a proxy that gives it a path of its own and takes that path away: forms, redirects, cookies."""

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from storage import database
from storage.logins import Role
from storage.scores import decisions_of
from tests.api.pages.conftest import PAGE, PASSWORD, add_person, field
from tests.waiting import free_port, is_listening, wait_for

PATH = "/dd"
DOCUMENTED = Path(__file__).parents[3] / "docs" / "review.md"
_OWN = {"connection", "transfer-encoding", "content-length", "content-encoding", "server", "date"}


@contextmanager
def own_proxy(target: str, _folder: Path) -> Iterator[int]:
    """A proxy that hands on what is asked below `PATH`, without that path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if not self.path.startswith(f"{PATH}/"):
                self.send_error(404)
                return
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _OWN}
            with httpx.Client(base_url=target, timeout=60) as upstream:
                answer = upstream.request(self.command, self.path.removeprefix(PATH), content=body, headers=headers)
            self.send_response(answer.status_code)
            for name, value in answer.headers.multi_items():
                if name.lower() not in _OWN:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@contextmanager
def nginx(target: str, folder: Path) -> Iterator[int]:
    """nginx as the documentation configures it."""
    program = shutil.which("nginx")
    if program is None:
        pytest.skip("nginx is not installed")
    (location,) = re.findall(r"^```nginx\n(.*?)^```", DOCUMENTED.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    port = free_port()
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder / kind}; " for kind in kinds)
    server = f"server {{ listen 127.0.0.1:{port}; {location.replace('http://127.0.0.1:8000', target)} }}"
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log stderr; events {{}}\nhttp {{ access_log off; {places} {server} }}"
    )
    process = subprocess.Popen([program, "-p", str(folder), "-c", "nginx.conf", "-e", "stderr"])
    wait_for(lambda: is_listening(port))
    yield port
    process.terminate()
    process.wait()


@pytest.fixture(params=[own_proxy, nginx], ids=lambda made: str(made.__name__))
def proxy(
    request: pytest.FixtureRequest, service: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[httpx.Client]:
    """A browser in front of a proxy."""
    (tmp_path / "proxy").mkdir()
    with request.param(str(service.base_url).rstrip("/"), tmp_path / "proxy") as port:
        base = f"http://127.0.0.1:{port}"
        monkeypatch.setenv("DILIGENCE_BASE_URL", f"{base}{PATH}")
        with httpx.Client(base_url=base, headers={**PAGE, "Origin": base}, timeout=60) as browser:
            yield browser


def test_somebody_logs_in_reviews_and_decides(proxy: httpx.Client, alpha: Path) -> None:
    add_person("vera", Role.ADMIN)
    review = f"{PATH}/runs/r1/review/alpha.example"
    sent_away = proxy.get(review)
    assert (sent_away.status_code, sent_away.headers["location"]) == (
        303,
        f"{PATH}/login?next=/runs/r1/review/alpha.example",
    )
    page = proxy.get(proxy.get(sent_away.headers["location"]).headers["location"]).text
    form = {"token": field(page, "token"), "next": field(page, "next"), "name": "vera", "password": PASSWORD}
    logged_in = proxy.post(f"{PATH}/login/password", data=form)
    assert (logged_in.status_code, logged_in.headers["location"]) == (303, review)
    assert all("-dd-" in name for name in proxy.cookies)  # another service of this host has cookies of its own

    page = proxy.get(review).text
    for address in re.findall(r'(?:href|src|action|hx-get|hx-post)="(/[^"]*)"', page + proxy.get(f"{PATH}/").text):
        assert address.startswith(f"{PATH}/")
    cell = page[page.index('id="cell-recurring"') :]
    named = {name: field(cell, name) for name in ("token", "follows", "saw")} | {"criterion_id": "recurring"}
    part = proxy.post(review, data={**named, "kind": "flag"}, headers={"HX-Request": "true"})
    assert (part.status_code, "Flagged." in part.text, "<html" in part.text) == (200, True, False)
    named["follows"] = field(part.text, "follows")
    decided = proxy.post(review, data={**named, "kind": "sign_off"})
    assert (decided.status_code, decided.headers["location"]) == (303, f"{review}#cell-recurring")
    with database.reading() as session:
        assert len(decisions_of(session, "Autumn screen")) == 2
    stopped = proxy.post(f"{PATH}/home/stop", data={"token": named["token"], "run": "r1"})
    assert (stopped.status_code, stopped.headers["location"]) == (303, f"{PATH}/")
