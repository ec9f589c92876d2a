"""Lines that do not say how their characters are encoded, beside charset_normalizer: those that come back whole.

`encodings.toml` holds headings, sentences and small tables in our own words. The code was changed on its part
`development`; the part `shut` was opened after that.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from charset_normalizer import from_bytes

from tasks.reading.txt import decode_text

LINES: Final = Path(__file__).with_name("encodings.toml")


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    content = tomllib.loads(LINES.read_text(encoding="utf-8"))
    for part in ("development", "shut"):
        written = list(_written(content[part], content["code_pages"]))
        ours = sum(decode_text(data)[0] == line for line, data in written)
        theirs = sum(str(from_bytes(data).best()) == line for line, data in written)
        yield f"encodings, {part}: lines that come back", f"{ours} of {len(written)}", ""
        yield "the same by charset_normalizer", f"{theirs} of {len(written)}", ""


def _written(lines: dict[str, list[str]], code_pages: dict[str, list[str]]) -> Iterator[tuple[str, bytes]]:
    """Each line with what it is in each code page that has its characters."""
    for language, texts in lines.items():
        for code_page in code_pages[language]:
            for text in texts:
                try:
                    data = text.encode(code_page)
                except UnicodeEncodeError:
                    continue
                if not data.isascii() or code_page.startswith("iso2022"):
                    yield text, data
