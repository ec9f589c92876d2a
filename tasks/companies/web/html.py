"""What an HTML page says: its text in paragraphs, its metadata, its links, and its schema.org descriptions.

JSON-LD and microdata are returned in one form, JSON-LD's: `{"@type": "Organization", "name": …}`, with types stripped
of their vocabulary's address. It runs in a process of the pool (`site.py`), because a hostile page may take any time
and memory.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import count
from math import inf
from typing import Any, Final
from urllib.parse import urljoin

from extruct.jsonld import JsonLdExtractor  # type: ignore[import-untyped]
from extruct.w3cmicrodata import MicrodataExtractor  # type: ignore[import-untyped]
from lxml import etree, html
from trafilatura import bare_extraction

from tasks.language.normalise import plain, plain_line
from tasks.reading.html.reader import blocks_in, decode_page

_MAX_BYTES: Final = 4 << 20
"""Bytes of a page that are read."""
_MAX_REPORT_BYTES: Final = 24 << 20
"""Bytes of a filing that are read: a report of hundreds of pages in one file."""
_MAX_REPORT: Final = 1_000_000
"""Characters of a filing: most annual reports have 400,000, and to look through a million takes 2 s."""
_MAX_ELEMENTS: Final = 20_000
"""Elements of a page beyond which all of its text is taken: to find the main one takes 1.6 s, and 20 with 80,000."""
_MIN_MAIN_TEXT, _MIN_MAIN_PART = 400, 4
"""With less main text than these characters, or than this part of all, all is taken: a home page is not an article."""
_MAX_META, _MAX_LINKS, _MAX_FEEDS = 200, 500, 10
_MAX_META_LENGTH: Final = 4000
_MAX_LINK_LENGTH: Final = 2000
_MAX_THINGS: Final = 200
_MAX_DEPTH: Final = 12
_MAX_VALUES: Final = 20_000
"""Values of one page, in all its items: catalogues name every product, a company says what it is in twenty."""
_MAX_VALUE_LENGTH: Final = 10_000
_MAX_ITEMS, _MAX_ITEM_DEPTH = 2_000, 10
"""Items in microdata, which take 0.2 s, and how deep one lies within others: 250 deep, they take 8 s."""
_FEED_TYPES: Final = {"application/rss+xml", "application/atom+xml"}
_TEXT_NODES: Final = "//body//text()[not(parent::script or parent::style or parent::noscript or parent::template)]"
_REFRESH: Final = re.compile(
    r"\s*+(?:10|\d)?(?:\.\d*+)?\s*+[;,\s]\s*+(?:url\s*+=)?(?P<url>.+)", re.IGNORECASE | re.DOTALL
)
_BEFORE, _BEHIND = re.compile(r"[$€£¥(]+"), re.compile(r"[)%]+")
"""Signs before and behind a number."""
_BLOCK_TAGS: Final = {"p", "head", "quote", "code", "item", "fw", "ab", "comments"}


def read_html(data: bytes, content_type: str, url: str) -> dict[str, Any]:
    """The fields of a `Page`, from its bytes, the server's Content-Type, and its address."""
    text = decode_page(data[:_MAX_BYTES], content_type)[0]
    tree = parse_page(text)
    base = _absolute(url, tree.xpath("string(//base/@href)")) or url
    meta = _meta(tree)
    feeds, canonical = _pointers(tree, base)
    fields = {
        "title": plain_line(tree.xpath("string(//title)")) or meta.get("og:title"),
        "description": meta.get("description") or meta.get("og:description"),
        "language": _language(tree, meta),
        "metadata": meta,
        "canonical": canonical,
        "refresh": _refresh(tree, base),
        "feeds": feeds,
        "links": _links(tree, base),
        "schema_org": schema_org_items(tree, base),
    }
    return {**fields, "paragraphs": _paragraphs(tree, text)}


def read_report(data: bytes, content_type: str) -> list[str]:
    """The paragraphs of an HTML filing, half of which is tables: one line each, except tables, whose rows are lines.

    Libraries that find a page's main text drop tables, and take minutes for a file of this size.
    """
    return read_whole_text(decode_page(data[:_MAX_REPORT_BYTES], content_type)[0], _MAX_REPORT)


def read_whole_text(text: str, most: float = inf) -> list[str]:
    """Every paragraph on a page, menus too; a table is one paragraph, its rows lines, its cells separated by tabs."""
    blocks = blocks_in(BOM_UTF8 + plain(text).encode(), most)
    return [("\n" if any("\t" in line for line in lines) else " ").join(map(_plain_row, lines)) for lines in blocks]


