"""Pages and feeds made to take time and memory: each ends within the limits, and the next is read."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.companies.web import parse as page_module
from tasks.companies.web.site import feed_updates, read_page
from tasks.errors import TookTooLong, Unreadable
from tasks.reading.pool.pool import ExtractionPool
from tests.cases import cases
from tests.matrices import quick_cases

URL = "https://acme.example/"
ROOT = Path(__file__).parents[4]
MEGABYTE = 1 << 20


@cases(
    "markup",
    [
        b"<div>" * 200_000 + b"deep",
        b"<b>" * 200_000 + b"deep",
        b"<table><tr><td>" * 50_000,
        b"<span></span>" * (50 * MEGABYTE // 13),
        b'<p class="' + b"x" * 3 * MEGABYTE + b'">here</p>',
        b"<p>" + b"&amp;" * 400_000,
        b'<!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><p>' + b"&b;" * 100_000,
        b'<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]><p>&x;</p>',
        b"<div itemscope itemprop=x>" * 250 + b"here",
        b"<div itemscope><i itemprop=a>x</i></div>" * 20_000,
        b"<div itemscope>" + b"<p itemprop=a>" * 20_000,
        b'<script type="application/ld+json">' + b'{"a":' * 100_000 + b"</script>",
        b'<script type="application/ld+json">[' + b'{"a":1},' * 200_000 + b"{}]</script>",
        b"<meta name=a content=b>" * 50_000,
        b"<a href=/x>y</a>" * 15_000,
    ],
)
def test_a_page_made_to_be_hard_is_read_or_refused(markup: bytes) -> None:
    try:
        page = read_page(markup, "text/html", URL)
    except (Unreadable, TookTooLong):
        return
    assert "root:" not in page.text
    assert len(page.links) <= 500
    assert len(page.schema_org) <= 200
    assert len(page.text) <= 5 * MEGABYTE


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A pool with limits that a test can meet."""
    limits = replace(page_module.LIMITS, seconds=1)
    with ExtractionPool(1, limits, page_module.read, page_module.load) as pool:
        monkeypatch.setattr(page_module, "share_reading_pool", lambda: pool)
        yield


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize(
    "markup",
    quick_cases(
        [b"<p " + b" ".join(b"a%d=1" % number for number in range(200_000)) + b">here</p>", b"<p>x" * MEGABYTE],
        quick=(0,),
    ),
    ids=["attributes", "paragraphs"],
)
def test_a_page_that_takes_for_ever_costs_itself_only(markup: bytes) -> None:
    with pytest.raises(TookTooLong, match="Reading the page took longer"):
        read_page(markup, "text/html", URL)
    assert read_page(b"<p>fine</p>", "text/html", URL).paragraphs == ["fine"]


def test_what_is_more_than_a_page_can_be_is_refused() -> None:
    with pytest.raises(Unreadable, match="cannot be read"):
        read_page(b"x" * 33 * MEGABYTE, "text/html", URL)


@pytest.mark.parametrize(
    "markup",
    [
        pytest.param(
            b"<rss><channel>" + b"<item><title>x</title></item>" * 20_000 + b"</channel></rss>", marks=pytest.mark.slow
        ),
        b"<rss><channel><item><title>" + b"<b>" * 50_000 + b"</title></item></channel></rss>",
        b'<!DOCTYPE r [<!ENTITY a "'
        + b"a" * 1000
        + b'"><!ENTITY b "'
        + b"&a;" * 1000
        + b'"><!ENTITY c "'
        + b"&b;" * 1000
        + b'">]><rss><channel><item><title>&c;</title></item></channel></rss>',
        b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><item><title>&x;</title></item></channel></rss>',
        b"/etc/passwd",
        b"file:///etc/passwd",
        os.urandom(10_000),
        b"",
    ],
    ids=range(8),
)
def test_a_feed_made_to_be_hard_is_read_or_refused(markup: bytes) -> None:
    try:
        updates = feed_updates(markup, URL)
    except (Unreadable, TookTooLong):
        return
    assert len(updates) <= 50
    assert all("root:" not in update.text and len(update.text) <= 2000 for update in updates)


def test_processes_that_read_pages_load_no_network_client() -> None:
    loaded = "import sys, tasks.companies.web.parse; print(*sys.modules)"
    words = [sys.executable, "-c", loaded]
    modules = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT).stdout.split()
    assert "tasks.companies.web.parse" in modules
    assert not {"httpx", "httpcore", "requests", "openai", "sqlalchemy", "tasks.companies.web.client"} & set(modules)
