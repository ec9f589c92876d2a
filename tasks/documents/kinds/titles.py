"""Titles: the lines at the top of a document, cut into segments, and whether one is the title of a kind of document.

A line that only mentions a kind is none: a sentence, a row of a table, an item of a list, the heading of a section.
"""

import re
import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Final, NamedTuple

from tasks.documents.kinds.catalogue import (
    Kind,
    Match,
    find_kind,
    find_kinds,
    find_telling_words,
    is_kind,
    leave_out_company,
    links,
    marks,
    plain_words,
    read_file,
)

_LINES: Final = 40
LONGEST_TITLE: Final = 14  # words
TOP: Final = 8  # segments, among which the title of most documents stands
FIRST: Final = 2  # segments, of which a long one may be a title too
_RUNS_ON: Final = 45
"""Characters from which on a line may be cut by the width of its page."""
_STAMP: Final = 2  # blanks between words that are stamped on a document
SUBTITLE: Final = 100
"""Characters of a line at the top that tells the day and little else."""
_SEGMENT: Final = re.compile(r"\s(?:(?<=[.!?:]\s)(?<!\b\d\.\s)(?<!\b\d\d\.\s)\s*(?=\S)|[-–—|·•]\s|(?=\())|[\t;|]+")
_PARTING: Final = re.compile(r"[.!?:\-–—|·•(\t;]")
_CELL_END: Final = re.compile(r"[\t|;,](?:(?<=[\t|])|(?=\S))")
_LONGEST_ARTICLE: Final = 4  # characters of an article and the blank behind it
_ARTICLES: Final = frozenset({"A", "AN", "An", "a", "an"})
_AUXILIARIES: Final = frozenset({"a", "ha"})
"""Short words, in French, Spanish and Italian, behind which "signed" is part of a sentence."""
_LONGEST_LINK: Final = 3  # letters of a word that links others in any language
_PAGED: Final = re.compile(r"^\d+(?:\.\d+)*\.?\s|(?:\s|\.)\d{1,3}$")
"""A line of a table of contents: a numbered heading, or one with its page."""
_PAGE_OF: Final = re.compile(r"[^\W\d]\W{0,9}\s\d{1,3}\s*$")
"""The page of a part, at the end of its line in a table of contents."""
_ITEM: Final = re.compile(r"[-*•◦▪●+](?:\s|$)|(\d{1,2})\.\s")
_PROVISION: Final = re.compile(
    r"(?:article|artikel|artigo|articolo|artículo|art\.|section|clause|ziffer)\s+(?:\d|[ivx]+\b)", re.IGNORECASE
)
"""The heading of a part of a text."""
_LISTED: Final = re.compile(r"(?:document|dokument|documento)\W{0,2}\d{1,2}\s*:", re.IGNORECASE)
"""The heading of one of several documents that a text is about: "Document 1: Lease"."""
_LEADERS: Final = re.compile(r"(?:\. ?){5,}\d+$")
_FILE: Final = re.compile(r"[^\W_]_[^\W_]+_[^\W_]")
"""What stands in the name of a file, by which a text names another one: "Source: Acme_template_v8.xlsx"."""
_COMPANY: Final = re.compile(
    r"\b(?:Inc|Ltd|Corp|Co|LLC|LLP|(?:[A-Z]\.){1,2}[A-Z]|S\.p\.A|S\.r\.l|z\s?o\.\s?o|e\.\s?[VG])\.\s*$"
)
_COMPANY_END: Final = 12  # characters
"""How the name of a company ends that ends with a full stop."""
BETWEEN: Final = re.compile(r"\b(?:between|zwischen|entre|tra|tussen|mellem|mellan)\b")
_NAMED: Final = re.compile(
    r"\bmay(?= (?:\d{1,2} (?:(?:st|nd|rd|th) )?)?\d{4}\b| \d{1,2}$)|(?:\d|\b(?:of|in|since)) may$|\band sons?\b"
    r"|\bstate of\b|\bunited states\b|\bstato patrimoniale\b"
    r"|^to be approved by\b|^reviewed(?= financial statements?(?: \d| for| as|$))"
)
"""Where a word of sentences is part of a name, in plain words: "4 May 2024", "State of Texas", "Miller & Son"."""
_RUN_IN: Final = re.compile(r" (?:this|the present) (?:\w+ ){0,2}(?:agreement|contract|deed|lease|note)\b")
"""How a sentence goes on behind a title in its line that names the agreement once more."""
ANNEXES: Final = "exhibit", "schedule", "annex", "appendix", "anlage", "annexe", "anexo", "allegato", "bijlage"
_PART_LABEL: Final = re.compile(rf"(?:(?:{'|'.join(ANNEXES)}) (?:[a-z]|[ivx]+|\d{{1,3}})(?: \d{{1,3}}){{0,2}} )?")
"""In plain words, what may stand before a title in its line: nothing, or "Exhibit 10.3"."""


