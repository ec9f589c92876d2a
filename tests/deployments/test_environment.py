"""Variables of the environment that cannot be used, hostile names, and folders that cannot be written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import prefect.settings
import pytest

from deployments.cli import errors_reported
from deployments.terminal import Escaping
from tasks.errors import BadRequest, NotConfigured
from tasks.files import Replacing, check_writable
from tasks.language.normalise import escape_line, escape_text
from tasks.remote.environment import check_connection, usable_environment
from tests.cases import cases
from tests.deployments.test_command_line import call, clean_environment, run
from tests.matrices import quick_cases

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
NAMES = [
    "\x1b[8m",
    "\x1b]8;;x\x07",
    "\r",
    "\n",
    "\x07",
    "\x7f",
    "\x9b31m",
    "\u202e",
    "\u2066",
    "\u200f",
    "\u061c",
    "\ufeff",
]
MODEL = {"DILIGENCE_AI_MODEL": "m", "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}


@pytest.fixture(autouse=True)
def no_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_file", "ssl_cert_dir"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(("name", "field"), [("PREFECT_SERVER", "server"), ("PREFECT_API_REQUEST_TIMEOUT", "TIMEOUT")])
def test_a_variable_that_prefect_cannot_read_is_named(
    name: str, field: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, "a secret")
    with pytest.raises(SystemExit) as end, errors_reported():
        prefect.settings.Settings()
    told = capsys.readouterr().err
    assert (end.value.code, field in told, "secret" in told) == (2, True, False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("all_proxy", "socks5h://127.0.0.1:9"),
        ("HTTP_PROXY", "socks4://127.0.0.1:9"),
        ("HTTP_PROXY", "http://["),
        ("SSL_CERT_FILE", "/nonexistent/ca.pem"),
        ("SSL_CERT_FILE", "/"),
        ("SSL_CERT_DIR", "/nonexistent"),
        ("SSLKEYLOGFILE", "/nonexistent/keys"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(name: str, value: str, tmp_path: Path) -> None:
    done = call(["ask", "Is it?"], tmp_path, **MODEL, **{name: value})
    assert done.returncode == 1
    assert done.stderr.startswith(name)
    assert len(done.stderr.splitlines()) == 1


def test_a_proxy_that_the_address_does_not_need_is_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,[::1]")
    assert check_connection("http://127.0.0.1:9/v1") is None
    with pytest.raises(NotConfigured, match="ALL_PROXY"):
        check_connection("https://api.example")
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example:3128")
    assert check_connection("https://api.example") == "http://proxy.example:3128"


def test_prefect_gets_an_environment_that_it_can_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    with usable_environment():
        assert "SSL_CERT_FILE" not in os.environ
        assert check_connection("http://127.0.0.1:4200/api") is None
        assert check_connection("http://api.example") == "http://proxy.example:3128"
    assert os.environ["SSL_CERT_FILE"] == "/nonexistent"
    assert "NO_PROXY" not in os.environ


@pytest.mark.parametrize(
    "content",
    quick_cases(
        ["NAME=café\n".encode("latin-1"), "A=ü".encode("utf-16"), b"PREFECT_API_URL=http://x.example"], quick=(2,)
    ),
    ids=["latin-1", "utf-16", "a server"],
)
def test_prefect_reads_no_settings_of_the_current_folder(content: bytes, tmp_path: Path) -> None:
    for name in (".env", "prefect.toml", "pyproject.toml"):
        (tmp_path / name).write_bytes(content)
    look = "import flows; from prefect.settings import PREFECT_API_URL as url; print(url.value())"
    here, own = str(tmp_path), clean_environment(tmp_path)
    done = subprocess.run([sys.executable, "-c", look], cwd=here, env=own, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("None\n", "")


@cases("name", NAMES)
def test_a_name_is_spelled_out_on_one_line(name: str) -> None:
    assert escape_line(f"a{name}b").isprintable()
    assert UNSAFE.search(escape_text(f"a{name}b")) is None


def test_soft_hyphens_joiners_and_breaks_of_lines_stay() -> None:
    assert escape_text("a\u00adb\u200cc\u200dd\n\te") == "a\u00adb\u200cc\u200dd\n\te"
    assert escape_text("\U000e0041\udcff") == "\\udb40\\udc41\\udcff"


def test_a_stream_escapes_and_its_buffer_does_not(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="ascii") as file:
        stream = Escaping(file)
        print("ü\x1b\udcff", file=stream)
        stream.flush()
        stream.buffer.write(b"\x1b")
    assert (tmp_path / "out").read_bytes() == "ü\\u001b\\udcff\n".encode() + b"\x1b"


@pytest.mark.parametrize(
    "words",
    quick_cases([["text", "room", "--out", "texts"], ["figures", "room"], ["index", "room"]], quick=(0,)),
    ids=["text", "figures", "index"],
)
def test_hostile_names_reach_no_output_raw(words: list[str], tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    for number, name in enumerate(NAMES):
        (room / f"{number}{name}.txt").write_text("Revenue in 2023 was EUR 1.5 million.")
        (room / f"{number}{name}.pdf").write_text("nope")
    done = run(words, tmp_path, DILIGENCE_DRIVE_ROOT=str(tmp_path))
    shown = done.stdout + done.stderr
    assert "\\u001b" in shown
    assert UNSAFE.search(shown) is None


def test_a_folder_that_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "out" / "report.html").mkdir(parents=True)
    with pytest.raises(BadRequest, match="it is a file"):
        check_writable(tmp_path / "file")
    with pytest.raises(BadRequest, match="cannot be written"):
        check_writable(tmp_path / "file" / "below")
    with pytest.raises(BadRequest, match=r"report\.html is a folder"):
        check_writable(tmp_path / "out", "report.html")


def test_a_half_written_file_follows_no_link(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("kept")
    (tmp_path / "report.html.part").symlink_to(other)
    with Replacing(tmp_path) as files:
        files.add("report.html", "new")
        files.put()
    assert (other.read_text(), (tmp_path / "report.html").read_text()) == ("kept", "new")
