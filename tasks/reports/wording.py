"""How every report for people writes figures, times and addresses, and which documents and items it lists first.

The addresses of evidence pages beside a report are known before the pages are written. How much room text takes in
Arial, its lines and what fits on them, is known without a library of slides.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from hashlib import sha256
from html import escape
from typing import Any, Final, NamedTuple
from unicodedata import combining, east_asian_width
from urllib.parse import urlsplit

from markupsafe import Markup

from storage.runs import ModelTrial
from storage.scores import Absence, ScoreStatus
from tasks.language.normalise import escape_text
from tasks.language.quotations import Block, MarkedWords
from tasks.language.tables import is_figure
from tasks.reports.models import (
    CompanyReport,
    ContradictingQuote,
    CriterionReport,
    DocumentReport,
    OrderInDocument,
    ReportedDecision,
    ReportedQuote,
    ReportedRequest,
    RunSummary,
)
from tasks.requests.match import RequestStatus
from tasks.scoring.results import ORDERS, OTHERS, Standing
from tasks.table.columns import value_in_words

_NAMED: Final = 20  # documents of an item of a request list that are named; the rest is counted
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


@lru_cache(maxsize=4096)
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


_SHORT: Final = 18
"""Characters of a cell at most that is kept on one line."""
_AROUND: Final = 1.5
"""Points between words and the line of their box."""
_TABLE: Final = '<div class="scroll" tabindex="0" role="region" aria-label="Rows of a table"><table><tbody>'


def words(blocks: Iterable[Block]) -> Markup:
    """The blocks as escaped HTML."""
    parts = (_table(block) if block.kind == "table" else _paragraphs(block) for block in blocks)
    return Markup("\n".join(parts))  # noqa: S704 - each part is escaped


def rectangles(boxes: Iterable[tuple[str | None, Sequence[float]]]) -> Markup:
    """Boxes on a page as SVG rectangles, a little larger than the words in them; each with its id, or None.

    `boxes` are left, top, right and bottom in the picture's units.
    """
    return Markup("\n    ".join(_rectangle(anchor, *sides) for anchor, sides in boxes))  # noqa: S704 - each is escaped


def _rectangle(anchor: str | None, left: float, top: float, right: float, bottom: float) -> str:
    name = f' id="{escape(anchor)}"' if anchor else ""
    width, height = (max(side + 2 * _AROUND, 2 * _AROUND) for side in (right - left, bottom - top))
    x, y = left - _AROUND, top - _AROUND
    return f'<rect{name} class="box" x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" rx="1"/>'


def _paragraphs(block: Block) -> str:
    runs = block.rows[0][0]
    between = "</mark></p>\n<p><mark>" if runs[0].marked else "</p>\n<p>"  # lines that share a run have no mark's edge
    return "<p>" + _runs(runs).replace("\n", between) + "</p>"


def _table(block: Block) -> str:
    rows = "</tr>\n<tr>".join("".join(map(_cell, row)) for row in block.rows)
    return f"{_TABLE}<tr>{rows}</tr></tbody></table></div>"


def _cell(runs: list[MarkedWords]) -> str:
    text = "".join([run.text for run in runs])
    kind = "" if len(text) > _SHORT else ' class="figure"' if is_figure(text) else ' class="short"'
    return f"<td{kind}>{_runs(runs)}</td>"


def _runs(runs: Iterable[MarkedWords]) -> str:
    return "".join(_mark_run(run) if run.marked else escape(run.text, quote=False) for run in runs)


def _mark_run(run: MarkedWords) -> str:
    anchor = f' id="{escape(run.anchors[0])}"' if run.anchors else ""
    others = "".join(f'<span id="{escape(other)}"></span>' for other in run.anchors[1:])
    return f"<mark{anchor}>{others}{escape(run.text, quote=False)}</mark>"


_OPENABLE: Final = re.compile(r"file:///[^/\s][^\s]*|/runs/[^/?#\s]+/documents/[^/?#\s]+/original")
"""Local files, on no other machine, and the documents of runs in the service."""
WHOLE: Final = 1 - 1e-9
"""From this share on all is meant: sums of weights are a little off."""

_TRIALS: Final[dict[ModelTrial | None, str]] = {
    ModelTrial.UNTRIED: "The model was never tested. The command diligence doctor --model shows how well it judges.",
    ModelTrial.WEAK: "The model is weak: it did poorly when it was tested (diligence doctor --model). "
    "Take its scores as hints only.",
}
_ABSENCES: Final = {
    Absence.SILENT: "missing: not found",
    Absence.NONE: "missing: the room says that there is none",
    Absence.NOT_APPLICABLE: "missing: it does not apply",
    Absence.ELSEWHERE: "missing: it lies in a document that is not in the room",
    Absence.UNREAD: "missing: it may lie in what could not be read",
}
_NO_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def number(value: float) -> str:
    """At most two decimals, without trailing zeros: 4, 3.5, 2.25."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def percent(share: float) -> str:
    """A share of 1 as a whole percentage, with a narrow no-break space. Only exactly 1 is 100 %."""
    whole = "99%" if 0.99 < share < WHOLE else f"{share:.0%}"
    return whole.replace("%", "\u202f%")


