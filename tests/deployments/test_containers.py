"""The files that operators start from: Dockerfile, compose.yaml, units, manifests, alerts and dashboard.

The services of compose.yaml are started here as processes, with its own commands, settings and secrets.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cases import cases
from tests.deployments.test_settings import names
from tests.waiting import free_port, wait_for

REPOSITORY = Path(__file__).parents[2]
DEPLOYMENTS = REPOSITORY / "deployments"
BIN = REPOSITORY / ".venv" / "bin"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOYMENTS / "compose.yaml").read_text())
MANIFESTS: list[dict[str, Any]] = list(yaml.safe_load_all((DEPLOYMENTS / "kubernetes" / "diligence.yaml").read_text()))
OURS = ("migrate", "service", "worker")


def test_compose_has_every_part_with_its_limits_and_checks() -> None:
    services = COMPOSE["services"]
    assert set(services) == {"database", "prefect", "migrate", "service", "proxy", "worker"}
    assert [services[name]["deploy"]["replicas"] for name in ("service", "worker")] == [2, 2]
    for name, service in services.items():
        assert set(service["deploy"]["resources"]["limits"]) >= {"cpus", "memory"}, name
        assert service["healthcheck"] if name not in {"migrate", "service"} else True, name  # the image has its own
        assert service.get("read_only") is True or name == "database", name
    assert "CREATE EXTENSION IF NOT EXISTS pg_trgm" in COMPOSE["configs"]["prefect_database"]["content"]
    recorder = "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER"
    assert {f"{recorder}_BATCH_SIZE", f"{recorder}_FLUSH_INTERVAL"} <= services["prefect"]["environment"].keys()


def test_no_password_has_a_default() -> None:
    text = (DEPLOYMENTS / "compose.yaml").read_text()
    given = [name for service in COMPOSE["services"].values() for name in service.get("environment", ())]
    assert [name for name in given if re.search("PASSWORD|KEY|AUTH", name)] == ["POSTGRES_PASSWORD_FILE"]
    assert all(set(secret) == {"file"} for secret in COMPOSE["secrets"].values())
    assert not re.search(r"\$\{\w*(PASSWORD|KEY|AUTH)\w*:-", text)


@cases("file", ["compose.yaml", "Dockerfile", "kubernetes/diligence.yaml", "systemd/diligence.service"])
def test_every_setting_that_is_named_exists(file: str) -> None:
    found = set(re.findall(r"\b(?:DILIGENCE|OPENAI)_[A-Z_]+[A-Z]\b", (DEPLOYMENTS / file).read_text()))
    assert found
    assert found <= names() | {"OPENAI_BASE_URL", "OPENAI_API_KEY"}


def test_all_ways_to_deploy_start_the_same_programs() -> None:
    pods = [one["spec"]["template"]["spec"] for one in MANIFESTS if one["kind"] in {"Deployment", "Job"}]
    started = {" ".join(pod["containers"][0]["args"][:2]) for pod in pods}
    units = "\n".join(file.read_text() for file in (DEPLOYMENTS / "systemd").glob("*.service"))
    assert {" ".join(COMPOSE["services"][name]["command"][:2]) for name in OURS} == started
    for program in started:
        assert re.search(rf"^ExecStart=.*/{program}", units, re.MULTILINE), program
    for pod in pods:
        assert pod["securityContext"]["runAsUser"] == 10001
        assert pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"] is True


@pytest.mark.parametrize("file", ["alerts.yaml", "dashboard.json"])
def test_every_figure_that_is_watched_is_told(file: str) -> None:
    watched = (DEPLOYMENTS / "monitoring" / file).read_text()
    told = set(
        re.findall(r'"(diligence_\w+)"', "".join(path.read_text() for path in (REPOSITORY / "api").glob("*.py")))
    )
    asked = {re.sub("_(total|bucket)$", "", name) for name in re.findall(r"\bdiligence_\w+", watched)}
    assert asked
    assert asked - told == set()
    if file.endswith(".json"):
        assert all(panel["targets"] for panel in json.loads(watched)["panels"])


@pytest.mark.slow  # it needs a program that few machines have
@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed (package prometheus)")
def test_prometheus_takes_the_alert_rules_and_what_the_dashboard_asks(tmp_path: Path) -> None:
    panels = json.loads((DEPLOYMENTS / "monitoring" / "dashboard.json").read_text())["panels"]
    asked = [re.sub(r"\$__\w+", "5m", target["expr"]) for panel in panels for target in panel["targets"]]
    rules = [{"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(asked)]
    dashboard = tmp_path / "dashboard.yaml"
    dashboard.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    for file in (DEPLOYMENTS / "monitoring" / "alerts.yaml", dashboard):
        done = subprocess.run(["promtool", "check", "rules", file], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def server_binaries() -> Path:
    """The programs of a PostgreSQL with pg_trgm, as Prefect's server needs it."""
    for binaries in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if Path(f"/usr/share/postgresql/{binaries.parent.name}/extension/pg_trgm.control").exists():
            return binaries
    pytest.skip("there is no PostgreSQL with pg_trgm (package postgresql)")


