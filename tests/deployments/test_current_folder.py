"""No file of the current folder, a room or a home is run as code, and what a kill leaves goes at the next start."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest

from tests.waiting import free_port, wait_for

DILIGENCE = Path(sys.executable).with_name("diligence")
NAMES = [
    "pypdfium2",
    "lxml",
    "email",
    "html",
    "json",
    "sitecustomize",
    "usercustomize",
    "typing",
    "logging",
    "tasks",
    "struct",
    "pickle",
    "wave",
    "numpy",
    "PIL",
    "charset_normalizer",
    "openpyxl",
    "docx",
    "pptx",
    "prefect",
    "litestar",
    "uvicorn",
    "sqlmodel",
    "sqlalchemy",
    "httpx",
    "openai",
    "storage",
    "flows",
    "api",
    "deployments",
    "pydantic",
    "yaml",
    "typer",
    "rich",
    "jinja2",
    "olefile",
    "pypdf",
    "python_calamine",
    "zlib_ng",
    "msoffcrypto",
    "csv",
    "zipfile",
    "secrets",
    "tempfile",
    "multiprocessing",
    "subprocess",
    "asyncio",
    "decimal",
    "dotenv",
    "certifi",
    "httptools",
]
MARK = """import os
with open({mark!r}, "a") as file:
    file.write(__name__ + " in " + os.path.dirname(os.path.abspath(__file__)) + "\\n")
raise ImportError(__name__)
"""
LOGGING = """version: 1
formatters:
  x:
    (): os.system
    command: "echo settings >> {mark}"
handlers: {{}}
loggers: {{}}
"""
BATCH = {
    "name": "Planted",
    "criteria": "criteria.yaml",
    "drive_root": "room",
    "fact_sources": ["files"],
    "companies": [{"name": "Alpha", "domain": "alpha.example", "folder": "company"}],
}
CRITERIA = {"scale": [0, 5], "criteria": [{"id": "r", "ask": "Is revenue recurring?", "guide": "5: yes; 0: no"}]}


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A folder with a room and a home, in which modules of all these names leave a mark where they are imported."""
    mark = tmp_path / "mark"
    folder = tmp_path / "current"
    (folder / "room/company").mkdir(parents=True)
    (folder / "home").mkdir(mode=0o700)
    for place in (folder, folder / "room", folder / "room/company", folder / "home"):
        for name in NAMES:
            (place / f"{name}.py").write_text(MARK.format(mark=str(mark)))
    (folder / "room/company/a.txt").write_text("Revenue was EUR 5 million in 2023. Most of it is recurring.\n")
    (folder / "room/company/b.html").write_text("<p>Customers stay for years.</p>")
    (folder / "logging.yml").write_text(LOGGING.format(mark=mark))
    (folder / ".env").write_text(f"PREFECT_LOGGING_SETTINGS_PATH={folder / 'logging.yml'}\n")
    (folder / "prefect.toml").write_text(f"[logging]\nconfig_path = '{folder / 'logging.yml'}'\n")
    (folder / "batch.yaml").write_text(json.dumps(BATCH))
    (folder / "criteria.yaml").write_text(json.dumps(CRITERIA))
    (folder / "memo.md").write_text("# Memo\n\nRevenue was EUR 5 million in 2023.\n")
    return folder


def environment(folder: Path, **more: str) -> dict[str, str]:
    ours = {
        name: value for name, value in os.environ.items() if not name.startswith(("DILIGENCE_", "OPENAI_", "PREFECT_"))
    }
    return ours | {"DILIGENCE_HOME": "home", "HOME": str(folder / "home")} | more


def run(folder: Path, *arguments: str, start: Sequence[str] = (str(DILIGENCE),), **more: str) -> str:
    """What a command prints that is started in the folder."""
    ended = subprocess.run(
        [*start, *arguments],
        cwd=folder,
        env=environment(folder, **more),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    return ended.stdout


def nothing_ran(folder: Path) -> None:
    mark = folder.parent / "mark"
    assert not mark.exists(), mark.read_text()


def test_text_and_figures_run_no_module_of_the_current_folder(planted: Path) -> None:
    assert "Customers stay" in run(planted, "text", "room/company/a.txt", "room/company/b.html")
    assert "5,000,000" in run(planted, "figures", "company", DILIGENCE_DRIVE_ROOT="room")
    nothing_ran(planted)


@pytest.mark.slow
def test_check_and_a_batch_run_no_module_and_no_settings_of_the_current_folder(planted: Path) -> None:
    run(planted, "check", "memo.md", "--room", "company", "--out", "out", DILIGENCE_DRIVE_ROOT="room")
    assert "supported" in (planted / "out/memo.json").read_text()
    run(planted, "run", "batch.yaml", "--out", "report")
    assert "Customers stay" in run(planted, "text", "room/company/b.html")
    assert "recurring" in (planted / "report/report.json").read_text()
    nothing_ran(planted)


@pytest.mark.slow
@pytest.mark.parametrize("path", [":", ".:/nowhere"])
def test_a_python_path_that_names_the_current_folder_names_none_of_its_modules(planted: Path, path: str) -> None:
    for name in ("sitecustomize", "usercustomize"):  # which Python itself imports before us
        (planted / f"{name}.py").unlink()
    command = (sys.executable, "-P", "-c", "from deployments.cli import main; main()")
    assert "Customers stay" in run(planted, "text", "room/company/b.html", start=command, PYTHONPATH="/nowhere")
    (planted / "deployments.py").unlink()
    for name in ("typing", "email", "json", "logging", "html", "struct", "typer", "rich", "tempfile"):
        (planted / f"{name}.py").unlink()
    assert "Customers stay" in run(planted, "text", "room/company/b.html", PYTHONPATH=path)
    nothing_ran(planted)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [pytest.param("1", marks=pytest.mark.nightly), "2"])
