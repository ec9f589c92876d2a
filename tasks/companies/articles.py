"""The Wikipedia article about a company: the whole of it, or else its first paragraph (CC BY-SA)."""

import logging
from dataclasses import dataclass
from urllib.parse import quote

from tasks.companies.entity import Entity
from tasks.companies.settings import CompanySettings
from tasks.companies.web.page import Page
from tasks.companies.web.site import read_public
from tasks.companies.wikidata.wikipedia import summary_of
from tasks.errors import DiligenceError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Article:
    """An article by its title and address; `item` is the company's in Wikidata."""

    title: str
    url: str
    item: str

    def read(self) -> Page | None:
        """The article's page. Where that cannot be had, its summary, which another server keeps; None without one.

        Raises:
            DiligenceError: neither can be had.
        """
        try:
            return read_public(self.url, trusted=True)
        except DiligenceError as error:
            log.info("the company's article is taken from its summary: %s", error)
        summary = summary_of(self.title, self.item)
        return Page(url=self.url, paragraphs=[summary.text], title=self.title) if summary else None


def article_of(entity: Entity | None) -> Article | None:
    """The article about that company; None where there is none."""
    if entity is None or entity.wikipedia is None:
        return None
    name = quote(entity.wikipedia.replace(" ", "_"), safe="")
    return Article(entity.wikipedia, f"{CompanySettings.current().wikipedia_url}/wiki/{name}", entity.id)
