"""An installation beside another package `tasks`, `api` … says whose it is and how to mend it, and runs none of it."""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases import cases

REPOSITORY = Path(__file__).parents[1]
PACKAGES = ("api", "deployments", "flows", "storage", "tasks")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages with the wheel unpacked in it."""
    folder = tmp_path_factory.mktemp("site")
    source = folder / "source"
    for name in (*PACKAGES, ".ci"):
        shutil.copytree(REPOSITORY / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "build"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "diligence.py"):
        shutil.copy(REPOSITORY / name, source)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
    build = [sys.executable, "-m", "pip", "wheel", *options, str(source)]
    subprocess.run(build, check=True, capture_output=True, timeout=120)
    unpack(next(folder.glob("*.whl")), folder / "site")
    return folder / "site"


@pytest.fixture
def installed(site: Path, tmp_path: Path) -> Path:
    return shutil.copytree(site, tmp_path / "site")


def unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(folder)


def install_foreign(folder: Path, mark: Path, *modules: str) -> None:
    """Install a made wheel with these modules, each of which leaves a mark where it is imported."""
    wheel = folder.parent / "taskpack-3.1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        for module in modules:
            made.writestr(module, f"open({str(mark)!r}, 'a').write(__name__)\n")
        made.writestr("taskpack-3.1.dist-info/METADATA", "Metadata-Version: 2.4\nName: taskpack\nVersion: 3.1\n")
        made.writestr("taskpack-3.1.dist-info/RECORD", "".join(f"{module},,\n" for module in modules))
    unpack(wheel, folder)


def version(*paths: Path | str, here: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-c", "from diligence import main; main()", "--version"]
    path = os.pathsep.join(map(str, paths))
    return subprocess.run(
        command,
        cwd=here,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


Change = Callable[[Path, Path], list[Path]]
MEND = ("pipx install diligence", "uninstall taskpack", "--force-reinstall --no-deps diligence")


@cases("package", PACKAGES)
def test_the_command_knows_its_own_packages(package: str) -> None:
    source = (REPOSITORY / "diligence.py").read_text()
    opening = (REPOSITORY / package / "__init__.py").read_text().removeprefix('"""').split("\n")[0]
    known = next(line for line in source.splitlines() if line.strip().startswith(f'"{package}": "'))
    assert opening.startswith(known.split('"')[3])


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_of_another_distribution_is_named_and_not_run(installed: Path, tmp_path: Path, package: str) -> None:
    other, mark = tmp_path / "other", tmp_path / "mark"
    install_foreign(other, mark, f"{package}/__init__.py")
    if package == "deployments":  # it is taken from where the command lies
        assert version(other, installed, here=tmp_path).stdout == "1.0.0\n"
    else:
        in_front = version(other, installed, here=tmp_path)
        assert f"`{package}`. taskpack 3.1 installs one too ({other / package})" in in_front.stderr
        assert in_front.returncode == 1
    install_foreign(installed, mark, f"{package}/__init__.py")
    written_over = version(installed, here=tmp_path)
    assert f"`{package}`. taskpack 3.1 installs one too ({installed / package})" in written_over.stderr
    assert [words for words in MEND if words not in written_over.stderr] == []
    assert (written_over.returncode, "Traceback" in written_over.stderr, mark.exists()) == (1, False, False)


@pytest.mark.slow
def test_one_module_written_over_or_a_package_removed_is_told_too(installed: Path, tmp_path: Path) -> None:
    assert version(installed, here=tmp_path).stdout == "1.0.0\n"
    install_foreign(installed, tmp_path / "mark", "deployments/terminal.py")
    assert "`deployments`. taskpack 3.1 installs one too" in (told := version(installed, here=tmp_path)).stderr
    assert "Traceback" not in told.stderr
    (installed / "flows" / "__init__.py").unlink()
    assert "own package `flows`" in version(installed, here=tmp_path).stderr


@pytest.mark.slow
def test_a_folder_in_front_is_named_and_the_current_one_is_not_looked_at(installed: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    for package in PACKAGES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(f"open({str(mark)!r}, 'a').write(__name__)\n")
    assert version("", installed, here=tmp_path).stdout == "1.0.0\n"
    in_front = version(tmp_path, installed, here=tmp_path.parent)
    assert f"{tmp_path / 'api'} stands in front of it. " in in_front.stderr
    assert "out of PYTHONPATH" in in_front.stderr
    assert not mark.exists()
