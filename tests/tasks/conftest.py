"""What tests of several tasks can use: a model to ask."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.servers.openai_server import ModelServer

ServeModel = Callable[..., ModelServer]


@pytest.fixture
def serve_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ServeModel]:
    """Starts the server of a model that is asked from then on: `serve_model("Yes.", DILIGENCE_AI_SEARCH_PLAN="off")`.

    Names in capitals are settings; the others are arguments of `ModelServer`.
    """
    with ExitStack() as servers:

        def serve_model(*says: Any, **more: Any) -> ModelServer:
            settings = {name: more.pop(name) for name in list(more) if name.isupper()}
            server = servers.enter_context(ModelServer(*says, **more))
            settings = {"OPENAI_BASE_URL": server.url, "DILIGENCE_AI_MODEL": "small", **settings}
            for name, value in settings.items():
                monkeypatch.setenv(name, value)
            return server

        yield serve_model
