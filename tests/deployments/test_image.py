"""The image, built from the Dockerfile and run, without a registry: on a base that debootstrap makes.

A store that is kept makes the second build quick: DILIGENCE_TEST_IMAGES names a folder for it.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deployments.test_containers import DEPLOYMENTS, REPOSITORY, answers
from tests.waiting import free_port, wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.nightly,
    pytest.mark.timeout(3600),  # pip takes a quarter of an hour on a machine that is busy
]
MISSING = [tool for tool in ("buildah", "podman", "debootstrap") if shutil.which(tool) is None]


class Images:
    """A store of images, and what the tools need to know of it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.store = ["--storage-driver", "vfs", "--root", str(folder / "store"), "--runroot", str(folder / "run")]
        descriptors, processes = (
            min(resource.getrlimit(kind)[1], 32768) for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC)
        )
        limits = f'default_ulimits = ["nofile={descriptors}:{descriptors}", "nproc={processes}:{processes}"]'
        (folder / "containers.conf").write_text(f"[containers]\n{limits}\n")
        self.environment = os.environ | {"CONTAINERS_CONF": str(folder / "containers.conf")}

    def call(self, program: str, *words: str) -> str:
        done = subprocess.run(
            [program, *self.store, *words],
            env=self.environment,
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout.strip()

    def make_base(self, name: str) -> None:
        """What `FROM name` needs, by debootstrap from the mirror that apt uses here."""
        if self.call("buildah", "images", "--quiet", "--filter", f"reference={name}"):
            return
        sources = "".join(file.read_text() for file in Path("/etc/apt").glob("sources.list*/*")) + (
            Path("/etc/apt/sources.list").read_text() if Path("/etc/apt/sources.list").exists() else ""
        )
        mirror = re.search(r"https?://\S*debian/?(?=\s)", sources)
        if mirror is None:
            pytest.skip("apt names no mirror of Debian")
        root = self.folder / "root"
        included = "--include=python3,python3-venv,ca-certificates,make"
        made = subprocess.run(
            ["debootstrap", "--variant=minbase", included, "bookworm", root, mirror[0]],
            capture_output=True,
            check=False,
        )
        if made.returncode:
            pytest.skip("debootstrap cannot make a base here")
        importing = ["podman", *self.store, "import", "-", name]
        with subprocess.Popen(["tar", "-C", root, "-c", "."], stdout=subprocess.PIPE) as archive:
            subprocess.run(importing, stdin=archive.stdout, check=True, capture_output=True)
        shutil.rmtree(root)

    def build(self, target: str) -> str:
        image = f"diligence:{target}"
        mounts = [f"--volume={path}:{path}:ro" for path in pip_sources()]
        self.call(
            "buildah", "build", "--layers", "--isolation", "chroot", "--pull-never",
            "--ignorefile", str(DEPLOYMENTS / "Dockerfile.dockerignore"), *mounts,
            "--target", target, "-t", image, "-f", str(DEPLOYMENTS / "Dockerfile"), ".",
        )  # fmt: skip
        return image


def pip_sources() -> list[str]:
    """What pip on this machine is configured with: files and folders that a build finds in the same places."""
    configured = subprocess.check_output([sys.executable, "-m", "pip", "config", "debug"], text=True)
    files = re.findall(r"(/\S+pip\.conf), exists: True", configured)
    named = "".join(Path(file).read_text() for file in files)
    # an index in files links to packages beside its folder
    folders = {str(Path(match).parent) for match in re.findall(r"file://(/[\w./-]+)", named) if Path(match).exists()}
    folders |= {match for match in re.findall(r"(?<![/:])(/\w[\w./-]+)", named) if Path(match).exists()}
    return [*files, *sorted(folders), "/etc/ssl/certs"]


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Images:
    if MISSING or os.geteuid() != 0:
        pytest.skip(f"building an image needs root and {', '.join(MISSING) or 'its tools'}")
    kept = os.environ.get("DILIGENCE_TEST_IMAGES")
    return Images(Path(kept) if kept else tmp_path_factory.mktemp("images"))


@pytest.fixture(scope="module")
def container(images: Images) -> Iterator[str]:
    base = re.search(r"^ARG BASE=(\S+)", (DEPLOYMENTS / "Dockerfile").read_text(), re.MULTILINE)
    assert base is not None
    images.make_base(base[1])
    name = images.call("buildah", "from", "--pull-never", f"localhost/{images.build('slim')}")
    yield name
    images.call("buildah", "rm", name)


def command(images: Images, container: str, *words: str) -> list[str]:
    return ["buildah", *images.store, "run", "--isolation", "chroot", container, "--", "entrypoint", *words]


def run(images: Images, container: str, script: str) -> subprocess.CompletedProcess[str]:
    words = command(images, container, "sh", "-c", script)
    return subprocess.run(words, env=images.environment, capture_output=True, text=True, check=False)


def test_it_runs_as_nobody_and_writes_to_its_home_and_tmp_alone(images: Images, container: str) -> None:
    done = run(images, container, "id -u")
    assert done.stdout == "10001\n", done.stderr
    assert "diligence" in run(images, container, "diligence --help").stdout
    for folder in ("/opt/diligence", "/usr/bin", "/etc", "/srv/rooms", "/"):
        assert run(images, container, f"touch {folder}/x").returncode != 0, folder
    assert run(images, container, "touch /var/lib/diligence/x /tmp/x /srv/reports/x").returncode == 0
    assert run(images, container, "pip --version").returncode != 0, "nothing is installed later"
    assert "No such file" in run(images, container, "ls /source").stderr, "the source stayed in the first stage"


def test_secrets_of_prefect_come_from_files(images: Images, container: str) -> None:
    script = (
        "mkdir /tmp/s; printf 'user:word' > /tmp/s/PREFECT_API_AUTH_STRING; DILIGENCE_SECRETS_DIR=/tmp/s entrypoint env"
    )
    assert "PREFECT_API_AUTH_STRING=user:word" in run(images, container, script).stdout


def test_it_serves_and_is_stopped(images: Images, container: str) -> None:
    port = free_port()  # the network is the machine's
    words = command(images, container, "diligence", "serve", "--port", str(port))
    with subprocess.Popen(words, env=images.environment, stderr=subprocess.PIPE, text=True) as serving:
        try:
            wait_for(lambda: answers(f"http://127.0.0.1:{port}/health/ready"))
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/schema/openapi.json", timeout=30) as answer:
                assert b"/v1/drive/document-index" in answer.read()
        finally:
            serving.terminate()
            time.sleep(1)
            serving.kill()
