"""Labels of public forms from whose text a reader can tell their values.

A label and its values stand in one line, each value in a cell of its own, or a value stands right behind its label or
in the cell below it.

The forms are blank: each of their text fields but every fifth gets a value of its own here, with the appearance that
pypdf gives it; those of a half are flattened then. `filled_forms.txt` holds the labels. DILIGENCE_BENCH_REPOSITORIES
is that of `real_tables`.

    python -m tests.benchmarks.filled_forms     lists what is missing of the open half
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pypdfium2
import pypdfium2.raw as pdfium
from pypdf import PdfReader, PdfWriter

from tasks.reading import text_writer
from tasks.reading.pdf import reader
from tests.benchmarks.real_tables import has_pair

_LABELS: Final = Path(__file__).with_suffix(".txt")
_COMMITS: Final = {
    "AB-campus-CDA/cerfa": "7ab5b9d51d76536326b6a860312f661e4f1bc06f",
    "adam01140/formwiz": "db9093668f272a681503e2e0a26b0084ed6a4f8e",
    "alopezcia/cert-req": "12c5217fcf4dccc166f72eae6754f348b02ff335",
    "Ankush1oo8/synapxltd-assignemnt": "896f901ee90ba2d7f26ef41ed4030c6e82b2ee54",
    "Bader969/BKKGSSmartFormular": "3854ec0ed8039832521f81f2cc477bbf03ef345f",
    "buhaytza2005/go_form_fill": "03ee18fdae04e11404f2700dc661c3d1bc56f7f1",
    "chinapandaman/PyPDFForm": "fe3206228d53e1cb26a3cd01fc0ddb321548d980",
    "comune-abbiategrasso/modulistica": "bf54d439261edd4375a721367a642027e1d8db0a",
    "davidfarouz66-web/crm-cerfa": "e43a6cbe69249e8ea4e2eae4f6d57787ce51868d",
    "davidmandelbaum/asylumassist": "3a143b605eaff54b025f38c8dae7e9362c61b18f",
    "departement-loire-atlantique/prefill-pdf-connector": "0ae0f90e7ddf52e0571bf9349299f0f4d087e186",
    "DeutscherDude/Pdf_fields": "494f6bed344cb53ad1389e5b1f99de4d7e420143",
    "digitalservicebund/a2j-rechtsantragstelle": "8591b6e3f49fe9d6529d5d9312507fefe6ec5826",
    "dplantera/react-pdf-filling-assistant": "b9aeeb529c7c6c2dcfcaa0236f757f08cca6161c",
    "Flobin/coolhouse": "4be4d68dd20aa49caf83cc13a460abd4909130e5",
    "gp777-BEEP/cerfa-drone": "3fd728cfbb02b8803b02af675d8cf5a10bda7c35",
    "GSA/pdf-filler": "2d60adcacac34c9a9783ec0969c4d5046757f0a5",
    "HorusGoul/fct-fill-pdf": "a6031e88cdcaf67fd4747f32fe481823c3ff0306",
    "hpiedois/tax-dividend-ai": "40c80e6bce034be5509950bc50122579342f20a0",
    "JaviMaciasG/pdf-form-id-fill": "43ae9ee4b1cd55433a37261c3411b610ce226737",
    "jkraemer/pdf-forms": "91161b75c3e8f24f3e1e443a7be97dd544b2d93d",
    "josephmowjew/go-pdf-filler": "2d8653c0369bbd81c431b1c3d6ca71513644eb11",
    "jyr53/api.logicia.fr-develop": "09a24174fcec6524410259ff5792593a98028a68",
    "kathyvs/Pennsic-Form-Filler": "faa50e664023d1fc8c50cd5c6e7c6a452acc7775",
    "lpoaura/French-CERFA-donation-filler": "0290d3fc9b8030f2f861bc95d372a6b7ac1b2aab",
    "makerspace-gt/satzung-dokumente": "1d2356db699879af8a17dd5efd072ea0f4c7dd45",
    "makerspace-partheland/Vereinsdokumente": "4b3df2fbcc97f2a2d5a5784cdcfcf5c1d7c3d0ea",
    "mikobrno/kostka_v01": "9a50dcbed53a9bb35d87886de0c903564b3916fb",
    "ministryofjustice/accelerated_claims": "7c96858afd2458a409ae9e1504bbe5cf020f4c0b",
    "mozilla/pdf.js": "0f26334f9d6f96119f6e5164fb65832fbbde7344",
    "OleksandrMiedviediev/pdf-form": "8480f8933b497905b97e97b1ab1d1c73a3b479f0",
    "pberlanda/generatorepdf": "b779f33f21a0c2b798c87d09ceea8ab00228424e",
    "phamkhoa18/backend_Phaplyvietnam": "f65dfa6f7411acae86e4c097caf736fb122e9154",
    "psmlbhor/PDF_flattening": "78731cd34a7effc724f6a7e29289cc536ab45b58",
    "Quayed/LejeAdmin": "205902e79c77d56b7036c42e7226f604a0dda88b",
    "rxue/accounting": "14d4dea4126874992f784c81f686e167e4f3c0b4",
    "santosemmanuel/ABC-PHForms": "20420af4c2612d0ef64d546b13962b2b0cc7489e",
    "silverstein/pdf-filler-simple": "c57f216935c87f47c58454e147204dc8f3bd2208",
    "smoores-dev/cayugaswatchers": "f4d2ec154debfd7d3c4b8019565ab15d5aef6c6f",
    "t-houssian/fillpdf": "444db895e692586c1b417a08b9ff48cb1078a44b",
    "tdooner/pdf-tax-form-filler": "54e6c3f23d5ea1d2cc0f93e4bfefaec99ec03868",
    "Terezka88/PDF-filler-": "331da722cfc2c223b72c20982ba4ecc7c4dc3a93",
    "tgv-eintracht-beilstein/design": "eceef81e39f8f2fa99955f85d6ca65fc5f8f4ac1",
    "the-move-social/themove-corporate-docs": "d3a32e9b5c4f205637f6f2520865786b34dc26a3",
    "UntwistedApple/thesis": "68746ddaf8788e4e492458ddad545de31cf8eb30",
    "ustaxes/UsTaxes": "4e4669e3f3ea0e799bb07bb14a55037cc9950d4e",
    "Viljoen13/Pdf-Filler": "0cd0a249ec3d9b8422516075e54ce504408b9602",
    "Virtual-Finland-Development/external-service-demo": "46b54324868fa6aecb3478dd57efdd3705dcb234",
    "vmoscak/formulare": "8f83f4b4f180b96360b2d12a05bc3aef32df4ace",
    "wickedest/irs-form-filler": "56faeab63d7b8df4a14c98d471f6b3b859bbc710",
    "wuaho/hikorea-paperman": "36ca4635c6a5ec874b36c939dacdc5d30a0b6478",
}
_NAMES: Final = ["Okafor", "Lindqvist", "Moreau", "Petersen", "Tanaka", "Bianchi", "Novak", "Silva", "Keller", "Hughes"]
_WIDE, _NARROW = 200, 35
"""Points from which a field holds a name, and up to which two digits."""


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    for half in sorted({part.split(" | ")[0] for part in _LABELS.read_text("utf-8").split("\n@ ")[1:]}):
        found = [(len(labels), len(labels) - len(missing)) for _, labels, missing in _read(half)]
        labels, right = (sum(column) for column in zip(*found, strict=True)) if found else (0, 0)
        figure = f"{right / labels:.3f} ({right} of {labels}, {len(found)} forms)" if labels else "–"
        yield f"labels with their values on forms that are filled here, {half}", figure, ".90"


def fill(form: bytes, *, with_points: bool) -> bytes:
    """The form with a value in most of its text fields; thousands are parted by commas, or by points."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(form)))
    writer.root_object.get("/AcroForm", {}).pop("/XFA", None)
    number = names = 0
    for page in writer.pages:
        values: dict[str, str] = {}
        for widget in [item.get_object() for item in page.get("/Annots") or ()]:
            if widget.get("/Subtype") != "/Widget" or _inherited(widget, "/FT") != "/Tx":
                continue
            number += 1
            if number % 5 == 3:
                continue
            left, _, right, _ = map(float, widget["/Rect"])
            most, value = _inherited(widget, "/MaxLen"), f"{1000 + number * 37:,}"
            if most is not None and most < 6:
                value = str(10 ** (int(most) - 1) + number)[: int(most)] if most > 1 else str(number % 10)
            elif abs(right - left) > _WIDE:
                names += 1
                value = f"{_NAMES[names % 10]} {names}"
            elif abs(right - left) < _NARROW:
                value = str(number % 90 + 10)
            elif with_points:
                value = value.replace(",", ".")
            if most is not None and len(value) > most:
                value = value.replace(",", "").replace(".", "")[: int(most)]
            values[_full_name(widget)] = value
        writer.update_page_form_field_values(page, values, auto_regenerate=False)
    filled = BytesIO()
    writer.write(filled)
    return filled.getvalue()


