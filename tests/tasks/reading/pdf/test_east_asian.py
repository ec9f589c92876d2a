"""Chinese, Japanese and Korean whose fonts are not in the file: read, with a warning where the order may be wrong."""

from tasks.documents.extract import read_document
from tasks.reading.pdf import reader
from tests.cases import cases
from tests.tasks.reading.pdf import east_asian

MAPS = {
    "GB1": ("GB-EUC", "GBpc-EUC", "GBK-EUC", "GBKp-EUC", "GBK2K", "UniGB-UCS2", "UniGB-UTF16", "Identity"),
    "CNS1": ("B5pc", "HKscs-B5", "ETen-B5", "UniCNS-UCS2", "UniCNS-UTF16", "Identity"),
    "Japan1": ("90ms-RKSJ", "90msp-RKSJ", "Add-RKSJ", "EUC", "Ext-RKSJ", "UniJIS-UCS2", "UniJIS-UTF16", "Identity"),
    "Korea1": ("KSC-EUC", "KSCms-UHC", "KSCms-UHC-HW", "UniKS-UCS2", "UniKS-UTF16", "Identity"),
}
ENCODINGS = [(collection, name) for collection, names in MAPS.items() for name in names]
OUT_OF_ORDER = "Text that runs from top to bottom, or lies on its side, may be in a wrong order: page 1."


@cases(("collection", "name"), ENCODINGS)
@cases("single", [False, True])
def test_fonts_that_are_not_in_the_file_are_read(collection: str, name: str, single: bool) -> None:
    reading = reader.read(east_asian.pdf(collection, f"{name}-H", single=single))
    assert reading.text.splitlines() == east_asian.lines(collection, f"{name}-H")
    assert OUT_OF_ORDER not in reading.warnings


@cases(("collection", "name"), ENCODINGS)
@cases("single", [False, True])
def test_columns_are_read_with_a_warning_that_names_their_page(collection: str, name: str, single: bool) -> None:
    reading = reader.read(east_asian.pdf(collection, f"{name}-V", single=single))
    expected = east_asian.lines(collection, f"{name}-V")
    assert sorted("".join(reading.text.split())) == sorted("".join("".join(expected).split()))
    assert OUT_OF_ORDER in reading.warnings


@cases("rotation", [90, 180, 270])
def test_a_page_that_lies_on_its_side_is_named(rotation: int) -> None:
    rows = "\n".join(f"BT /F2 12 Tf 60 {700 - 20 * row} Td (Row {row} of the page) Tj ET" for row in range(4))
    reading = reader.read(east_asian.pdf("GB1", "GBK-EUC-H", more=rows, text=("",), rotation=rotation))
    assert sorted(reading.text.splitlines()) == [f"Row {row} of the page" for row in range(4)]
    assert OUT_OF_ORDER in reading.warnings


def test_a_character_map_that_pdfium_does_not_know_is_a_warning() -> None:
    reading = read_document(east_asian.pdf("Japan1", "UniJIS2004-UTF16-H"), ".pdf")
    assert any("page 1" in warning for warning in reading.warnings)
