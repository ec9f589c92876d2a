"""Where the evidence of a quotation lies beside a report, known before it is written."""

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
    """Where the evidence page of a quotation lies, relative to the report; it needs nothing but these to be known."""
    return f"{FOLDER}/{page_name(domain, document_id, place, start)}.html#{make_anchor(start, end)}"


def name_part(place: str) -> str | None:
    """The page, slide or sheet of a place in words, with the attachments that it is in; None where it names none."""
    match = _PART.match(place)
    return match[1] if match else None


def page_name(domain: str, document_id: str, place: str, start: int) -> str:
    """The name of an evidence page: the same for all quotations of one place of one company."""
    where = name_part(place) or f"characters {start // _CHARACTERS}"
    return page_prefix(domain) + _digest(f"{document_id}\n{where}")[:16]


def page_prefix(domain: str) -> str:
    """How the names of all evidence pages of a company begin: so a page is found without a look at other companies."""
    return _digest(domain)[:8]


def _digest(words: str) -> str:
    return sha256(words.encode(errors="surrogatepass")).hexdigest()


def picture_name(content_hash: str, page: int, suffix: str) -> str:
    """The name of the picture of a page, beside the evidence pages; `suffix` is that of its format, as `.png`."""
    return f"{content_hash[:24]}-{page}{suffix}"


def parse_picture_name(name: str) -> tuple[str, int] | None:
    """How the hash of the content begins whose page a picture of this name shows, and the page; None for another."""
    match = _PICTURE.fullmatch(name)
    return (match[1], int(match[2])) if match else None


def make_anchor(start: int, end: int) -> str:
    """The id of a quotation on its evidence page."""
    return f"c{start}-{end}"


def is_own_file(name: str) -> bool:
    """Whether a file in the folder has a name of ours, so that a later report may take it away."""
    return _OWN_FILE.fullmatch(name) is not None


def is_evidence(url: str) -> bool:
    """Whether this is the address of an evidence page, as `evidence_url` gives it."""
    return _OWN.fullmatch(url) is not None
