"""The AI server's own web search: a request with the tool `web_search`, and the pages that it came by.

Only servers that speak the Responses protocol have it. Nothing confidential is sent, and nothing is kept there.
"""

import json
from functools import lru_cache
from typing import Any, Final

from tasks.ai import answerer
from tasks.ai.abilities import Way
from tasks.ai.endpoint import Endpoint
from tasks.ai.failures import NotSpoken
from tasks.ai.openai import OPENAI
from tasks.ai.settings import AiSettings
from tasks.errors import NotConfigured, SourceFailed

_ASKED: Final = "Search the web for pages that tell this, and cite each page that does:\n"


class WebSearch:
    """The search of the model at an address."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model

    def find(self, query: str) -> list[dict[str, str]]:
        """The pages found: `url`, `title`, and as `content` what the model cites them for (or empty).

        Those that are cited come first, then those that were looked at besides; each address once.

        Raises:
            NotConfigured: the server has no such tool.
            DiligenceError: it could not be asked, or answered wrongly.
        """
        request = {
            "model": self._model,
            "input": [{"role": "user", "content": _ASKED + query}],
            "tools": [{"type": "web_search"}],
            "include": ["web_search_call.action.sources"],
            "store": False,
        }
        try:
            body = self._endpoint.send(Way.RESPONSES, request)
        except NotSpoken:
            raise NotConfigured(
                "The AI server has no web search of its own. Set DILIGENCE_SEARCH to another provider."
            ) from None
        try:
            said = json.loads(body)
        except (ValueError, RecursionError):
            said = None
        output = said.get("output") if isinstance(said, dict) else None
        if not isinstance(output, list):
            raise SourceFailed("The AI server's answer to a web search cannot be read. Check OPENAI_BASE_URL.")
        items = _list(output)
        found: dict[str, dict[str, str]] = {}
        for each in (*_cited(items), *_looked_at(items)):
            found.setdefault(each["url"], each)
        return list(found.values())


def open_web_search() -> WebSearch:
    """The web search of the model that the settings name.

    Raises:
        NotConfigured: none is named, or nothing says where to ask it.
    """
    model = answerer.current()  # checks address and key
    if model.model is None:
        raise NotConfigured(
            "DILIGENCE_SEARCH is hosted, which is the AI server's own search, and no model is configured. Set "
            "DILIGENCE_AI_MODEL and OPENAI_API_KEY."
        )
    return _build(AiSettings.current())


@lru_cache(maxsize=8)
def _build(settings: AiSettings) -> WebSearch:
    assert settings.ai_model
    key = settings.openai_api_key.get_secret_value().strip() if settings.openai_api_key else None
    address = settings.openai_base_url or OPENAI
    return WebSearch(Endpoint(settings.ai_model, address, key, settings.ai_timeout, pause=0.5), settings.ai_model)


def _cited(items: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The pages that the answer cites, each with the words before the citation."""
    found = []
    parts = [part for item in items if item.get("type") == "message" for part in _list(item.get("content"))]
    for part in parts:
        text = str(part.get("text") or "")
        for note in _list(part.get("annotations")):
            url, start = note.get("url"), note.get("start_index")
            if note.get("type") == "url_citation" and isinstance(url, str):
                words = text[max(start - 300, 0) : start] if isinstance(start, int) else ""
                found.append({"url": url, "title": str(note.get("title") or ""), "content": words})
    return found


def _looked_at(items: list[dict[str, Any]]) -> list[dict[str, str]]:
    actions = [item.get("action") for item in items if item.get("type") == "web_search_call"]
    sources = [each for action in actions if isinstance(action, dict) for each in _list(action.get("sources"))]
    return [{"url": each["url"], "title": "", "content": ""} for each in sources if isinstance(each.get("url"), str)]


def _list(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
