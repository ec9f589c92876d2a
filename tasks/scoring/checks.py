"""Criteria that need no model: rules on facts, and documents that should be in the data room.

check_fact           compares a field of the company profile with a rule
check_document       looks for a document of a kind, else by its name, its folder and its opening lines
nearest_documents    what to look at when the document is missing
nearest_passages     what to look at when the passages do not answer a question

Documents are matched by the words of their names. `CapTable_2024.xlsx` has the words cap, table and 2024, and `ü`,
`ue` and `u` are the same.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from sys import intern
from typing import Final

from storage.documents import RunDocument
from storage.scores import Absence, ScoreStatus, StoredClaim, StoredProfile
from tasks.companies.profile import FieldType, field_name, field_type, value_at
from tasks.documents.kinds.catalogue import Kind, find_kinds, is_kind, links, plain_words, read_file
from tasks.documents.kinds.document import DocumentKind, parse_asked_kind
from tasks.documents.kinds.signs import find_denied_kinds
from tasks.documents.kinds.titles import ends_sentence
from tasks.language.normalise import join_first
from tasks.language.sentences import place_sentences
from tasks.language.words import tokens
from tasks.scoring import rules
from tasks.scoring.criteria import DocumentCheck, FactRule
from tasks.scoring.evidence import Evidence, Excerpt
from tasks.scoring.results import CriterionResult, NearDocument, Quotation

_MAX_NEAREST = 3  # documents that are named when one is missing
_MAX_PASSAGES = 10  # passages that are searched for words of a missing document
_MAX_NAMES = 3  # document names in a reason
_QUOTED = 160  # characters of a document's opening that are shown
_OPENING = 600  # characters: a title page, not a body that only mentions other documents
_BEGINNING = 1500  # characters that say whose a document is, and of which year
_TITLE = 120  # characters; a longer line is a sentence
_TOP = 12  # lines, among which a title stands
_ELIDED = re.compile(r"\b(?:[dlnsDLNS]|qu|dell|nell|sull)['’](?=\w)")  # "l'honneur" has the word "honneur"
_ITEM = re.compile(
    r"(?i)\W*(?:(?:item|point|punkt|punt|punto|pkt|top)\W{0,2}\d{1,2}\b|\d{1,2}[.)]\s|[-*•–]\s)"
)  # of a list, such as an agenda


def check_fact(
    criterion: FactRule, scale: tuple[float, float], profile: StoredProfile | None, claims: Sequence[StoredClaim]
) -> CriterionResult:
    """Compare the profile's field with the rule, or the rules of its bands; the reason names the fact's source.

    `claims` are in their sources' order of precedence.
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
    met = max((score for score, rule in bands.items() if rules.parse(criterion.fact, rule).holds(fact)), default=None)
    is_of_time = criterion.fact.endswith("year") or field_type(criterion.fact) is FieldType.TIME
    verdict = rules.verdict_in_words(bands, met, scale, is_of_time=is_of_time)
    return CriterionResult(
        ScoreStatus.SCORED,
        f"{subject} is {_as_text(fact)}{_source(criterion.fact, claims)}. {verdict}",
        score=scale[0] if met is None else met,
    )


def check_document(criterion: DocumentCheck, scale: tuple[float, float], evidence: Evidence) -> CriterionResult:
    """Look for a document of a kind in the catalogue, or for one with the words of the criterion as its title.

    A draft, an unsigned copy, a document no longer in force, and a substitute for the kind (accounts that nobody says
    are audited) give half the scale; a template gives nothing.
    """
    kind, rest = parse_asked_kind(criterion.document)
    if kind is not None:
        result = _check_kind(criterion.document, kind, rest, scale, evidence)
    else:
        result = _check_title(criterion.document, scale, evidence)
    return result or _absent(criterion.document, kind, evidence)


def _check_kind(
    asked: str, kind: Kind, rest: Sequence[str], scale: tuple[float, float], evidence: Evidence
) -> CriterionResult | None:
    """The result for documents of a kind that also contain the other words asked for; None if there are none."""
    kinds = evidence.kinds.kinds
    held = [row for row in evidence.documents if kinds[row.document_id].holds(kind.id) is not None]
    held = [row for row in held if not _is_called_otherwise(asked, row, evidence)]
    told = ((row, kinds[row.document_id]) for row in evidence.documents)
    stands_in = [row for row, what in told if what.has_accounts and what.kind in kind.lesser]
    whole = [row for row in held if _lesser_state(kinds[row.document_id], kind) is None]
    lesser = [row for row in held if row not in whole] + [row for row in stands_in if row not in held]
    lesser = [row for row in lesser if kinds[row.document_id].state != "template"]
    if rest:
        whole, lesser = ([row for row in rows if _says(rest, row, evidence)] for rows in (whole, lesser))
    if not whole and not lesser:
        return None
    whole, lesser = whole or lesser, [] if whole else lesser
    called = [row for row in whole if _share(_words(asked), _path_and_name(row)) == 1]
    matched_by = f"of the kind “{kind.title}”"
    return _present(whole, matched_by, scale, evidence, kind=kind, is_lesser=bool(lesser), called=called)


