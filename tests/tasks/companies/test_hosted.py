"""The AI server's own web search, as the Responses protocol has it."""

import json
from typing import Any

import pytest

from tasks.companies.pages import Hit, choose_searcher
from tasks.errors import NotConfigured, SourceFailed
from tests.servers.openai_server import ModelRequest, ModelResponse, ModelServer, failing, web_page
from tests.tasks.conftest import ServeModel

ANSWER = "Alpha makes pumps (alpha.example)."
OUTPUT = [
    {
        "type": "web_search_call",
        "id": "ws",
        "status": "completed",
        "action": {
            "type": "search",
            "query": "alpha",
            "sources": [
                {"type": "url", "url": "https://looked.example/"},
                {"type": "url", "url": "https://alpha.example/"},
            ],
        },
    },
    {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "content": [
            {
                "type": "output_text",
                "text": ANSWER,
                "annotations": [
                    {
                        "type": "url_citation",
                        "start_index": 18,
                        "end_index": 33,
                        "url": "https://alpha.example/",
                        "title": "Alpha",
                    },
                    {"type": "file_citation", "file_id": "f"},
                ],
            }
        ],
    },
]


def answering(output: Any) -> Any:
    def behave(_: ModelRequest) -> ModelResponse:
        body = {"id": "r", "object": "response", "status": "completed", "output": output}
        return ModelResponse(json.dumps(body).encode(), headers={"Content-Type": "application/json"})

    return behave


@pytest.fixture
def server(home: object, serve_model: ServeModel) -> ModelServer:
    return serve_model(DILIGENCE_SEARCH="hosted")


def _search(count: int = 5) -> list[Hit]:
    searcher = choose_searcher()
    assert searcher is not None
    return list(searcher.search("What does Alpha make?", count))


def test_the_pages_cited_come_before_those_looked_at(server: ModelServer) -> None:
    server.then(answering(OUTPUT))

    assert _search() == [
        Hit("Alpha", "https://alpha.example/", "Alpha makes pumps"),
        Hit("", "https://looked.example/", ""),
    ]


def test_the_tool_is_asked_for_with_its_sources_and_nothing_is_kept(server: ModelServer) -> None:
    server.then(answering(OUTPUT))
    _search()

    body = server.requests[0].body
    assert body["tools"] == [{"type": "web_search"}]
    assert body["include"] == ["web_search_call.action.sources"]
    assert body["store"] is False
    assert "What does Alpha make?" in server.requests[0].prompt


@pytest.mark.parametrize("behaviour", [failing(404), failing(400, "unknown tool web_search")])
def test_a_server_without_the_tool_names_the_setting(server: ModelServer, behaviour: Any) -> None:
    server.always(behaviour)

    with pytest.raises(NotConfigured, match="DILIGENCE_SEARCH"):
        _search()


@pytest.mark.parametrize("output", [None, "text", 3])
def test_an_answer_of_another_shape_is_a_failure(server: ModelServer, output: Any) -> None:
    server.always(answering(output))

    with pytest.raises(SourceFailed):
        _search()


def test_a_web_page_for_an_answer_is_a_failure(server: ModelServer) -> None:
    server.always(web_page())

    with pytest.raises(SourceFailed):
        _search()
