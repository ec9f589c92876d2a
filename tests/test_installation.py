"""What `make demo` and `make test` install: from which index, and that it is enough; tests run side by side."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.web.server import LoopbackServer

REPOSITORY = Path(__file__).parents[1]


@pytest.mark.xdist_group("by itself")
def test_tests_of_a_group_stay_in_one_worker(request: pytest.FixtureRequest) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("of tests side by side")
    assert request.node.nodeid.endswith("@by itself"), "pytest-xdist passes groups on in the ids of tests"


@pytest.mark.skipif(
    not (Path(sys.prefix) / "bin" / "uv").exists(), reason="uv could not be had when this environment was installed"
)
@pytest.mark.parametrize("how", ["environment", "file"])
def test_uv_asks_the_index_that_pip_is_configured_for(tmp_path: Path, how: str) -> None:
    with LoopbackServer({}) as index:
        (tmp_path / "pip.conf").write_text(f"[global]\nindex-url = {index.url}/simple\n" if how == "file" else "")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
        environment |= {"PIP_CONFIG_FILE": str(tmp_path / "pip.conf"), "UV_CACHE_DIR": str(tmp_path)}
        if how == "environment":
            environment["PIP_INDEX_URL"] = f"{index.url}/simple"
        done = subprocess.run(
            [sys.executable, ".ci/uv.py", "pip", "compile", "-"],
            input="a-package-of-ours",
            cwd=REPOSITORY,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode != 0  # the index is empty
    assert "/simple/a-package-of-ours/" in index.paths()


def test_all_modules_load_with_what_an_installation_without_extras_has() -> None:
    locked = re.findall(r"^([\w.-]+)(?:\[[^]]*\])?==", (REPOSITORY / "requirements.lock").read_text(), re.MULTILINE)
    ours = {re.sub(r"[-_.]+", "-", name).lower() for name in [*locked, "diligence"]}
    absent = [
        package
        for package, names in packages_distributions().items()
        if ours.isdisjoint(re.sub(r"[-_.]+", "-", name).lower() for name in names)
    ]
    assert "py7zr" in absent
    done = subprocess.run(
        [sys.executable, "-c", _LOAD, json.dumps(absent)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.split() == ["tasks.documents.drive.archives.seven_zip_process", "py7zr"]


_LOAD = """
import json, sys
from importlib import import_module
from pathlib import Path

sys.modules.update(dict.fromkeys(json.loads(sys.argv[1])))
sys.path.insert(0, ".")
for package in ("api", "deployments", "flows", "storage", "tasks"):
    for path in sorted(Path(package).rglob("*.py")):
        if {"migrations", "sample"} & {*path.parts}:
            continue
        try:
            import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
        except ModuleNotFoundError as error:
            print(".".join(path.with_suffix("").parts), error.name)
"""
"""Prints each module that a package is missing for, and the package."""
