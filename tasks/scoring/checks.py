"""Criteria that need no model: rules on facts, and documents that should be in the data room.

check_fact           holds a field of the company profile against a rule
check_document       looks for a document by its name, its folder and its opening lines
nearest_documents    what to look at when the document is missing
nearest_passages     what to look at when the passages do not answer a question

Documents are matched by the words of their names. `CapTable_2024.xlsx` has the words cap, table and 2024, and `ü`,
`ue` and `u` are the same.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from sys import intern

from storage.companies import StoredClaim, StoredProfile
from storage.run_documents import RunDocument
from storage.scores import Absence, ScoreStatus
from tasks.companies.profile import field_name, value_at
from tasks.language.tokens import tokens
from tasks.scoring import rules
from tasks.scoring.criteria import DocumentCheck, FactRule
from tasks.scoring.evidence import Evidence, Excerpt
from tasks.scoring.results import CriterionResult, NearDocument, Quotation

_MAX_NEAREST = 3  # documents that are named when one is missing
_MAX_PASSAGES = 10  # passages that are searched for words of a missing document
_MAX_NAMES = 3  # document names in a reason
_QUOTED = 160  # characters of a document's opening that are shown
_OPENING = 600  # characters: a title page, not a body that only mentions other documents
_TITLE = 120  # characters; a longer line is a sentence

# Where a word begins inside `CapTable2024FY`.
_WORD_BORDER = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_BASE_LETTERS = str.maketrans({"ø": "o", "æ": "ae", "å": "a", "ł": "l", "đ": "d", "œ": "oe"})


def check_fact(
    criterion: FactRule, scale: tuple[float, float], profile: StoredProfile | None, claims: Sequence[StoredClaim]
) -> CriterionResult:
    """Hold the profile's field against the rule, or the rules of its bands; the reason names the fact's source.

    `claims` come in the order of precedence of their sources.
    """
    fact = value_at(profile.profile, criterion.fact) if profile else None
    name = field_name(criterion.fact)
    subject = name[:1].upper() + name[1:]
    if fact is None:
        why = "the company profile has no value for it" if profile else "no source has facts about the company"
        return CriterionResult(
            ScoreStatus.MISSING, f"{subject} is unknown: {why}.", missing=name, absence=Absence.SILENT
        )
    bands = {scale[1]: criterion.rule} if criterion.rule else criterion.bands or {}
    met = [score for score, rule in bands.items() if rules.parse(criterion.fact, rule).holds(fact)]
    verdict = f"meets “{bands[max(met)]}”" if met else f"does not meet {_any_of(list(bands.values()))}"
    return CriterionResult(
        ScoreStatus.SCORED,
        f"{subject} is {_as_text(fact)}{_source(criterion.fact, claims)}, which {verdict}.",
        score=max(met, default=scale[0]),
    )


def check_document(criterion: DocumentCheck, scale: tuple[float, float], evidence: Evidence) -> CriterionResult:
    """Look for a document by its name, its folder and its opening lines.

    Every word of the criterion must stand there: a contract that mentions audited accounts somewhere is not the
    accounts. A document without readable text counts by its name.
    """
    words = _words(criterion.document)
    documents = [document for document in evidence.documents if _share(words, _path_and_name(document)) == 1]
    documents.sort(key=lambda document: -_share(words, document.name))  # those of that name before its folder's others
    matched_by = "name or folder"
    if not documents:
        documents = [document for document in evidence.documents if _share(words, _title(document, evidence)) == 1]
        matched_by = "its opening lines"
    if documents:
        return _present(documents, matched_by, scale, evidence)
    nearest = nearest_documents(criterion.document, evidence)
    reason = f"No document in the data room matches “{criterion.document}” by its name, folder or opening lines."
    if nearest:
        reason += f" Nearest: {_names([near.document for near in nearest])}."
    return CriterionResult(ScoreStatus.MISSING, reason, missing=criterion.document, nearest=nearest)


def nearest_documents(name: str, evidence: Evidence) -> list[NearDocument]:
    """The documents that come nearest to a missing one, each with why, best first.

    First come those whose name, folder or opening lines share most words with the name of the missing document, then
    those whose text mentions it.
    """
    words = _words(name)
    near: list[tuple[float, float, NearDocument]] = []
    for document in evidence.documents:
        title = _title(document, evidence)
        share = _share(words, title)
        if share > 0:
            share_of_name = _share(words, _path_and_name(document))
            near.append((share, share_of_name, NearDocument(document, _why_near(name, document, title))))
    near.sort(key=lambda row: (-row[0], -row[1]))
    by_name = [document for *_, document in near[:_MAX_NEAREST]]
    if len(by_name) == _MAX_NEAREST:
        return by_name
    listed = {near_document.document.document_id for near_document in by_name}
    by_text = [
        NearDocument(excerpt.document, _with_place(_why_mentioned(name, excerpt), excerpt))
        for excerpt in _best_of_documents(evidence.find(name, _MAX_PASSAGES))
        if excerpt.document.document_id not in listed
    ]
    return [*by_name, *by_text][:_MAX_NEAREST]


def nearest_passages(excerpts: Sequence[Excerpt]) -> list[NearDocument]:
    """The documents of the passages that a question found, which come best first."""
    return [
        NearDocument(excerpt.document, _with_place("it has a passage related to the question", excerpt))
        for excerpt in _best_of_documents(excerpts)[:_MAX_NEAREST]
    ]


def _source(field: str, claims: Sequence[StoredClaim]) -> str:
    """The source of a field's value in brackets: that of the first claim on the field, or on what it is a part of."""
    first = next((claim for claim in claims if field == claim.field or field.startswith(f"{claim.field}.")), None)
    if first is None:
        return ""
    return f" ({first.source}{f', as of {first.as_of[:10]}' if first.as_of else ''})"


