"""What a document is: its kind, its state and its date, by its name, its folder and its text.

A kind that is not certain is not given. If name and title disagree, the one that the document's words confirm counts.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import Final

from tasks.documents.kinds.catalogue import (
    Kind,
    Match,
    asked_names,
    file_names,
    find_joined_kinds,
    find_kind,
    find_kinds,
    find_spoken_kinds,
    is_kind,
    kinds,
    links,
    marks,
    may_be_document,
    names,
    plain_words,
    read_file,
)
from tasks.documents.kinds.signs import Signs, find_state
from tasks.documents.kinds.titles import is_about_kind
from tasks.language.periods import dates_in

_CERTAINTY: Final = {"both": 0.99, "title": 0.94, "name": 0.9, "one of two": 0.9, "folder": 0.8}
"""How often a kind is right by what tells it, of 157 given to documents of strangers; the last two are estimates."""
_NAME_PARTS: Final = re.compile(r"\s[-–—]+\s|[,;()\[\]]|(?<!\d)\.(?!\d)")
_DIGITS: Final = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_. ]?(0[1-9]|1[0-2])[-_. ]?(0[1-9]|[12]\d|3[01])(?!\d)")
YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_PICTURES: Final = frozenset({".pdf", ".tif", ".tiff", ".png", ".jpg", ".jpeg"})
"""Formats in which a signature may be a picture over the empty line."""
_PAGES: Final = frozenset({".htm", ".html", ".md", ".rst", ".txt"})
"""Formats in which the first page of a site is called index, and pages about software are written."""
_ACCOUNTS: Final = "financial_statements"
_AUDITED: Final = "audited_financial_statements"
_UNAUDITED: Final = "unaudited_financial_statements"
_ANNUAL_REPORT: Final = "annual_report"


@dataclass(frozen=True, slots=True)
class DocumentKind:
    """What a document is.

    Attributes:
        kind: the id of its kind, None where that is not sure.
        state: `signed`, `draft`, `unsigned`, `template`, `superseded`; None where nothing tells.
        date: its own date (ISO), None where it has none.
        certainty: of the kind, 0 to 1.
        also: other kinds that it is, or holds, with where those begin in its text (0: all of it).
        speaks_of: it is a request, an index, a letter: what it names is not in it.
        has_accounts: an annual report holds accounts, or nobody has read it.
        days: all dates (ISO) in its opening.
    """

    kind: str | None = None
    state: str | None = None
    date: str | None = None
    certainty: float = 0.0
    also: tuple[tuple[str, int], ...] = ()
    speaks_of: bool = False
    days: frozenset[str] = frozenset()
    has_accounts: bool = True

    @property
    def title(self) -> str | None:
        """The ordinary name of its kind."""
        return kinds()[self.kind].title if self.kind else None

    def holds(self, wanted: str) -> int | None:
        """The offset at which a document of that kind begins in this one; None if it contains none."""
        if not self.has_accounts and is_kind(_ANNUAL_REPORT, wanted) and wanted != _ANNUAL_REPORT:
            return None
        held = [(self.kind, 0), *self.also] if self.kind else self.also
        return next((start for kind, start in held if kind and is_kind(kind, wanted)), None)


def document_kind(name: str, path: str = "", signs: Signs | None = None) -> DocumentKind:
    """What a document is. `name` has its extension, `path` is its folder; without `signs` its text is not known."""
    said = signs or Signs()
    if not may_be_document(name) and not _is_agreement(said):  # one with "Acme.js" is called so without an extension
        return DocumentKind()
    stem, ending = _part_name(name)
    folder = path.rsplit("/", 1)[-1]
    words = plain_words(stem)
    kind, certainty = _kind(stem, ending, folder, said, is_read=signs is not None)
    also = tuple((part, start) for part, start in said.parts)
    if kind is not None:
        joined = [match.kind.id for title in (words, said.line) for match in find_joined_kinds(title)]
        also += tuple((other, 0) for other in joined if kind.id in joined and other != kind.id)
    audit = _audit(f"{words} {plain_words(folder)}", words, said) if kind and is_kind(kind.id, _ACCOUNTS) else None
    if kind is not None and audit is not None and audit != kind.id:
        also = ((kind.id, 0), *also)
        kind = kinds()[audit]
    if kind is not None and signs is not None and ending in _PAGES and _may_only_speak(stem, ending, kind, signs):
        kind, also = None, tuple((part, start) for part, start in also if start)
    state = _state(words, plain_words(folder), said, kind, is_picture=ending in _PICTURES)
    day = _day(stem, said)
    if kind is None or not kind.title:
        return DocumentKind(None, state, day, 0.0, also, bool(kind and kind.over and not kind.title))
    return DocumentKind(
        kind.id, state, day, certainty, also, kind.over, frozenset(said.days), not _narrates(kind, signs)
    )


def _narrates(kind: Kind, signs: Signs | None) -> bool:
    return signs is not None and kind.id == _ANNUAL_REPORT and _ACCOUNTS not in signs.body


def _is_agreement(said: Signs) -> bool:
    title = kinds().get(said.title or "")
    return title is not None and title.signed and not said.has_code and "parties" not in said.lacks


def _part_name(name: str) -> tuple[str, str]:
    """The stem and the extension of a file's name; the stem of a site's "index.html" says nothing."""
    stem, ending = PurePath(name).stem if "." in name else name, PurePath(name).suffix.lower()
    return "" if stem.casefold() == "index" and ending in _PAGES else stem, ending


def _may_only_speak(stem: str, ending: str, kind: Kind, said: Signs) -> bool:
    """Whether a page may only speak of what its title names: it is about software, or a page of a site that neither
    says what such a document has to, nor is called so.
    """
    is_about_code = said.has_code or stem.casefold() in read_file("marks.toml")["subjects"]["pages"]
    if is_about_code or (stem and not ending.startswith(".htm")):
        return is_about_code
    is_confirmed = said.audit == "opinion" or kind.id in said.body
    named = _read_name(stem, said) if said.title is None else None
    is_confirmed |= named is not None and (is_kind(named.kind.id, kind.id) or is_kind(kind.id, named.kind.id))
    return not is_confirmed and (bool(kind.body) or not (stem or " " in said.line))


def may_be_any(name: str, path: str, signs: Signs | None, wanted: Collection[str]) -> bool:
    """Whether the name alone, the text alone or both make a document one of these kinds, or one that contains it.

    `document_kind` is silent where they disagree, or where a page may only speak of it. One of them is enough to keep
    a document from a model, also a title that only speaks of such a document.
    """
    views = (document_kind(name, path, signs), document_kind(name, path), document_kind("", "", signs))
    told = {
        *((*signs.denied, signs.title or "") if signs else ()),
        *find_spoken_kinds(plain_words(_part_name(name)[0])),
    }
    told |= {held for view in views for held in (view.kind, *dict(view.also)) if held}
    return any(is_kind(kind, one) for kind in told for one in wanted)


def _day(stem: str, said: Signs) -> str | None:
    """A document's own date: the one in its name, otherwise the one at its top unless the name has another year. The
    name of an exhibit ("20120322_8-K_EX-10.17") has the day of its filing: that counts if its opening has no other.
    """
    named = _name_day(stem)
    if "_EX-" in stem and said.days and named not in said.days:
        return said.dated
    return named or (said.dated if said.dated and said.dated[:4] in (YEAR.findall(stem) or [said.dated[:4]]) else None)


def _name_day(stem: str) -> str | None:
    """The day (ISO) in a document's name."""
    digits = _DIGITS.search(stem)
    found = () if digits else dates_in(stem, of_any_span=True, of_months=False)
    return "-".join(digits.groups()) if digits else next((day.isoformat() for day in found), None)


