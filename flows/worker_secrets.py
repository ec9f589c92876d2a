"""Secrets for a run on a Prefect worker: from its environment, else from Secret blocks of the Prefect server.

A block is named after its variable: `OPENAI_API_KEY` may be kept as `openai-api-key`, `DILIGENCE_GOOGLE_CREDENTIALS`
(the file's content) as `diligence-google-credentials`. Prefect's terms: docs.prefect.io/v3/concepts/blocks.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from prefect import get_client
from prefect.client.orchestration import SyncPrefectClient
from prefect.exceptions import ObjectNotFound

from flows.batch_file import Value, secret_files, secrets, variable_of
from storage.settings import override_settings
from tasks.documents.drive.spool import spool
from tasks.errors import NotConfigured
from tasks.tracking import show

_TYPE: Final = "secret"


@contextmanager
def secrets_of_worker(*, is_deployed: bool) -> Iterator[None]:
    """Set the secrets that the environment lacks from the server's Secret blocks while the block runs.

    A secret that a setting names as a file lies in the spool meanwhile, for its owner only.

    Raises:
        NotConfigured: as the block, with the sentence that says how a worker gets its secrets.
    """
    if not is_deployed:
        yield
        return
    in_blocks: dict[str, Any] = {}
    missing = [name for name in (*secrets(), *secret_files()) if not os.environ.get(variable_of(name))]
    show(_look_for, missing, in_blocks)
    with ExitStack() as stack:
        values: dict[str, Value] = {name: _text(in_blocks[name]) for name in secrets() if name in in_blocks}
        files = [name for name in secret_files() if name in in_blocks]
        folder = stack.enter_context(spool()) if files else Path()
        for name in files:
            file = folder / name
            file.touch(mode=0o600)
            file.write_text(_text(in_blocks[name]), encoding="utf-8")
            values[name] = str(file)
        stack.enter_context(override_settings(values))
        try:
            yield
        except NotConfigured as error:
            raise NotConfigured(
                f"{error.message} The worker has a secret in its environment, or takes it from a Secret block of the "
                f"Prefect server that is named after the variable: {block_of('openai_api_key')} for OPENAI_API_KEY."
            ) from error


def block_of(name: str) -> str:
    """The name of the block that may hold this setting: `diligence-google-credentials`."""
    return variable_of(name).lower().replace("_", "-")


def _look_for(names: Sequence[str], in_blocks: dict[str, Any]) -> None:
    with get_client(sync_client=True) as client:
        for name in names:
            value = _secret(client, block_of(name))
            if value:
                in_blocks[name] = value


def _secret(client: SyncPrefectClient, block: str) -> Any:
    """What a Secret block holds, a text or JSON; None where there is no such block."""
    try:
        return client.read_block_document_by_name(block, _TYPE).data.get("value")
    except ObjectNotFound:
        return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
