"""Which public functions take a text from elsewhere, and how each is called with one.

A public function of these packages with a parameter of type `str` is called with the text alone where that is all it
needs; has a call in `CALLS`; or is excused in `EXCUSED`, with the reason. There is no fourth way.
"""

import importlib
import inspect
import io
import pkgutil
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, Final
from xml.sax.saxutils import escape

from pydantic import BaseModel

from tasks import privacy
from tasks.ai import calls, extractive
from tasks.ai.answerer import Source
from tasks.ai.extractive import ExtractiveAnswerer, answer_by_quotation, best_sentences, quote_sentences
from tasks.ai.openai import answers as model_answers
from tasks.ai.openai import errors
from tasks.companies import company_match
from tasks.companies.company_match import Identity, is_parked, names_exactly
from tasks.companies.web import html
from tasks.companies.web import parse as web_page
from tasks.companies.web.site import Page
from tasks.evidence.boxes import Letters
from tasks.figures.conflicts import find_company
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import taxonomy
from tasks.figures.fiscal_calendar import learn_calendar
from tasks.language import quotations, tables
from tasks.language.normalise import cut_line, join_first
from tasks.language.periods import spell_months
from tasks.language.quotations import Mark
from tasks.language.words import write_out
from tasks.memo import check as memo_check
from tasks.memo import claims, contracts, measures
from tasks.privacy import StandIns, is_named
from tasks.ranking import WordIndex, rank
from tasks.ranking.coverage import gives_number, measure_coverage
from tasks.ranking.query import find_meant_phrases
from tasks.reading import read_document, text_writer, txt
from tasks.reading.mail import message
from tasks.reading.text_writer import CELLS, HEADING, PAGE, Place
from tasks.reports import criteria as shown_passages
from tasks.reports import wording
from tasks.scoring import ask, figure_checks, passages
from tasks.scoring.passages import TextPlaces, outline_start
from tasks.statements import answers, check, figures, match, objections
from tasks.statements.answers import Ground
from tasks.statements.check import LONGEST_SENTENCE, source_sentences
from tasks.statements.reading import read

Call = Callable[[str], object]

PACKAGES: Final = (
    "tasks.language",
    "tasks.statements",
    "tasks.memo",
    "tasks.scoring",
    "tasks.ranking",
    "tasks.ai",
    "tasks.answers",
    "tasks.privacy",
    "tasks.spending",
    "tasks.companies",
    "tasks.evidence",
    "tasks.reports",
    "tasks.reading",
    "tasks.documents.drive",
)
STATEMENT: Final = "Revenue rose to EUR 12.3 million in 2023."
_TEXTS: Final = (str, str | None)
_WORD: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


class _Answer(BaseModel):
    """What a model is asked for."""

    score: int
    reason: str


def _sentence(call: Call) -> Call:
    """A call of what gets one sentence at a time: longer ones are none (`LONGEST_SENTENCE`)."""
    return lambda text: call(text[:LONGEST_SENTENCE])


def _source(text: str) -> list[Source]:
    return [Source(1, "a.txt", None, text)]


def _grounds(text: str) -> list[Ground]:
    return [Ground(1, None, text, text)]


def _page(text: str) -> Page:
    return html_page(text.split("\n\n"))


_NAMES: Final = privacy.Names(frozenset({"Anna Müller", "Mark Price"}), frozenset({"Acme Software GmbH"}))


def html_page(paragraphs: list[str]) -> Page:
    """A page with these paragraphs and nothing else."""
    return Page(url="https://acme.example/", paragraphs=paragraphs)


def _marked_places(text: str) -> list[tuple[int, int, str, str]]:
    """Pages and headings, one in 1,000 characters each, and a table."""
    starts = range(0, len(text), 1000)
    return [
        *((at, min(at + 1000, len(text)), PAGE, str(at)) for at in starts),
        *((at, min(at + 40, len(text)), HEADING, text[at : at + 40]) for at in starts),
    ]


def _cells(text: str) -> object:
    return list(text_writer.cells(text, [Place(0, len(text), CELLS, "")]))


