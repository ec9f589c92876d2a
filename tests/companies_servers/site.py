"""Companies' own sites, and pages about them, on one loopback server: `SITE` gives what each path answers.

The site of Alpha is below `/alpha.example`, as `DILIGENCE_WEBSITE_URL=http://127.0.0.1:PORT/{domain}` has it.
"""

import json
from collections.abc import Mapping
from typing import Any

from tests.web.behaviours import page
from tests.web.server import Reply

ALPHA: Mapping[str, Any] = {
    "@context": "https://schema.org",
    "@type": "Corporation",
    "name": "Alpha GmbH",
    "legalName": "Alpha Pumpen GmbH",
    "url": "https://www.alpha.example/",
    "slogan": "Water, moved.",
    "logo": {"@type": "ImageObject", "url": "/logo.svg"},
    "foundingDate": "2015-03-01",
    "telephone": "+49 30 1234567",
    "email": "mailto:info@alpha.example",
    "address": {
        "@type": "PostalAddress",
        "streetAddress": "Ring 5",
        "postalCode": "10115",
        "addressLocality": "Berlin",
        "addressCountry": "Germany",
    },
    "numberOfEmployees": {"@type": "QuantitativeValue", "value": 120},
    "sameAs": [
        "https://www.linkedin.com/company/alpha-pumpen/",
        "https://x.com/alphapumps",
        "https://www.facebook.com/alphapumps",
        "https://www.crunchbase.com/organization/alpha-pumpen",
    ],
}

FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>Alpha</title>{items}</channel></rss>"""


def document(body: str, *things: Mapping[str, Any], head: str = "", title: str = "Alpha") -> Reply:
    """An HTML page that describes those things in JSON-LD."""
    described = "".join(f'<script type="application/ld+json">{json.dumps(thing)}</script>' for thing in things)
    return page(f'<html lang="en"><head><title>{title}</title>{head}{described}</head><body>{body}</body></html>')


def feed(*days: int) -> Reply:
    """A feed with an entry for each of those days of January 2026, in that order."""
    items = "".join(
        f"<item><title>News of day {day}</title><link>https://alpha.example/news/{day}</link>"
        f"<pubDate>{day:02} Jan 2026 08:00:00 GMT</pubDate></item>"
        for day in days
    )
    return page(FEED.format(items=items), "application/rss+xml")


HOME = document(
    "<h1>Alpha</h1><p>Alpha makes pumps for waterworks in nine countries.</p>"
    '<p><a href="/alpha.example/customers">Our customers</a> <a href="/alpha.example/jobs">Jobs</a> '
    '<a href="/alpha.example/impressum">Impressum</a></p>',
    ALPHA,
    head='<meta name="description" content="Pumps for waterworks, made in Berlin.">'
    '<meta property="og:description" content="Pumps that last.">'
    '<meta property="og:image" content="https://alpha.example/share.png">'
    '<link rel="alternate" type="application/rss+xml" href="/alpha.example/feed.xml">',
)
CUSTOMERS = document(
    "<p>The largest customers of Alpha are the waterworks of Hamburg and Bremen, which bought 300 pumps in 2024.</p>",
    title="Customers of Alpha",
)
SITE: Mapping[str, Reply] = {
    "/alpha.example": HOME,
    "/alpha.example/customers": CUSTOMERS,
    "/alpha.example/jobs": document("<p>We are hiring welders in Berlin.</p>", title="Jobs"),
    "/alpha.example/feed.xml": feed(*range(1, 14)),
}
