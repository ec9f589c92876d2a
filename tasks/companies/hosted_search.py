"""The AI server's own web search: a request with the tool `web_search`, and the pages that the model used.

Only servers that support the Responses protocol have it. Nothing confidential is sent, and the server is asked to
store nothing.
"""

import json
from functools import lru_cache
from typing import Any, Final

from tasks.ai.answerer import AiSettings
from tasks.ai.openai.answerer import find_server
from tasks.ai.openai.client import Endpoint
from tasks.ai.openai.errors import UnsupportedRequestFormat
from tasks.ai.openai.protocols import RequestFormat, dicts
from tasks.errors import NotConfigured, SourceFailed
from tasks.privacy import hides_names

_PROMPT: Final = "Search the web for pages that tell this, and cite each page that does:\n"


def choose_endpoint() -> Endpoint:
    """The model that the settings name, to search with.

    Raises:
        NotConfigured: none is named, or nothing says where to ask it, or it may not be told names.
    """
    settings = AiSettings.current()
    if not settings.ai_model:
        raise NotConfigured(
            "DILIGENCE_SEARCH is hosted, which is the AI server's own search, and no model is configured. Set "
            "DILIGENCE_AI_MODEL and OPENAI_API_KEY."
        )
    if hides_names():
        raise NotConfigured(
            "DILIGENCE_SEARCH is hosted: the AI server would be told the names that DILIGENCE_AI_PSEUDONYMS keeps from "
            "it. Name another search."
        )
    return _open(settings)


@lru_cache(maxsize=8)
def _open(settings: AiSettings) -> Endpoint:
    assert settings.ai_model
    return Endpoint(settings.ai_model, *find_server(settings), settings.ai_timeout)


def find_pages(endpoint: Endpoint, query: str) -> list[dict[str, str]]:
    """The pages found: `url`, `title`, and as `content` what the model cites them for (may be empty).

    Pages that the model cites come first, then the others that it opened; each address once.

    Raises:
        NotConfigured: the server has no such tool.
        DiligenceError: it could not be asked, or answered wrongly.
    """
    request = {
        "model": endpoint.model,
        "input": [{"role": "user", "content": _PROMPT + query}],
        "tools": [{"type": "web_search"}],
        "include": ["web_search_call.action.sources"],
        "store": False,
    }
    try:
        body = endpoint.send(RequestFormat.RESPONSES, request)
    except UnsupportedRequestFormat:
        raise NotConfigured(
            "The AI server has no web search of its own. Set DILIGENCE_SEARCH to another provider."
        ) from None
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        reply = None
    output = reply.get("output") if isinstance(reply, dict) else None
    if not isinstance(output, list):
        raise SourceFailed("The AI server's answer to a web search cannot be read. Check OPENAI_BASE_URL.")
    pages: dict[str, dict[str, str]] = {}
    for page in (*_list_cited(dicts(output)), *_list_opened(dicts(output))):
        pages.setdefault(page["url"], page)
    return list(pages.values())


def _list_cited(items: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The pages that the answer cites, each with the text that precedes the citation."""
    pages = []
    parts = [part for item in items if item.get("type") == "message" for part in dicts(item.get("content"))]
    for part in parts:
        text = str(part.get("text") or "")
        for note in dicts(part.get("annotations")):
            url, start = note.get("url"), note.get("start_index")
            if note.get("type") == "url_citation" and isinstance(url, str):
                before = text[max(start - 300, 0) : start] if isinstance(start, int) else ""
                pages.append({"url": url, "title": str(note.get("title") or ""), "content": before})
    return pages


def _list_opened(items: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The pages that the model opened during its search."""
    actions = [item.get("action") for item in items if item.get("type") == "web_search_call"]
    sources = [source for action in actions if isinstance(action, dict) for source in dicts(action.get("sources"))]
    return [
        {"url": source["url"], "title": "", "content": ""} for source in sources if isinstance(source.get("url"), str)
    ]
