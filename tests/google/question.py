"""The search language of `files.list`: `q` read into a tree (`matching` runs it).

Terms, operators and types are those of Drive's "Search query terms and operators".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from tests.google.items import rfc3339
from tests.google.refusals import Refused, invalid

MOST_TERMS = 150  # longer queries are refused as too complex

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<string>'(?:[^'\\]|\\.)*')
    | (?P<operator><=|>=|!=|=|<|>)
    | (?P<bracket>[()])
    | (?P<word>[A-Za-z][A-Za-z.]*)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True)
class Term:
    """One comparison: `name contains 'x'`, `'id' in parents`."""

    field: str
    operator: str
    value: str


@dataclass(frozen=True)
class Not:
    inner: "Query"


@dataclass(frozen=True)
class AllOf:
    parts: tuple["Query", ...]


@dataclass(frozen=True)
class AnyOf:
    parts: tuple["Query", ...]


Query = Term | Not | AllOf | AnyOf

_STRINGS = frozenset({"=", "!=", "contains"})
_ORDER = frozenset({"=", "!=", "<", "<=", ">", ">="})
_FIELDS: Mapping[str, frozenset[str]] = {
    "name": _STRINGS,
    "fullText": frozenset({"contains"}),
    "mimeType": _STRINGS,
    "modifiedTime": _ORDER,
    "createdTime": _ORDER,
    "viewedByMeTime": _ORDER,
    "trashed": frozenset({"=", "!="}),
    "starred": frozenset({"=", "!="}),
    "sharedWithMe": frozenset({"=", "!="}),
    "visibility": frozenset({"=", "!="}),
    "shortcutDetails.targetId": frozenset({"=", "!="}),
    "parents": frozenset({"in"}),
    "owners": frozenset({"in"}),
    "writers": frozenset({"in"}),
    "readers": frozenset({"in"}),
}
_FLAGS = frozenset({"trashed", "starred", "sharedWithMe"})
_TIMES = frozenset({"modifiedTime", "createdTime", "viewedByMeTime"})


@lru_cache(maxsize=1024)
def read(q: str) -> Query:
    """The tree of a query.

    Raises:
        Refused: 400 invalid at `q` for what the language does not know; 400 for one with too many terms.
    """
    reader = _Reader(q)
    query = reader.any_of()
    if reader.tokens:
        raise invalid("q")
    if reader.terms > MOST_TERMS:
        raise Refused(400, "invalid", "The query is too complex.", location="q")
    return query


def parents_of(query: Query) -> frozenset[str] | None:
    """The folders that every hit must lie in one of; None if the query names none."""
    match query:
        case Term("parents", "in", folder):
            return frozenset({folder})
        case AllOf(parts):
            found = [parents for part in parts if (parents := parents_of(part)) is not None]
            return frozenset.intersection(*found) if found else None
        case AnyOf(parts):
            each = [parents_of(part) for part in parts]
            return None if None in each else frozenset().union(*(one for one in each if one is not None))
    return None


def named_parents(query: Query) -> list[str]:
    """Every folder named in the query, in order."""
    match query:
        case Term("parents", _, folder):
            return [folder]
        case Not(inner):
            return named_parents(inner)
        case AllOf(parts) | AnyOf(parts):
            return [folder for part in parts for folder in named_parents(part)]
    return []


def has_text_search(query: Query) -> bool:
    match query:
        case Term(field):
            return field == "fullText"
        case Not(inner):
            return has_text_search(inner)
        case AllOf(parts) | AnyOf(parts):
            return any(has_text_search(part) for part in parts)


class _Reader:
    """Recursive descent over the tokens; `or` binds looser than `and`, `not` tightest."""

    def __init__(self, q: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        self.terms = 0
        at, end = 0, len(q.rstrip())
        while at < end:
            match = _TOKEN.match(q, at)
            if not match or not match.lastgroup:
                raise invalid("q")
            self.tokens.append((match.lastgroup, match[match.lastgroup]))
            at = match.end()
        self.tokens.reverse()

    def any_of(self) -> Query:
        parts = [self.all_of()]
        while self._take("word", "or"):
            parts.append(self.all_of())
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def all_of(self) -> Query:
        parts = [self.one()]
        while self._take("word", "and"):
            parts.append(self.one())
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def one(self) -> Query:
        if self._take("word", "not"):
            return Not(self.one())
        if self._take("bracket", "("):
            inner = self.any_of()
            if not self._take("bracket", ")"):
                raise invalid("q")
            return inner
        return self._term()

    def _term(self) -> Term:
        self.terms += 1
        if (text := self._string()) is not None:
            if not self._take("word", "in"):
                raise invalid("q")
            return _checked(self._any("word"), "in", text)
        field = self._any("word")
        operator = self._any("operator", "word")
        if field in _FLAGS:
            value = self._any("word")
            if value not in {"true", "false"}:
                raise invalid("q")
            return _checked(field, operator, value)
        if (text := self._string()) is None:
            raise invalid("q")
        return _checked(field, operator, text)

    def _string(self) -> str | None:
        if self.tokens and self.tokens[-1][0] == "string":
            return _ESCAPE.sub(r"\1", self.tokens.pop()[1][1:-1])
        return None

    def _any(self, *kinds: str) -> str:
        if not self.tokens or self.tokens[-1][0] not in kinds:
            raise invalid("q")
        return self.tokens.pop()[1]

    def _take(self, kind: str, text: str) -> bool:
        if self.tokens and self.tokens[-1] == (kind, text):
            self.tokens.pop()
            return True
        return False


def _checked(field: str, operator: str, value: str) -> Term:
    if operator not in _FIELDS.get(field, ()):
        raise invalid("q")
    return Term(field, operator, _instant(value) if field in _TIMES else value)


def _instant(value: str) -> str:
    """A time as Drive writes it; UTC where no offset is given."""
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        raise invalid("q") from None
    return rfc3339(found if found.tzinfo else found.replace(tzinfo=UTC))
