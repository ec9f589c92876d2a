"""Runs a query of `question` over the files, as one user sees them.

`contains` on a name matches where a word begins, on a MIME type at its beginning, as the guide says;
names are compared without regard to case.
"""

import re
from collections.abc import Callable
from functools import reduce

from tests.google.items import Item
from tests.google.question import AllOf, AnyOf, Not, Query, Term
from tests.google.resources import View

Test = Callable[[Item], bool]

_COMPARE: dict[str, Callable[[str, str], bool]] = {
    "=": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


def test_of(query: Query, view: View) -> Test:
    """The query as a function of an item."""
    match query:
        case Term():
            return _term(query, view)
        case Not(inner):
            wrong = test_of(inner, view)
            return lambda item: not wrong(item)
        case AllOf(parts):
            return reduce(_both, (test_of(part, view) for part in parts))
        case AnyOf(parts):
            # Most long queries are a row of parents: one look into a set for all of them.
            folders = frozenset(folder_id(view, p.value) for p in parts if isinstance(p, Term) and p.field == "parents")
            others = [test_of(p, view) for p in parts if not (isinstance(p, Term) and p.field == "parents")]
            if not others:
                return lambda item: item.parent in folders
            return lambda item: item.parent in folders or any(test(item) for test in others)


def _both(first: Test, second: Test) -> Test:
    return lambda item: first(item) and second(item)


def folder_id(view: View, named: str) -> str:
    """The id that a folder's name in a call stands for: `root` is the user's own My Drive."""
    return view.world.user(view.email).root if named == "root" else named


def _term(term: Term, view: View) -> Test:
    wanted = term.value
    compare = _COMPARE.get(term.operator, _COMPARE["="])
    match term.field:
        case "parents":
            folder = folder_id(view, wanted)
            return lambda item: item.parent == folder
        case "trashed":
            state = (wanted == "true") == (term.operator == "=")
            return lambda item: view.world.in_trash(item) is state
        case "starred":
            return lambda _: (wanted == "false") == (term.operator == "=")
        case "sharedWithMe":
            state = (wanted == "true") == (term.operator == "=")
            return lambda item: _shared_with_me(view, item) is state
        case "name" if term.operator == "contains":
            found = re.compile(r"(?<![^\W_])" + re.escape(wanted), re.IGNORECASE)
            return lambda item: bool(found.search(item.name))
        case "name":
            plain = wanted.casefold()
            return lambda item: compare(item.name.casefold(), plain)
        case "mimeType" if term.operator == "contains":
            return lambda item: item.mime.startswith(wanted)
        case "mimeType":
            return lambda item: compare(item.mime, wanted)
        case "fullText":
            words = wanted.strip('"').casefold()
            return lambda item: words in f"{item.name}\n{item.text}".casefold()
        case "modifiedTime" | "viewedByMeTime":
            return lambda item: compare(item.modified, wanted)
        case "createdTime":
            return lambda item: compare(item.created, wanted)
        case "shortcutDetails.targetId":
            return lambda item: compare(item.target or "", wanted)
        case "visibility":
            return lambda item: compare("anyoneWithLink" if item.link else "limited", wanted)
    return _people(term, view)


def _shared_with_me(view: View, item: Item) -> bool:
    return item.drive is None and item.permissions.get(view.email) not in {None, "owner"}


_ROLES = {
    "owners": frozenset({"owner"}),
    "writers": frozenset({"owner", "organizer", "fileOrganizer", "writer"}),
    "readers": frozenset({"owner", "organizer", "fileOrganizer", "writer", "commenter", "reader"}),
}


def _people(term: Term, view: View) -> Test:
    email = view.email if term.value == "me" else term.value
    roles = _ROLES[term.field]
    return lambda item: view.world.role(email, item) in roles