def _any_of(written: Sequence[str]) -> str:
    return " or ".join(f"“{rule}”" for rule in written)


def _as_text(fact: object) -> str:
    if isinstance(fact, bool):
        return str(fact).lower()
    return str(fact) if not isinstance(fact, list) else ", ".join(map(str, fact))


def _present(
    documents: Sequence[RunDocument], matched_by: str, scale: tuple[float, float], evidence: Evidence
) -> CriterionResult:
    """The result for documents that match. The first one with a text is shown."""
    unread = {document.document_id for document in evidence.unread}
    shown = min(documents, key=lambda document: document.document_id in unread)
    reason = f"In the data room: {shown.name} (matched by {matched_by})."
    if shown.document_id in unread:
        reason += " It has no readable text, so check it yourself."
    others = [document for document in documents if document is not shown]
    if others:
        reason += f" Other matches: {_names(others)}."
    opening = evidence.opening(shown, _QUOTED)
    return CriterionResult(
        ScoreStatus.SCORED,
        reason,
        score=scale[1],
        quotes=[Quotation.of(opening)] if opening else [],
        given=[document.document_id for document in documents],
    )


def _names(documents: Sequence[RunDocument]) -> str:
    more = f" and {len(documents) - _MAX_NAMES} more" if len(documents) > _MAX_NAMES else ""
    return ", ".join(document.name for document in documents[:_MAX_NAMES]) + more


def _why_near(name: str, document: RunDocument, title: str) -> str:
    """Why a document whose title shares words with a name comes near to it."""
    parts = (
        ("its name contains", _stem(document)),
        ("its folder's name contains", document.path),
        ("its opening lines contain", title),
    )
    for opening, text in parts:
        shared = _shared_words(name, text)
        if shared:
            return f"{opening} {_quoted(shared)}"
    return "its name or opening lines are similar"


def _why_mentioned(name: str, excerpt: Excerpt) -> str:
    shared = _shared_words(name, excerpt.text)
    return f"it mentions {_quoted(shared)}" if shared else "it has a related passage"


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)


def _with_place(why: str, excerpt: Excerpt) -> str:
    return f"{why} ({excerpt.place})" if excerpt.place else why


def _best_of_documents(excerpts: Sequence[Excerpt]) -> list[Excerpt]:
    """The first excerpt of each document."""
    best: dict[str, Excerpt] = {}
    for excerpt in excerpts:
        best.setdefault(excerpt.document.document_id, excerpt)
    return list(best.values())


def _title(document: RunDocument, evidence: Evidence) -> str:
    """The document's folder, its name, and the short lines of its opening: titles, not sentences."""
    opening = [line.strip() for line in evidence.beginning(document, _OPENING).splitlines()]
    lines = [line for line in opening if len(line) <= _TITLE and not line.endswith((".", ";", ","))]
    return "\n".join([document.path, _stem(document), *lines])


def _path_and_name(document: RunDocument) -> str:
    return f"{document.path} {_stem(document)}"


def _stem(document: RunDocument) -> str:
    """A document's name without its ending."""
    return document.name.rsplit(".", 1)[0]


def _share(words: Sequence[str], text: str) -> float:
    """The share of `words` that stand in a text, 0 to 1. Names are often run together, as in `captable`."""
    if not words:
        return 0.0
    text_words = _words(text)
    if "".join(words) in text_words:
        return 1.0
    return len(set(words) & set(text_words)) / len(set(words))


def _shared_words(name: str, text: str) -> list[str]:
    """The words of a name, as they are written, that stand in a text."""
    text_words = set(_words(text))
    shared: list[str] = []
    for word in name.split():
        forms = _words(word)
        if forms and text_words.issuperset(forms):
            shared.append(word)
    return shared


@lru_cache(maxsize=10_000)  # every criterion needs those of all documents: 0.8 s for 2,000 without it
def _words(text: str) -> tuple[str, ...]:
    """The words of a name that count, in one form."""
    spaced = _WORD_BORDER.sub(" ", unicodedata.normalize("NFC", text).replace("_", " "))
    return tuple(intern(_base_letters(word)) for word in tokens(spaced))


def _base_letters(word: str) -> str:
    """A word without accents; `ae`, `oe` and `ue` lose their e."""
    letters = "".join(
        letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter)
    ).translate(_BASE_LETTERS)
    return re.sub("([aou])e", r"\1", letters)