def test_a_service_runs_no_module_of_the_current_folder_and_keeps_relative_paths(planted: Path, workers: str) -> None:
    port = str(free_port())
    command = [str(DILIGENCE), "serve", "--port", port, "--workers", workers]
    given = environment(planted, DILIGENCE_DRIVE_ROOT="room")
    with subprocess.Popen(command, cwd=planted, env=given, stderr=subprocess.DEVNULL) as service:
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(lambda: answers(url))
            body = {"cloud_drive_folder": "root"}
            index = httpx.post(f"{url}/v1/drive/document-index", json=body, timeout=60).json()["document_index"]
            documents = [document for folder in index for document in folder["documents"]]
            body = {"document_id": next(it["document_id"] for it in documents if it["document_name"] == "b.html")}
            text = httpx.post(f"{url}/v1/drive/document-text", json=body, timeout=60)
            assert "Customers stay" in text.text
        finally:
            service.terminate()
    nothing_ran(planted)
    assert (planted / "home/diligence.db").exists()


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/live", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.fixture
def temporary() -> Iterator[Path]:
    """An empty folder for temporary files, with a short path: a socket's has 107 characters at most."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.parametrize(
    "arguments",
    [
        ["text", "room"],
        pytest.param(["run", "batch.yaml", "--out", "report"], marks=[pytest.mark.slow, pytest.mark.nightly]),
        pytest.param(["serve", "--port", "0", "--workers", "2"], marks=pytest.mark.slow),
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_a_killed_command_leaves_goes_at_the_next_start(
    planted: Path, temporary: Path, arguments: list[str]
) -> None:
    (planted / "room/company/large.txt").write_text("Revenue grew again, and nobody knew why. " * 400_000)
    given = environment(planted, TMPDIR=str(temporary))
    with subprocess.Popen(
        [str(DILIGENCE), *arguments],
        cwd=planted,
        env=given,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,
    ) as command:
        wait_for(lambda: any(temporary.glob("diligence-*/*")) or any(temporary.glob("diligence-*")))
        time.sleep(0.5)
        os.killpg(command.pid, signal.SIGKILL)
    kept = next(temporary.glob("diligence-*"), None)
    assert "Customers stay" in run(planted, "text", "room/company/b.html", TMPDIR=str(temporary))
    assert list(temporary.iterdir()) == [], kept
    if arguments[0] == "run":
        run(planted, *arguments, TMPDIR=str(temporary))
        assert list((planted / "home/spool").iterdir()) == []
        assert not list((planted / "home/prefect").glob(".new-*"))


def test_the_folder_of_a_running_process_stays(planted: Path, temporary: Path) -> None:
    program = "from tasks.files import process_folder; print(process_folder(), flush=True); input()"
    given = environment(planted, TMPDIR=str(temporary))
    with subprocess.Popen(
        [sys.executable, "-P", "-c", program], env=given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        folder = Path(other.stdout.readline().strip())
        run(planted, "text", "room/company/b.html", TMPDIR=str(temporary))
        assert folder.is_dir()
        other.communicate("\n")
    assert not folder.exists()


def test_little_address_space_is_one_sentence_before_the_work(planted: Path) -> None:
    for name, space in (("demo", "1000000"), ("text", "300000")):
        command = ["/bin/sh", "-c", f'ulimit -v {space}; exec "{DILIGENCE}" {name} --out out']
        ended = subprocess.run(
            command, cwd=planted, env=environment(planted), capture_output=True, text=True, check=False, timeout=60
        )
        assert ended.returncode == 1
        assert f"`diligence {name}` needs" in ended.stderr
        assert ended.stderr.count("\n") == 1
    assert not (planted / "out").exists()
