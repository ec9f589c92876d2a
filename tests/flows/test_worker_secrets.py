"""The secrets of a deployed run: from the worker's environment, else from Secret blocks of the Prefect server."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from prefect import flow
from prefect.blocks.system import Secret
from prefect.client.orchestration import get_client

from flows.batch import batch
from flows.batch_definition import DeployedBatch
from flows.batch_file import read_batch
from flows.engine import set_worker_secrets
from storage import database, runs
from tasks.ai.answerer import AiSettings
from tasks.documents.drive.google import GoogleDriveSettings
from tasks.errors import NotConfigured

pytestmark = pytest.mark.usefixtures("prefect_server")

ACCOUNT = {"type": "service_account", "client_email": "deals@example.iam"}


@pytest.fixture
def blocks(prefect_server: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two secrets on the server, of which the environment has none."""
    for variable in ("OPENAI_API_KEY", "DILIGENCE_GOOGLE_CREDENTIALS"):
        monkeypatch.delenv(variable, raising=False)
    held = {"openai-api-key": "sk-on-the-server", "diligence-google-credentials": ACCOUNT}
    for name, value in held.items():
        Secret(value=value).save(name, overwrite=True)
    yield
    with get_client(sync_client=True) as client:
        for name in held:
            client.delete_block_document(client.read_block_document_by_name(name, "secret").id)


def key() -> str | None:
    held = AiSettings.current().openai_api_key
    return held.get_secret_value() if held else None


@flow
def seen_by_a_run(*, is_deployed: bool) -> tuple[str | None, Path | None, str]:
    """What a run on a worker has: the model's key, the file of the drive's account, and what is in it."""
    with set_worker_secrets(is_deployed=is_deployed):
        file = GoogleDriveSettings.current().google_credentials
        if file is not None:
            assert file.stat().st_mode & 0o077 == 0
        return key(), file, file.read_text() if file else ""


@pytest.mark.usefixtures("blocks", "home")
def test_a_worker_takes_what_its_environment_lacks_from_the_servers_blocks() -> None:
    held, file, content = seen_by_a_run(is_deployed=True)
    assert held == "sk-on-the-server"
    assert json.loads(content) == ACCOUNT
    assert file is not None
    assert not file.exists()
    assert key() is None


@pytest.mark.usefixtures("blocks", "home")
def test_the_workers_own_environment_counts_before_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-worker")
    assert seen_by_a_run(is_deployed=True)[0] == "sk-of-the-worker"


@pytest.mark.usefixtures("blocks", "home")
def test_a_run_of_the_command_looks_for_no_block() -> None:
    assert seen_by_a_run(is_deployed=False) == (None, None, "")


@pytest.mark.parametrize(
    ("settings", "variable"),
    [({"drive": "google"}, "DILIGENCE_GOOGLE_CREDENTIALS"), ({"ai_model": "a-model"}, "OPENAI_API_KEY")],
    ids=["drive", "model"],
)
def test_what_a_worker_lacks_is_named_before_anything_starts(
    batch_file: Path, settings: dict[str, str], variable: str
) -> None:
    screen = read_batch(batch_file)
    deployed = DeployedBatch.of(replace(screen, settings={**screen.settings, **settings}))
    with pytest.raises(NotConfigured) as missing:
        batch(batch_file, definition=deployed)
    assert variable in missing.value.message
    assert "Secret block" in missing.value.message
    with database.reading() as session:
        assert runs.newest_runs(session, 1) == []
