"""Figures of filings whose values are tagged in their own pages (inline XBRL): the tags are the answers.

DILIGENCE_BENCH_FILINGS names a folder with clones of alphanome-ai/sec-parser-test-data and, for the second and third
parts, of dgunning/edgartools, for the third also of HaoweiChan/sec-10k-extract, Bijay-Thakur/rag-sec-10k and
Arelle/ixbrl-viewer anywhere below it. Companies whose figures another part of the benchmarks knows are left out; the
others are halved by a seed. The third parts are of filings that nothing was measured on before, of companies of which
an annual report may have been; a hash of the name halves them. Annual reports give the values
of both years, quarterly ones those of the quarter and of the year so far. The ledger sees the page, not the tags.
`python -m tests.benchmarks.tagged_filings PART` lists what is wrong.
"""

import os
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from lxml import etree, html

from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import ACTUAL, Figure, taxonomy
from tasks.language.periods import last_day
from tasks.reading import read_document
from tasks.reading.text_writer import TAGGED

FILINGS: Final = "DILIGENCE_BENCH_FILINGS"
_SEED: Final = 17
_NEW: Final = (
    *("ABT", "AI", "BMY", "CL", "CMCSA", "CSCO", "GD", "GE", "GM", "GME", "JCI"),
    *("LOW", "MARA", "MDT", "PLTR", "RIOT", "RKT", "RTX", "SJM", "TMO", "TXN", "WBA"),
)
_SECOND: Final = (
    *("AEON", "AMC", "AXP", "CAT", "CVX", "DIS", "DOW", "F", "HON", "HUBS", "IBM", "INTC", "MA", "MCD", "MRK"),
    *("MULN", "T", "TRV", "TSLA", "UNP", "UPS", "XOM"),
)
_THIRD: Final = (
    *("AA", "AAPL", "ABBV", "ADBE", "AMD", "AMZN", "BA", "CLX", "COST", "CRM", "GOOG", "GOOGL", "HD", "JNJ", "KHC"),
    *("KO", "LLY", "META", "MMM", "NFLX", "NKE", "NVDA", "ORCL", "PEP", "PFE", "PG", "PGR", "UNH", "V", "VZ", "WFC"),
    "WMT",
)
_ELSEWHERE: Final = {
    "heldout/fixtures/cost-2022/filing.htm": ("COST", "10-K"),
    "heldout/fixtures/pgr-2023/filing.htm": ("PGR", "10-K"),
    "data/raw/Elilily.html": ("LLY", "10-K"),
    "clorox-2022-10-K-ixbrl-viewer/clx-20220630_d2.htm": ("CLX", "10-K"),
}
"""Pages whose folders do not name company and form."""

_LARGE: Final = 100_000
"""Bytes from which on a page is a whole filing."""

_TAGS: Final[Mapping[str, tuple[str, ...]]] = {
    "revenue": ("Revenues", "RevenuesNetOfInterestExpense", "RevenueFromContractWithCustomerExcludingAssessedTax"),
    "gross_profit": ("GrossProfit",),
    "operating_income": ("OperatingIncomeLoss",),
    "net_income": ("ProfitLoss", "NetIncomeLoss"),
    "total_assets": ("Assets",),
    "equity": ("StockholdersEquity",),
    "cash": ("CashAndCashEquivalentsAtCarryingValue",),
    "operating_cash_flow": ("NetCashProvidedByUsedInOperatingActivities",),
    "capital_expenditure": ("PaymentsToAcquirePropertyPlantAndEquipment", "PaymentsToAcquireProductiveAssets"),
}
"""Of each concept the tags that give it, the first that a filing has."""

Key = tuple[str, int, str]
"""A concept, the months of its period (0 for a day), and its last day."""


class Tagged(NamedTuple):
    """A tagged value and the step of its last digit as it is shown."""

    value: Decimal
    step: Decimal