def _plain_row(line: str) -> str:
    """The cells of a row, joined with signs that filings put in separate cells: `$`, `12`, `%` are three cells."""
    joined: list[str] = []
    before = ""
    for cell in filter(None, map(plain_line, line.removeprefix("• ").split("\t"))):
        if _BEHIND.fullmatch(cell) and joined:
            joined[-1] += cell
        elif _BEFORE.fullmatch(cell):
            before += cell
        else:
            joined.append(before + cell)
            before = ""
    return "\t".join([*joined, before] if before else joined)


def parse_page(text: str) -> html.HtmlElement:
    """The tree of a page; it always has a head and a body."""
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False)
    # A declaration of another encoding in the text would stop lxml from taking it as text.
    try:
        tree = html.document_fromstring(plain(text).encode(), parser=parser, ensure_head_body=True)
    except etree.ParserError:  # there is nothing in it
        tree = html.document_fromstring(b"<p></p>", parser=parser, ensure_head_body=True)
    assert isinstance(tree, html.HtmlElement)
    return tree


def schema_org_items(tree: html.HtmlElement, base: str) -> list[dict[str, Any]]:
    """The things that a page describes, with graphs taken apart; at most 200, without broken ones."""
    items: list[dict[str, Any]] = []
    values = count(1)
    for item in (*_json_ld(tree), *_microdata(tree, base)):
        try:
            plain_item = _plain(item, values, _MAX_DEPTH)
        except OverflowError:
            break
        if isinstance(plain_item, dict) and plain_item:
            items.append(plain_item)
    return items[:_MAX_THINGS]


def _meta(tree: html.HtmlElement) -> dict[str, str]:
    """The content of each `meta` by its name in lower case, including OpenGraph's; the first counts if names repeat."""
    contents: dict[str, str] = {}
    for element in tree.iter("meta"):
        name = plain_line(element.get("property") or element.get("name") or element.get("itemprop") or "")[:100].lower()
        content = plain_line((element.get("content") or "")[: _MAX_META_LENGTH * 2])[:_MAX_META_LENGTH]
        if name and content and len(contents) < _MAX_META:
            contents.setdefault(name, content)
    return contents


def _language(tree: html.HtmlElement, meta: dict[str, str]) -> str | None:
    """The language that the page declares: `en`, `de-CH`."""
    language = tree.get("lang") or tree.xpath("string(//meta[@http-equiv='content-language']/@content)")
    language = (language or meta.get("og:locale", "")).strip().replace("_", "-")
    return language if re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", language) else None


def _pointers(tree: html.HtmlElement, base: str) -> tuple[list[str], str | None]:
    """The feeds that the page names, and its canonical address."""
    feeds: dict[str, None] = {}
    canonical = None
    for element in tree.iter("link"):
        relations = (element.get("rel") or "").lower().split()
        kind = (element.get("type") or "").partition(";")[0].strip().lower()
        if "canonical" in relations:
            canonical = canonical or _absolute(base, element.get("href") or "")
        if "alternate" in relations and kind in _FEED_TYPES and len(feeds) < _MAX_FEEDS:
            feeds |= dict.fromkeys(filter(None, [_absolute(base, element.get("href") or "")]))
    return list(feeds), canonical


def _refresh(tree: html.HtmlElement, base: str) -> str | None:
    """Where a `meta` of the kind `refresh` leads within ten seconds; one for browsers without scripts does not count.

    It follows HTML's "shared declarative refresh steps": seconds, a separator, an optional `url=`, and quotes.
    """
    for element in tree.iter("meta"):
        content = (element.get("content") or "")[: _MAX_LINK_LENGTH + 100]
        match = _REFRESH.match(content) if (element.get("http-equiv") or "").strip().lower() == "refresh" else None
        if match is not None and next(element.iterancestors("noscript"), None) is None:
            return _absolute(base, match["url"].strip().strip("'\""))
    return None


def _links(tree: html.HtmlElement, base: str) -> list[tuple[str, str]]:
    by_address: dict[str, str] = {}
    for element in tree.iter("a"):
        if len(by_address) == _MAX_LINKS:
            break
        address = _absolute(base, element.get("href") or "")
        if address:
            words = plain_line("".join(element.itertext())[:_MAX_META_LENGTH])[:200]
            address = address.partition("#")[0]
            by_address[address] = by_address.get(address) or words
    return list(by_address.items())


def _absolute(base: str, link: str) -> str | None:
    """The absolute address that a link leads to; None if it is not a web address."""
    link = link.strip()
    if not link or len(link) > _MAX_LINK_LENGTH or link.startswith("#"):
        return None
    try:
        address = urljoin(base, link)
    except ValueError:
        return None
    return plain_line(address) if address.startswith(("http://", "https://")) else None