def _is_called_otherwise(asked: str, document: RunDocument, evidence: Evidence) -> bool:
    """Whether a document calls itself another of its kind than what is asked for, as by-laws are no certificate."""
    groups = read_file("marks.toml")["asked"]["apart"]
    for wanted in (group for group in groups if _names_one(asked, group)):
        for line in (_stem(document), *_title_lines(document, evidence)[:_TOP]):
            named = [group for group in groups if _names_one(line, group)]
            if named:
                return wanted not in named
    return False


def _names_one(line: str, names: Sequence[str]) -> bool:
    return any(f" {name}" in f" {plain_words(line)} " for name in names)


def _check_title(asked: str, scale: tuple[float, float], evidence: Evidence) -> CriterionResult | None:
    """The result for documents with the words asked for in their name, otherwise in their opening lines."""
    words = [word for word in _words(asked) if word not in links()] or _words(asked)
    candidates = [row for row in evidence.documents if _may_be(row, words, evidence)]
    documents = [row for row in candidates if _share(words, _path_and_name(row)) == 1]
    documents.sort(key=lambda document: -_share(words, document.name))  # those of that name before its folder's others
    matched_by = "matched by name or folder"
    if not documents:
        documents = [row for row in candidates if _is_titled(row, words, evidence)]
        matched_by = "matched by its opening lines"
    kinds = evidence.kinds.kinds
    told = read_file("marks.toml")["asked"]
    asks_form = not {*told["forms"]}.isdisjoint(plain_words(asked).split())
    asks_form = asks_form and re.search(rf"\d|\b(?:{'|'.join(told['filled'])})", plain_words(asked)) is None
    states = {row.document_id: _lesser_state(kinds[row.document_id], None) for row in documents}
    enough = {None, _LESSER["template"], _LESSER["draft"]} if asks_form else {None}
    whole = [row for row in documents if states[row.document_id] in enough]
    if whole or any(kinds[row.document_id].state != "template" for row in documents):
        return _present(whole or documents, matched_by, scale, evidence, is_lesser=not whole)
    return None


_LESSER: Final = {
    "draft": "it is a draft",
    "unsigned": "it is not signed",
    "superseded": "it is no longer in force",
    "template": "it is a template",
}


def _lesser_state(what: DocumentKind, kind: Kind | None) -> str | None:
    """Why a document does not count in full; missing signatures matter if such documents are signed."""
    unsigned_counts = what.state == "unsigned" and kind is not None and not kind.signed
    return None if what.state is None or unsigned_counts else _LESSER.get(what.state)


def _says(rest: Sequence[str], document: RunDocument, evidence: Evidence) -> bool:
    """Whether a document's path, name or beginning also contains these words."""
    beginning = evidence.read_beginning(document, _BEGINNING)
    said = {word.rstrip("s") for word in plain_words(f"{document.path} {document.name} {beginning}").split()}
    return all(word.rstrip("s") in said for word in rest)


def _may_be(document: RunDocument, words: Sequence[str], evidence: Evidence) -> bool:
    """Whether a document can be what is asked for, rather than only asking for it, or saying that there is none."""
    if evidence.kinds.kinds[document.document_id].speaks_of and evidence.kinds.kinds[document.document_id].kind is None:
        return False
    name = plain_words(f"{document.path} {document.name}").split()
    sought = {plain_words(word) for word in words}
    return not any(after in sought and before in _denials() for before, after in pairwise(name))


@cache
def _denials() -> frozenset[str]:
    return frozenset({"non", *map(plain_words, read_file("marks.toml")["denied"])})