def _kind(stem: str, ending: str, folder: str, said: Signs, *, is_read: bool) -> tuple[Kind | None, float]:
    """The kind and how certain it is. A table in a file of its own is no agreement, but may list some."""
    is_spoken = said.title in find_spoken_kinds(plain_words(stem))
    title, named = None if is_spoken else kinds().get(said.title or ""), _read_name(stem, said)
    name = named.kind if named else None
    lacking = _list_lacking(stem, ending, said, is_named=name is not None) + ["parties"] * (
        is_read and ending == ".csv"
    )
    title, name = (None if kind and kind.needs in lacking else kind for kind in (title, name))
    letters = read_file("marks.toml")["letter"]["kinds"]
    if name is not None and (name.id in said.denied or (said.letter and title is None and name.id not in letters)):
        name = None
    if title is not None and name is not None and (is_kind(title.id, name.id) or is_kind(name.id, title.id)):
        return (title if is_kind(title.id, name.id) else name), _CERTAINTY["both"]
    if title is not None and said.is_late and title.title and said.audit != "opinion":
        title = None  # it may be a heading, or a part of a list
    ranked = [(_rank(kind, said, is_title=kind is title), kind) for kind in (title, name) if kind is not None]
    if ranked:
        best = max(ranked, key=lambda one: one[0])[1]
        return best, _CERTAINTY["one of two" if len(ranked) > 1 else "title" if best is title else "name"]
    kind = _read_folder(stem, folder, said, is_read=is_read) if ending not in _PAGES - {".txt"} else None
    return kind, _CERTAINTY["folder"] if kind else 0.0


def _list_lacking(stem: str, ending: str, said: Signs, *, is_named: bool) -> list[str]:
    """What a text lacks that documents cannot do without, and its name has not."""
    is_held = not said.is_brief or (not is_named and ending in _PAGES - {".txt"})
    always = {"documents", "amounts"} if said.only_tells and ending in _PAGES else {"documents"}
    held = {"day"} if _name_day(stem) else set[str]()
    return [one for one in said.lacks if one not in held and (is_held or one in always)]