def _paragraphs(tree: html.HtmlElement, text: str) -> list[str]:
    """The paragraphs of the main text, or of the whole page if little of it looks like main text."""
    paragraphs: list[str] = []
    text_length = sum(len(text_node.strip()) for text_node in tree.xpath(_TEXT_NODES))
    if sum(1 for _ in tree.iter()) <= _MAX_ELEMENTS:
        try:
            document = bare_extraction(tree, include_comments=False, include_tables=True, favor_recall=True)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - what an odd page makes it stumble over; there is another way
            document = None
        body = getattr(document, "body", None)
        if body is not None:
            for line_break in body.iter("lb"):
                line_break.text = " "
            paragraphs = [block for block in _blocks(body) if block]
    if sum(map(len, paragraphs)) >= max(_MIN_MAIN_TEXT, text_length // _MIN_MAIN_PART):
        return paragraphs
    return read_whole_text(text) or paragraphs


def _blocks(body: Any) -> Iterator[str]:
    """The paragraphs that trafilatura found; a table is one paragraph with a line per row and tabs between cells."""
    yield plain_line(body.text or "")
    for element in body:
        if element.tag == "table":
            rows = ("\t".join(plain_line("".join(cell.itertext())) for cell in row) for row in element.iter("row"))
            yield "\n".join(row for row in rows if row.strip())
        elif element.get("rend") == "dl":
            yield from _definitions(element)
        elif element.tag in _BLOCK_TAGS and element.find(".//table") is None:
            yield plain_line(" ".join(element.itertext()) if element.tag == "code" else "".join(element.itertext()))
        elif len(element):
            yield from _blocks(element)
        else:
            yield plain_line(element.text or "")
        yield plain_line(element.tail or "")


def _definitions(element: Any) -> Iterator[str]:
    """Each term with its definitions, in the form of a table row."""
    row: list[str] = []
    for item in element:
        if (item.get("rend") or "").startswith("dt") and row:
            yield "\t".join(row)
            row = []
        row.append(plain_line("".join(item.itertext())))
    yield "\t".join(row)


def _json_ld(tree: html.HtmlElement) -> Iterator[Any]:
    extractor = JsonLdExtractor()
    for script in list(tree.iter("script")):
        if not (script.get("type") or "").strip().lower().startswith("application/ld+json"):
            continue
        script.set("type", "application/ld+json")
        try:
            items = extractor.extract_items(script)
        except (ValueError, RecursionError):  # broken: the others may be well
            continue
        for item in items:
            graph = item.get("@graph") if isinstance(item, dict) else None
            yield from graph if isinstance(graph, list) else [item]


def _microdata(tree: html.HtmlElement, base: str) -> Iterator[Any]:
    scopes = tree.xpath("//*[@itemscope]")
    if not scopes or len(scopes) > _MAX_ITEMS:
        return
    if tree.xpath(f"boolean(//*[@itemscope][count(ancestor::*[@itemscope]) > {_MAX_ITEM_DEPTH}])"):
        return
    try:
        items = MicrodataExtractor().extract_items(tree, base)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - what odd markup makes it stumble over; the page has more to say
        return
    for item in items:
        yield _as_json_ld(item)


def _as_json_ld(value: Any) -> Any:
    """Convert what microdata returns (`{"type": …, "properties": {…}}`) to the form of JSON-LD."""
    if isinstance(value, list):
        return [_as_json_ld(item) for item in value]
    if not isinstance(value, dict) or "properties" not in value:
        return value
    item_fields = {"@type": value["type"]} if "type" in value else {}
    if "id" in value:
        item_fields["@id"] = value["id"]
    return item_fields | {name: _as_json_ld(item) for name, item in value["properties"].items()}


def _plain(value: Any, values: Iterator[int], depth: int) -> Any:
    """The value with plain texts and types; whatever is nested too deeply becomes null. `values` counts all values."""
    if next(values) > _MAX_VALUES:
        raise OverflowError
    if isinstance(value, str):
        return plain(value[:_MAX_VALUE_LENGTH]).strip()
    if depth == 0 or value is None or isinstance(value, bool | int | float):
        return value if not isinstance(value, dict | list) else None
    if isinstance(value, list):
        return [_plain(item, values, depth - 1) for item in value]
    if isinstance(value, dict):
        item_fields = {plain(str(name)[:200]).strip(): _plain(item, values, depth - 1) for name, item in value.items()}
        if "@type" in item_fields:
            item_fields["@type"] = _type(item_fields["@type"])
        return item_fields
    return None


def _type(name: Any) -> Any:
    if isinstance(name, list):
        return [_type(item) for item in name]
    return name.rstrip("/").rpartition("/")[2].rpartition(":")[2] if isinstance(name, str) else name
