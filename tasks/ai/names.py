"""The names of people and companies in a room: from the user's list, the company's profile and signature blocks.

A signature block has the name after a label ("Name:"), after the mark of a signature ("/s/"), or below the closing
words of a letter; the name of a company includes its legal form. The words that identify these are in `names.toml`.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from itertools import dropwhile, islice
from operator import or_
from pathlib import Path
from typing import Any, Final

from storage import database, texts

_BEFORE, _AFTER = 4, 5  # lines around a label or a signature that belong to its block
_WORD: Final = re.compile(r"[^\W\d_][\w'’.&/-]*")
_COLON: Final = re.compile(r"[:\t]")
_COMMENT: Final = re.compile(r"\[comment, ([^,\]]+),")  # its author, as the readers write it
_BEHIND: Final = re.compile(r"[\t;<(\[|]|\s{3}|__|\s\w+:")  # what ends a name on its line
_LONGEST_NAME, _LONGEST_FIRM = 6, 8  # words
_LONGEST_LINE: Final = 120  # characters; a longer one is not a line of a signature block


@dataclass(frozen=True, slots=True)
class Names:
    """Names as written; a name from the user's list that may be either counts as a person's."""

    people: frozenset[str] = frozenset()
    companies: frozenset[str] = frozenset()

    def __or__(self, other: "Names") -> "Names":
        """The names of both."""
        return Names(self.people | other.people, self.companies | other.companies)


@cache
def words_about(kind: str) -> frozenset[str]:
    """The words of that kind from `names.toml`, case-folded."""
    return frozenset(map(str.casefold, tomllib.loads(Path(__file__).with_name("names.toml").read_text("utf-8"))[kind]))


def listed_names(lines: Iterable[str]) -> Names:
    """The names in a user's list, one a line."""
    names = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return _sort(names) | Names(companies=frozenset(name for name in names if len(name.split()) == 1))


def profile_names(name: str, domain: str, profile: Mapping[str, Any] | None) -> Names:
    """The company's names, and those of the parents, subsidiaries and investors in its profile."""
    known = profile or {}
    investors = (one for each in known.get("funding_data") or () for one in each.get("investor_list") or ())
    others = [*(known.get("affiliated_companies") or ()), *investors]
    people = {one["name"] for one in others if one.get("type") == "person" and one["name"]}
    companies = {name, known.get("name"), domain.partition(".")[0], *(one["name"] for one in others)}
    return Names(frozenset(people), frozenset(one for one in companies if one and one not in people))


def stored_names(text_ids: Iterable[int]) -> Names:
    """The names in the signature blocks of stored texts."""
    found = Names()
    with database.reading() as session:
        sizes = texts.text_sizes(session, list(text_ids))
    for group in texts.group_sizes(sizes):
        with database.reading() as session:
            found = reduce(or_, (signature_names(text) for _, text in texts.load_words(session, group)), found)
    return found


def signature_names(text: str) -> Names:
    """The names in the signature blocks of a text."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    short = ((at, line) for at, line in enumerate(lines) if len(line) <= _LONGEST_LINE)
    signed = (name for at, line in short for name in _signed(line, at, lines))
    return _sort([*signed, *_COMMENT.findall(text)])


def _signed(line: str, at: int, lines: list[str]) -> Iterator[str]:
    """Yield the names in a line of a signature block or in the lines beside it."""
    written, colon, value = _COLON.sub("\0", line, count=1).partition("\0")
    label = written.casefold().strip()
    block = lines[max(at - _BEFORE, 0) : at + _AFTER]
    has_block = bool(colon) and any(_label(other) in words_about("beside") for other in block)
    yield from (line[sign.end() :].lstrip(": ") for sign in _signatures().finditer(line))
    if has_block and label in words_about("labels"):
        yield value.strip()
    if has_block and label in words_about("correspondents"):
        yield from re.split("[,;]", value)
    if colon and _find_company(_WORD.findall(written)):  # "Accepted for Alpha A/S: Ada Byron"
        yield from (written, value)
    if line.casefold().rstrip(",. ") in words_about("closings"):
        yield from islice((other for other in lines[at + 1 : at + 4] if _sort([other]) != Names()), 1)
    if colon and label in words_about("beside"):
        yield from (other for other in block if _find_company(_WORD.findall(other)))


def _label(line: str) -> str:
    return _COLON.split(line, maxsplit=1)[0].partition("_")[0].casefold().strip()


@cache
def _signatures() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words_about('signed')))})(?!\w)", re.IGNORECASE)


def _sort(lines: Iterable[str]) -> Names:
    """The people and companies named in the lines; anything that is not a name is left out."""
    people, companies = set(), set()
    for line in lines:
        words = _WORD.findall(_BEHIND.split(line.strip())[0])
        company = _find_company(words)
        words = _WORD.findall(_BEHIND.split(line.partition(",")[0].strip())[0])
        if company is not None:
            companies.add(company)
        elif _is_person(words):
            people.add(" ".join(words))
    return Names(frozenset(people), frozenset(companies))


def _is_person(words: list[str]) -> bool:
    """Whether there are two or more capitalised words, with nothing but particles among them."""
    particles = [word for word in words if not word[0].isupper()]
    is_short = words[:1] != particles[:1] and len(words) - len(particles) > 1 and len(words) <= _LONGEST_NAME
    return is_short and words_about("particles") >= {*particles}


def _find_company(words: list[str]) -> str | None:
    """The company whose legal form, such as GmbH or S.p.A., the words end in, without what precedes its name."""
    form = re.sub(r"[./]", "", words[-1]).casefold() if words else ""
    before = [at for at, word in enumerate(words) if word[0].islower() and word not in words_about("particles")]
    name = [*dropwhile(lambda word: word[0].islower(), words[before[-1] + 1 if before else 0 :])]
    return " ".join(name) if form in words_about("forms") and 1 < len(name) <= _LONGEST_FIRM else None
