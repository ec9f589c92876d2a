"""The README and the pages of `docs/`: links lead somewhere, commands and examples work, each page has its reader."""

import base64
import datetime as dt
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import docx
import duckdb
import pytest
from standardwebhooks import Webhook

from deployments.cli import COMMANDS, load
from flows.batch_file import read_batch
from tasks.requests.request_list import read_requests
from tasks.scoring.criteria import read_criteria
from tasks.table.columns import read_columns
from tests.flows.conftest import write_room
from tests.servers.openai_server import ModelServer
from tests.waiting import free_port

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = [README, *(ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "tests/README.md"))]
PAGES += sorted(DOCS.glob("*.md"))
EVERYWHERE = {"--help", "--version", "--install-completion"}
"""Options of the command `diligence` itself."""
NOT_RUN = {
    "README.md": {"installs packages": 1},
    "CONTRIBUTING.md": {"runs the tests": 1},
    "tests/README.md": {"runs the tests": 2},
    "docs/formats.md": {"installs packages": 1},
    "docs/google-drive.md": {"needs a Google account": 5},
    "docs/local-models.md": {"needs a model": 1},
}
"""How many blocks of commands each page has that tests do not run, by the reason that stands before them."""


def name_page(page: Path) -> str:
    return str(page.relative_to(ROOT))


def list_blocks(page: Path, language: str) -> list[str]:
    """The blocks of code of a page in one language, without their indentation."""
    return find_blocks(page.read_text("utf-8"), language)


def find_blocks(text: str, language: str) -> list[str]:
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indentation}", "", block, flags=re.MULTILINE) for indentation, block in found]


