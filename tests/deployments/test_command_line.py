"""The command `diligence` as users run it: a process of its own, its output, its exit status."""

import json
import logging
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import version
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deployments.cli import COMMANDS, app, errors_reported, load
from storage import database
from tasks.prefect_setup import PATIENCE
from tests.cases import cases
from tests.flows.conftest import batch_file, write_room
from tests.homes import make_home, make_prefect_home
from tests.servers.openai_server import ModelRequest, ModelResponse, ModelServer, failing, saying
from tests.tasks.reading.ocr.scans import program

__all__ = ["batch_file"]

DILIGENCE = [sys.executable, "-m", "deployments.cli"]
REPOSITORY = Path(__file__).parents[2]


def run(words: Sequence[str | Path], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in `folder`, with a home of its own there."""
    return subprocess.run(
        [*DILIGENCE, *map(str, words)],
        cwd=folder,
        env=clean_environment(folder) | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )


def call(words: Sequence[str | Path], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """As `run`, in this process.

    A process takes 1 to 2 s of processor time to import what it needs.
    """
    kept = clean_environment(folder) | environment
    output, errors, status = TextIOWrapper(BytesIO(), "utf-8", write_through=True), StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output), redirect_stderr(errors):
        for name in set(os.environ) - set(kept):
            patch.delenv(name)
        for name, value in kept.items():
            patch.setenv(name, value)
        patch.chdir(folder)
        patch.setattr(logging, "raiseExceptions", logging.raiseExceptions)  # which a run turns off
        database.close()
        try:
            with errors_reported():
                app([str(word) for word in words])
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        finally:
            database.close()
    output.seek(0)
    return subprocess.CompletedProcess(words, status, output.read(), errors.getvalue())


def clean_environment(folder: Path) -> dict[str, str]:
    """What a user has: Prefect's own patience. With ours a worker calls a run crashed for one busy moment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DILIGENCE_", "OPENAI_"))}
    for name in ("PREFECT_API_URL", *PATIENCE):
        kept.pop(name, None)
    home = str(make_home(folder / "home"))
    return kept | {"DILIGENCE_HOME": home, "PREFECT_HOME": f"{home}/prefect", "PYTHONPATH": str(REPOSITORY)}


def test_help_imports_none_of_the_heavy_libraries(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "deployments.cli", "--help"],
        cwd=tmp_path,
        env=clean_environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert "typer" in imported
    assert not imported & {"prefect", "litestar", "sqlmodel", "sqlalchemy", "openai", "numpy", "pydantic", "rich"}


@pytest.mark.parametrize("name", ["worker", "migrate"])
def test_commands_that_wait_or_prepare_are_small(name: str, tmp_path: Path) -> None:
    code = f"import sys; from deployments.cli import load; load({name!r}); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=clean_environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert "storage.database" in loaded
    assert not loaded & {"prefect", "litestar", "openai", "numpy", "duckdb", "jinja2", "tasks.reports"}


def test_help_names_every_command(tmp_path: Path) -> None:
    done = run(["--help"], tmp_path)
    assert done.returncode == 0
    for name, command in COMMANDS.items():
        assert re.search(rf"(?m)^  {name} +{re.escape(command.help)}$", done.stdout), "its help is cut"


def test_wrong_options_are_told_in_plain_words(tmp_path: Path) -> None:
    told = call(["init", "--template", "nope"], tmp_path).stderr
    assert "Value error" not in told
    assert "'--template': 'nope' is not one of 'venture'" in told
    assert "'--keep': Input should be a valid integer\n" in call(["prune", "--keep", "two"], tmp_path).stderr
    assert "/" not in call(["deploy", "--help"], tmp_path).stdout.split("--batch")[1].split("--reports")[0]


def test_an_empty_list_is_a_sentence_that_says_how_to_fill_it(tmp_path: Path) -> None:
    said = {tuple(words): call(words, tmp_path) for words in (["keys", "list"], ["users", "list"])}
    assert all(done.returncode == 0 and not done.stdout for done in said.values())
    assert "`diligence keys add NAME`" in said["keys", "list"].stderr
    assert "`diligence users add NAME`" in said["users", "list"].stderr
    assert "DILIGENCE_WEBHOOKS" in call(["webhooks"], tmp_path).stderr


def test_python_starts_the_command_as_a_module(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "diligence", "--version"],
        cwd=tmp_path,
        env=clean_environment(tmp_path) | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == version("diligence")


@cases("name", COMMANDS)
def test_a_command_is_listed_with_the_first_line_of_its_own_help(name: str) -> None:
    assert load(name).help.splitlines()[0] == COMMANDS[name].help


def test_version_short_help_and_completion_are_there() -> None:
    runner = CliRunner()
    assert runner.invoke(app, ["--version"]).stdout.strip() == version("diligence")
    assert "--install-completion" in runner.invoke(app, ["-h"]).stdout
    assert "--retry-failed" in runner.invoke(app, ["run", "-h"]).stdout


@pytest.mark.parametrize("command", [["report", "latest"], ["runs"]])
def test_a_folder_without_a_home_is_named_and_gets_none(command: list[str], tmp_path: Path) -> None:
    done = call(command, tmp_path, DILIGENCE_HOME=str(tmp_path / "elsewhere"))
    assert done.returncode == 1
    assert str(tmp_path / "elsewhere") in done.stderr
    assert not (tmp_path / "elsewhere").exists()


def test_a_command_that_there_is_not_is_wrong_use_and_names_the_nearest(tmp_path: Path) -> None:
    done = call(["rum"], tmp_path)
    assert done.returncode == 2
    assert "No such command 'rum'. Did you mean 'run'?" in done.stderr


def test_a_run_prints_its_id_and_where_the_report_is(batch_file: Path, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "home")  # this one makes everything itself
    done = run(["run", batch_file, "--out", tmp_path / "out"], tmp_path)
    assert done.returncode == 0, done.stderr
    printed = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert Path(printed["report"]).read_text().startswith("<!doctype html>")
    assert "Traceback" not in done.stderr
    assert "Beta: 33\u202f% proven" in done.stdout  # less than half of the weight is scored, so there is no rank
    assert printed["cost"] == "0 calls"
    assert "Alpha: notes.pdf: " in done.stderr  # every warning of the report
    kept = sorted(path.name for path in (tmp_path / "home").iterdir() if path.is_file())
    assert kept == ["diligence.db"]  # no log of SQLite's, no locks
    again = call(["report", "Small screen", "--format", "json"], tmp_path)
    assert json.loads(again.stdout)["run"]["id"] == printed["run"]
    assert call(["report", "latest"], tmp_path).stdout.startswith("<!doctype html>")
    assert call(["report", printed["run"], "--out", tmp_path / "elsewhere"], tmp_path).returncode == 0
    assert (tmp_path / "elsewhere" / "report.html").exists()


def test_a_failed_company_is_exit_status_1_with_the_report_written(
    batch_file: Path, tmp_path: Path, prefect_url: str
) -> None:
    names = (
        batch_file.read_text().replace("Small screen", "Acme [/bold]").replace("name: Alpha", "name: 'Alpha [/red]'")
    )
    batch_file.write_text(names.replace("rooms/beta", "rooms/empty"))
    (batch_file.parent / "rooms" / "empty").mkdir()
    (tmp_path / "out" / "report.zip").mkdir(parents=True)  # nothing can take its place
    nobody = {"DILIGENCE_AI_MODEL": "m", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "a-key"}
    done = call(["run", batch_file, "--out", tmp_path / "out"], tmp_path, PREFECT_API_URL=prefect_url, **nobody)
    assert done.returncode == 1
    assert "Acme [/bold]: 2 companies" in done.stderr  # names are no markup
    assert "Alpha [/red]: A judgement failed" in done.stderr
    assert "Beta: The data room has no documents." in done.stderr
    assert "Some files that belong to the report could not be written beside it. Is a directory" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "out" / "report.html").exists()