def is_prose(words: str) -> bool:
    """Whether plain words are those of a sentence and not of a title."""
    return marks("", "prose").stand_in(_NAMED.sub("|", words))


class Segment(NamedTuple):
    """A part of a line that may be a title, in plain words; `place` counts from the first, `line` is the whole line.

    `is_sentence`: it ends as a sentence does, or continues in the next line. `is_inside`: it is a section's heading, a
    row of a table, an item of a list or words in brackets behind others, which name what the document holds or speaks
    of. `part`: its words as written.
    """

    words: str
    place: int
    line: str
    is_sentence: bool
    is_inside: bool
    part: str

    @property
    def is_part(self) -> bool:
        """Whether it names a part: a heading, a row, or a line of a table of contents with its page."""
        return self.is_inside or _PAGED.search(self.line) is not None

    @property
    def is_short(self) -> bool:
        return self.words.count(" ") < LONGEST_TITLE

    @property
    def may_tell_state(self) -> bool:
        """Whether it is no part of a text, or begins with a stamp: "Draft of 5 May 2024, not yet agreed."."""
        is_running = self.is_sentence and self.words.count(" ") > _STAMP
        if not is_running or self.part[:1].islower():  # "terminated in accordance with its terms" ends a sentence
            return not is_running
        stamps = (marks("states", state) for state in read_file("marks.toml")["states"])
        return any(start == 0 for stamp in stamps for start, _, _ in stamp.find(self.words))


def read_title_lines(opening: str) -> tuple[list[str], str | None]:
    """The lines at the top of a document, up to a salutation or message header, and that line."""
    shown = (" ".join(line.split()).lstrip("> ") for line in opening.splitlines())
    lines = list(islice(filter(None, _leave_out_fields(shown)), _LINES))
    greetings = tuple(read_file("marks.toml")["text"]["letters"])
    for place, line in enumerate(lines[:25]):
        if (line.casefold().startswith(greetings) and len(line) < 80) or _SUBJECT.match(line):
            return _join_broken_titles(lines[:place]), line
    return _join_broken_titles(lines), None


