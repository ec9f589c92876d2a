"""Search providers on one loopback server, each as its reference has it."""

import json
from collections.abc import Sequence
from typing import Any

from tests.web.behaviours import json_reply
from tests.web.server import Asked, Reply

KEY = "s3cret-key"

Results = Sequence[tuple[str, str, str]]
"""Title, address and words of each page that is found."""


class SearchPages:
    """What a search server answers: `LoopbackServer(SearchPages(results))`; `queries` holds what was searched for."""

    def __init__(self, results: Results = (), *, json_enabled: bool = True) -> None:
        self.results = results
        self.queries: list[str] = []
        self._json_enabled = json_enabled

    def __call__(self, asked: Asked) -> Reply:
        if asked.path == "/res/v1/web/search":
            return self._brave(asked)
        if asked.path == "/search" and asked.method == "POST":
            return self._tavily(asked)
        return self._searxng(asked) if asked.path == "/search" else Reply(status=404)

    def _brave(self, asked: Asked) -> Reply:
        if asked.headers.get("x-subscription-token") != KEY:
            refused = asked.headers.get("x-subscription-token")
            return json_reply({"type": "ErrorResponse", "error": {"detail": f"token {refused} is invalid"}}, 422)
        self.queries.append(asked.query["q"])
        results = self._as("description")[: int(asked.query["count"])]
        return json_reply({"type": "search", **({"web": {"type": "search", "results": results}} if results else {})})

    def _tavily(self, asked: Asked) -> Reply:
        if asked.headers.get("authorization") != f"Bearer {KEY}":
            return json_reply({"detail": {"error": f"Unauthorized: {asked.headers.get('authorization')}"}}, 401)
        body = json.loads(asked.body)
        self.queries.append(body["query"])
        results = [{**result, "score": 0.9, "raw_content": None} for result in self._as("content")]
        return json_reply({"query": body["query"], "results": results[: body["max_results"]]})

    def _searxng(self, asked: Asked) -> Reply:
        if asked.query.get("format") != "json" or not self._json_enabled:
            return Reply(b"<h1>Forbidden</h1>", 403)
        self.queries.append(asked.query["q"])
        return json_reply({"results": self._as("content"), "unresponsive_engines": [["somewhere", "timeout"]]})

    def _as(self, content: str) -> list[dict[str, Any]]:
        return [{"title": title, "url": url, content: words} for title, url, words in self.results]
