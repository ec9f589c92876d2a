"""What is read of a page: HTML well and badly made, PDF, plain text.

What a feed tells of a company's news.
"""

import json
from datetime import date
from pathlib import Path

import pytest

from tasks.companies.web.site import FeedUpdate, Page, feed_updates, read_page
from tasks.errors import Unreadable, UnsupportedFormat
from tests.cases import cases

URL = "https://acme.example/about/"
SENTENCES = "".join(
    f"<p>Paragraph number {number} says in <b>many</b> words what the company does, so that it is main text.</p>"
    for number in range(12)
)


def read(markup: str | bytes, content_type: str = "text/html; charset=utf-8") -> Page:
    return read_page(markup.encode() if isinstance(markup, str) else markup, content_type, URL)


def test_the_main_text_comes_in_paragraphs_without_menus() -> None:
    page = read(f"""<html><body><nav><a href="/jobs">Jobs</a><a href="/press">Press</a></nav>
        <article><h1>Who we are</h1>{SENTENCES}<ul><li>Pumps</li><li>Valves</li></ul><p>A<br>break</p></article>
        <footer>Imprint</footer></body></html>""")
    assert page.paragraphs[0] == "Who we are"
    assert page.paragraphs[1].startswith("Paragraph number 0 says in many words")
    assert page.paragraphs[-3:] == ["Pumps", "Valves", "A break"]
    assert "Imprint" not in page.text
    assert page.links == [("https://acme.example/jobs", "Jobs"), ("https://acme.example/press", "Press")]


def test_tables_keep_their_rows_and_cells() -> None:
    table = "<table><tr><th>Year</th><th>Sales</th></tr><tr><td>2024</td><td>3 <b>m</b></td></tr></table>"
    terms = "<dl><dt>Founded</dt><dd>1999</dd><dt>Seat</dt><dd>Oslo</dd></dl>"
    page = read(f"<article>{SENTENCES}{table}{terms}{SENTENCES.replace('number', 'no.')}</article>")
    assert "Year\tSales\n2024\t3 m" in page.paragraphs
    assert {"Founded\t1999", "Seat\tOslo"} <= set(page.paragraphs)
    short = read(table)
    assert short.paragraphs == ["Year\tSales\n2024\t3 m"]


def test_of_a_page_that_is_no_article_all_is_read_but_what_is_not_shown() -> None:
    page = read("""<body><div>Acme</div><div>Pumps since 1999</div><script>var hidden = 1</script><style>p{}</style>
        <template>later</template><p hidden>unseen</p><!-- a comment --></body>""")
    assert page.paragraphs == ["Acme", "Pumps since 1999"]


def test_what_a_page_says_of_itself() -> None:
    page = read("""<html lang="en-GB"><head><title> Acme
        &amp; Co</title><base href="/en/"><meta name="Description" content="Pumps &lt;and&gt; valves">
        <meta property="og:image" content="/logo.png"><meta property="og:site_name" content="Acme">
        <link rel="canonical" href="../about">
        <link rel="alternate" type="application/rss+xml; charset=utf-8" href="news.xml">
        <link rel="Alternate" type="application/atom+xml" href="//feeds.example/a">
        <link rel="alternate" hreflang="de" href="/de">
        </head><body>Hello</body></html>""")
    assert page.title == "Acme & Co"
    assert page.description == "Pumps <and> valves"
    assert page.language == "en-GB"
    assert page.metadata["og:image"] == "/logo.png"
    assert page.canonical == "https://acme.example/about"
    assert page.feeds == ["https://acme.example/en/news.xml", "https://feeds.example/a"]


def test_schema_org_comes_in_one_form_and_what_is_broken_is_left_out() -> None:
    graph = {
        "@context": "https://schema.org",
        "@graph": [{"@type": "https://schema.org/Organization", "name": "A\u0000cme"}],
    }
    page = read(f"""<script type="application/ld+json">{json.dumps(graph)}</script>
        <script type="application/ld+json">{{"@type": "Broken", </script>
        <script type="application/ld+json">{"[" * 100_000}</script>
        <script type="Application/LD+JSON; charset=utf-8">
        [{{"@type": ["Corporation", "Thing"], "telephone": "1\n2"}}]</script>
        <div itemscope itemtype="http://schema.org/LocalBusiness"><b itemprop="name">Acme shop</b>
        <div itemprop="address"
        itemscope itemtype="http://schema.org/PostalAddress"><i itemprop="addressLocality">Oslo</i></div>
        <a itemprop="url" href="/shop">Shop</a></div>""")
    assert page.schema_org == [
        {"@type": "Organization", "name": "Acme"},
        {"@type": ["Corporation", "Thing"], "telephone": "1\n2"},
        {
            "@type": "LocalBusiness",
            "name": "Acme shop",
            "address": {"@type": "PostalAddress", "addressLocality": "Oslo"},
            "url": "https://acme.example/shop",
        },
    ]