def money(usd: float) -> str:
    """US dollars with two decimals, small sums with four: 12.50, 0.0042."""
    return f"{usd:.4f}" if 0 < usd < 0.1 else f"{usd:,.2f}"


def thousands(count: int | str) -> str:
    """Digits in groups of three, with narrow no-break spaces; a number given as text keeps its decimals."""
    return f"{Decimal(count):,f}".replace(",", "\u202f")


def plain(value: Any) -> str:
    """A claim's value as a person would write it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and abs(value) >= 10_000:  # below that it may be a year
        return thousands(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def day(time: datetime) -> str:
    """21 November 2025."""
    return f"{time.day} {time:%B %Y}"


def moment(time: datetime) -> str:
    """21 November 2025, 06:15 UTC."""
    return f"{day(time)}, {time:%H:%M} UTC"


def weblink(url: str | None) -> str | None:
    """The address, if a report may link to it (http or https with a host), otherwise None."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


def openable(url: str | None) -> str | None:
    """The address of a document, if a page may link to it: a web address, a local file, or one of our own service."""
    return url if url is not None and _OPENABLE.fullmatch(url) else weblink(url)


def find_quote_page(quote: ReportedQuote | ContradictingQuote | OrderInDocument) -> str | None:
    """Where the quote can be looked at: its evidence page beside the report, otherwise the document's own address."""
    return quote.evidence_url or place_link(quote)


def place_link(quote: ReportedQuote | ContradictingQuote | OrderInDocument) -> str | None:
    """The address at which the quote can be read; for a PDF, with the quote's page."""
    return page_address(quote.document_url, quote.place, quote.document_name)


def page_address(document_url: str | None, place: str | None, name: str | None) -> str | None:
    """The address of a document if it can be opened; for a PDF, including the page of a place in it."""
    url = openable(document_url)
    page = re.match(r"pages? (\d+)\b", place or "", re.IGNORECASE)
    if url and page and "#" not in url and (name or "").lower().endswith(".pdf"):
        return f"{url}#page={page[1]}"
    return url


def link_address(url: str | None) -> str | None:
    """The address, if a file beside the evidence may link to it: an evidence page or a document; otherwise None."""
    return url if url is not None and is_evidence(url) else openable(url)


def xml_text(text: str) -> str:
    """The text with unsafe characters spelled out, and without those that XML, and so an Office
    file, cannot contain.
    """
    return _NO_XML.sub("", escape_text(text))


def judge(run: RunSummary) -> str:
    """The name of the model that judged, for people; `trial_in_words` says what is known of it."""
    return "no model (none is configured)" if run.answerer == "extractive" else run.answerer


def trial_in_words(trial: ModelTrial | None) -> str | None:
    """What a reader must know about the judging model from its trial; None if nothing speaks against it."""
    return _TRIALS.get(trial)


class Tally(NamedTuple):
    """How many documents there are, were read, have no text, could not be read, have no reader; and pages."""

    total: int
    read: int
    empty: int
    failed: int
    unsupported: int
    pages: int = 0
    pages_unread: int = 0


NOTHING: Final = Tally(0, 0, 0, 0, 0)