def test_a_missing_folder_is_exit_status_2_before_anything_is_done(batch_file: Path, tmp_path: Path) -> None:
    batch_file.write_text(batch_file.read_text().replace("rooms/", "nowhere/"))
    done = call(["run", batch_file], tmp_path)
    assert done.returncode == 2
    assert "batch.yaml, Alpha: " in done.stderr
    assert "batch.yaml, Beta: " in done.stderr
    assert not (tmp_path / "home" / "prefect").exists()
    assert call(["runs"], tmp_path).stdout == ""


def test_mistakes_in_the_files_are_exit_status_2_before_anything_runs(batch_file: Path, tmp_path: Path) -> None:
    criteria = batch_file.parent / "criteria.yaml"
    criteria.write_text(criteria.read_text().replace("weight: 3", "wieght: 3"))
    done = call(["run", batch_file], tmp_path)
    assert done.returncode == 2
    assert "criteria.yaml, line 4" in done.stderr
    assert "wieght" in done.stderr
    assert "weight" in done.stderr
    assert not (tmp_path / "home" / "prefect").exists()
    assert call(["run", tmp_path / "nowhere.yaml"], tmp_path).returncode == 2


def test_a_setting_with_a_wrong_value_is_named(tmp_path: Path) -> None:
    done = call(["index", "root"], tmp_path, DILIGENCE_INDEX_MAX_AGE="soon")
    assert done.returncode == 2
    assert "DILIGENCE_INDEX_MAX_AGE" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_that_cannot_be_opened_is_said(batch_file: Path, tmp_path: Path, prefect_url: str) -> None:
    address = "postgresql+psycopg://user:hidden@127.0.0.1:9/none"
    done = call(["run", batch_file], tmp_path, DILIGENCE_DATABASE_URL=address, PREFECT_API_URL=prefect_url)
    assert done.returncode == 1
    assert "DILIGENCE_DATABASE_URL" in done.stderr
    assert "hidden" not in done.stderr
    assert "Traceback" not in done.stderr


