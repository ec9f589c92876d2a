"""What the wheel is made of, under which licences, and that it needs no network: `SECURITY.md` promises it."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.air_gap import CANARY, separated

REPOSITORY = Path(__file__).parents[1]
DILIGENCE = str(Path(sys.prefix) / "bin" / "diligence")


def _run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=REPOSITORY,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


@pytest.mark.slow
def test_the_list_of_parts_names_what_the_wheel_needs_and_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        done = _run(".ci/sbom.py", tmp_path / name)
        assert done.returncode == 0, done.stderr
    listed = json.loads((tmp_path / "one.json").read_text())

    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert listed["bomFormat"] == "CycloneDX"
    assert listed["metadata"]["component"]["name"] == "diligence"
    names = {component["name"] for component in listed["components"]}
    assert {"lxml", "pypdfium2", "psycopg", "prefect"} <= names
    assert not {"hatchling", "editables", "pytest"} & names
    assert "timestamp" not in listed["metadata"]
    assert "serialNumber" not in listed


@pytest.mark.slow
def test_the_wheel_holds_the_list_of_its_parts(tmp_path: Path) -> None:
    for name in ("api", "deployments", "flows", "storage", "tasks", ".ci"):
        shutil.copytree(REPOSITORY / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "diligence.py"):
        shutil.copy(REPOSITORY / name, tmp_path)
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "diligence.cdx.json").write_text("{}")
    build = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "-w"]
    done = _run(*build, tmp_path / "out", tmp_path)
    assert done.returncode == 0, done.stderr

    with zipfile.ZipFile(next((tmp_path / "out").glob("*.whl"))) as wheel:
        assert [name for name in wheel.namelist() if "/sboms/" in name] == [
            "diligence-1.0.0.dist-info/sboms/diligence.cdx.json"
        ]


def _package(folder: Path, name: str, *said: str) -> None:
    (folder / f"{name}-1.dist-info").mkdir()
    lines = ["Metadata-Version: 2.4", f"Name: {name}", "Version: 1", *said]
    (folder / f"{name}-1.dist-info" / "METADATA").write_text("\n".join(lines) + "\n")


def test_a_licence_that_is_not_allowed_fails_the_check(tmp_path: Path) -> None:
    _package(tmp_path, "shut", "License-Expression: AGPL-3.0-only")
    _package(tmp_path, "bound", "Classifier: License :: OSI Approved :: GNU General Public License v3 (GPLv3)")
    _package(tmp_path, "both", "License-Expression: MIT AND GPL-3.0-or-later")
    _package(tmp_path, "silent")
    _package(tmp_path, "either", "License-Expression: GPL-2.0-only OR MIT")
    lock = tmp_path / "some.lock"
    names = ("shut", "bound", "both", "silent", "either", "gone")
    entries = "\n".join(f"{name}==1 \\\n    --hash=sha256:0" for name in names)
    lock.write_text(entries + "\nelsewhere==1 ; sys_platform == 'win32' \\\n    --hash=sha256:0\n")

    done = _run(".ci/licences.py", lock, PYTHONPATH=str(tmp_path))

    assert done.returncode == 1
    wrong = {line.partition(":")[0] for line in done.stderr.splitlines() if "no explanation" not in line}
    assert wrong == {"shut", "bound", "both", "silent", "gone"}


def test_every_licence_of_the_locks_is_allowed() -> None:
    done = _run(".ci/licences.py", "requirements.lock", "requirements-dev.lock")

    assert done.stderr == ""
    assert done.returncode == 0


def test_onnxruntime_is_told_to_report_nothing_before_it_starts() -> None:
    """What it would report leaves after some seconds; the test below sees it where its commands take as long."""
    code = "import os, sys, tasks; print(os.environ['ORT_DISABLE_TELEMETRY'], 'onnxruntime' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout == "1 False\n"


@pytest.mark.nightly  # a minute and more
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_without_any_route_everything_works_and_no_name_is_looked_up(tmp_path: Path) -> None:
    tried = subprocess.run(separated(tmp_path, ["true"]), capture_output=True, text=True, check=False, timeout=30)
    if tried.returncode:
        pytest.skip(f"no network namespace can be made here: {tried.stderr.strip() or tried.returncode}")
    sample = REPOSITORY / "deployments" / "sample"
    room, report = "rooms/fjordvarm", next((sample / "rooms" / "fjordvarm").rglob("*.pdf"))
    memo = tmp_path / "memo.md"
    memo.write_text("Fjordvarm's revenue grew in 2024.\n")
    core = ["tests/tasks/language", "tests/tasks/memo", "tests/tasks/scoring/test_evidence.py"]
    commands = [
        [sys.executable, "-m", "docs.site.build", str(tmp_path / "built")],  # runs the demo, too
        [DILIGENCE, "text", str(report)],
        [DILIGENCE, "figures", room],
        [DILIGENCE, "check", str(memo), "--room", room, "--out", str(tmp_path / "checked")],
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", *core],
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("DILIGENCE_", "PYTEST_"))}
    environment |= {
        "HOME": str(tmp_path),
        "DILIGENCE_HOME": str(tmp_path / "home"),
        "DILIGENCE_DRIVE_ROOT": str(sample),
        "DILIGENCE_FACT_SOURCES": "files",
    }
    driver = [sys.executable, "-m", "tests.air_gap", json.dumps(commands)]

    done = subprocess.run(
        separated(tmp_path, driver), cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert [status for status, _ in said["ended"]] == [0] * len(commands), said["ended"]
    assert set(said["names"]) == {CANARY}
    assert said["routes"] == []