def tally(documents: list[DocumentReport]) -> Tally:
    """Counts these documents by status."""
    statuses = [document.status for document in documents]
    return Tally(
        total=len(statuses),
        read=statuses.count("read") + statuses.count("unchanged"),
        empty=statuses.count("empty"),
        failed=statuses.count("failed"),
        unsupported=statuses.count("unsupported"),
        pages=sum(document.pages or 0 for document in documents),
        pages_unread=sum((document.pages or 0) - (document.pages_read or 0) for document in documents),
    )


def by_urgency(documents: list[DocumentReport]) -> list[DocumentReport]:
    """Documents that could not be read first, then those with a warning; otherwise in the same order."""
    order = {"failed": 0, "empty": 1, "unsupported": 2}
    return sorted(documents, key=lambda document: (order.get(document.status, 3), document.warning is None))


def not_read(documents: list[DocumentReport]) -> list[DocumentReport]:
    """The documents whose text the scores do not include."""
    return [document for document in by_urgency(documents) if document.status not in ("read", "unchanged")]


def families_in_words(documents: Sequence[DocumentReport]) -> list[str]:
    """A sentence for each family: the document that represents it, with the names of its copies and versions."""
    others: dict[str, list[str]] = {}
    for document in documents:
        if document.family and document.document_name != document.family:
            others.setdefault(document.family, []).append(document.document_name)
    return [f"{front} stands for its copies and versions: {', '.join(names)}." for front, names in others.items()]


def is_unreached(company: CompanyReport) -> bool:
    """Whether no criterion has a result, all for the same reason, which is then shown only once."""
    return len({criterion.reason for criterion in company.criteria}) == 1 and not any(
        criterion.quotes or criterion.status not in {ScoreStatus.UNSCORED, ScoreStatus.WITHHELD}
        for criterion in company.criteria
    )


def count_unscored_reasons(company: CompanyReport) -> dict[str, int]:
    """Why criteria are unscored, and how many for each reason, the most frequent first."""
    unscored = (criterion for criterion in company.criteria if criterion.status is ScoreStatus.UNSCORED)
    return dict(Counter(criterion.reason for criterion in unscored).most_common())


def find_shared_reason(company: CompanyReport) -> str | None:
    """The reason that several judged criteria give for having no score, so that it is shown only once."""
    return next((reason for reason, count in count_unscored_reasons(company).items() if count > 1), None)


def list_contradicting_criteria(company: CompanyReport) -> list[CriterionReport]:
    """The criteria on which the data room contradicts itself."""
    return [criterion for criterion in company.criteria if criterion.contradictions]


def list_contested_criteria(company: CompanyReport) -> list[CriterionReport]:
    """The criteria with a contested score, and those without a score because only contested words support one."""
    contested = ScoreStatus.CONTESTED
    return [each for each in company.criteria if each.contested is not None or each.status is contested]


def describe_contest(criterion: CriterionReport) -> str:
    """The scores with and without words that may have influenced a model, and which of them counts."""
    counts = f"{number(criterion.score)} counts" if criterion.score is not None else "none counts"
    if criterion.contested is None:
        return f"a quotation speaks against it that the reason does not name; {counts}"
    scores = (criterion.contested.with_orders, criterion.contested.without)
    one, other = ("no score" if score is None else number(score) for score in scores)
    return f"{one} with {ORDERS if criterion.orders else OTHERS}, {other} without them; {counts}"


def to_request(company: CompanyReport) -> list[CriterionReport]:
    """The criteria for which something is missing, one for each missing item."""
    return list(
        {
            criterion.missing: criterion for criterion in reversed(company.criteria) if criterion.missing is not None
        }.values()
    )[::-1]


def decision_in_words(decision: ReportedDecision) -> str:
    """`Score set to 4 by Ann, 21 November 2025: the lease was renewed`, and whether somebody must look at it."""
    what = {
        "override": _override_in_words(decision.value),
        "comment": "Comment",
        "sign_off": "Approved" if decision.document_id else "Signed off",
        "flag": "Flagged",
        "assignment": f"Assigned to {decision.value}",
    }[decision.kind]
    reason = f": {decision.reason}" if decision.reason else ""
    why_open = _OPEN | (_OPEN_CELL if decision.document_id else {})
    state = f" ({why_open[decision.kind]})" if decision.is_open else ""
    return f"{what} by {decision.by}, {day(decision.at)}{reason}{state}"


