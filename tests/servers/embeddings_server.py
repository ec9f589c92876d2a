"""An embeddings server on loopback, whose model knows a few things by several names; it misbehaves when told to.

    with EmbeddingsServer() as server:
        ServerEmbedder("m", server.url).embed(["The lease ends.", "Rent is due."])

What `openai_server` offers to go wrong on any path goes wrong here too; what is special to vectors stands below.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.servers.openai_server import Behaviour, ModelRequest, ModelResponse, ModelServer

# One dimension each: words of one line mean the same to the model.
MEANINGS = (
    ("lease", "rent", "tenant", "premises"),
    ("revenue", "sales", "turnover"),
    ("terminate", "cancel", "end", "ends"),
    ("employee", "staff", "headcount"),
)

Row = dict[str, Any]


class EmbeddingsServer(ModelServer):
    """The server; `embedded` holds every text that was sent to it, in order."""

    @property
    def embedded(self) -> list[str]:
        return [text for request in self.requests for text in request.body["input"]]

    def _well_behaved(self, request: ModelRequest) -> ModelResponse:
        return answer(rows(request)) if request.path == "/v1/embeddings" else failure(404, "no such path")


def vector(text: str) -> list[float]:
    """How often each meaning is met, and a last number that is the same for every text; not of unit length."""
    words = re.findall(r"\w+", text.lower())
    return [3.0 * sum(words.count(word) for word in names) for names in MEANINGS] + [1.0]


def rows(request: ModelRequest) -> list[Row]:
    return [
        {"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(request.body["input"])
    ]


def answer(listed: list[Row]) -> ModelResponse:
    body = {"object": "list", "model": "m", "data": listed, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    return ModelResponse(json.dumps(body).encode(), headers={"Content-Type": "application/json"})


def failure(status: int, message: str, headers: Mapping[str, str] | None = None) -> ModelResponse:
    body = json.dumps({"error": {"message": message, "type": "error"}}).encode()
    return ModelResponse(body, status, {"Content-Type": "application/json", **(headers or {})})


def changed(change: Callable[[list[Row]], list[Row]]) -> Behaviour:
    """The answer with its rows as `change` gives them back."""
    return lambda request: answer(change(rows(request)))


def with_vector(value: Any) -> Behaviour:
    """The answer, but the last text's vector is `value`."""
    return changed(lambda listed: [*listed[:-1], {**listed[-1], "embedding": value}])


def busy_for_a_moment(status: int = 429) -> Behaviour:
    """An error that says to come back at once."""
    return lambda _: failure(status, "slow down", {"Retry-After-Ms": "1"})


def taking_at_most(texts: int, status: int = 413) -> Behaviour:
    """No more than so many texts a request, as servers of local models have it."""
    return lambda request: failure(status, "too many") if len(request.body["input"]) > texts else answer(rows(request))


def reading_at_most(characters: int) -> Behaviour:
    """No text longer than that."""
    return lambda request: (
        failure(400, "input is too long")
        if max(map(len, request.body["input"])) > characters
        else answer(rows(request))
    )


def torn() -> Behaviour:
    """The connection ends in the middle of the answer, every time."""
    return lambda request: ModelResponse(answer(rows(request)).body, missing=100)


def late(seconds: float) -> Behaviour:
    """The answer comes, later."""
    return lambda request: ModelResponse(answer(rows(request)).body, delay=seconds)
