"""The README and the pages of `docs/`: links lead somewhere, commands and examples work, each page has its reader."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from deployments.cli import COMMANDS, load
from flows.batch_file import read_batch
from tasks.requests.request_list import read_requests
from tasks.scoring.criteria import read_criteria
from tasks.table.columns import read_columns
from tests.flows.conftest import write_room
from tests.homes import make_home

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = [README, *(ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "tests/README.md"))]
PAGES += sorted(DOCS.glob("*.md"))
EVERYWHERE = {"--help", "--version", "--install-completion"}
"""Options of the command `diligence` itself."""


def name_page(page: Path) -> str:
    return str(page.relative_to(ROOT))


def list_blocks(page: Path, language: str) -> list[str]:
    """The blocks of code in one language, without their indentation."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indentation}", "", block, flags=re.MULTILINE) for indentation, block in found]


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


def test_the_readme_is_short() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 150


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


def test_examples_of_toml_can_be_read() -> None:
    blocks = [block for page in PAGES for block in list_blocks(page, "toml")]
    assert all(tomllib.loads(block) for block in blocks)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_readmes_commands_work_in_their_order(tmp_path: Path) -> None:
    """Those that neither install nor serve: each in the folder of the project, as a reader would have it."""
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "diligence").symlink_to(Path(sys.prefix) / "bin" / "diligence")
    shutil.copytree(ROOT / "deployments" / "sample", tmp_path / "deployments" / "sample")
    shutil.copytree(DOCS, tmp_path / "docs")
    write_room(tmp_path / "rooms" / "alpha", {"Plan.txt": "Revenue was EUR 5 million in 2024."})
    write_batch(README, tmp_path)
    blocks = [block for block in list_blocks(README, "sh") if "make " not in block and " serve" not in block]
    assert len(blocks) == 3
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DILIGENCE_", "OPENAI_"))}
    kept |= {"DILIGENCE_HOME": str(make_home(tmp_path / "home")), "DILIGENCE_FACT_SOURCES": "files"}
    for block in blocks:
        done = subprocess.run(
            ["bash", "-e", "-c", block],
            cwd=tmp_path,
            env=kept,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert done.returncode == 0, f"{block}\n{done.stderr}"
    assert (tmp_path / "report.xlsx").stat().st_size
    assert list((tmp_path / "texts").rglob("*.txt"))


def write_batch(page: Path, folder: Path) -> None:
    """Write the page's example of a batch, and criteria for it, into a folder."""
    batch, *criteria = list_blocks(page, "yaml")
    (folder / "batch.yaml").write_text(batch)
    (folder / "criteria.yaml").write_text(criteria[0] if criteria else list_blocks(README, "yaml")[1])
