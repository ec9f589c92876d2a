"""PDFs in Chinese, Japanese and Korean whose fonts are not in the file, with any of Adobe's character maps."""

from functools import cache
from typing import Any, Final

from pdfminer.cmapdb import CMapDB

from tests.tasks.reading.pdf import pdfs

LINES: Final = {
    "GB1": ("本公司的年度报告显示，营业收入为四千八百三十万元", "同比增长百分之十七。", "合同期限为三年。"),
    "CNS1": ("本公司的年度報告顯示，營業收入為四千八百三十萬元", "同比增長百分之十七。", "合約期限為三年。"),
    "Japan1": (
        "当社の年次報告書によると、売上高は四千八百三十万",
        "円で、前年比十七パーセントの増加",
        "契約の期間は三年",
    ),
    "Korea1": (
        "회사의 연차 보고서에 따르면 매출액은",
        "사천팔백삼십만 원으로 전년 대비",
        "계약 기간은 삼 년으로 한다.",
    ),
}
"""Three lines of each of Adobe's character collections."""

_SIZE: Final = 14
_HEIGHT: Final = 842


@cache
def codes(collection: str, encoding: str) -> dict[str, bytes]:
    """The code of each character in a character map ("GBK-EUC-H")."""
    characters: dict[int, str] = CMapDB.get_unicode_map(f"Adobe-{collection}").cid2unichr
    if encoding.startswith("Identity"):
        return {character: identifier.to_bytes(2, "big") for identifier, character in reversed(characters.items())}
    found: dict[str, bytes] = {}

    def walk(table: dict[int, Any], prefix: bytes) -> None:
        for byte, entry in table.items():
            code = prefix + bytes([byte])
            if isinstance(entry, dict):
                walk(entry, code)
            elif entry in characters:
                known = found.get(characters[entry])
                found[characters[entry]] = code if known is None or len(code) < len(known) else known

    unicode = {"UCS2": "utf-16-be", "UTF16": "utf-16-be", "UTF32": "utf-32-be", "UTF8": "utf-8"}
    form = unicode.get(encoding.split("-")[1]) if encoding.startswith("Uni") else None
    walk(CMapDB.get_cmap(encoding).code2cid, b"")  # type: ignore[attr-defined]
    if encoding.endswith("V"):  # some marks have forms of their own there
        found |= {
            character: code
            for character, code in codes(collection, encoding[:-1] + "H").items()
            if character not in found
        }
    if form:  # some characters have other ones of their shape, and the same glyph
        return {character: character.encode(form) if len(character) == 1 else code for character, code in found.items()}
    return found


def lines(collection: str, encoding: str) -> list[str]:
    """Those lines, without the characters that the map does not have."""
    known = codes(collection, encoding)
    return ["".join(character for character in line if character in known) for line in LINES[collection]]


def pdf(
    collection: str,
    encoding: str,
    *,
    single: bool = False,
    invisible: bool = False,
    rotation: int = 0,
    text: tuple[str, ...] | None = None,
    more: str = "",
    entries: bytes = b"",
    others: tuple[bytes, ...] = (),
) -> bytes:
    """A page of lines, or of columns where the encoding is vertical; each character a piece of its own if `single`.

    `more` stands before them in the page's content, where F2 is Helvetica. `others` are objects from 9 on, to which
    `entries` of the font refer.
    """
    known = codes(collection, encoding)
    down = encoding.endswith("V")
    mode = "3 Tr " if invisible else ""
    content = [more]
    for number, line in enumerate(text or lines(collection, encoding)):
        x, y = (500 - 30 * number, _HEIGHT - 80) if down else (40, _HEIGHT - 80 - 30 * number)
        for piece in line if single else [line]:
            shown = b"".join(known[character] for character in piece).hex()
            content.append(f"q 1 0 0 1 {x} {y} cm BT {mode}/F1 {_SIZE} Tf <{shown}> Tj ET Q")
            x, y = (x, y - _SIZE) if down else (x + _SIZE, y)
    name = b"Serif"
    return pdfs.pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 %d] /Rotate %d /Contents 4 0 R "
            b"/Resources << /Font << /F1 5 0 R /F2 8 0 R >> >> >>" % (_HEIGHT, rotation),
            pdfs.stream("\n".join(content).encode()),
            b"<< /Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /%s /DescendantFonts [6 0 R] %s >>"
            % (name, encoding.encode(), entries),
            b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /%s /DW 1000 /FontDescriptor 7 0 R "
            b"/CIDSystemInfo << /Registry (Adobe) /Ordering (%s) /Supplement 2 >> >>" % (name, collection.encode()),
            b"<< /Type /FontDescriptor /FontName /%s /Flags 6 /FontBBox [-25 -254 1000 880] /ItalicAngle 0 "
            b"/Ascent 752 /Descent -271 /CapHeight 737 /StemV 58 >>" % name,
            pdfs.HELVETICA,
            *others,
        ]
    )