def _leave_out_fields(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a page without the fields before its text, of which a title, date and state are the document's."""
    is_field = False
    for number, line in enumerate(lines):
        key, colon, value = line.partition(":")
        if line == "---" and (number == 0 or is_field):
            is_field = not is_field
        elif number == 0 and key == "Title" and value:
            yield value.strip()
        elif not is_field or not colon or not key.isidentifier():
            yield line
        elif key.casefold() in {"title", "date", "status", "state"}:
            yield value.strip(" \"'")


def _join_broken_titles(lines: Sequence[str]) -> list[str]:
    """The lines at the top, each title that runs over two of them in one: "CONTRATO", "DE PRESTAÇÃO DE SERVIÇOS"."""
    joined: list[str] = []
    for place, line in enumerate(lines):
        before = joined[-1] if joined and place <= TOP else ""
        is_title = before[:1].isupper() and len(before) < _RUNS_ON and len(line) < SUBTITLE and line[-1:] not in ".,;:"
        link = plain_words(line.partition(" ")[0]) in links() and (line[0].islower() or (before + line).isupper())
        if is_title and link and before[-1:] not in ".,;:":
            joined[-1] = f"{before} {line}"
        else:
            joined.append(line)
    return joined


_SUBJECT: Final = re.compile(
    r"(?:re|fwd?|aw|wg|from|to|subject|sent|von|an|betreff|betr\.|gesendet|de|à|objet|asunto|para|da|a|oggetto|aan|onderwerp|emne)\s?:\s",
    re.IGNORECASE,
)


def _is_section(lines: Sequence[str], number: int) -> bool:
    """Whether a line is one of several Markdown headings of its depth below the document's own."""
    depth = lines[number].partition(" ")[0]
    if depth.strip("#") or len(depth) < 2:
        return False
    above = (line.partition(" ")[0] for line in lines[:number] if line.startswith(("# ", "##")))
    return any(len(own) < len(depth) for own in above) and (
        number > TOP or sum(line.startswith(f"{depth} ") for line in lines) > 1
    )


def _is_item(lines: Sequence[str], number: int) -> bool:
    """Whether a line is one of a list or of numbered headings: not the first, below a heading, or before another."""
    item = _ITEM.match(lines[number])
    if item is None or (item[1] and int(item[1]) > 1):
        return item is not None
    beside = (*lines[max(0, number - 1) : number], *lines[number + 1 : number + 2])
    return any(line.startswith("#") for line in lines[:number]) or any(map(_ITEM.match, beside))


@cache
def _contents_headings() -> frozenset[str]:
    """What the table of contents of a document is called, behind which the lines name its parts."""
    return frozenset(map(plain_words, read_file("catalogue.toml")["index"]["weak"]))


def find_rows(opening: str) -> set[str]:
    """The rows of tables, in single blanks: lines of three cells beside one of as many, of two below one of two."""
    lines = [line for line in opening.splitlines() if line.strip()]
    cells = [0, *(len(_CELL_END.findall(line)) for line in lines), 0]
    return {
        " ".join(line.split())
        for before, own, behind, line in zip(cells, cells[1:], cells[2:], lines, strict=False)
        if own and own in {before, behind if own > 1 else 0}
    }


@cache
def _titled_word() -> re.Pattern[str]:
    """A word in small letters that titles have before a kind."""
    return re.compile("|".join(re.escape(word).replace(r"\*", r"\w*") for word in read_file("marks.toml")["titled"]))


def _find_telling(part: str) -> int:
    """Where plain words go on behind a word in small letters that titles do not have; nowhere if all may be small.

    What begins with an article, or is about something, has no such words. A kind behind "a" or "an" is no title.
    """
    first, _, rest = part.partition(" ")
    behind = find_kind(plain_words(rest[:SUBTITLE])) if first in _ARTICLES else None
    if first in _ARTICLES and (rest[:1].islower() or (behind is not None and behind.start == 0)):
        return 0
    at, before, has_titled = 0, "", False
    is_about = len(first) > 1 and plain_words(first) in links()
    for word in part.split() if not part[:1].islower() else ():
        plain = plain_words(word)
        at += len(plain) + 1
        if word[0].islower() and not is_about and before not in _AUXILIARIES and _titled_word().fullmatch(word):
            has_titled = True
        elif word in read_file("marks.toml")["about"]:
            if has_titled:
                return at
            is_about = True
        elif word[0].islower() and len(word) > _LONGEST_LINK and plain not in links():
            return at
        before = word
    return sys.maxsize


def ends_sentence(line: str) -> bool:
    """Whether a line ends as a sentence or a part of one does, and not with the name of a company."""
    return line.rstrip().endswith((".", ";", ",", "?")) and not _COMPANY.search(line, len(line) - _COMPANY_END)


def _is_heading(line: str) -> bool:
    """Whether all words of a line but small ones have capitals: "FACILITY AGREEMENT", before "between A and B"."""
    return not any(word[0].islower() and len(word) > _LONGEST_LINK for word in line.split())


def read_segments(lines: Sequence[str], rows: Container[str] = ()) -> Iterator[Segment]:
    """The segments of lines in their order; `rows` are those lines that are rows of tables."""
    place, has_contents = 0, False
    for number, line in enumerate(lines):
        following = "".join(lines[number + 1 : number + 2])
        is_numbered = any(map(str.isdigit, following[:1] + following[-1:])) and _PAGED.search(following) is not None
        has_contents |= place >= FIRST and is_numbered and plain_words(line[:SUBTITLE]) in _contents_headings()
        whole = plain_words(line[:300])
        runs_on = len(line) > _RUNS_ON and following[:1].islower() and not _is_heading(line)
        parts = _SEGMENT.split(line) if _PARTING.search(line.rstrip(".")) else [line]
        for part, behind in zip(parts, (*parts[1:], ""), strict=True):
            words = plain_words(part[:300])
            if words:
                ends = ends_sentence(part)
                ends |= part.count("_") > 1 and _FILE.search(part) is not None
                in_brackets = part.startswith("(") and not (line.startswith("(") and line.endswith(")"))
                is_part = _PROVISION.match(line) is not None
                inside = place >= FIRST and (in_brackets or is_part or _is_item(lines, number))
                inside = (
                    inside
                    or _is_section(lines, number)
                    or has_contents
                    or line in rows
                    or _LISTED.match(line) is not None
                    or line.startswith("§")
                    or (line[-1].isdigit() and _LEADERS.search(line) is not None)
                    or ((part.endswith(":") or behind.startswith("(")) and is_prose(whole))
                )
                yield Segment(words, place, whole, runs_on or ends, inside, part)
                place += 1


def match_over(segment: Segment, *, is_long: bool) -> Match | None:
    """The kind of a line about other documents: a request, an index, a letter about them."""
    short = segment.line.count(" ") < 2 * LONGEST_TITLE
    if (not short and not segment.is_short) or "___" in segment.part:  # a field of a form: "Email ______"
        return None
    match = find_kind(segment.line if short else segment.words)
    if match is None or match.weak or not match.kind.over:
        return None
    says = match.kind.id in {"request_list", "placeholder"}
    names = match.kind.id in {"index", "about"}
    is_late = segment.place >= TOP
    if (segment.is_inside and not says and not names) or (is_prose(segment.line) and (is_late or not says)):
        return None
    is_far = is_late or is_long
    return None if (names and is_far) or (is_long and match.kind.id == "placeholder" and segment.place > 3) else match


def is_title(match: Match, segment: Segment) -> bool:
    """Whether a line is a title of that kind and does not merely mention it."""
    before = segment.words[: match.start].split()
    is_of_meeting = match.kind.serial and match.start == 0 and segment.place < TOP
    if any(marks("", name).stand_in(" ".join(before[-3:])) for name in ("denied", "attached")):
        return False
    may_be_title = segment.is_short or (segment.place < FIRST and match.start < 10) or is_of_meeting
    if is_prose(segment.words) or not may_be_title or match.start >= _find_telling(segment.part):
        return False
    if is_about_kind(before):
        return False
    is_brief = segment.words.count(" ") < 8 or 2 * (match.end - match.start) >= len(segment.words)
    if segment.is_sentence and (match.start > _LONGEST_ARTICLE or not is_brief):
        return False
    return segment.place < TOP or (not before and 2 * (match.end - match.start) >= len(segment.words))


def is_about_kind(before: Sequence[str]) -> bool:
    """Whether the words before a kind make a line about it: "Review of the annual report", "For terms of use".

    A company may be called so: "Van Dijk annual report", "Review Holdings of London annual report".
    """
    says = read_file("marks.toml")["subjects"]
    place = next((place for place, word in enumerate(before) if word in says["links"]), None)
    if not place:
        return place == 0 and links().issuperset(before)
    return not {*says["writings"], *says["doings"]}.isdisjoint(leave_out_company(before[:place]))


def find_opened_kind(segment: Segment) -> Match | None:
    """The kind of agreement that a sentence introduces: `This Lease Agreement is made …`, `LEASE This Lease is …`."""
    for match in find_kinds(segment.words[:160]) if _RUN_IN.search(segment.words) else ():
        is_first = _PART_LABEL.fullmatch(segment.words, 0, match.start) is not None
        if is_first and match.kind.signed and _RUN_IN.match(segment.words, match.end):
            return match
    for start, end, _ in marks("", "opening").find(segment.words[:40]):
        if is_prose(segment.words[:start]):  # "Why is this …"
            continue
        for match in find_kinds(segment.words[:160]):
            if not 0 < match.start - end <= 30 or not match.kind.title or match.weak:
                continue
            # "This agreement, with any addendums" opens no addendum.
            is_apart = match.kind.over and not links().isdisjoint(segment.words[end : match.start].split())
            if not is_apart and (match.kind.signed or match.kind.over):
                return match
    return None


def find_parts(text: str, starts: Sequence[int], title: str | None) -> Iterator[tuple[str, int]]:
    """Other documents that begin at these places, or at a line that consists only of their title."""
    if len(text) < 300_000:
        starts = [
            *starts,
            *(
                match.start() + 1
                for match in re.finditer(r"(?m)\n[^\S\n]*[^\W\d_a-z][^\n\t]{3,58}$", text)
                if match.start() >= 400
            ),
        ]
    seen = {title}
    are_accounts = is_kind(title or "", "financial_statements")  # their notes have headings such as "Loans"
    for start in sorted(set(starts)):
        lines = [line for line in text[start : start + 300].splitlines() if line.strip()][:2]
        before = text[max(0, start - SUBTITLE) : start].rstrip().rpartition("\n")[2].strip()
        if any(len(line.split()) == 2 and _PROVISION.match(line) for line in (before, *lines[:1])):
            continue  # what an article is about: "ARTICLE XII", "Insurance"
        is_contents = len(lines) > 1 and all(map(_PAGE_OF.search, lines))
        for line in lines if not is_contents else ():
            kind = None if _is_said(line) else _read_part_title(line)
            if kind is None or kind.id in seen or (are_accounts and kind.signed):
                continue
            if _begins_here(text, start, kind):
                seen.add(kind.id)
                yield kind.id, start
                break


def _is_said(line: str) -> bool:
    """Whether a line is an item of a list or a sentence: what auditors did, "Reading Board meeting minutes."."""
    item = _ITEM.match(line)
    return (item is not None and not item[1]) or (
        line.rstrip().endswith(".") and ends_sentence(line) and not line.isupper()
    )


def _read_part_title(line: str) -> Kind | None:
    """The kind whose title makes up most of a line."""
    words = plain_words(line)
    match = find_kind(words) if len(words) < 80 else None
    if match is None or match.kind.over or not match.kind.title:
        return None
    return match.kind if (match.end - match.start) >= 0.6 * len(words) else None


def _begins_here(text: str, start: int, kind: Kind) -> bool:
    """Whether what follows a title says what such a document has to, and nothing before it only refers to it."""
    if marks("", "attached").stand_in(plain_words(text[max(0, start - 120) : start + 60])):
        return False
    rest = plain_words(text[start : start + 3000])
    return kind.is_confirmed(find_telling_words(rest)) or bool(not kind.body and kind.signed and BETWEEN.search(rest))
