"""The addresses of evidence pages beside a report, which are known before the pages are written."""

import re
from hashlib import sha256
from typing import Final

FOLDER: Final = "evidence"
_PART: Final = re.compile(r"((?:in “[^”]*”, )*(?:page \d+|slide \d+|sheet [^,]+))", re.IGNORECASE)
_OWN: Final = re.compile(r"evidence/[0-9a-f]{24}\.html#c\d+-\d+")
_OWN_FILE: Final = re.compile(r"[0-9a-f]{16}(?:[0-9a-f]{8})?\.html|[0-9a-f]{24}-\d+\.(?:png|webp)")
_PICTURE: Final = re.compile(r"([0-9a-f]{24})-(\d{1,7})\.(?:png|webp)")
_CHARACTERS: Final = 6_000
"""Of a document without pages, slides or sheets, so much of its text shares an evidence page."""


def evidence_url(domain: str, document_id: str, place: str, start: int, end: int) -> str:
    """The address of a quotation's evidence page, relative to the report, derived from these arguments alone."""
    return f"{FOLDER}/{page_name(domain, document_id, place, start)}.html#{make_anchor(start, end)}"


def name_part(place: str) -> str | None:
    """The page, slide or sheet of a place in words, with the attachments around it; None if it names none."""
    match = _PART.match(place)
    return match[1] if match else None


def page_name(domain: str, document_id: str, place: str, start: int) -> str:
    """The name of an evidence page: the same for all quotations from one place for one company."""
    where = name_part(place) or f"characters {start // _CHARACTERS}"
    return page_prefix(domain) + _digest(f"{document_id}\n{where}")[:16]


def page_prefix(domain: str) -> str:
    """The prefix of the names of a company's evidence pages, by which they are found without looking at other
    companies.
    """
    return _digest(domain)[:8]


def _digest(words: str) -> str:
    return sha256(words.encode(errors="surrogatepass")).hexdigest()


def picture_name(content_hash: str, page: int, suffix: str) -> str:
    """The name of a page's picture, beside the evidence pages; `suffix` is that of its format, such as `.png`."""
    return f"{content_hash[:24]}-{page}{suffix}"


def parse_picture_name(name: str) -> tuple[str, int] | None:
    """The beginning of the content hash and the page number from a picture's name; None for other names."""
    match = _PICTURE.fullmatch(name)
    return (match[1], int(match[2])) if match else None


def make_anchor(start: int, end: int) -> str:
    """The anchor of a quotation on its evidence page."""
    return f"c{start}-{end}"


def is_own_file(name: str) -> bool:
    """Whether a file's name in the folder is one of ours, so that a later report may delete it."""
    return _OWN_FILE.fullmatch(name) is not None


def is_evidence(url: str) -> bool:
    """Whether this is the address of an evidence page, in the form of `evidence_url`."""
    return _OWN.fullmatch(url) is not None
