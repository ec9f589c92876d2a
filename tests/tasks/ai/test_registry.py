"""The registry: which answerer the settings ask for, and what is wrong with settings that cannot work."""

import subprocess
import sys

import pytest

from storage.settings import override_settings
from tasks.ai.extractive import ExtractiveAnswerer
from tasks.ai.openai.answerer import OPENAI, OpenAiAnswerer
from tasks.ai.registry import current_answerer
from tasks.errors import NotConfigured
from tests.servers.openai_server import ModelServer


def test_without_settings_no_model_is_asked(settings: pytest.MonkeyPatch) -> None:
    assert isinstance(current_answerer(), ExtractiveAnswerer)


def test_a_key_alone_asks_no_model(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("OPENAI_API_KEY", "sk-1")
    assert isinstance(current_answerer(), ExtractiveAnswerer)


def test_a_model_and_a_key_ask_openai(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("DILIGENCE_AI_MODEL", "large")
    settings.setenv("OPENAI_API_KEY", "sk-1")
    assert (current_answerer().name, current_answerer().address) == ("openai-compatible large", OPENAI)


def test_a_model_without_key_and_address_names_both_settings(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("DILIGENCE_AI_MODEL", "large")
    with pytest.raises(NotConfigured, match=r"OPENAI_API_KEY.*OPENAI_BASE_URL"):
        current_answerer()


@pytest.mark.parametrize(
    "address", ["localhost:8080", "ftp://a/v1", "http://", "http://a:99999", "http://[", "nonsense"]
)
def test_an_address_that_is_none_names_its_setting(settings: pytest.MonkeyPatch, address: str) -> None:
    settings.setenv("DILIGENCE_AI_MODEL", "large")
    settings.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(NotConfigured, match="OPENAI_BASE_URL"):
        current_answerer()


@pytest.mark.parametrize("key", ["“sk-1”", "sk-1\nsk-2", "sk…"])
def test_a_key_that_can_be_none_names_its_setting_and_not_itself(settings: pytest.MonkeyPatch, key: str) -> None:
    settings.setenv("DILIGENCE_AI_MODEL", "large")
    settings.setenv("OPENAI_API_KEY", key)
    with pytest.raises(NotConfigured, match="OPENAI_API_KEY") as failed:
        current_answerer()
    assert "sk" not in failed.value.message


def test_white_space_around_settings_does_no_harm(settings: pytest.MonkeyPatch) -> None:
    with ModelServer() as server:
        settings.setenv("DILIGENCE_AI_MODEL", " small ")
        settings.setenv("OPENAI_API_KEY", "sk-1\n")
        settings.setenv("OPENAI_BASE_URL", f" {server.url}/\n")
        assert current_answerer().answer("Is it?", []).text
    assert server.requests[0].headers["authorization"] == "Bearer sk-1"


def test_the_batch_may_say_which_model(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    settings.setenv("DILIGENCE_AI_MODEL", "large")
    with override_settings({"ai_model": "small", "openai_base_url": "http://127.0.0.1:2/v1"}):
        assert (current_answerer().model, current_answerer().address) == ("small", "http://127.0.0.1:2/v1")
    assert (current_answerer().model, current_answerer().address) == ("large", "http://127.0.0.1:1/v1")


def test_the_window_may_be_set(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    settings.setenv("DILIGENCE_AI_MODEL", "large")
    settings.setenv("DILIGENCE_AI_WINDOW", "8192")
    answerer = current_answerer()
    assert isinstance(answerer, OpenAiAnswerer)
    assert answerer.window == 8192


def test_the_same_settings_give_the_same_answerer(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    settings.setenv("DILIGENCE_AI_MODEL", "large")
    first = current_answerer()
    assert current_answerer() is first
    settings.setenv("DILIGENCE_AI_MODEL", "small")
    assert current_answerer() is not first


def test_without_a_model_the_openai_library_is_not_imported() -> None:
    script = (
        "import sys; from tasks.ai.registry import current_answerer; current_answerer(); import flows.steps;"
        "print('openai' in sys.modules)"
    )
    environment = {"PATH": "", "PREFECT_LOGGING_LEVEL": "ERROR"}
    run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False"]