class Outcome(NamedTuple):
    """Of some filings: values found, values wanted, figures given for a wanted value that are right, all given."""

    found: int
    wanted: int
    right: int
    given: int


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target); nothing where the filings are not there."""
    for part, names in parts().items() if os.environ.get(FILINGS) else ():
        for form in ("10-K", "10-Q"):
            outcome = compare(Path(os.environ[FILINGS]), form, names)
            if outcome.wanted:
                precision, recall = outcome.right / max(1, outcome.given), outcome.found / outcome.wanted
                figure = f"precision {precision:.3f}, recall {recall:.3f} ({outcome.wanted} values)"
                yield f"tagged values of {form} filings, {part}", figure, "0.98, 0.90"


def parts() -> dict[str, Sequence[str]]:
    """The companies by part."""
    halves: dict[str, Sequence[str]] = {}
    for before, companies in (("", _NEW), ("second ", _SECOND)):
        names = random.Random(_SEED).sample(companies, len(companies))
        half = len(names) // 2
        halves |= {f"{before}development": sorted(names[:half]), f"{before}shut": sorted(names[half:])}
    shut = [name for name in _THIRD if int(sha256(name.encode()).hexdigest(), 16) % 2]
    return halves | {"third development": [name for name in _THIRD if name not in shut], "third shut": shut}


def filings(folder: Path, form: str, names: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """The pages of a form of these companies, with the company, as the two repositories keep them."""
    for file in sorted(folder.rglob("primary-document.html")):
        if file.parts[-4] == form and file.parts[-3] in names:
            yield file.parts[-3], file
    for file in sorted(folder.rglob("*.htm*")):
        name = next((part.upper() for part in reversed(file.parts[-4:-1]) if part.upper() in names), None)
        of_form = form.replace("-", "").lower() in {file.parts[-2], file.stem[-3:]}
        if name and of_form and file.name != "primary-document.html" and file.stat().st_size > _LARGE:
            yield name, file
        for path, (company, its_form) in _ELSEWHERE.items():
            if company in names and its_form == form and file.match(path):
                yield company, file


def compare(folder: Path, form: str, names: Sequence[str], *, tell: bool = False) -> Outcome:
    """The ledger's figures beside the tagged values; with `tell` what is wrong or missing is printed."""
    found = wanted = right = given = 0
    for name, file in filings(folder, form, names):
        if not (tagged_of_page := tagged_values(file)):
            continue
        reading = read_document(str(file))
        places = [place for place in reading.places if place.kind not in ("cell", TAGGED)]
        answers = _answers(find_figures(LedgerDocument(reading.text, places, file.name), taxonomy()).figures)
        for key, tagged in sorted(tagged_of_page.items()):
            wanted += 1
            said = answers[key]
            fitting = [
                each for each in said.values() if abs(each.value - tagged.value) <= (each.step + tagged.step) / 2
            ]
            found += bool(fitting)
            right += len(fitting)
            given += len(said)
            if tell and (not fitting or len(fitting) < len(said)):
                print(name, *key, tagged.value, "|", *(f"{each.value} {each.place}" for each in said.values()))
    return Outcome(found, wanted, right, given)


def tagged_values(file: Path) -> dict[Key, Tagged]:
    """The values that a page tags for the whole company, of the periods that end on its two newest balance sheet days.

    Of a quarterly report only what ends on the newest day, and on the same day a year before: its second balance sheet
    is that of the year's end.
    """
    tree = html.fromstring(file.read_bytes())
    contexts = {each.get("id"): _period(each) for each in tree.iter() if each.tag == "xbrli:context"}
    by_tag: dict[str, dict[tuple[int, str], Tagged]] = defaultdict(dict)
    for fact in tree.iter("ix:nonfraction"):
        period = contexts.get(fact.get("contextref"))
        value = _value(fact)
        if period is not None and value is not None:
            by_tag[fact.get("name", "").removeprefix("us-gaap:")].setdefault(period, value)
    days = sorted((end for _, end in by_tag["Assets"]), reverse=True)[:2]
    if not days:
        return {}
    newest = date.fromisoformat(days[0])
    kept = {*days, *((newest - timedelta(days=days_ago)).isoformat() for days_ago in range(362, 373))}
    values: dict[Key, Tagged] = {}
    for concept, tags in _TAGS.items():
        for tag in tags:
            for (months, end), value in by_tag[tag].items():
                if end in kept:
                    values.setdefault((concept, months, end), value)
    return values


def _period(context: etree._Element) -> tuple[int, str] | None:
    """Months and last day of a context; None where it is of a part of the company."""
    words = {
        each.tag.rpartition(":")[2]: (each.text or "").strip() for each in context.iter() if isinstance(each.tag, str)
    }
    if "segment" in words:
        return None
    if "instant" in words:
        return 0, words["instant"]
    if "startdate" not in words:
        return None
    return _months(words["startdate"], words["enddate"]), words["enddate"]


def _months(first: str, last: str) -> int:
    return round(((date.fromisoformat(last) - date.fromisoformat(first)).days + 1) / 30.4)


def _value(fact: etree._Element) -> Tagged | None:
    words = "".join(map(str, fact.itertext())).replace(",", "").strip()
    try:
        value = Decimal(0) if words in {"—", "-"} else Decimal(words)
    except InvalidOperation:
        return None
    scale = Decimal(10) ** int(fact.get("scale") or 0)
    exponent = value.as_tuple().exponent
    step = scale * Decimal(10) ** (exponent if isinstance(exponent, int) else 0)
    return Tagged(value * scale * (-1 if fact.get("sign") == "-" else 1), step)


def _answers(figures: Sequence[Figure]) -> dict[Key, dict[Decimal, Figure]]:
    """The different actual values of the whole company, by concept, months and last day."""
    answers: dict[Key, dict[Decimal, Figure]] = defaultdict(dict)
    for figure in figures:
        if figure.entity is None and figure.basis in {None, *ACTUAL} and not figure.variant:
            first, _, last = figure.period.rpartition("/")
            key = (figure.concept, _months(first, last) if first else 0, last_day(figure.period))
            answers[key].setdefault(figure.value, figure)
    return answers


if __name__ == "__main__":
    for each in ("10-K", "10-Q"):
        print(each, compare(Path(os.environ[FILINGS]), each, parts()[sys.argv[1]], tell=True))
