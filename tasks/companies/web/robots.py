"""What sites let programs fetch: robots.txt, read as RFC 9309 has it and remembered for a day."""

import time
from collections import OrderedDict
from dataclasses import replace
from threading import Lock
from typing import Final

from protego import Protego

from tasks.companies.web.addresses import Address
from tasks.companies.web.exchange import USUAL
from tasks.companies.web.fetch import Web
from tasks.errors import DiligenceError, NotAllowed

NAME: Final = "diligence"
"""What a robots.txt calls us."""
_LIMITS: Final = replace(USUAL, total=15, attempts=2, packed=500 << 10, unpacked=500 << 10, cut=True, longest_pause=5)
"""RFC 9309 wants 500 KB to be read; what is beyond them is left."""
_DAY: Final = 24 * 3600.0
_FOR_NOW: Final = 300.0
"""Seconds until a robots.txt that could not be had is asked for again."""
_MOST: Final = 2000
"""Sites that are remembered."""


class Robots:
    """The robots.txt of the sites that a web visits. Safe to use from many threads."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._known: OrderedDict[str, tuple[float, Protego | None]] = OrderedDict()
        self._lock = Lock()

    def check(self, url: str, *, trusted: bool = False) -> None:
        """Do nothing where the site lets this address be fetched. `trusted`: a setting gave its origin.

        Raises:
            NotAllowed: it does not, or its robots.txt could not be had just now.
        """
        address = Address.parse(url)
        rules = self._rules(address.base, trusted=trusted)
        if rules is None:
            raise NotAllowed("The site's robots.txt could not be had, so its pages are left alone for now.")
        if not rules.can_fetch(str(address), NAME):
            raise NotAllowed("The site's robots.txt asks programs not to fetch that page.")

    def _rules(self, site: str, *, trusted: bool) -> Protego | None:
        now = time.monotonic()
        with self._lock:
            until, rules = self._known.get(site, (0.0, None))
        if until > now:
            return rules
        rules = self._fetch(site, trusted=trusted)
        with self._lock:
            self._known[site] = now + (_FOR_NOW if rules is None else _DAY), rules
            self._known.move_to_end(site)
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
        return rules

    def _fetch(self, site: str, *, trusted: bool) -> Protego | None:
        """The rules; None where the site cannot be reached or is out of order. Without a robots.txt all is allowed."""
        try:
            answer = self._web.get(
                f"{site}/robots.txt", trusted=trusted, limits=_LIMITS, expect=[*range(400, 429), *range(430, 500)]
            )
        except DiligenceError:
            return None
        text = answer.content.decode("utf-8-sig", "replace") if answer.status < 300 else ""
        return Protego.parse(text)