@pytest.fixture
def server_port(server_binaries: Path) -> Iterator[int]:
    """PostgreSQL as compose.yaml has it: the user diligence with a password, two databases."""
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    folder = Path(subprocess.check_output([*user, "mktemp", "-d", "/tmp/postgres-XXXXXX"], text=True).strip())
    word = folder / "word"
    subprocess.run([*user, "sh", "-c", f"printf right-word > {word}"], check=True)
    made = ["--auth=scram-sha-256", "--username=diligence", f"--pwfile={word}", str(folder / "data")]
    subprocess.run([*user, server_binaries / "initdb", *made], check=True, capture_output=True)
    port = free_port()
    flags = ["-D", str(folder / "data"), "-p", str(port), "-k", str(folder), "-h", "127.0.0.1"]
    with subprocess.Popen([*user, server_binaries / "postgres", *flags], stderr=subprocess.DEVNULL) as server:
        psql = ["psql", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(port), "-U", "diligence"]
        environment = os.environ | {"PGPASSWORD": "right-word"}
        try:
            wait_for(lambda: subprocess.run([*psql, "-c", "SELECT 1", "postgres"], env=environment, check=False,
                                         capture_output=True).returncode == 0)  # fmt: skip
            script = "CREATE DATABASE diligence;\n" + COMPOSE["configs"]["prefect_database"]["content"]
            subprocess.run([*psql, "postgres"], env=environment, input=script, text=True, check=True,
                           capture_output=True)  # fmt: skip
            yield port
        finally:
            server.send_signal(signal.SIGINT)  # fast: it ends what is connected
            server.wait(60)
            shutil.rmtree(folder, ignore_errors=True)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


