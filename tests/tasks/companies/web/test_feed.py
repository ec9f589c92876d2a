"""What a feed tells of a company's news."""

from datetime import date

from tasks.companies.web.page import FeedUpdate, feed_updates

RSS = """<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>Acme</title><link>https://acme.example/</link>
<item><title>Acme &amp; Co buys Beta</title><link>https://acme.example/news/1</link>
<pubDate>Tue, 03 Mar 2026 23:30:00 -0500</pubDate>
<description>&lt;p&gt;The price is &lt;b&gt;secret&lt;/b&gt;.
&lt;script&gt;alert(1)&lt;/script&gt;&lt;/p&gt;</description>
<enclosure url="https://acme.example/1.png" type="image/png" length="1"/></item>
<item><title>New plant</title><link>/news/2</link><pubDate>someday</pubDate>
<media:content url="https://acme.example/2.jpg" medium="image"/></item>
<item><title>Odd</title><link>javascript:alert(1)</link>
<enclosure url="https://acme.example/3.mp3" type="audio/mpeg"/></item>
</channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Acme</title><entry>
<title type="html">Half &lt;i&gt;year&lt;/i&gt;</title>
<link href="https://acme.example/h1"/><updated>2026-07-31T08:00:00Z</updated>
<summary>Half year results are here.</summary>
</entry></feed>"""


def test_the_entries_of_rss() -> None:
    assert feed_updates(RSS.encode(), "https://acme.example/feed.xml") == [
        FeedUpdate(
            "https://acme.example/news/1",
            "https://acme.example/1.png",
            date(2026, 3, 4),
            "Acme & Co buys Beta\nThe price is secret.",
        ),
        FeedUpdate("https://acme.example/news/2", "https://acme.example/2.jpg", None, "New plant"),
        FeedUpdate(None, None, None, "Odd"),
    ]


def test_the_entries_of_atom() -> None:
    assert feed_updates(ATOM.encode()) == [
        FeedUpdate("https://acme.example/h1", None, date(2026, 7, 31), "Half year results are here.")
    ]


def test_an_encoding_is_what_the_feed_says() -> None:
    latin = RSS.replace("utf-8", "iso-8859-1").replace("New plant", "Größeres Werk").encode("latin-1")
    assert feed_updates(latin)[1].text == "Größeres Werk"


def test_a_feed_that_breaks_off_gives_what_it_has() -> None:
    updates = feed_updates(RSS[: RSS.index("<item><title>Odd")].encode(), "https://acme.example/")
    assert [update.text.split("\n")[0] for update in updates] == ["Acme & Co buys Beta", "New plant"]


def test_what_is_no_feed_has_no_entries() -> None:
    assert feed_updates(b"<html><p>Not found</p></html>") == []
    assert feed_updates(b"") == []