def _absent(asked: str, kind: Kind | None, evidence: Evidence) -> CriterionResult:
    """The result if no document is what is asked for, with those that come close and those that refer to it."""
    nearest = nearest_documents(asked, evidence, kind)
    reason = f"No document in the data room matches “{asked}” by its name, folder or opening lines."
    near_kinds = ((near.document, evidence.kinds.kinds[near.document.document_id]) for near in nearest if kind)
    templates = [
        row for row, what in near_kinds if kind and what.state == "template" and what.holds(kind.id) is not None
    ]
    if templates:
        reason = f"For “{asked}” the data room has only a template: {_names(templates)}."
    elif nearest:
        reason += f" Nearest: {_names([near.document for near in nearest])}."
    cited = [row for row in evidence.kinds.cited if kind is not None and row.kind and is_kind(row.kind, kind.id)]
    denial = None if cited or kind is None else _find_denial(asked, kind, evidence)
    if cited:
        reason += f" The room lacks {', and '.join(row.in_words for row in cited[:_MAX_NAMES])}."
    if denial is not None:
        reason += f" {denial.document.name} says that there is none."
    return CriterionResult(
        ScoreStatus.MISSING,
        reason,
        missing=asked,
        nearest=nearest,
        quotes=[Quotation.of(denial, "against")] if denial else [],
        absence=Absence.ELSEWHERE if cited else Absence.NONE if denial else None,
    )


def _find_denial(asked: str, kind: Kind, evidence: Evidence) -> Excerpt | None:
    """The sentence by which the room says that there is no such document; None if no sentence does."""
    for excerpt in evidence.find(asked, _MAX_PASSAGES):
        for sentence in place_sentences(excerpt.text):
            if any(is_kind(kind.id, denied) for denied in find_denied_kinds(sentence.text)):
                start = excerpt.start + sentence.place(0)
                return evidence.line_of(excerpt.document.document_id, excerpt.text_id, start, start + 1)
    return None


def nearest_documents(name: str, evidence: Evidence, kind: Kind | None = None) -> list[NearDocument]:
    """The documents closest to a missing one, each with the reason, best first.

    Those of the same, a wider or a lesser kind come first, then those whose name, folder or opening lines share most
    words with the missing document's name, then those whose text mentions it: by all or several words of its name,
    or by another name of its kind.
    """
    words = _words(name)
    of_kind = [
        NearDocument(
            row, f"it is of the kind “{what.title}”" + (f", {_LESSER[what.state]}" if what.state in _LESSER else "")
        )
        for row in evidence.documents
        if kind is not None and (what := evidence.kinds.kinds[row.document_id]).kind is not None
        if is_kind(what.kind or "", kind.id) or is_kind(kind.id, what.kind or "") or what.kind in kind.lesser
    ][:_MAX_NEAREST]
    near: list[tuple[float, float, NearDocument]] = []
    listed = {row.document.document_id for row in of_kind}
    for document in evidence.documents:
        if document.document_id in listed:
            continue
        title = "\n".join([document.path, _stem(document), *_title_lines(document, evidence)])
        share = _share(words, title)
        if share > 0:
            share_of_name = _share(words, _path_and_name(document))
            near.append((share, share_of_name, NearDocument(document, _why_near(name, document, title))))
    near.sort(key=lambda row: (-row[0], -row[1]))
    by_name = [*of_kind, *(document for *_, document in near)][:_MAX_NEAREST]
    if len(by_name) == _MAX_NEAREST:
        return by_name
    listed = {near_document.document.document_id for near_document in by_name}
    meant = {match.kind.id for match in find_kinds(plain_words(name))}
    by_text = [
        NearDocument(excerpt.document, _with_place(f"it mentions {_quote(shared)}", excerpt))
        for excerpt in _take_best_excerpts(evidence.find(name, _MAX_PASSAGES))
        if excerpt.document.document_id not in listed and (shared := _find_shared_words(name, excerpt.text))
        if len(shared) > min(1, len(name.split()) - 1)
        or not meant.isdisjoint(match.kind.id for match in find_kinds(plain_words(excerpt.text)))
    ]
    return [*by_name, *by_text][:_MAX_NEAREST]


def nearest_passages(excerpts: Sequence[Excerpt]) -> list[NearDocument]:
    """The documents of the passages that a question found, which are given best first."""
    return [
        NearDocument(excerpt.document, _with_place("it has a passage related to the question", excerpt))
        for excerpt in _take_best_excerpts(excerpts)[:_MAX_NEAREST]
    ]


def _source(field: str, claims: Sequence[StoredClaim]) -> str:
    """The source of a field's value in brackets: that of the first claim on the field or its parent."""
    first = next((claim for claim in claims if field == claim.field or field.startswith(f"{claim.field}.")), None)
    if first is None:
        return ""
    return f" ({first.source}{f', as of {first.as_of[:10]}' if first.as_of else ''})"


def _as_text(fact: object) -> str:
    if isinstance(fact, bool):
        return str(fact).lower()
    return str(fact) if not isinstance(fact, list) else ", ".join(map(str, fact))