def test_index_prints_the_contract(tmp_path: Path) -> None:
    write_room(tmp_path / "rooms" / "alpha", {"a.txt": "one", "sub/b.txt": "two"})
    done = call(["index", "rooms/alpha"], tmp_path)
    index = json.loads(done.stdout)
    assert [each["category"] for each in index["document_index"]] == ["alpha", "sub"]
    document = index["document_index"][0]["documents"][0]["document_id"]
    assert call(["text", document], tmp_path).stdout == "one\n"
    flat = json.loads(call(["index", "rooms/alpha", "--no-recursive"], tmp_path).stdout)
    assert "subfolders" not in flat["document_index"][0]


def test_text_reads_files_and_folders_and_names_each_failure(tmp_path: Path) -> None:
    write_room(tmp_path / "room", {"a.txt": "one", "sub/b.txt": "two", ".hidden/c.txt": "three", "broken.pdf": "no"})
    (tmp_path / "alone.dwg").write_text("x")
    done = call(["text", "room/a.txt", "room/sub"], tmp_path)
    assert (done.stdout, done.returncode) == ("one\ntwo\n", 0)
    done = call(["text", "room", "alone.dwg", "nowhere", "--out", "texts", "--jobs", "2"], tmp_path)
    assert done.returncode == 1
    assert sorted(str(path.relative_to(tmp_path / "texts")) for path in (tmp_path / "texts").rglob("*.txt")) == [
        "a.txt.txt",
        "sub/b.txt.txt",
    ]
    for name in ("broken.pdf", "alone.dwg", "nowhere"):
        assert f"{name}: " in done.stderr


def test_questions_are_answered_without_a_model(tmp_path: Path) -> None:
    (tmp_path / "context.txt").write_text("The lease ends in 2031. The office is in Bergen.")
    done = call(["ask", "When does the lease end?", "--context", "context.txt"], tmp_path)
    assert "extractive" in done.stdout
    assert "The lease ends in 2031." in done.stdout
    assert call(["ask", " "], tmp_path).returncode == 2


def test_facts_and_their_claims(batch_file: Path, tmp_path: Path) -> None:
    facts = {"DILIGENCE_FACTS": str(batch_file.parent / "facts"), "DILIGENCE_FACT_SOURCES": "files"}
    assert json.loads(call(["facts", "alpha.example"], tmp_path, **facts).stdout)["profile"]["founded_year"] == 2012
    claims = json.loads(call(["facts", "alpha.example", "--claims"], tmp_path, **facts).stdout)["claims"]
    assert ("founded_year", "files") in {(claim["field"], claim["source"]) for claim in claims}
    assert call(["facts", "https://alpha.example/x"], tmp_path, **facts).returncode == 2
    assert call(["facts", "unknown.example"], tmp_path, **facts).returncode == 1
    assert "--domain" in call(["ask-company", "When was it founded?"], tmp_path, **facts).stderr
    done = call(["ask-company", "When was it founded?", "--domain", "alpha.example"], tmp_path, **facts)
    assert "2012" in done.stdout


