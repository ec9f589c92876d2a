"""The providers of web search by name, and the one that the settings ask for.

A new provider is a module of this folder with `open_searcher()`, and its name in `SearcherName`.
"""

from importlib import import_module

from tasks.companies.search import Searcher
from tasks.companies.settings import CompanySettings, SearcherName


def choose_searcher() -> Searcher | None:
    """The provider that `DILIGENCE_SEARCH` names; None where it names none.

    Raises:
        NotConfigured: it needs a setting that is missing; the message names it.
    """
    name = CompanySettings.current().search
    return None if name is None else open_searcher(name)


def open_searcher(name: SearcherName) -> Searcher:
    """The provider of that name with the settings in force.

    Raises:
        NotConfigured: as `choose_searcher`.
    """
    searcher: Searcher = import_module(f"tasks.companies.search.{name}").open_searcher()
    return searcher
