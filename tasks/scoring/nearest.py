"""The documents that come nearest to what is missing, each with why: one of them may be it, or lead to it."""

from collections.abc import Sequence

from storage.runs import RunDocument
from tasks.scoring import names
from tasks.scoring.evidence import Evidence, Found
from tasks.scoring.finding import Near

_MOST = 3
_PASSAGES = 10  # that speak of a missing document; their documents are looked at


def nearest_documents(wanted: str, evidence: Evidence) -> list[Near]:
    """Those whose name, folder or title shares most words with the wanted one, then those that speak of it."""
    asked = names.words(wanted)
    near: list[tuple[float, float, Near]] = []
    for document in evidence.documents:
        told = names.title(document, evidence)
        how_much = names.share(asked, told)
        if how_much > 0:
            called = names.share(asked, f"{document.path} {names.name(document)}")
            near.append((how_much, called, Near(document, _why(wanted, document, told))))
    near.sort(key=lambda each: (-each[0], -each[1]))
    by_name = [each for *_, each in near[:_MOST]]
    if len(by_name) == _MOST:
        return by_name
    known = {each.document.document_id for each in by_name}
    speaking = [
        Near(found.document, _at(found, _quoted("it speaks of", names.shared(wanted, found.text))))
        for found in _first_of_each(evidence.find(wanted, _PASSAGES))
        if found.document.document_id not in known
    ]
    return [*by_name, *speaking][:_MOST]


def nearest_passages(found: Sequence[Found]) -> list[Near]:
    """The documents of the passages that speak most to a question; these come best first."""
    return [
        Near(each.document, _at(each, "it comes nearest to the question")) for each in _first_of_each(found)[:_MOST]
    ]


def _why(wanted: str, document: RunDocument, title: str) -> str:
    for what, told in (("name", names.name(document)), ("folder", document.path), ("beginning", title)):
        if words := names.shared(wanted, told):
            return _quoted(f"its {what} shares", words)
    return "its name or beginning comes near"


def _quoted(opening: str, words: Sequence[str]) -> str:
    return f"{opening} {', '.join(f'“{word}”' for word in words)}" if words else f"{opening} such words"


def _at(found: Found, what: str) -> str:
    return f"{what} ({found.place})" if found.place else what


def _first_of_each(found: Sequence[Found]) -> list[Found]:
    """The best passage of each document."""
    first: dict[str, Found] = {}
    for each in found:
        first.setdefault(each.document.document_id, each)
    return list(first.values())