def flatten(form: bytes) -> bytes:
    """The form with its fields drawn for good, as a program that prints it leaves it."""
    document = pypdfium2.PdfDocument(form)
    document.init_forms()
    for index in range(len(document)):
        page = document[index]
        pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_PRINT)
        page.close()
    flattened = BytesIO()
    document.save(flattened)
    return flattened.getvalue()


def _inherited(widget: Any, key: str) -> Any:
    """An entry of a field, or of the one above it."""
    return widget.get(key) or (widget["/Parent"].get(key) if "/Parent" in widget else None)


def _full_name(widget: Any) -> str:
    names: list[str] = []
    while widget is not None:
        names[:0] = [widget["/T"]] if "/T" in widget else []
        widget = widget["/Parent"].get_object() if "/Parent" in widget else None
    return ".".join(names)


def _read(half: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """The forms of a half whose repositories are there: path, labels with values, and those that are missing."""
    given = os.environ.get("DILIGENCE_BENCH_REPOSITORIES")
    for part in _LABELS.read_text("utf-8").split("\n@ ")[1:] if given else ():
        head, *labels = [line for line in part.splitlines() if line]
        its_half, repository, path, number = (word.strip() for word in head.split(" | "))
        folder = Path(given or "") / repository.replace("/", "+") / "repo"
        folder = folder / ".git" if (folder / ".git").is_dir() else folder
        if its_half != half or not folder.is_dir():
            continue
        blob = ["git", "-C", str(folder), "show", f"{_COMMITS[repository]}:{path}"]
        form = subprocess.run(blob, check=True, capture_output=True).stdout
        with tempfile.TemporaryDirectory() as home:
            filled = Path(home) / "form.pdf"
            filled.write_bytes(
                fill(
                    form,
                    with_points=not half.startswith(("later", "fresh", "second", "third", "fourth"))
                    and repository.split("/")[0] not in {"tdooner", "ustaxes"},
                )
            )
            reading = reader.read(flatten(filled.read_bytes()) if half.endswith("flattened") else filled)
        page = next(place for place in reading.places if place.kind == text_writer.PAGE and place.label == number)
        lines = reading.text[page.start : page.end].splitlines()
        labels = [label.replace("|", "\t") for label in labels]
        yield path, labels, [label for label in labels if not says_pair(label, lines)]


def says_pair(row: str, lines: Sequence[str]) -> bool:
    """Whether the lines of a page say which values a label has."""
    if any(has_pair(row, line) for line in lines):
        return True
    label, *values = row.split("\t")
    if len(values) != 1:
        return False
    words = r"\s+".join(map(re.escape, label.split()))
    behind = re.compile(rf"{words}[\s.…_:*$€£]*{re.escape(values[0])}(?!\w)", re.IGNORECASE)
    if any(behind.search(line) for line in lines):
        return True
    rows = [line.split("\t") for line in lines]
    tables = ((one, other) for one, other in pairwise(rows) if len(one) == len(other) > 1)
    return any((label, values[0]) in zip(one, other, strict=True) for one, other in tables)


def main() -> None:
    """List the labels of the open half whose values do not stand behind them."""
    for path, labels, missing in _read("open"):
        print(f"{len(labels) - len(missing)} of {len(labels)} {path}")
        for label in missing:
            print(f"    {label.replace(chr(9), ' | ')}")


if __name__ == "__main__":
    main()