def _override_in_words(value: float | str | Mapping[str, Any] | None) -> str:
    if isinstance(value, Mapping):
        if value["value"] is not None:
            return f"Set to {value_in_words(value['value'])}"
        return f"Set to “{ABSENCES[Absence(value['absence'])]}”" if value["absence"] else "Rejected"
    return f"Score set to {number(value)}" if isinstance(value, float) else "Score set"


ABSENCES: Final = {
    Absence.SILENT: "not stated",
    Absence.NONE: "none",
    Absence.NOT_APPLICABLE: "does not apply",
    Absence.ELSEWHERE: "in another document",
    Absence.UNREAD: "not read",
}
"""The kinds of no, as cells of tables have them."""
_OPEN_CELL: Final = {
    "sign_off": "open again: the document says something else now, or somebody set another value",
    "override": "open: the document says something else now",
}
_OPEN: Final = {
    "sign_off": "open again: this run shows other evidence",
    "flag": "open",
    "assignment": "open",
    "override": "not counted: this run has no such criterion, or another scale",
}


def describe_standing(company: CompanyReport) -> str:
    """`48 % proven`, with the range still possible if something is open."""
    standing = company.standing
    if standing.high - standing.low < 1 - WHOLE:
        return f"{percent(standing.proven)} proven, nothing open"
    return f"{percent(standing.proven)} proven, {percent(standing.high - standing.low)} open"


def why_not_ranked(standing: Standing, names: Mapping[str, str]) -> str | None:
    """What prevents a rank; None if the company has one. `names` are the criteria's names by id."""
    failed = [names.get(gate, gate) for gate in standing.gates_failed]
    if failed:
        gates = f"{'gate' if len(failed) == 1 else 'gates'} {' and '.join(failed)}"
        return f"Not ranked: it has not shown that it meets the {gates}."
    if standing.ranked:
        return None
    shares = {status: share for status, share in standing.shares.items() if not status.counts and share > 1 - WHOLE}
    rest = ", ".join(
        f"{percent(share)} is {status}" for status, share in sorted(shares.items(), key=lambda one: -one[1])
    )
    return f"Not ranked: {percent(standing.coverage)} of the weight is scored, and half is needed; {rest}."


def open_gates(company: CompanyReport) -> list[CriterionReport]:
    """The criteria that a company must meet and for which it is not known whether it does."""
    return [criterion for criterion in company.criteria if criterion.must and criterion.open]


def sentence(text: str) -> str:
    """The text with a full stop at its end, unless it already ends like a sentence."""
    return text if text.rstrip().endswith((".", "?", "!", "…")) else f"{text}."


def outcome_in_words(criterion: CriterionReport, scale: tuple[float, float]) -> str:
    """The score on its scale, or why none counts: `4 of 5`, `missing: the room does not mention it`."""
    if criterion.override is not None:
        own = outcome_in_words(criterion.model_copy(update={"override": None}), scale)
        return f"{number(criterion.override)} of {number(scale[1])}, set by a person; the program: {own}"
    if criterion.absence is not None:
        return _ABSENCES[criterion.absence]
    if criterion.score is None or criterion.status in (ScoreStatus.MISSING, ScoreStatus.UNSCORED):
        return criterion.status.value
    if criterion.status.counts:
        contested = ", contested" if criterion.status is ScoreStatus.CONTESTED else ""
        return f"{number(criterion.score)} of {number(scale[1])}{contested}"
    return f"{criterion.status.value}, {number(criterion.score)} does not count"


def is_passage(criterion: CriterionReport, quote: ReportedQuote) -> bool:
    """Whether words of a document are an unjudged passage; a judgement that broke off has quotations too."""
    return criterion.status is ScoreStatus.UNSCORED and quote.stance is None


def source_in_words(criterion: CriterionReport, quote: ReportedQuote) -> str:
    """What the words of a document are: a passage if nobody judged, otherwise a quote, verified or not."""
    if is_passage(criterion, quote):
        return "passage"
    return "verified" if quote.verified else "not verified"


