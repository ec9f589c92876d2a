"""The pictures of pages in the home: where each lies, and removing those that nothing shows any more.

They are named by the content of their document, so that what was drawn once serves every run and every report.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Final

from storage import database, texts
from tasks.evidence.drawing import VERSION

SUFFIXES: Final = (".png", ".webp")
"""Of the formats of pictures: by `pdf_page` the one or the other, by what is on the page."""

_AT_ONCE = 500  # contents that are looked up together


def picture_stem(content_hash: str, page: int) -> Path:
    """Where the picture of a document's page is to be drawn, without the suffix of its format."""
    return _folder() / f"{content_hash[:2]}" / f"{content_hash}-{VERSION}-{page}"


def find_picture(content_hash: str, page: int) -> Path | None:
    """The picture of a document's page; None unless it was drawn."""
    stem = picture_stem(content_hash, page)
    return next((path for suffix in SUFFIXES if (path := stem.with_suffix(suffix)).exists()), None)


def remove_pictures(without: Collection[int] = (), *, dry_run: bool = False) -> tuple[int, int]:
    """Remove pictures of an earlier version, or of contents without a text; gives how many there were, and their bytes.

    Args:
        without: the ids of texts that count as gone.
        dry_run: whether only to count.
    """
    by_content: dict[str, list[Path]] = {}
    for picture in (path for path in _folder().glob("??/*") if path.suffix in SUFFIXES):
        by_content.setdefault(picture.name.partition("-")[0], []).append(picture)
    contents = sorted(by_content)
    count = size = 0
    for start in range(0, len(contents), _AT_ONCE):
        some = contents[start : start + _AT_ONCE]
        with database.reading() as session:
            known = texts.contents_with_text(session, some, without)
        for content in some:
            for picture in by_content[content]:
                if content in known and picture.name.startswith(f"{content}-{VERSION}-"):
                    continue
                count, size = count + 1, size + picture.stat().st_size
                if not dry_run:
                    picture.unlink(missing_ok=True)
    return count, size


def _folder() -> Path:
    return database.home() / "evidence"
