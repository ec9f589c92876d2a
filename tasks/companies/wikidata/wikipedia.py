"""What the English Wikipedia says of a company in its first paragraph (CC BY-SA; the article's address names it)."""

import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from tasks.companies.settings import CompanySettings
from tasks.companies.web.exchange import Limits
from tasks.companies.web.fetch import Web
from tasks.companies.web.pace import Pace
from tasks.companies.web.plain import plain

PACE: Final = Pace(5)
_LIMITS: Final = Limits(total=20, patience=120, packed=1 << 20, unpacked=4 << 20)
_LONGEST: Final = 4000
"""Characters; a first paragraph has some 500."""


@dataclass(frozen=True)
class Summary:
    """An article's first paragraph, its address, and the day of its last change where that is given."""

    text: str
    url: str
    as_of: str | None


def summary_of(title: str, item: str) -> Summary | None:
    """The summary of the article with that title, which is about that item of Wikidata; None where there is none.

    Raises:
        DiligenceError: Wikipedia cannot be asked, or answered wrongly.
    """
    address = CompanySettings.current().wikipedia_url
    name = quote(title.replace(" ", "_"), safe="")
    answer = Web.current().get(
        f"{address}/api/rest_v1/page/summary/{name}",
        trusted=True,
        pace=PACE,
        limits=_LIMITS,
        expect=(404, 410),
        name="Wikipedia",
    )
    if answer.status in {404, 410}:
        return None
    return _read(answer.json(), item, f"{address}/wiki/{name}")


def _read(said: Any, item: str, url: str) -> Summary | None:
    """The summary, unless the page only lists what the title may mean, or has come to be about something else."""
    if not isinstance(said, dict) or said.get("type", "standard") != "standard":
        return None
    text, about, changed = said.get("extract"), said.get("wikibase_item"), said.get("timestamp")
    if about not in {None, item} or not isinstance(text, str) or not (text := plain(text[:_LONGEST]).strip()):
        return None
    day = re.match(r"\d{4}-\d{2}-\d{2}(?=T|$)", changed) if isinstance(changed, str) else None
    return Summary(text, url, day[0] if day else None)