_BY_WIDTH: Final = {
    0.191: "'",
    0.222: "ijl",
    0.26: "|",
    0.278: " !,./:;I[\\]ft\xa0·",
    0.333: "()-`r“”‘’",
    0.355: '"{}',
    0.389: "*",
    0.469: "^",
    0.5: "Jcksvxyz\u202f",
    0.556: "#$0123456789?L_abdeghnopqu–",
    0.584: "+<=>~",
    0.611: "FTZß",
    0.667: "&ABEKPSVXY",
    0.722: "CDHNRUw",
    0.778: "GOQ",
    0.833: "Mm",
    0.889: "%",
    0.944: "W",
    1.015: "@…—",
}
_OTHER: Final = 0.69
"""The width of any other character that is not as wide as high: rather too much than too little."""
_NARROWEST: Final = 0.19


class _Widths(dict[str, float]):
    """Character widths in ems; missing ones are computed on demand."""

    def __missing__(self, character: str) -> float:
        wide = east_asian_width(character) in "WF"
        width = 0.0 if combining(character) else 1.0 if wide else _OTHER
        self[character] = width
        return width


_WIDTHS: Final = _Widths({character: width for width, group in _BY_WIDTH.items() for character in group})


def wrap_text(text: str, width: float, size: float) -> list[str]:
    """The text as lines of at most `width` points; a word longer than a line breaks anywhere."""
    room = width / size
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line: list[str] = []
        used = 0.0
        for word in paragraph.split(" "):
            wide = sum(map(_WIDTHS.__getitem__, word))
            if line and used + _WIDTHS[" "] + wide > room:
                lines.append(" ".join(line))
                line, used = [], 0.0
            if wide > room:
                *pieces, word = _broken(word, room)  # noqa: PLW2901 - what is left of it
                lines += pieces
                wide = sum(map(_WIDTHS.__getitem__, word))
            used += wide + (_WIDTHS[" "] if line else 0.0)
            line.append(word)
        lines.append(" ".join(line))
    return lines


def _broken(word: str, room: float) -> list[str]:
    """A word in pieces that fit into that many ems, each with at least one character."""
    pieces, begin, used = [], 0, 0.0
    for at, character in enumerate(word):
        used += _WIDTHS[character]
        if used > room and at > begin:
            pieces.append(word[begin:at])
            begin, used = at, _WIDTHS[character]
    return [*pieces, word[begin:]]


def line_count(text: str, width: float, size: float) -> int:
    """How many lines of `width` points the text takes; an empty text takes one."""
    return len(wrap_text(text, width, size))


def fit_text(text: str, width: float, size: float, lines: int = 1) -> str:
    """The text on at most that many lines, with its white space normalised; if it is too long it ends in an ellipsis.

    Characters that an Office file cannot contain are left out.
    """
    text = " ".join(xml_text(text).split())
    longest = int(lines * width / size / _NARROWEST) + 1
    rows = wrap_text(text[:longest], width, size)
    if len(rows) <= lines and len(text) <= longest:
        return text
    begin = 0
    for row in rows[: lines - 1]:
        begin = text.index(row, begin) + len(row)
    begin += text[begin : begin + 1] == " "
    rest = text[begin:longest]
    last = _broken(rest, width / size - _WIDTHS["…"] - _WIDTHS[" "])[0]
    words, _, cut = last.rpartition(" ")
    last = words if words and len(cut) < len(last) / 2 else last
    return (text[:begin] + last).rstrip(" ,;:–-") + " …"


def remark(request: ReportedRequest) -> str:
    """What else to say about an item: why it is only answered in part, or that someone should look."""
    if request.why:
        return request.why[:1].upper() + request.why[1:]
    return "To be checked" if request.sure is not None and request.sure < 0.6 else ""


def documents_in_words(request: ReportedRequest) -> str:
    """The names of an item's documents, one per line."""
    names = [document.document_name for document in request.documents[:_NAMED]]
    more = len(request.documents) - _NAMED
    return "\n".join([*names, f"and {more} more"] if more > 0 else names)


def tally_in_words(requests: Sequence[ReportedRequest]) -> str:
    """`120 received, 12 partly, 68 missing, 5 unexpected`."""
    counts = {status: sum(row.status is status for row in requests) for status in RequestStatus}
    return ", ".join(f"{thousands(count)} {status}" for status, count in counts.items() if count)
