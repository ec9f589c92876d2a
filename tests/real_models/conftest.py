"""A real server for the tests of this folder; they stay in one worker, as two servers would share the processors."""

from collections.abc import Iterator

import pytest

from tests.real_models.llama_server import SMOLLM2, LlamaServer, missing


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of them are slow, and wait for the same processors."""
    for item in items:
        if item.nodeid.startswith("tests/real_models/"):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.xdist_group("real models"))
            item.add_marker(pytest.mark.timeout(900))  # beside other tests a model is several times slower


@pytest.fixture(autouse=True)
def unprobed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the server is asked what it is able to do, as it is for users."""
    monkeypatch.delenv("DILIGENCE_AI_PROBE", raising=False)


@pytest.fixture(scope="session")
def smollm2() -> Iterator[LlamaServer]:
    """SmolLM2 with two slots of 4,096 tokens."""
    if reason := missing(SMOLLM2):
        pytest.skip(reason)
    with LlamaServer(SMOLLM2) as server:
        yield server