@cases(
    ("data", "content_type"),
    [
        ("<p>Größe – naïve</p>".encode(), "text/html; charset=utf-8"),
        ("<p>Größe – naïve</p>".encode("cp1252"), "text/html; charset=ISO-8859-1"),
        ("<meta charset=windows-1252><p>Größe – naïve</p>".encode("cp1252"), "text/html"),
        ('<?xml version="1.0" encoding="windows-1252"?><p>Größe – naïve</p>'.encode("cp1252"), "application/xhtml+xml"),
        ("\ufeff<meta charset=latin-1><p>Größe – naïve</p>".encode(), "text/html; charset=latin-1"),
        ("\ufeff<p>Größe – naïve</p>".encode("utf-16-le"), "text/html"),
        ("<p>Größe – naïve</p>".encode(), "text/html"),
        ("<p>Größe – naïve</p>".encode(), "text/html; charset=no-such"),
        ("<p>Größe – naïve</p>".encode(), "text/html; charset=punycode"),
        ("<p>Größe – naïve</p>".encode("cp1252"), "text/html; charset=utf-8"),
        ("Größe – naïve".encode("cp1252"), "text/plain"),
    ],
)
def test_a_page_is_read_in_the_encoding_that_it_is_in(data: bytes, content_type: str) -> None:
    assert read(data, content_type).paragraphs == ["Größe – naïve"]


def test_one_bad_character_does_not_make_another_encoding() -> None:
    assert read("<p>Größe äöü äöü äöü ".encode() + b"\xff</p>").paragraphs == ["Größe äöü äöü äöü \ufffd"]


def test_text_is_data_without_markup_controls_and_what_nobody_sees() -> None:
    unseen = "".join(map(chr, (0x202E, 0x200B, 0xAD, 0xE0041, 0xFEFF, 0x9B, 0x1B)))
    page = read(
        f"<title>A&#x202e;{unseen}B</title><meta name=description content='&#8238;C{unseen}D'>"
        f"<p>&lt;b&gt;E&#x200b;{unseen}F\r\n&#0;G</p><a href='/x&#x202e;y'>H{unseen}I</a>"
        f'<script type=application/ld+json>{{"name": "J{unseen}\\u202eK\\ud800"}}</script>'
    )
    assert page.title == "AB"
    assert page.description == "CD"
    assert page.text.startswith("<b>EF")
    assert page.links == [("https://acme.example/xy", "HI")]
    assert page.schema_org == [{"name": "JK\ufffd"}]
    assert not {chr(0), chr(0x1B), "\u202e"} & set(page.text)


def test_only_links_of_the_web_are_links() -> None:
    page = read("""<a href="javascript:alert(1)">a</a><a href="mailto:a@b.example">b</a><a href="http://[">c</a>
        <a href="#top">d</a><a>e</a><a href="data:text/html,x">f</a><a href="/ok#part"></a><a href="/ok">Fine</a>""")
    assert page.links == [("https://acme.example/ok", "Fine")]


def test_a_pdf_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "a.pdf"))
    for line in ("Annual report", "Second page"):
        canvas.drawString(100, 700, line)
        canvas.showPage()
    canvas.save()
    data = (tmp_path / "a.pdf").read_bytes()
    for content_type in ("application/pdf", "application/octet-stream", "text/html", ""):
        assert read_page(data, content_type, URL).paragraphs == ["Annual report", "Second page"]
    with pytest.raises(Unreadable):
        read_page(b"%PDF-1.7 and nothing more", "application/pdf", URL)


def test_plain_text_keeps_its_paragraphs() -> None:
    page = read_page(b"One\nline\r\n\r\n<b>not markup</b>\n", "text/plain", URL)
    assert page.paragraphs == ["One\nline", "<b>not markup</b>"]
    assert read_page(b"No type at all", "", URL).paragraphs == ["No type at all"]
    assert read_page(b"<p>Looks like HTML</p>", "", URL).paragraphs == ["Looks like HTML"]


@pytest.mark.parametrize(
    ("data", "content_type"), [(b"\x89PNG\r\n", "image/png"), (b"PK\3\4", "application/zip"), (b"\0\1", "")]
)
def test_what_is_no_page_is_not_read(data: bytes, content_type: str) -> None:
    with pytest.raises(UnsupportedFormat):
        read_page(data, content_type, URL)


@cases("empty", [b"", b" \n", b"<!-- -->", b"<html></html>", b"<", bytes(100)])
def test_an_empty_page_is_an_empty_page(empty: bytes) -> None:
    assert read_page(empty, "text/html", URL).paragraphs in ([], ["<"])


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
