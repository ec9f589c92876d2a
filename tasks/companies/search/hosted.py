"""The web search of the AI server itself: the tool `web_search` of the Responses protocol."""

from tasks.ai.openai.answerer import WebSearch, open_web_search
from tasks.companies.search import Hit, hits, shorten_query


class HostedSearcher:
    """The model's own search. What it writes itself is not used, only the pages that it names."""

    name = "hosted"

    def __init__(self, search: WebSearch) -> None:
        self._search = search

    def search(self, query: str, count: int) -> list[Hit]:
        """The hits: the pages that the model cites first, then the others that it read.

        Raises:
            DiligenceError: it cannot be reached, or has no such tool.
        """
        return hits(self._search.find(shorten_query(query)), "content", count)


def open_searcher() -> HostedSearcher:
    """The search of the model that `DILIGENCE_AI_MODEL` names.

    Raises:
        NotConfigured: no model is named, or no address of a server is set.
    """
    return HostedSearcher(open_web_search())
