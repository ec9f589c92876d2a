"""Text documents of OpenDocument: by LibreOffice where it is installed, else their paragraphs and tables."""

from pathlib import Path

import pytest

from tasks.errors import Damaged, PasswordProtected, TooLarge
from tasks.reading import formats, read_document
from tasks.reading import odf as odf_package
from tests.tasks.reading.odf.packages import content, package, paragraph

DOCUMENTS = Path(__file__).parents[3] / "documents"
NOTE = (
    '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>'
    f"<text:note-body>{paragraph('Without tax.')}</text:note-body></text:note>"
)
BODY = (
    '<text:tracked-changes><text:changed-region text:id="c1"><text:deletion>'
    f"{paragraph('thirty')}</text:deletion></text:changed-region></text:tracked-changes>"
    '<text:h text:outline-level="1">Rent</text:h>'
    + paragraph(f"The <text:span>tenant</text:span><text:s/>pays{NOTE} monthly.")
    + f"<text:list><text:list-item>{paragraph('first')}</text:list-item></text:list>"
    + f"<table:table><table:table-row><table:table-cell>{paragraph('Floor')}</table:table-cell><table:table-cell>"
    + f"{paragraph('12,000')}{paragraph('a year')}</table:table-cell></table:table-row></table:table>"
    + paragraph(f"Signed<draw:frame><draw:text-box>{paragraph('Stamp')}</draw:text-box></draw:frame>")
)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """LibreOffice is not installed."""
    monkeypatch.setenv("PATH", "")


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("flat", [False, True])
def test_paragraphs_and_tables_are_read_without_libreoffice(flat: bool) -> None:
    data = content("text", BODY, root="document").encode() if flat else package("text", BODY)
    reading = read_document(data, ".fodt" if flat else ".odt")
    assert reading.text == "Rent\nThe tenant pays monthly.\nfirst\nFloor\t12,000 a year\nSigned\nStamp\n"
    assert [place.kind for place in reading.places if place.kind != "cell"] == ["body", "heading", "table"]
    assert "package libreoffice-writer" in reading.warnings[0]


@pytest.mark.skipif(formats.program("libswlo.so") is None, reason="needs LibreOffice (libreoffice-writer)")
def test_libreoffice_numbers_lists_too() -> None:
    reading = read_document((DOCUMENTS / "lists.odt").read_bytes(), ".odt")
    assert reading.warnings == []
    assert "heading" in [place.kind for place in reading.places]
    assert "2. " in reading.text


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", Damaged),
        (b"PK\3\4", Damaged),
        (b"<office:document/>", Damaged),
        (package("text", BODY, **{"META-INF__manifest_DOT_xml": "<m><encryption-data/></m>"}), PasswordProtected),
    ],
    ids=["empty", "cut off", "no content", "encrypted"],
)
def test_what_cannot_be_read_says_why(data: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_document(data, ".odt")


@pytest.mark.usefixtures("alone")
def test_no_entity_is_expanded_and_nothing_is_fetched() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b SYSTEM "file:///etc/passwd">]>'
    flat = content("text", paragraph("before &a; &b; after"), root="document")
    text = read_document(flat.replace("<office:document ", f"{bomb}<office:document ", 1).encode(), ".fodt").text
    assert "before" in text
    assert "root:" not in text


@pytest.mark.usefixtures("alone")
def test_a_document_that_inflates_too_far_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(odf_package, "LARGEST_TREE", 1000)
    with pytest.raises(TooLarge):
        read_document(package("text", paragraph("x" * 2000)), ".odt")


@pytest.mark.usefixtures("alone")
def test_a_damaged_document_gives_what_is_left() -> None:
    flat = content("text", BODY, root="document").encode()
    reading = read_document(flat[: flat.index(b"Floor")], ".fodt")
    assert reading.text.startswith("Rent\nThe tenant pays monthly.\n")
    assert any("damaged" in warning or "cut off" in warning for warning in reading.warnings)