def test_doctor_says_what_is_there(tmp_path: Path) -> None:
    done = call(["doctor"], tmp_path)
    assert done.returncode == 0, done.stdout
    marks = {line[2:14].strip(): line[0] for line in done.stdout.splitlines()}
    assert {subject for subject, mark in marks.items() if mark == "✓"} - {"scans"} == {
        "home",
        "database",
        "drive",
        "ranking",
    }
    assert {marks[subject] for subject in ("facts", "prefect", "service", "answerer")} == {"·"}
    assert "sqlite" in done.stdout
    assert call(["doctor"], tmp_path, PREFECT_API_URL="http://127.0.0.1:9/api").returncode == 1


def test_doctor_says_what_the_model_server_is_able_to_do(tmp_path: Path) -> None:
    props = {"total_slots": 2, "default_generation_settings": {"n_ctx": 8192}}

    def bird(request: ModelRequest) -> ModelResponse:
        if "seed" in request.body:
            return failing(400, "Unknown parameter: 'seed'")(request)
        return saying("A heron." if request.responses else '{"bird": "heron", "number": 7}')(request)

    with ModelServer(models=["m"], props=props) as server:
        server.always(bird)
        asked = {"DILIGENCE_AI_MODEL": "m", "OPENAI_BASE_URL": server.url, "DILIGENCE_AI_PROBE": "on"}
        out = call(["doctor"], tmp_path, **asked).stdout
    assert "✓ schema       kept in a chat completion with the schema; ignored in the Responses protocol" in out
    assert "✓ requests     taken without a seed" in out
    assert "✓ tokens       counted" in out
    assert "✓ context      8,192 tokens" in out
    assert "✓ calls        2 at a time" in out
    assert re.search(r"✓ speed        reads [\d,]+ and writes [\d,]+ tokens a second", out)


def test_doctor_says_which_sources_are_not_asked_without_a_contact(tmp_path: Path) -> None:
    sources = {"DILIGENCE_FACT_SOURCES": "files,wikidata,gleif"}

    assert (
        "without DILIGENCE_CONTACT these are not asked: wikidata, gleif" in call(["doctor"], tmp_path, **sources).stdout
    )
    assert "not asked" not in call(["doctor"], tmp_path, **sources, DILIGENCE_CONTACT="mailto:us@example.com").stdout


def test_doctor_says_whether_scans_are_read(tmp_path: Path) -> None:
    def scans(**environment: str) -> tuple[str, int]:
        done = call(["doctor"], tmp_path, **environment)
        return next(line for line in done.stdout.splitlines() if " scans " in line), done.returncode

    path = str(program(tmp_path / "bin"))  # a Tesseract that has English
    line, status = scans(PATH=path)
    assert ("read by RapidOCR " in line, "Tesseract" in line, status) == (True, False, 0)
    line, status = scans(PATH=path, DILIGENCE_OCR_LANGUAGES="eng")
    assert ("read by Tesseract 9.9 in eng and RapidOCR " in line, status) == (True, 0)
    line, status = scans(PATH=path, DILIGENCE_OCR_LANGUAGES="eng,deu")
    assert ("deu is missing (package tesseract-ocr-deu)" in line, status) == (True, 1)
    line, status = scans(PATH=str(tmp_path), DILIGENCE_OCR_ENGINE="tesseract")
    assert ("(package tesseract-ocr)" in line, status) == (True, 1)
    line, status = scans(PATH=path, DILIGENCE_OCR="off")
    assert ("DILIGENCE_OCR is off" in line, status) == (True, 0)


def test_doctor_says_whether_old_documents_are_read(tmp_path: Path) -> None:
    done = call(["doctor"], tmp_path, PATH=str(tmp_path))
    line = next(line for line in done.stdout.splitlines() if " old documents " in line)
    assert "package libreoffice-writer, libreoffice-impress" in line
    assert done.returncode == 0


def test_serve_refuses_the_world_without_keys(tmp_path: Path) -> None:
    done = call(["serve", "--host", "0.0.0.0", "--port", "0"], tmp_path)
    assert done.returncode == 1
    assert "DILIGENCE_API_KEYS" in done.stderr