class Machine:
    """The services of compose.yaml as processes of this machine, with other ports."""

    def __init__(self, folder: Path, database: int) -> None:
        self.folder, self.prefect, self.database = folder, free_port(), database
        words = {name: f"word-of-{name}" for name in COMPOSE["secrets"]}
        words |= {"database_password": "right-word", "prefect_auth": "diligence:right-word", "openai_api_key": ""}
        words["secret_key"] = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
        self.words = words
        (folder / "rooms").mkdir()

    def start(self, service: str, number: int = 1, port: int = 0) -> subprocess.Popen[str]:
        described = COMPOSE["services"][service]
        home = self.folder / f"{service}-{number}"
        secrets = home / "secrets"
        secrets.mkdir(parents=True)
        for secret in described["secrets"]:
            (secrets / secret["target"]).write_text(self.words[secret["source"]])
        environment = {name: self.here(str(value)) for name, value in described["environment"].items()}
        environment |= {
            "PATH": f"{BIN}:/usr/bin:/bin",
            "HOME": str(home),
            "DILIGENCE_HOME": str(home),
            "PREFECT_HOME": str(home / "prefect"),
            "PREFECT_WORKER_WEBSERVER_PORT": str(port),
            "DILIGENCE_SECRETS_DIR": str(secrets),
            "DILIGENCE_DRIVE_ROOT": str(self.folder / "rooms"),
            "DILIGENCE_LOG_FORMAT": "json",
        }
        if service == "prefect":
            environment["PREFECT_SERVER_DATABASE_PORT"] = str(self.database)
        if "PREFECT_LOGGING_SETTINGS_PATH" in environment:
            environment["PREFECT_LOGGING_SETTINGS_PATH"] = str(DEPLOYMENTS / "container" / "logging.yaml")
        command = [self.here(word) for word in described["command"]]
        command = [
            str(port) if before == "--port" else word for before, word in zip(["", *command], command, strict=False)
        ]
        words = [str(DEPLOYMENTS / "container" / "entrypoint"), *command]
        with (home / "log").open("w") as log, (home / "out").open("w") as out:
            return subprocess.Popen(words, env=environment, cwd=home, stderr=log, stdout=out, text=True)

    def here(self, value: str) -> str:
        """A word of compose.yaml with the addresses of this machine, and nothing where the caller's settings stand."""
        value = re.sub(r"\$\{SITE\b[^}]*\}", "127.0.0.1", value)
        value = re.sub(r"\$\{\w+(?::[?-][^}]*)?\}", "", value).replace("0.0.0.0", "127.0.0.1")
        value = re.sub("^database$", "127.0.0.1", value.replace("@database/", f"@127.0.0.1:{self.database}/"))
        return value.replace("http://prefect:4200", f"http://127.0.0.1:{self.prefect}")

    def log(self, service: str, number: int = 1) -> str:
        return (self.folder / f"{service}-{number}" / "log").read_text()


@pytest.mark.nightly  # a minute and more
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_services_of_compose_work_together(
    server_port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(os.environ):
        if name.startswith(("DILIGENCE_", "PREFECT_", "OPENAI_")):
            monkeypatch.delenv(name)
    machine = Machine(tmp_path, server_port)
    with ExitStack() as running:

        def start(service: str, number: int = 1, port: int = 0) -> subprocess.Popen[str]:
            process = machine.start(service, number, port)
            running.callback(process.wait, 60)
            running.callback(process.terminate)
            return process

        start("prefect", port=machine.prefect)
        assert start("migrate").wait(120) == 0, machine.log("migrate")
        assert "was brought to the schema" in (tmp_path / "migrate-1" / "out").read_text()
        ports, health = [free_port(), free_port()], [free_port(), free_port()]
        for number, port in enumerate(ports):
            start("service", number, port)
        for port in ports:
            wait_for(partial(answers, f"http://127.0.0.1:{port}/health/ready"))
        wait_for(lambda: answers(f"http://127.0.0.1:{machine.prefect}/api/health"))
        for number, port in enumerate(health):
            start("worker", number, port)
        for port in health:
            wait_for(partial(answers, f"http://127.0.0.1:{port}/health"))

        asked = urllib.request.Request(
            f"http://127.0.0.1:{ports[0]}/metrics", headers={"X-API-Key": machine.words["api_keys"]}
        )

        def figures() -> str:
            with urllib.request.urlopen(asked, timeout=30) as answer:
                return str(answer.read().decode())

        wait_for(lambda: 'diligence_workers{pool="diligence",status="online"} 2.0' in figures())
        assert "diligence_connections{" in figures()
        for line in machine.log("worker", 0).splitlines():
            assert json.loads(line)["level"], line
        for service in ("migrate", "service", "worker"):
            assert not any(
                word in machine.log(service, 0 if service != "migrate" else 1) for word in ("right-word", "word-of")
            )