def _read_object(text: str) -> None:
    with suppress(model_answers.Misfit):
        model_answers.read_object([text], _Answer, text, text)


def _document(extension: str, before: str = "", behind: str = "") -> Call:
    return lambda text: read_document((before + text + behind).encode("utf-8", "replace"), extension)


def _read_docx(text: str) -> object:
    paragraphs = "".join(f"<w:p><w:r><w:t>{escape(line)}</w:t></w:r></w:p>" for line in text.splitlines())
    body = f'<w:document xmlns:w="{_WORD}"><w:body>{paragraphs}</w:body></w:document>'
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("word/document.xml", body.encode("utf-8", "replace"))
    return read_document(file.getvalue(), ".docx")


CALLS: Final[dict[str, Call]] = {
    "tasks.language.quotations.verify": lambda text: quotations.verify(text[: len(text) // 2] + " end", text),
    "tasks.language.quotations.locate": lambda text: quotations.locate("a … a … nowhere", text),
    "tasks.language.tables.header_rows": lambda text: tables.header_rows(text, 0, len(text)),
    "tasks.language.tables.table_cells": lambda text: list(tables.table_cells(text, [(0, len(text))])),
    "tasks.language.tables.quote_cells": lambda text: tables.quote_cells(text, len(text) // 2, len(text) // 2 + 1),
    "tasks.language.tables.find_cells": lambda text: tables.find_cells(f"nowhere\t{text[-9:]}", text),
    "tasks.language.tables.is_figure": tables.is_figure,
    "tasks.language.quotations.in_sentence": lambda text: quotations.in_sentence(
        text, len(text) // 2, len(text) // 2 + 9
    ),
    "tasks.statements.answers.prove": lambda text: answers.prove(STATEMENT, "", "Acme", _grounds(text)),
    "tasks.statements.answers.prove an answer": lambda text: answers.prove(
        text[:20_000], "", "Acme", _grounds(STATEMENT)
    ),
    "tasks.statements.answers.with_citation": lambda text: answers.with_citation(text, [1]),
    "tasks.statements.check.check": lambda text: check.check(STATEMENT, [text], "Acme"),
    "tasks.statements.check.check a statement": lambda text: check.check(text, [STATEMENT]),
    "tasks.statements.check.nearest": lambda text: check.nearest(STATEMENT, [text]),
    "tasks.statements.objections.objections": _sentence(
        lambda text: list(objections.objections(match.match(read(text), read(text))))
    ),
    # Without its cache, in which the sentences of a shorter text may be already.
    "tasks.statements.check.source_sentences": lambda text: list(source_sentences.__wrapped__(text)),
    "tasks.language.normalise.cut_line": lambda text: cut_line(text, len(text) // 2),
    "tasks.language.normalise.join_first": lambda text: join_first(text.split(), 3, text),
    "tasks.language.periods.spell_months": lambda text: spell_months(text, True),
    "tasks.language.words.write_out": lambda text: write_out(text, 0, len(text)),
    "tasks.statements.reading.read": _sentence(read),
    "tasks.statements.figures.limit_words": lambda text: [
        figures.limit_words(text, each) for each in figures.figures(text)
    ],
    "tasks.privacy.profile_names": lambda text: privacy.profile_names(text, text, None),
    "tasks.privacy.is_named": lambda text: is_named(text, ["Legal", "*privileged*", "*.msg"]),
    "tasks.privacy.StandIns": lambda text: StandIns(_NAMES).hide([text])[1](text),
    "tasks.ai.extractive.nearby": lambda text: extractive.nearby(
        [STATEMENT], text * (extractive.LONGEST // len(text) + 1)
    ),
    "tasks.memo.claims.split": lambda text: claims.split(text, _marked_places(text)),
    "tasks.memo.measures.read_measures": _sentence(measures.read_measures),
    "tasks.memo.measures.find_last": _sentence(
        lambda text: measures.find_last(text, "second quarter", [], learn_calendar("", ""), "")
    ),
    "tasks.memo.measures.says_multiple": measures.says_multiple,
    "tasks.memo.measures.read_periods": _sentence(lambda text: measures.read_periods(text, learn_calendar("", ""))),
    "tasks.memo.contracts.read_terms": _sentence(contracts.read_terms),
    "tasks.memo.check.render_memo": lambda text: memo_check.render_memo("memo", "room", text, [], []),
    "tasks.scoring.figure_checks.mark_numbers": lambda text: figure_checks.mark_numbers(text[:4000], [text], list),
    "tasks.scoring.passages.cut": lambda text: passages.cut(text, _marked_places(text)),
    "tasks.scoring.passages.outline_start": lambda text: outline_start(text, [Place(0, len(text) // 2, "page", "1")]),
    "tasks.scoring.passages.cut without places": lambda text: passages.cut(text, []),
    "tasks.scoring.ask.is_reason": lambda text: ask.is_reason(text, text, [text]),
    "tasks.scoring.ask.find_clear": lambda text: ask.find_clear(text, [text]),
    "tasks.scoring.passages.TextPlaces": lambda text: TextPlaces(text, _marked_places(text)).place(9, len(text)),
    "tasks.ranking.rank": lambda text: rank([text[at : at + 1000] for at in range(0, len(text), 1000)], STATEMENT, 5),
    "tasks.ranking.rank for a question": lambda text: rank([STATEMENT], text[:20_000], 5),
    "tasks.ranking.WordIndex": lambda text: WordIndex([text]).rank(STATEMENT, 5),
    "tasks.ai.extractive.quote_sentences": lambda text: quote_sentences("What was the revenue?", _source(text)),
    "tasks.ai.extractive.best_sentences": lambda text: best_sentences("What was the revenue?", _source(text)),
    "tasks.ai.extractive.answer_by_quotation": lambda text: answer_by_quotation("What was paid?", _source(text)),
    "tasks.ranking.query.find_meant_phrases": find_meant_phrases,
    "tasks.ranking.coverage.measure_coverage for a question": lambda text: measure_coverage(text, [STATEMENT]),
    "tasks.ranking.coverage.measure_coverage": lambda text: measure_coverage(STATEMENT, [text, *text.split(".")]),
    "tasks.ranking.coverage.gives_number": lambda text: gives_number([text], "How many employees are there?"),
    "tasks.ai.extractive": lambda text: ExtractiveAnswerer().answer("What was the revenue?", _source(text)),
    "tasks.ai.calls.question_prompt": lambda text: calls.question_prompt(text, _source(text)),
    "tasks.ai.calls.part_prompt": lambda text: calls.part_prompt(text, _source(text), 1, 2),
    "tasks.ai.calls.judgement_prompt": lambda text: calls.judgement_prompt(text, text, _Answer),
    "tasks.ai.calls.repair_prompt": lambda text: calls.repair_prompt([], text, ["wrong"]),
    "tasks.ai.openai.answers.read_object": _read_object,
    "tasks.ai.openai.errors.was_cut": lambda text: errors.was_cut(text, 10),
    "tasks.companies.company_match.find_wall": lambda text: company_match.find_wall(_page(text), "acme.example"),
    "tasks.companies.company_match.names_company": lambda text: company_match.names_company(text, "acme.example"),
    "tasks.companies.company_match.is_default_text": lambda text: company_match.is_default_text(
        text, _page(text), "acme.example"
    ),
    "tasks.companies.company_match.names_exactly": lambda text: names_exactly("Acme Ltd", _page(text)),
    "tasks.companies.company_match.Identity": lambda text: Identity("Acme", ("acme.com",)).is_shown_by(
        _page(text), "https://other.example/"
    ),
    "tasks.companies.company_match.is_parked": lambda text: is_parked(_page(text)),
    "tasks.companies.web.parse.read_feed": lambda text: web_page.read_feed(
        f"<rss><channel><item><title>{text}</title></item></channel></rss>".encode("utf-8", "replace"), ""
    ),
    "tasks.companies.web.html.read_html": lambda text: html.read_html(
        text.encode("utf-8", "replace"), "", "https://a.example/"
    ),
    "tasks.companies.web.html.read_whole_text": html.read_whole_text,
    "tasks.evidence.boxes.Letters": lambda text: Letters(text).places("revenue"),
    "tasks.language.quotations.stretches": lambda text: quotations.stretches(
        text, 0, len(text), [Mark(at, at + 20, str(at)) for at in range(0, len(text), len(text) // 10)]
    ),
    "tasks.language.quotations.blocks": lambda text: quotations.blocks(text, 0, len(text), [Mark(3, 9, "a")]),
    "tasks.language.quotations.line_start": lambda text: quotations.line_start(text, len(text), 0),
    "tasks.reports.criteria.trim_passage": lambda text: shown_passages.trim_passage(text, STATEMENT),
    "tasks.reports.wording.wrap_text": lambda text: wording.wrap_text(text, 400, 9),
    "tasks.reports.wording.line_count": lambda text: wording.line_count(text, 400, 9),
    "tasks.reports.wording.fit_text": lambda text: wording.fit_text(text, 400, 9, 3),
    "tasks.figures.conflicts.find_company": lambda text: find_company(text, "report.pdf"),
    "tasks.figures.document_figures.find_figures": lambda text: find_figures(LedgerDocument(text, []), taxonomy()),
    "tasks.reading.text_writer.cells": _cells,
    "tasks.reading.text_writer.with_cells": lambda text: list(
        text_writer.with_cells(text, [Place(0, len(text), CELLS, "")])
    ),
    "tasks.reading.text_writer.unseen_mark": text_writer.unseen_mark,
    "tasks.reading.text_writer.shown_text": lambda text: text_writer.shown_text(
        text, [Place(at, at + 20, text_writer.UNSEEN, "") for at in range(0, len(text), 40)]
    ),
    "tasks.reading.mail.message.join_flowed": lambda text: message.join_flowed(text, delete_spaces=True),
    "tasks.reading.txt.decode_text": lambda text: txt.decode_text(text.encode("utf-8", "replace")),
    "tasks.reading.txt.tidy_text": lambda text: txt.tidy_text(text.encode("utf-8", "replace")),
    "read_document .txt": _document(".txt"),
    "read_document .md": _document(".md"),
    "read_document .csv": _document(".csv"),
    "read_document .html": _document(".html"),
    "read_document .html, within a page": _document(".html", "<html><body><p>", "</p></body></html>"),
    "read_document .docx": _read_docx,
    "read_document .eml": _document(".eml", "Subject: x\nFrom: a@b.example\n\n"),
    "read_document .eml, its head": _document(".eml", "Subject: "),
    "read_document .json": _document(".json", '{"a": "', '"}'),
    "read_document .xml": _document(".xml", "<a>", "</a>"),
}
"""Calls of functions that need more than texts, and what is no function by itself, by a name with a blank."""


EXCUSED: Final[dict[str, str]] = {
    "it takes texts that were cut to what a model reads": r"ranking\.embedders\.(minilm\.)?embed_batch",
    "it takes a few characters": r"""
        language\.words\.(detect_script_language|month_names|look_up)
        | memo\.measures\.is_same_time
        | reading\.numerals\.numeral | evidence\.boxes\.fold_character""",
    "it is given ids, and shows or keeps what was made before": r"""
        reports\.(live\w*|report|evidence_pages|files)\.\w+ | reports\.(company\.report_figures|html\.fill_plain_page)
        | reports\.wording\.(evidence_url|page_name|picture_name) | spending\.budget\.(find_ledger|record_unpriced)
        | evidence\.page\.\w+ | reading\.pool\.process\.run
        | ai\.calls\.(\w+_once|\w+_key|find_\w+|keep_answer)""",
    "it takes paths, and has the kinds of texts told elsewhere": r"privacy\.find_privileged_files",
    "it calls a service; what is done with the answer is measured by itself": r"""
        ai\.(openai\.(answerer|client|protocols))\.\w+ | answers\.\w+ | spending\.money\.\w+
        | companies\.(facts|question|sources(\.sec)?|wikidata\.(client|entity)|hosted_search)\.\w+
        | companies\.(pages\.(read_pages|hits|\w+Searcher\.\w+)|web\.(client|transport)\.\w+)
        | companies\.web\.site\.(fetch_\w+|read_(public|following)|website)
        | documents\.drive\.google\.\w+\.\w+""",
    "it is given the user's criteria and settings, or words of our own": r"""
        scoring\.(criteria|figure_checks(?!\.mark_numbers)|rules)\.\w+
        | scoring\.(judgement\.instructions|results\.pick_counted|ask\.gives_reason)
        | ranking\.(query\.(parse|phrase)|index\.(resemblance|family_scores))
        | reports\.(pptx|html)\.(part|allow_source|matrix_cells|new_slides|fill|rgb)
        | ai\.prompt_injection\.detect\.make_patterns
        | companies\.claims\.dig
        | reports\.key_figures\.compact
        | reading\.(formats|ocr\.\w+|libreoffice)\.\w+
        | companies\.claims\.warn_left_out | files\.check_writable""",
    "it puts together calls that are measured by themselves, for texts that are cut before": r"""
        memo\.(check\.(check_memo|as_json)|claims\.quotation_places|contracts\.(call_contract|choose_contracts|hold_terms))
        | scoring\.(checks\.nearest_documents|judge\.prepare)
        | ai\.openai\.errors\.error_for_status | scoring\.ask\.measure_prompt
        | reports\.(wordprocessing\.height|pptx\.describe|company\.in_words)""",
    "it takes bytes, trees or numbers, in a process with limits; documents and pages are measured whole": r"""
        companies\.(web\.(site\.\w+|parse\.(parse|read)|html\.(schema_org_items|read_report))|(profile|wikidata\.client)\.\w+|company_match\.(own_organization|read_organization|international))
        | reading\.(read_document|(configuration|embedded|detect|docx|odf
            |mail(?!\.message\.join_flowed)|ooxml\.(ole|package)|pdf)\.[\w.]+
            |html\.(page\.(counter_style|item_marker)|reader\.decode_page)|xlsx\.(reader\.\w+|rows\.named_sheet)
            |ooxml\.number_formats\.with_stored)""",
    "it takes entries, whose number is limited": r"documents\.drive\.archives\.zip\.list_entries",
}
"""Functions that are given no text from elsewhere, or one that is short: why, and a pattern of their names."""


def reason_to_excuse(name: str) -> str | None:
    """Why a function is not measured; None where it has to be."""
    short = name.removeprefix("tasks.")
    return next((why for why, names in EXCUSED.items() if re.fullmatch(names, short, re.VERBOSE)), None)


def functions(package: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions of a package that take a text, with their full names."""
    for module in modules(package):
        for name, function in vars(module).items():
            if name.startswith("_") or not callable(function) or inspect.isclass(function):
                continue
            if getattr(function, "__module__", None) == module.__name__ and any(
                each.annotation in _TEXTS for each in inspect.signature(function).parameters.values()
            ):
                yield f"{module.__name__}.{name}", function


@cache
def modules(name: str) -> list[Any]:
    """A package or module with all that is in it."""
    module = importlib.import_module(name)
    below = pkgutil.iter_modules(getattr(module, "__path__", ()))
    return [module, *(inner for each in below for inner in modules(f"{name}.{each.name}"))]


def with_texts_alone(function: Callable[..., Any]) -> Call | None:
    """A call of a function with one text for each parameter that it needs; None where it needs something else."""
    needed = [each for each in inspect.signature(function).parameters.values() if each.default is each.empty]
    needed = [each for each in needed if each.kind is not each.VAR_KEYWORD]
    if any(each.annotation not in _TEXTS or each.kind is each.KEYWORD_ONLY for each in needed):
        return None
    count = max(len(needed), 1)
    return lambda text: function(*[text] * count)


def call_of(name: str, function: Callable[..., Any]) -> Call | None:
    """How a function is measured; None where it is not."""
    if name in CALLS:
        return CALLS[name]
    return None if reason_to_excuse(name) else with_texts_alone(function)
