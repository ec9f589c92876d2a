"""Which embedder the settings choose."""

from pathlib import Path

import pytest

from storage.settings import override_settings
from tasks.errors import NotConfigured
from tasks.ranking.embedders import LocalEmbedder, embedder
from tasks.ranking.embedders.server import ServerEmbedder
from tests.servers.embeddings_server import EmbeddingsServer


@pytest.fixture(autouse=True)
def _own_home(home: Path) -> None:
    """No settings of whoever runs the tests."""


@pytest.mark.parametrize("chosen", ["auto", "local"])
def test_the_model_of_this_machine_needs_no_server(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_EMBEDDINGS", chosen)
    assert isinstance(embedder(), LocalEmbedder)


def test_off_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert embedder() is None


def test_without_the_setting_it_is_the_model_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DILIGENCE_EMBEDDINGS")
    assert isinstance(embedder(), LocalEmbedder)


def test_a_model_is_asked_where_the_answerer_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddingsServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
        monkeypatch.setenv("DILIGENCE_EMBEDDINGS", "some-model")
        chosen = embedder()
        assert chosen is not None
        chosen.embed(["lease"])
    assert server.requests[0].body["model"] == "some-model"
    assert server.requests[0].headers["authorization"] == "Bearer sk-1"


def test_another_address_does_not_get_the_answerers_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("DILIGENCE_EMBEDDINGS", "some-model")
    with EmbeddingsServer() as server:
        monkeypatch.setenv("DILIGENCE_EMBEDDINGS_URL", server.url)
        for key in ("", "own-key"):
            monkeypatch.setenv("DILIGENCE_EMBEDDINGS_KEY", key)
            chosen = embedder()
            assert chosen is not None
            chosen.embed(["lease"])
    assert [asked.headers["authorization"] for asked in server.requests] == ["Bearer none", "Bearer own-key"]


def test_a_batch_can_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    with override_settings({"embeddings": "some-model"}):
        assert isinstance(embedder(), ServerEmbedder)
    assert embedder() is None


def test_the_same_settings_give_the_same_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("DILIGENCE_EMBEDDINGS", "some-model")
    assert embedder() is embedder()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({}, "OPENAI_API_KEY"),
        ({"OPENAI_BASE_URL": "localhost:11434"}, "OPENAI_BASE_URL"),
        ({"DILIGENCE_EMBEDDINGS_URL": "http://[/v1"}, "DILIGENCE_EMBEDDINGS_URL"),
        ({"DILIGENCE_EMBEDDINGS_URL": "ftp://h/v1", "OPENAI_API_KEY": "sk-1"}, "DILIGENCE_EMBEDDINGS_URL"),
        ({"OPENAI_API_KEY": "“sk-1”"}, "OPENAI_API_KEY"),
        ({"DILIGENCE_EMBEDDINGS_URL": "http://h/v1", "DILIGENCE_EMBEDDINGS_KEY": "a\nb"}, "DILIGENCE_EMBEDDINGS_KEY"),
    ],
)
def test_a_wrong_setting_is_named(settings: dict[str, str], named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_EMBEDDINGS", "some-model")
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(NotConfigured, match=named) as raised:
        embedder()
    assert "sk-1" not in raised.value.message