def test_serve_says_when_its_port_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = call(["serve", "--port", str(port)], tmp_path)
    assert done.returncode == 1
    assert str(port) in done.stderr
    assert "Traceback" not in done.stderr


DOCUMENTS = 600


@pytest.mark.nightly  # one to two minutes
@pytest.mark.slow
@pytest.mark.parametrize("kills", [2])
def test_a_killed_run_goes_on_and_reads_nothing_twice(batch_file: Path, tmp_path: Path, kills: int) -> None:
    write_room(
        batch_file.parent / "rooms" / "alpha",
        {f"{number % 7}/{number}.txt": f"Statement {number}. " * 50 for number in range(DOCUMENTS)},
    )
    command = [*DILIGENCE, "run", str(batch_file), "--out", str(tmp_path / "out")]
    seen: dict[str, str] = {}
    for kill in range(1, kills + 1):
        killed = subprocess.Popen(
            command, cwd=tmp_path, env=clean_environment(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while len(read_so_far(tmp_path)) < kill * DOCUMENTS // 4:
            assert killed.poll() is None, "it ended before it could be killed"
            time.sleep(0.02)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        now = read_so_far(tmp_path)
        assert seen.items() <= now.items()
        seen = now
    assert len(seen) < DOCUMENTS
    done = run(["run", batch_file, "--out", tmp_path / "out"], tmp_path)
    assert done.returncode == 0, done.stderr
    after = read_so_far(tmp_path)
    assert len(after) == DOCUMENTS + 3  # the small batch's own three
    assert seen.items() <= after.items()  # with the time of reading: none was read again
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    statuses = {each["status"] for company in report["companies"] for each in company["documents"]}
    assert statuses == {"read", "failed"}
    with sqlite3.connect(tmp_path / "home" / "diligence.db") as database:
        assert database.execute("SELECT count(*) FROM runs").fetchone() == (1,)
    assert leftovers(tmp_path) == []


@pytest.mark.slow
def test_a_run_that_is_stopped_at_the_terminal_ends_with_a_sentence_and_leaves_nothing(
    batch_file: Path, tmp_path: Path
) -> None:
    write_room(
        batch_file.parent / "rooms" / "alpha",
        {f"{number % 7}/{number}.txt": f"Statement {number}. " * 50 for number in range(DOCUMENTS)},
    )
    make_prefect_home(tmp_path / "home")
    stopped = subprocess.Popen(
        [*DILIGENCE, "run", str(batch_file)],
        cwd=tmp_path,
        env=clean_environment(tmp_path),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    while not read_so_far(tmp_path):
        assert stopped.poll() is None, "it ended before it could be stopped"
        time.sleep(0.01)
    os.killpg(stopped.pid, signal.SIGINT)  # as a terminal does: to all processes of the command
    _, errors = stopped.communicate(timeout=60)
    assert stopped.returncode == 130
    assert "Stopped. What was done is kept" in errors
    assert "Traceback" not in errors
    assert leftovers(tmp_path) == []


def read_so_far(folder: Path) -> dict[str, str]:
    """Each stored text's content with the moment at which it was read."""
    try:
        with sqlite3.connect(f"file:{folder}/home/diligence.db?mode=ro", uri=True) as database:
            return dict(database.execute("SELECT content_hash, created_at FROM texts"))
    except sqlite3.OperationalError:
        return {}


def leftovers(folder: Path) -> list[str]:
    """Processes that still belong to the runs in that folder."""
    left = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes().decode(errors="replace")
            command = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if f"DILIGENCE_HOME={folder}/home" in environment:
            left.append(command.replace("\0", " "))
    return left


@pytest.mark.slow  # a whole run; `tests/storage/test_logs.py` holds the lines
def test_a_run_can_write_its_log_as_json(tmp_path: Path) -> None:
    done = run(["run", "none.yaml"], tmp_path, DILIGENCE_LOG_FORMAT="json")
    assert done.returncode == 2
    (line,) = [json.loads(line) for line in done.stderr.splitlines()]
    assert (line["level"], len(line["request_id"])) == ("ERROR", 32)
    assert "none.yaml" in line["message"]
    assert "DILIGENCE_LOG_FORMAT" in run(["run", "none.yaml"], tmp_path, DILIGENCE_LOG_FORMAT="xml").stderr
