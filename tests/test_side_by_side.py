"""What `make test` runs on: tests in forked workers are reported as if one process had run them."""

import re
import subprocess
import sys
from pathlib import Path

ONE_MODULE = """
import os, signal, pytest

pytestmark = [pytest.mark.group("{name}"[0])]
made = []

@pytest.fixture(scope="module")
def shared():
    made.append(os.getpid())

def test_first(shared, tmp_path):
    (tmp_path.parents[1] / "{name}").write_text(str(os.getpid()))

def test_second(shared):
    print("printed by the second")
    assert made == [os.getpid()], "one worker runs all of a module"
    {second}
"""


def test_workers_share_the_modules_and_report_all_that_fails(tmp_path: Path) -> None:
    done = run(tmp_path, first="", second="assert False, 'said'", third="pytest.skip('not here')", fourth="")
    assert done.returncode == 1
    assert re.search(r"1 failed, 6 passed, 1 skipped", done.stdout)
    assert "said" in done.stdout
    assert "printed by the second" in done.stdout
    ran_in = {name: (tmp_path / "made" / name).read_text() for name in ("first", "second", "third", "fourth")}
    assert ran_in["first"] == ran_in["fourth"], "both are of one group"


def test_a_worker_that_is_killed_is_a_failure_of_each_test_that_it_did_not_report(tmp_path: Path) -> None:
    done = run(tmp_path, first="", second="os.kill(os.getpid(), signal.SIGKILL)", third="", fourth="")
    assert done.returncode == 1
    assert "FAILED test_second.py::test_second - Not reported: workers ended with [-9, 0]" in done.stdout


def test_no_group_is_begun_after_the_first_failure_where_one_is_enough(tmp_path: Path) -> None:
    failures = dict.fromkeys(("first", "second", "third", "fourth"), "assert False")
    done = run(tmp_path, "--exitfirst", **failures)
    assert done.returncode == 1
    assert "stopping after" in done.stdout


def run(folder: Path, *options: str, **modules: str) -> subprocess.CompletedProcess[str]:
    """Run four modules in two workers."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = group\n")
    for name, second in modules.items():
        folder.joinpath(f"test_{name}.py").write_text(ONE_MODULE.format(name=name, second=second))
    plugins = ["-p", "tests.side_by_side", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *plugins, "--jobs", "2", "--basetemp", "made", "-rf", *options]
    environment = {"PYTHONPATH": str(Path(__file__).parents[1]), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