def _present(
    documents: Sequence[RunDocument],
    matched_by: str,
    scale: tuple[float, float],
    evidence: Evidence,
    *,
    kind: Kind | None = None,
    is_lesser: bool = False,
    called: Sequence[RunDocument] = (),
) -> CriterionResult:
    """The result for documents that match. The newest that was read is shown, those `called` so before others, drafts
    and templates last.
    """
    room = evidence.kinds
    unread = {document.document_id for document in evidence.unread}
    fronts = {family.front.id for family in room.families}
    shown = min(
        sorted(documents, key=lambda row: room.kinds[row.document_id].date or "", reverse=True),
        key=lambda row: (
            row not in called,
            row.document_id in unread,
            room.kinds[row.document_id].state not in {"signed", None},
            row.document_id in room.fronts and row.document_id not in fronts,
        ),
    )
    what = room.kinds[shown.document_id]
    signed = ", signed" if kind is not None and what.state == "signed" else ""
    reason = f"In the data room: {shown.name} ({matched_by}{signed})."
    if is_lesser and (why := _lesser_state(what, kind)):
        reason = f"In the data room: {shown.name} ({matched_by}), but {why}: half of the marks."
    elif is_lesser:
        reason = f"In the data room: only {shown.name}, of the kind “{what.title}”: half of the marks."
    if shown.document_id in unread:
        read = (
            f"Only {shown.pages_read} of its {shown.pages} pages were read"
            if shown.characters
            else "It has no readable text"
        )
        reason += f" {read}, so check it yourself."
    front = room.fronts.get(shown.document_id)
    others = [
        row for row in documents if row is not shown and (front is None or room.fronts.get(row.document_id) != front)
    ]
    if others:
        reason += f" Other matches: {_names(others)}."
    versions = [row for row in documents if row is not shown and row not in others]
    if versions:
        reason += f" Copies and versions of it: {_names(versions)}."
    start = (what.holds(kind.id) if kind else 0) or 0
    opening = evidence.opening(shown, _QUOTED, start)
    return CriterionResult(
        ScoreStatus.SCORED,
        reason,
        score=(scale[0] + scale[1]) / 2 if is_lesser else scale[1],
        quotes=[Quotation.of(opening)] if opening else [],
        given=[document.document_id for document in documents],
    )


def _names(documents: Sequence[RunDocument]) -> str:
    return join_first([document.name for document in documents], _MAX_NAMES)


def _why_near(name: str, document: RunDocument, title: str) -> str:
    """Why a document comes close whose title shares words with a name."""
    parts = (
        ("its name contains", _stem(document)),
        ("its folder's name contains", document.path),
        ("its opening lines contain", title),
    )
    for opening, text in parts:
        shared = _find_shared_words(name, text)
        if shared:
            return f"{opening} {_quote(shared)}"
    return "its name or opening lines are similar"


def _quote(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)


def _with_place(why: str, excerpt: Excerpt) -> str:
    return f"{why} ({excerpt.place})" if excerpt.place else why


def _take_best_excerpts(excerpts: Sequence[Excerpt]) -> list[Excerpt]:
    """The first excerpt of each document."""
    best: dict[str, Excerpt] = {}
    for excerpt in excerpts:
        best.setdefault(excerpt.document.document_id, excerpt)
    return list(best.values())


def _title_lines(document: RunDocument, evidence: Evidence) -> list[str]:
    opening = [line.strip() for line in evidence.read_beginning(document, _OPENING).splitlines()]
    return [line for line in opening if line and len(line) <= _TITLE and not ends_sentence(line)]


def _is_titled(document: RunDocument, words: Sequence[str], evidence: Evidence) -> bool:
    """Whether one line at the top, no item of a list, has these words that the name has not."""
    lines = _title_lines(document, evidence)[:_TOP]
    named = _path_and_name(document)
    return any(_share(words, f"{named} {line}") == 1 for line in lines if not _ITEM.match(line))


def _path_and_name(document: RunDocument) -> str:
    return f"{document.path} {_stem(document)}"


def _stem(document: RunDocument) -> str:
    """A document's name without its extension."""
    return document.name.rsplit(".", 1)[0]


def _share(words: Sequence[str], text: str) -> float:
    """The share of `words` that occur in a text, 0 to 1. Names are often run together, as in `captable`."""
    if not words:
        return 0.0
    text_words = _words(text)
    if "".join(words) in text_words:
        return 1.0
    return len(set(words) & set(text_words)) / len(set(words))


def _find_shared_words(name: str, text: str) -> list[str]:
    """The words of a name, as written, that occur in a text."""
    text_words = set(_words(text))
    return [word for word in name.split() if (forms := _words(word)) and text_words.issuperset(forms)]


@lru_cache(maxsize=10_000)  # every criterion needs those of all documents: 0.8 s for 2,000 without it
def _words(text: str) -> tuple[str, ...]:
    """The significant words of a name in normalised form."""
    return tuple(map(intern, tokens(plain_words(_ELIDED.sub(" ", text)))))