def _rank(kind: Kind, said: Signs, *, is_title: bool) -> int:
    """Which of a title's and a name's kinds counts where they disagree: the higher one.

    A name that only speaks about documents ("README") tells most, then a title about other documents; any policy least.
    """
    if kind.over:
        return 4 if is_title else 2 if kind.title else 5
    return (3 if is_title else 2) if kind.id in said.body and kind.id != "policy" else int(is_title)


def _read_folder(stem: str, folder: str, said: Signs, *, is_read: bool) -> Kind | None:
    """The kind that the folder, or the folder and name together, indicate."""
    name = plain_words(stem)
    for words in (plain_words(folder), plain_words(f"{folder} {stem}")):
        match = find_kind(words)
        if match is None or match.kind.over or said.letter or match.kind.id in said.denied:
            continue
        if match.kind.against.stand_in(name) or names(match.kind.id).stand_in(name):
            continue  # the name is not of it, or speaks of it: "Insurance claims history"
        fills = 2 * (match.end - match.start) >= len(words)
        if match.kind.id in said.body or (fills and not match.weak and not (is_read and match.kind.body)):
            return match.kind
    return None


def _read_name(stem: str, said: Signs) -> Match | None:
    """The kind that a name indicates, by its parts from the left; by all of it if it is about other documents."""
    whole = find_kind(plain_words(stem))
    if whole is not None and whole.kind.over:
        return whole
    for part in [*_NAME_PARTS.split(stem), stem]:
        words = plain_words(part)
        match = find_kind(words) or _read_file_name(words)
        if match is None or (match.weak and match.kind.id not in said.body):
            continue
        before = words[: match.start].split()
        if not marks("", "denied").stand_in(" ".join(before[-2:])) and not is_about_kind(before):
            return match
    return None


def _read_file_name(words: str) -> Match | None:
    """The kind whose files are called so, in plain words."""
    for start, end, kind in file_names().find(words):
        if not kind.against.stand_in(words) and all(map(str.isdigit, (words[:start] + words[end:]).split())):
            return Match(kind, start, end, weak=bool(kind.body))
    return None


def _audit(named: str, name: str, said: Signs) -> str | None:
    """The kind of accounts by whether they are audited; None if nothing shows it."""
    if marks("audit", "negative").stand_in(named) or said.audit == "negative":
        return _UNAUDITED
    claims = _AUDITED in {match.kind.id for match in find_kinds(name)}
    claims |= marks("", "audited").stand_in(f"{named} {said.line}")
    return _AUDITED if said.audit in {"opinion", "claim"} or claims else None


def _state(name: str, folder: str, said: Signs, kind: Kind | None, *, is_picture: bool) -> str | None:
    named = find_state(name) or (find_state(folder) if folder else None)
    if named is not None:
        return named
    if said.state is None and said.blank_signatures and kind is not None and kind.signed and not is_picture:
        return "unsigned"
    is_unfilled = said.unfilled or (said.unadopted and not is_picture)
    return "draft" if said.state is None and is_unfilled and kind is not None and kind.title else said.state


@lru_cache(maxsize=1024)  # a criterion asks it of each company
def parse_asked_kind(asked: str) -> tuple[Kind | None, tuple[str, ...]]:
    """The kind that a user asks for, and other words that the document must contain; None if no kind is named."""
    words = plain_words(asked)
    lists = ("weak", "left_out", "other", "unless_told_more")
    weak, left_out, others, slight = (set(read_file("marks.toml")["asked"][name]) for name in lists)
    named = [
        one for one in find_kinds(words) if one.kind.title and (not one.weak or words[one.start : one.end] in weak)
    ]
    also = [Match(kind, start, end, False) for start, end, kind in asked_names().find(words)]
    for those in ([*named, *also], named):
        best = max(those, key=lambda match: match.end - match.start, default=None)
        if best is None:
            break
        is_one_of_many = best.kind.id == "policy" and best in named  # who asks for a travel policy wants no other
        beside = _words_beside(words, [one for one in those if one.kind is best.kind and not is_one_of_many])
        rest = tuple(word for word in dict.fromkeys([*beside, *YEAR.findall(words)]) if word not in left_out | links())
        rest = () if slight.issuperset(rest) else rest
        is_all = others.isdisjoint(beside) and not any(map(str.isalpha, rest))
        if best in named or is_all:  # "insurance", but "insurance claims" and "insurance report" name no kind
            return best.kind, rest
    return None, ()


def _words_beside(words: str, names: Iterable[Match]) -> list[str]:
    """The words that are none of these names, of which "Budget or business plan" has two of one kind."""
    for name in names:
        words = f"{words[: name.start]}{' ' * (name.end - name.start)}{words[name.end :]}"
    return words.split()
