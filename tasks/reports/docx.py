"""The report as a memo to edit and send on: the ranking, then each company with its findings and their quotes.

The memo counts the documents of a data room and names those that could not be read; the web page and the
workbook list all of them. Words of documents are data: they are written as text, never as markup or a field.
"""

import re
from io import BytesIO
from typing import Any

import docx
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph

from tasks.reports.evidence_links import is_evidence
from tasks.reports.models import CompanyReport, ContradictingQuote, CriterionReport, Report, ReportedQuote
from tasks.reports.wording import (
    day,
    is_unreached,
    judge,
    moment,
    money,
    not_read,
    number,
    percent,
    plain,
    shown_at,
    tally,
    thousands,
    to_request,
    weblink,
)

_NAMED = 20  # documents that were not read, and changes, named for each company
_LONGEST = 1200  # characters of a quotation in the memo
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def render(report: Report) -> bytes:
    """The memo as the bytes of a file."""
    memo = docx.Document()
    run = report.run
    memo.core_properties.title = _text(run.name)[:255]
    memo.core_properties.author = ""
    _paragraph(memo, _text(run.name), "Title")
    _opening(memo, report)
    _ranking(memo, report)
    written = _taken(memo)
    for company in report.companies:
        _company(memo, company, run.scale)
        written += _taken(memo)
    memo.element.body[:0] = written
    file = BytesIO()
    memo.save(file)
    return file.getvalue()


def _taken(memo: Document) -> list[Any]:
    """What was written since this was called last, taken out of the memo.

    python-docx looks through all of a body for each paragraph that it adds: 100 companies took 15 s, 300 took 128 s.
    """
    body = memo.element.body
    taken = list(body)[:-1]  # the last one is the page's size
    for element in taken:
        body.remove(element)
    return taken


def _paragraph(memo: Document, text: str = "", style: str | None = None) -> Paragraph:
    """A new paragraph; `style` is the id of a style of the template, which python-docx would look up by its name."""
    paragraph = memo.add_paragraph(text)
    if style is not None:
        paragraph._p.style = style  # noqa: SLF001
    return paragraph


def _opening(memo: Document, report: Report) -> None:
    run, companies = report.run, report.companies
    memo.add_paragraph(
        f"Due diligence of {len(companies)} {'company' if len(companies) == 1 else 'companies'} against "
        f"{len(run.criteria)} {'criterion' if len(run.criteria) == 1 else 'criteria'}, each on a scale from "
        f"{number(run.scale[0])} to {number(run.scale[1])}. {day(run.started_at)}."
    )
    calls = thousands(run.cost.calls) if run.cost.calls else "none"
    if run.cost.usd is not None:
        calls += f", {money(run.cost.usd)} USD"
    ended = moment(run.finished_at) if run.finished_at else "not yet"
    facts = (
        f"Run {run.id}, {run.status}. Started {moment(run.started_at)}, finished {ended}. "
        f"Judged by {judge(run.answerer)}; calls to the model: {calls}."
    )
    if run.budget:
        facts += f" Budget: {run.budget}."
    memo.add_paragraph(_text(facts))


def _ranking(memo: Document, report: Report) -> None:
    _paragraph(memo, "Ranking", "Heading1")
    columns = ["Rank", "Company", "Total", "Coverage", "Missing"]
    if report.run.sensitivity:
        columns.insert(4, "Rank stability")
    table = memo.add_table(rows=1, cols=len(columns), style="Light List Accent 1")
    for cell, name in zip(table.rows[0].cells, columns, strict=True):
        cell.text = name
    for company in report.companies:
        row = [str(company.rank or "–"), company.name, _share(company.total), _share(company.coverage)]
        if report.run.sensitivity:
            row.append(_share(company.stability))
        row.append(str(len(company.missing)))
        for cell, value in zip(table.add_row().cells, row, strict=True):
            cell.text = _text(value)
    if report.run.sensitivity:
        draws = f"{thousands(report.run.sensitivity.draws)} draws (each weight {report.run.sensitivity.varied})"
        memo.add_paragraph(f"Rank stability: the share of {draws} in which the company keeps its rank.")


