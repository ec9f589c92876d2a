"""Chinese, Japanese and Korean whose fonts are not in the file: read, or named where PDFium loses them."""

from tasks.reading.pdf import reader
from tasks.reading.text_writer import DOUBTFUL_SCAN
from tests.cases import cases
from tests.tasks.reading.pdf import east_asian

MAPS = {
    "GB1": ("GB-EUC", "GBpc-EUC", "GBK-EUC", "GBKp-EUC", "GBK2K", "UniGB-UCS2", "UniGB-UTF16", "Identity"),
    "CNS1": ("B5pc", "HKscs-B5", "ETen-B5", "UniCNS-UCS2", "UniCNS-UTF16", "Identity"),
    "Japan1": ("90ms-RKSJ", "90msp-RKSJ", "Add-RKSJ", "EUC", "Ext-RKSJ", "UniJIS-UCS2", "UniJIS-UTF16", "Identity"),
    "Korea1": ("KSC-EUC", "KSCms-UHC", "KSCms-UHC-HW", "UniKS-UCS2", "UniKS-UTF16", "Identity"),
}
ENCODINGS = [(collection, name) for collection, names in MAPS.items() for name in names]
MISSING = "Characters that their fonts do not name are missing or may be wrong: page 1."
OUT_OF_ORDER = "Text that runs from top to bottom, or lies on its side, may be in a wrong order: page 1."


@cases(("collection", "name"), ENCODINGS)
def test_fonts_that_are_not_in_the_file_are_read(collection: str, name: str) -> None:
    reading = reader.read(east_asian.pdf(collection, f"{name}-H"))
    assert reading.text.splitlines() == east_asian.lines(collection, f"{name}-H")
    assert OUT_OF_ORDER not in reading.warnings


@cases(("collection", "name"), [*ENCODINGS, ("Japan1", "UniJIS2004-UTF16"), ("Korea1", "KSCpc-EUC")])
@cases("way", ["H", "V"])
@cases("single", [False, True])
def test_nothing_that_pdfium_loses_or_mistakes_is_silent(collection: str, name: str, way: str, single: bool) -> None:
    reading = reader.read(east_asian.pdf(collection, f"{name}-{way}", single=single))
    expected = sorted("".join("".join(east_asian.lines(collection, f"{name}-{way}")).split()))
    is_named = MISSING in reading.warnings or any(place.kind == DOUBTFUL_SCAN for place in reading.places)
    assert is_named or sorted("".join(reading.text.split())) == expected


@cases("rotation", [90, 180, 270])
def test_a_page_that_lies_on_its_side_is_named(rotation: int) -> None:
    rows = "\n".join(f"BT /F2 12 Tf 60 {700 - 20 * row} Td (Row {row} of the page) Tj ET" for row in range(4))
    reading = reader.read(east_asian.pdf("GB1", "GBK-EUC-H", more=rows, text=("",), rotation=rotation))
    assert sorted(reading.text.splitlines()) == [f"Row {row} of the page" for row in range(4)]
    assert OUT_OF_ORDER in reading.warnings