def list_runnable(page: Path) -> list[str]:
    """The blocks of commands that tests run."""
    text = page.read_text("utf-8")
    return find_blocks(re.sub(r"<!-- not run: .*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE), "sh")


def list_anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def find_calls(page: Path) -> Iterator[list[str]]:
    """The words behind `diligence` wherever a page has the command: in its blocks of commands and within its lines."""
    lines = "\n".join(list_blocks(page, "sh")).replace("\\\n", " ").splitlines()
    for line in [*lines, *re.findall(r"`(diligence [^`]+)`", page.read_text("utf-8"))]:
        found = re.search(r"^(?:.*[\s/])?diligence ((?:--)?[a-z].*)", line.split("  #")[0])
        if found:
            yield found[1].split()


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_links_lead_to_a_file_and_a_heading(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.exists(), target
        assert not anchor or anchor in list_anchors(path), target


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_commands_and_their_options_exist(page: Path) -> None:
    for name, *words in find_calls(page):
        if name.startswith("--"):
            assert name in EVERYWHERE, name
        elif name != "COMMAND":
            assert name in COMMANDS, name
            known = {option for parameter in load(name).params for option in parameter.opts + parameter.secondary_opts}
            used = {word.strip("[]|,") for word in words if word.strip("[]|,").startswith("--")}
            assert used - known - EVERYWHERE == set(), name


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_targets_of_make_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)", page.read_text("utf-8")))
    named |= {name for block in list_blocks(page, "sh") for name in re.findall(r"^make ([a-z-]+)", block, re.MULTILINE)}
    assert named <= targets


def test_each_page_is_listed_for_its_readers() -> None:
    listed = re.findall(r"^\| \[[^]]+\]\(([^)]+)\)", (DOCS / "README.md").read_text("utf-8"), re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert {DOCS / name for name in listed if "/" not in name} == set(DOCS.glob("*.md")) - {DOCS / "README.md"}


def test_the_doors_tell_of_every_command() -> None:
    told = "\n".join(re.findall(r"^\| (`diligence [^|]+) \|", (DOCS / "README.md").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"`(?:diligence )?([a-z-]+)", told)) == set(COMMANDS)


def test_the_glossary_is_in_its_alphabet() -> None:
    words = re.findall(r"^\| ([a-z].*?) \|", (DOCS / "glossary.md").read_text("utf-8"), re.MULTILINE)[1:]
    assert words == sorted(words)
    assert {"claim", "coverage", "passage", "proven share", "run", "status"} <= set(words)


@pytest.mark.parametrize(("page", "most"), [(README, 150), (ROOT / "CHANGELOG.md", 45)], ids=["readme", "changelog"])
def test_pages_at_the_door_are_short(page: Path, most: int) -> None:
    assert len(page.read_text("utf-8").splitlines()) <= most


def test_ci_runs_the_readmes_own_commands(tmp_path: Path) -> None:
    """With a `make` that only writes down what it is asked for, and finds a failure the first time it tests."""
    called = tmp_path / "called"
    for name, script in (("make", f'echo "$@" >> "{called}"\n[ "$1" != test-slow ]'), ("apt-get", "true")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([ROOT / ".ci" / "run"], env=environment, capture_output=True, check=False)
    assert done.returncode == 0
    assert called.read_text().splitlines() == ["--jobs=2 check test", "test-slow", "test-failed"]
    wrong = subprocess.run([ROOT / ".ci" / "run", "other"], env=environment, capture_output=True, check=False)
    assert wrong.returncode == 2


@pytest.mark.parametrize("page", [README, DOCS / "first-batch.md"], ids=name_page)
def test_examples_of_a_batch_can_be_read(page: Path, tmp_path: Path) -> None:
    write_batch(page, tmp_path)
    assert read_batch(tmp_path / "batch.yaml").companies[0].name == "Alpha"


@pytest.mark.parametrize("page", ["criteria.md", "figures.md"])
def test_examples_of_criteria_can_be_read(page: str, tmp_path: Path) -> None:
    for block in list_blocks(DOCS / page, "yaml"):
        file = tmp_path / "file.yaml"
        file.write_text(block)
        if block.startswith("kinds"):
            assert read_columns("file.yaml", tmp_path).columns
            continue
        if block.startswith("requests"):
            assert read_requests(file).items
            continue
        whole = block if block.startswith("scale") else f"scale: [0, 5]\ncriteria:\n{block}"
        (tmp_path / "criteria.yaml").write_text(whole)
        assert read_criteria(tmp_path / "criteria.yaml").criteria


@pytest.mark.parametrize(("language", "read"), [("toml", tomllib.loads), ("json", json.loads)])
def test_examples_of_other_files_can_be_read(language: str, read: Callable[[str], object]) -> None:
    blocks = [block for page in PAGES for block in list_blocks(page, language)]
    assert blocks
    assert all(read(block) for block in blocks)


def test_the_receiver_of_a_webhook_works() -> None:
    (block,) = list_blocks(DOCS / "webhooks.md", "python")
    secret, body = f"whsec_{base64.b64encode(bytes(24)).decode()}", '{"type": "run.finished"}'
    sent = dt.datetime.now(dt.UTC).replace(microsecond=0)
    signature = Webhook(secret).sign("msg_1", sent, body)
    headers = {"webhook-id": "msg_1", "webhook-timestamp": str(int(sent.timestamp())), "webhook-signature": signature}
    names = {"secret": secret, "body": body, "headers": headers}
    exec(block, names)
    assert names["event"] == {"type": "run.finished"}


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_a_block_that_tests_cannot_run_says_why(page: Path) -> None:
    """The comment before the block stands in the source alone."""
    counted = Counter(re.findall(r"<!-- not run: (.*?) -->\n *```sh\n", page.read_text("utf-8")))
    assert counted == NOT_RUN.get(name_page(page), {})


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader's folder after "Your first batch": documents, a batch, and its run."""
    folder = tmp_path_factory.mktemp("finished")
    write_documents(folder)
    write_batch(DOCS / "first-batch.md", folder)
    execute("diligence run batch.yaml", folder)
    return folder


_FIRST_PAGES = (README, DOCS / "first-batch.md", DOCS / "api.md")
"""Those whose commands a newcomer gives first; the other pages' are tried at night."""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.xdist_group("documented commands")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=() if page in _FIRST_PAGES else pytest.mark.nightly, id=name_page(page))
        for page in PAGES
        if list_runnable(page)
    ],
)
def test_the_commands_of_a_page_work_in_their_order(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """From a folder with nothing but documents, or as "Your first batch" leaves it."""
    if page == README:
        write_documents(tmp_path)
    else:
        shutil.copytree(request.getfixturevalue("finished"), tmp_path, dirs_exist_ok=True)
    with ModelServer() as model:
        execute("\n".join(list_runnable(page)), tmp_path, model.url)
    for block in list_blocks(page, "sql"):
        duckdb.connect().execute(f"set file_search_path = '{tmp_path / 'tables'}'; {block}").fetchall()


def write_documents(folder: Path) -> None:
    """What a reader has: data rooms, a fact, and a memo."""
    lease = "The lease ends on 30 June 2031. Six months' notice ends the lease."
    write_room(folder / "rooms" / "alpha", {"Plan.txt": "Revenue was EUR 5 million in 2024.", "Lease.txt": lease})
    write_room(folder / "rooms" / "beta", {"Lease.txt": lease.replace("Six", "Three")})
    write_room(folder, {"facts/alpha.example.json": '{"name": "Alpha", "founded_year": 2012}'})
    memo = docx.Document()
    memo.add_paragraph("Revenue was EUR 5 million in 2024.")
    memo.save(str(folder / "memo.docx"))


def execute(commands: str, folder: Path, model: str = "") -> None:
    """Run commands as a shell does, each in its turn.

    What a reader starts "in a terminal of its own" runs beside the others. Ports are free ones, `model` is the
    address of the model's server, and no other host is asked.
    """
    service, prefect = free_port(), free_port()
    changes = {
        r"http://127\.0\.0\.1:8080/v1": model,
        r"(diligence serve)\b(.*?)( --port 8000)?(?= *#)": rf"\1 --port {service}\2",
        r"(prefect server start)\b": rf"\1 --port {prefect}",
        r"127\.0\.0\.1:8000": f"127.0.0.1:{service}",
        r"127\.0\.0\.1:4200": f"127.0.0.1:{prefect}",
        r"(?m)^(.*diligence serve.*?) *# in a terminal of its own.*$": rf"\1 &\n{WAIT.format(service, 'health/live')}",
        r"(?m)^(.*server start.*?) *# in a terminal of its own.*$": rf"\1 &\n{WAIT.format(prefect, 'api/health')}",
        r"(?m)^(.*?) *# in a terminal of its own.*$": r"\1 &",
    }
    for known, used in changes.items():
        commands = re.sub(known, used, commands)
    ours = ("DILIGENCE_", "OPENAI_", "PREFECT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    kept |= {
        "PATH": f"{Path(sys.prefix) / 'bin'}:{os.environ['PATH']}",
        "PREFECT_HOME": str(folder / "prefect"),
        "DILIGENCE_FACT_SOURCES": "files",
    }
    log = folder / "printed.txt"
    with log.open("w") as printed:
        shell = subprocess.Popen(
            ["bash", "-e", "-c", f"{STRICT}\n{commands}"],
            cwd=folder,
            env=kept,
            stdin=subprocess.PIPE,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            with suppress(BrokenPipeError), shell.stdin as written:  # type: ignore[union-attr] # it is a pipe
                written.write(b"a long password\n")  # for the one command that asks
            status = shell.wait(500)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
    assert status == 0, f"{commands}\n{log.read_text()}"


STRICT = """
curl() { command curl --fail-with-body "$@"; }
diligence() { local status=0; command diligence "$@" || status=$?; [ $status = 0 ] || [ "$1 $status" = "doctor 1" ]; }
"""
"""An answer above 399 is a failure; what `doctor` finds wanting, such as a model that judges badly, is not."""
WAIT = "until curl -s -o /dev/null http://127.0.0.1:{}/{}; do sleep 0.2; done"


def write_batch(page: Path, folder: Path) -> None:
    """Write the page's example of a batch, and criteria for it, into a folder."""
    batch, *criteria = list_blocks(page, "yaml")
    (folder / "batch.yaml").write_text(batch)
    (folder / "criteria.yaml").write_text(criteria[0] if criteria else list_blocks(README, "yaml")[1])