def _company(memo: Document, company: CompanyReport, scale: tuple[float, float]) -> None:
    _paragraph(memo, _text(company.name), "Heading1")
    counts = tally(company.documents)
    total = "nothing could be scored" if company.total is None else f"{_share(company.total)} of what could be scored"
    rank = f"Rank {company.rank}. " if company.rank is not None else ""
    memo.add_paragraph(
        f"{company.domain}. {rank}Total: {total}; coverage {_share(company.coverage)}. "
        f"{thousands(counts.read)} of {thousands(counts.total)} documents were read."
    )
    if company.problem:
        _strong(memo.add_paragraph(), f"This company's run failed. {company.problem}")
    if company.criteria and is_unreached(company):
        memo.add_paragraph(_text(company.criteria[0].reason))
    else:
        for criterion in company.criteria:
            _criterion(memo, criterion, scale)
    _listed(memo, "To ask the company for", [_request(criterion) for criterion in to_request(company)])
    _listed(
        memo,
        "Where sources disagree",
        [
            f"{conflict.field}: " + "; ".join(f"{plain(claim.value)} ({claim.source})" for claim in conflict.claims)
            for conflict in company.conflicts
        ],
    )
    unread = [
        f"{document.document_name}: {document.status}. {document.warning or ''}"
        for document in not_read(company.documents)
    ]
    _listed(memo, "To be aware of", [*company.warnings, *unread])
    _listed(memo, "Since the last run", [f"{change.text} {change.why}" for change in company.changes])


def _criterion(memo: Document, criterion: CriterionReport, scale: tuple[float, float]) -> None:
    _paragraph(memo, _text(criterion.label), "Heading2")
    scored = criterion.score is not None and criterion.status == "scored"
    remarks = [f"{number(criterion.score or 0)} of {number(scale[1])}" if scored else criterion.status.value]
    remarks += [criterion.kind, f"weight {number(criterion.weight)}"]
    if criterion.confidence is not None:
        remarks.append(f"confidence {percent(criterion.confidence)}")
    if criterion.agreement is not None:
        remarks.append(f"{percent(criterion.agreement)} of repeats agree")
    paragraph = memo.add_paragraph()
    _strong(paragraph, ", ".join(remarks) + ". ")
    paragraph.add_run(_text(criterion.reason))
    for at, quote in enumerate(criterion.quotes, 1):
        lead = f"[{at}] evidence {quote.stance}, " if quote.stance else ""
        _quote(memo, quote, lead + ("passage" if criterion.status == "unscored" else _verified(quote)))
    for contradiction in criterion.contradictions:
        _strong(memo.add_paragraph(), f"Contradiction about {contradiction.about}:")
        for side in contradiction.quotes:
            _quote(memo, side, "verified")


def _verified(quote: ReportedQuote) -> str:
    return "verified" if quote.verified else "not verified"


def _quote(memo: Document, quote: ReportedQuote | ContradictingQuote, remark: str) -> None:
    words = quote.text if len(quote.text) <= _LONGEST else f"{quote.text[:_LONGEST]} …"
    paragraph = _paragraph(memo, style="Quote")
    paragraph.add_run(f"“{_text(' '.join(words.split()))}”")
    paragraph.add_run(f" – {remark}")
    if quote.document_name:
        paragraph.add_run(", ")
        _link(paragraph, quote.document_name, shown_at(quote))
    if quote.place:
        paragraph.add_run(f", {_text(quote.place)}")


def _request(criterion: CriterionReport) -> str:
    nearest = ", ".join(f"{document.document_name} ({document.why})" for document in criterion.nearest)
    return f"{criterion.missing}" + (f". Nearest in the data room: {nearest}" if nearest else "")


def _listed(memo: Document, title: str, items: list[str]) -> None:
    """A headed list; nothing where there is nothing to list."""
    if not items:
        return
    _paragraph(memo, title, "Heading2")
    for item in items[:_NAMED]:
        _paragraph(memo, _text(item), "ListBullet")
    if len(items) > _NAMED:
        _paragraph(memo, f"{len(items) - _NAMED} more are in the web page.", "ListBullet")


def _link(paragraph: Paragraph, text: str, url: str | None) -> None:
    """Words that lead to a web address; plain ones where it is none."""
    run = paragraph.add_run(_text(text))
    address = url if url is not None and is_evidence(url) else weblink(url)
    if address is None:
        return
    run.underline = True
    link = OxmlElement("w:hyperlink")
    relationships = paragraph.part.rels
    name = f"rIdLink{len(relationships)}"  # a free name: python-docx would look through all of them for one
    relationships.add_relationship(RELATIONSHIP_TYPE.HYPERLINK, _text(address), name, is_external=True)
    link.set(qn("r:id"), name)
    paragraph._p.append(link)  # noqa: SLF001 - the library has no call that makes a link
    link.append(run._r)  # noqa: SLF001


def _strong(paragraph: Paragraph, text: str) -> None:
    paragraph.add_run(_text(text)).bold = True


def _share(share: float | None) -> str:
    return "–" if share is None else percent(share)


def _text(value: str) -> str:
    """The text without what XML cannot hold."""
    return _NO_XML.sub("", value)
