"""LiteLLM's proxy between us and llama.cpp's server: `make real-servers` installs it."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tasks.ai.openai.answerer import OpenAiAnswerer
from tasks.ai.openai.protocols import RequestFormat
from tests.real_models.llama_server import REPOSITORY, LlamaServer
from tests.real_models.test_answers import HERONS, Opinion, assert_all_is_well
from tests.servers.recorder import Recorder
from tests.waiting import free_port

PROXY = REPOSITORY / ".servers" / "bin" / "litellm"
KEY = "sk-a-key-of-these-tests-alone"  # it wants one of at least so many characters

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not PROXY.exists(), reason="not installed: LiteLLM (make real-servers installs it)"),
]


@pytest.fixture
def proxy(smollm2: LlamaServer, tmp_path: Path) -> Iterator[tuple[str, Recorder]]:
    """The proxy's address, and what passes between it and the server behind it."""
    port = free_port()
    with Recorder(smollm2.url) as behind:
        entry = {"model": f"openai/{smollm2.model}", "api_base": behind.url, "api_key": "none"}
        models = [{"model_name": smollm2.model, "litellm_params": entry}]
        (tmp_path / "litellm.yaml").write_text(
            json.dumps({"model_list": models, "general_settings": {"master_key": KEY}})
        )
        config = str(tmp_path / "litellm.yaml")
        words = [str(PROXY), "--config", config, "--host", "127.0.0.1", "--port", str(port)]
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        with (tmp_path / "litellm.log").open("w") as log:
            process = subprocess.Popen(words, env=environment, stdout=log, stderr=log)
        try:
            while not _answers(f"http://127.0.0.1:{port}/health/liveliness"):
                assert process.poll() is None, (tmp_path / "litellm.log").read_text()
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}/v1", behind
        finally:
            process.kill()
            process.wait()


def _answers(address: str) -> bool:
    try:
        return httpx.get(address, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def test_a_judgement_through_the_proxy_keeps_to_its_schema(home: Path, proxy: tuple[str, Recorder]) -> None:
    address, behind = proxy
    with Recorder(address) as before:
        answerer = OpenAiAnswerer("smollm2", base_url=before.url, key=KEY, probes=True)
        answerer.prepare()
        found = answerer.capabilities
        assert RequestFormat.RESPONSES in found.loose  # it passes the schema on to a server that ignores it there
        assert answerer.judge("Were there herons?", HERONS, Opinion).value.reason
        assert_all_is_well(before.asked)
    assert_all_is_well(behind.asked)
    assert len(behind.asked) == len(before.asked)
