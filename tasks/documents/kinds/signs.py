"""What a text shows about the kind, state and date of its document, found once and stored with the text.

The document's name also counts, and two copies may have different names: `room.py` combines the two.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Final

from tasks.documents.kinds.catalogue import (
    Kind,
    Match,
    find_kind,
    find_kinds,
    find_spoken_kinds,
    find_telling_words,
    kinds,
    marks,
    names,
    plain_words,
    read_file,
)
from tasks.documents.kinds.contents import (
    AGREEMENT,
    THIS,
    Cited,
    find_cited,
    find_lacks,
    gives_figures,
    only_tells,
    sketch,
)
from tasks.documents.kinds.titles import (
    BETWEEN,
    FIRST,
    LONGEST_TITLE,
    SUBTITLE,
    TOP,
    Segment,
    find_opened_kind,
    find_parts,
    find_rows,
    is_prose,
    is_title,
    match_over,
    read_segments,
    read_title_lines,
)
from tasks.files import code_version
from tasks.language.periods import dates, dates_in
from tasks.reading.embedded import read_with_embedded
from tasks.reading.text_writer import ATTACHMENT, FOOTER, FRONT_MATTER, HEADER, PAGE, SCANS, Reading, shown_text, today

_OPENING: Final = 3000
_CLOSING: Final = 6000
_BODY: Final = 8000
_SHORT: Final = 600  # characters: a sheet that may do no more than say that there is none
_BRIEF: Final = 1500  # characters: the beginning of a document, in which not all that it has must stand
_FIRST_SEGMENTS: Final = 6  # among which a title stands that needs no other sign
_SLIP: Final = 200  # characters: a slip of paper, every line of which counts
_LONG: Final = 20_000  # characters: no index is so long; its first page may hold one
_MOST_PARTS: Final = 20
_MOST_CITED: Final = 40
_AUDITED: Final = 4_000_000
"""Characters in which an auditor's report is looked for: a copy of all of a long text would not fit its process."""
_SENTENCE: Final = re.compile(r"(?<=[.!?]) ")
_BEFORE: Final = 600
"""Characters of a sentence, and of the one before, that are looked at."""
_BLANKS: Final = re.compile(r"_ ?(?:_ ?){3,}|\.\.{7,}|……{2,}")  # a character first, which is soon found
_BLANK_NAME: Final = re.compile(r"[\w()/]+(?: by| par| da)? ?:?[ \t]*(?:_ ?){4,}")
"""Who is to sign, and the empty line for that: "Signed by: ______"."""
_SIGNED_BY: Final = re.compile(
    r"(?m)(?:^|[\t|:])[ *_]*+[(\[]signed[)\]]|^[ *_]*+([^\W\d_][^\t|\n]*)[(\[]signed[)\]][^\t|\n]*$"
)
"""In small letters, "(signed)" beside a name; in a list, a table or behind a kind it names a document."""
_GAPS: Final = re.compile(
    r"\[(?!\*|REDACTED|Redacted|redacted|\d+\])[^\]\n*]{0,60}\](?!\()|\{\{[^}\n]*\}\}|<<[^>\n]*>>|«\w{1,40}»"
    r"|_ ?(?:_ ?){4,}|\.\.{7,}|……{2,}|\bXXX[A-Z]+XXX\b"
)
_FILES: Final = re.compile(
    r"(?m)^[ \t]*+(?:[-*+•] )?(?:\[[^\]\n]+\]\("
    r"(?:/[^)\s]+\.(?:docx?|pdf|xlsx?)|(?!#|\w+:|\.*/|(?:home|index)\b)[^)\s]+)\)"
    r"|[\w-]{1,80}\.(?:docx?|md|pdf|xlsx?))[ \t]*$"
)
"""A line that is a link to a file, or the name of one."""
_ADOPTED: Final = re.compile(
    r"(?im)^\W*((?:these|this|the (?:foregoing|above)) [\w -]{3,40} (?:were|was|are|is|have been|has been) (?:duly )?)?"
    r"(?:adopt|approv|ratif|approuv|aprob|beschlossen)\w*[^\n\d]{0,80}\b(?:on|am|le|el)(?: this)?:? ?(?:_ ?){4,}"
)
"""When something was adopted, which is not filled in: "Adopted by the board on ____, 2026"; what a sentence says that
was adopted.
"""
_FIELD: Final = re.compile(r"\{[{%][^}\n]{3,60}[}%]\}")
"""Where a program fills in a template: "{{company_name}}"."""
_TO_FILL: Final = re.compile(
    r":\W*\[(?:to be (?!held)\w|replace with\b)[^\]\n]{0,60}\]"
    r"|:\W*\[(?:tb[dcan]|●|…|\.{3}| {2,}|[dmjy]{2,4}[-./ ][^\]\n]{2,12})\]"
    r"|\[(?:insert|enter|replace with|your|name|address|date|e-?mail|phone|telephone|company|client|customer|dpo"
    r"|amount|position|business address|registered (?:office|address|number)|full name|einfügen|anschrift|datum"
    r"|firma|adresse|nom|fecha|nombre|dirección|indirizzo|data|nome|naam|adres)\b"
    r"(?! ?(?:and .{0,30})?(?:redact|omit|withh|delet|remov|protect|conceal|confiden|anonym))[^\]\n]{0,40}\](?![(\[])",
    re.IGNORECASE,
)
"""What stands in brackets until it is filled in: "Registered office: [to be determined]", "[Company name]"."""
_UNDATED: Final = frozenset({"[date]", "[insert date]", "[datum]", "[fecha]", "[data]"})
"""The day of an agreement, which is not filled in: "entered into as of [DATE]"."""
_CODE: Final = re.compile(
    r"```(?:bash|cpp|csharp|console|html|java|javascript|js|json|jsx|php|powershell|py|python|rust|sh|shell|sql|ts|tsx"
    r"|typescript|xml)\b|\b(?:pip3?|npm|apt-get) install\b|\bgit clone\b|img\.shields\.io|<\?php|^\.\. \w+::"
    r"|\{%-? (?:block|extends|for|if|include|load) "
    r"|^[ \t]*def \w+\(|^from [\w.]+ import |\bfunction \w+\(|^(?:Public|Private) (?:Type|Sub|Function) \w+",
    re.MULTILINE,
)
"""Programs, and how they are installed: a page with such lines is about software (`of_code` is in each)."""
_REMARK: Final = re.compile(r"(?::|\s[-–—])\s+[a-zà-ÿ]")
"""Behind a title, what is said of the document: "Audit report: to be issued"."""
_PARTIES: Final = re.compile(
    r" (?:(?:by and|made|entered into|(?:(?:dated|of|vom|du|de|del|van) )?\d+ \w+ \d{4}) )?"
    r"(?:(?:this|the present|diese[rs]?|der vorliegende|l[ea] presente?|el presente|deze) (?:\w+ ){1,20}?)?"
    rf"{BETWEEN.pattern} .{{1,80}}? (?:and|und|et|y|e|en|og|och) "
)
"""In plain words, how an agreement goes on behind its title: "made between A and B", "This lease is dated …"."""
_POLICY: Final = re.compile(
    rf"{THIS} (?:\w+ ){{0,5}}?(?:policy|procedure|memo|memorandum|richtlinie|politique|politica|beleid|politik)\b"
    r"( (?:is|applies|covers|defines|describes|establishes|explains|governs|has|outlines|provides|says|sets|gilt|regelt"
    r"|beschreibt|est|definit|decrit|fixe|sapplique|se|es|e|definisce|descrive|geldt|beschrijft|er|galler)\b)?"
)
_EXPLAINED: Final = (
    r"\bstands for {0}\b|(?<!this )(?<!the )\b{0} (?:is|are) (?:an? |the )?(?:\w+ ){{0,4}}"
    r"(?:approach|framework|method|practice|process|standard|technique)s?\b"
)
"""In plain words, what explains a name: "ISO 27001 is an internationally recognised standard"."""
_PLACE: Final = re.compile(
    r"(?m)^[ \t]*(?:Fait à )?((?:(?:Bad|New|San|Sankt|St) )?[^\W\d_a-z][^\W\d_]+"
    r"(?:[ -](?:a\.|am|an der|im|sur|upon)[ -]\w+)?), ?(?:(?:lì|li|den|le|il|am|dnia|a) )?"
    r"\d[\w. ]{5,20}?(?=[ \t]*$|\t|  | [^\W\d_a-z][^\n\d.,;]{0,60}$)"
)
"""A place and a day, which are where and when something was written: "Rezzato, 19 ottobre 2019"."""
_OTHER_DAY: Final = re.compile(
    r"(?:\b(?-i:formed|founded|incorporated)(?: on)?|^\W*(?:formed|founded|incorporated)(?: on)?"
    r"|\b(?:loi|décret|gesetz|ley|lei)(?: (?:n[°º.r]{0,2} ?)?\d[\d./-]*,?)? (?:du|vom|de)"
    r"|\b(?:legge|decreto legislativo|d\. ?lgs\.|d\. ?p\. ?r\.)(?: n[°º.r]{0,2} ?[\d./-]+)?(?: del)?)\s*$",
    re.IGNORECASE,
)
"""What stands in front of the day of a law, or of a company's founding."""
_LOOKED_UP: Final = re.compile(
    r"(?:\b(?-i:Web)\.|\b(?:accessed(?: on)?|access date|date accessed|retrieved(?: on)?|abgerufen am|abrufdatum"
    r"|zugriff(?: am)?|consultée? le|consultad[ao] (?:el|em)|consultato il|geraadpleegd op|hämtad|besøgt):?)[\s\[(]*$",
    re.IGNORECASE,
)
"""What stands in front of the day on which a source was looked up, or a register."""
_ENTRY: Final = re.compile(r"^.*\bWeb\.|[\"“„«]|https?://|\bwww\.|^\W*[^\W\d_a-z][\w-]+, [^\W\d_a-z]\.")
"""Where an entry of a list of sources begins, none of whose days is the document's."""
_EFFECTIVE: Final = re.compile(r"(?:amendment (?:no\.? ?)?\d+ )?effective date ?: ?", re.IGNORECASE)
_SENT: Final = re.compile(r"(?:(?:From|To|Cc|Bcc): .*\n)*+Date: (\d{4}-\d\d-\d\d)T")
"""The headers of a mail as its readers write them (`tasks.reading.mail`), up to when it was sent."""
_UNTIL: Final = re.compile(
    r"[\s*]*(?:[-–—]|to|until|through|bis(?: zum)?|au|al|hasta(?: el)?|a|t/m|tot(?: en met)?|til|till)[\s*]*",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Signs:
    """What a text shows.

    Attributes:
        title: the kind that its first title is of; `line` is that line.
        head: the plain words of the lines at its top.
        letter: it begins as a letter.
        is_late: that title stands below the top, where headings and lists are as well; below its first lines if nothing
            confirms it.
        denied: the kinds that it says there are none of, or that a line at its top only speaks about.
        lacks: what it has not that documents cannot do without, as `needs` of the catalogue names it; `is_brief`: it is
            so short that it may be the beginning of one, and does not say what such a document has to contain;
            `only_tells`: it is a title and sentences with hardly a number.
        body: the kinds of which the words stand in it that stand in such documents.
        audit: `opinion` where auditors give one, `claim` where a title says audited, `negative` where it says not.
        state: what its title or its closing says of its state; `blank_signatures`: lines to be signed are empty;
            `unfilled`: words stand in brackets until what they ask for is filled in, or a day beside an empty line;
            `unadopted`: the day at its top on which it was adopted is blank.
        has_code: it holds lines of programs.
        dated: the date (ISO) that stands by itself at its top; `days` are all dates in its opening.
        parts: other documents inside of it, [kind, where it begins].
        cited: agreements that it names by their dates, [kind or None, day or None, words, start, end].
        pages, pages_read: how many it has, and how many of these have words; 0 where there are no pages.
    """

    title: str | None = None
    line: str = ""
    head: str = ""
    is_late: bool = False
    letter: bool = False
    denied: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    is_brief: bool = False
    body: list[str] = field(default_factory=list)
    audit: str | None = None
    state: str | None = None
    blank_signatures: bool = False
    unfilled: bool = False
    unadopted: bool = False
    only_tells: bool = False
    has_code: bool = False
    dated: str | None = None
    days: list[str] = field(default_factory=list)
    parts: list[tuple[str, int]] = field(default_factory=list)
    cited: list[Cited] = field(default_factory=list)
    pages: int = 0
    pages_read: int = 0


def find_state(words: str, *, is_own: bool = True) -> str | None:
    """The state that the plain words of a name or title indicate; of a line that is not the document's own title, what
    is not adopted yet must be all that it says of a status: "Dividend pending approval" is of something else.
    """
    for state in read_file("marks.toml")["states"]:
        before = {words[:start] for start, _, _ in marks("states", state).find(words)}
        if before and (is_own or state != "undecided" or before & {"", "status ", "approval status ", "last updated "}):
            return "draft" if state == "undecided" else state
    return None


def read_signs(text: str, places: Sequence[Sequence[Any]]) -> Signs:
    """What a text shows, given the places that its reader found."""
    text = shown_text(text, (place for place in places if place[3] != FRONT_MATTER))  # which has titles and states
    signs = Signs()
    opening = text.lstrip()[:_OPENING]
    body = plain_words(text[:_BODY])
    lines, begins = read_title_lines(opening)
    days = dates_in(opening[:1500], of_any_span=True, of_months=False)
    signs.days = list(dict.fromkeys(day.isoformat() for day in days))[:6]
    signs.body = list(_confirm(body, lines, has_day=bool(days)))
    signs.head = plain_words(" ".join(lines[: FIRST + 1])[:300])
    signs.letter = begins is not None
    segments = list(read_segments(lines, find_rows(opening)))
    found = _find_title(segments, begins, len(text), signs)
    title = found[1] if found else None
    if found is None or not found[0].kind.over:
        found = _find_index(lines, text, found) or _only_said(segments, text, signs, title) or found
    is_agreement = found is not None and _names_parties(found[0].kind, found[1], body)
    if found is not None and not is_agreement and _is_about(found[0].kind, found[1], body):
        signs.denied.append(found[0].kind.id)
        found = None
    if found is not None:
        signs.title, signs.line = found[0].kind.id, found[1]
    signs.body += _find_late_accounts(signs, text)
    signs.is_late = signs.is_late and not is_agreement
    may_be_code = not is_agreement and any(map(text[:_LONG].__contains__, read_file("marks.toml")["text"]["of_code"]))
    signs.has_code = may_be_code and _CODE.search(text[:_LONG]) is not None
    signs.audit = _audit(segments, text, signs)
    marginal = [text[int(start) : int(end)][:80] for start, end, kind, _ in places if kind in {HEADER, FOOTER}][:6]
    signs.state = _state(segments, [plain_words(words) for words in marginal], text, signs)
    _read_signatures(text, opening, signs)
    _read_date(opening, lines, text, signs)
    is_dated = signs.dated is not None or (found is not None and found[0].kind.serial)
    told = _ADOPTED.search(opening[:_SHORT]) or any(match[1] for match in _ADOPTED.finditer(text[-_CLOSING:]))
    signs.unadopted = not is_dated and bool(told)
    are_told = signs.state == "signed" or signs.letter
    signs.only_tells = only_tells(text)
    signs.lacks = list(find_lacks(text, body, is_opinion=signs.audit == "opinion", are_told=are_told))
    signs.is_brief = len(text) < _BRIEF and (gives_figures(text) or not marks("", "prescribes").stand_in(body))
    starts = [(int(place[0]), int(place[1])) for place in places if place[2] == PAGE]
    signs.pages, signs.pages_read = len(starts), sum(1 for start, end in starts if text[start:end].strip())
    inside = [start for start, _ in starts[1:400]] + [int(place[0]) for place in places if place[2] == ATTACHMENT]
    signs.parts = list(islice(find_parts(text, inside, signs.title), _MOST_PARTS))
    signs.cited = list(islice(find_cited(text, signs.title, signs.days), _MOST_CITED))
    return signs


def _confirm(body: str, lines: Sequence[str], *, has_day: bool) -> Iterator[str]:
    """The kinds whose own words stand in a text; those of what was held on a day need one, and acts in an agenda."""
    is_agenda = any(plain_words(line).startswith(tuple(read_file("marks.toml")["agenda"])) for line in lines)
    is_held = has_day and (not is_agenda or marks("", "acts").stand_in(body))
    told = find_telling_words(body)
    insures = marks("", "insures").stand_in(body)
    for kind in kinds().values():
        is_of_a_day = kind.beside and kind.serial and kind.needs == "day"
        if kind.is_confirmed(told) and (is_held or not is_of_a_day) and not (insures and kind.id == "policy"):
            yield kind.id


def _find_late_accounts(signs: Signs, text: str) -> list[str]:
    """What an annual report holds, in which accounts stand far behind the beginning."""
    kind = kinds()["financial_statements"]
    if signs.title != "annual_report" or kind.id in signs.body:
        return []
    return [kind.id] if kind.is_confirmed(find_telling_words(plain_words(text))) else []


def signs_version() -> str:
    """The version of what is found: it changes with the program's modules and data files."""
    return code_version("tasks.documents.kinds")[:16]


def read_with_signs(path: Path, document_format: str) -> Reading:
    """Read a document and note its signs and its sketch, unless its text is not whole yet. The pool's processes run
    this.

    Raises:
        DiligenceError: as `read_with_embedded`.
    """
    reading = read_with_embedded(path, document_format)
    if not reading.text or any(place.kind in SCANS for place in reading.places):
        return reading
    try:
        return replace(reading, noted=(asdict(read_signs(reading.text, reading.places)), sketch(reading.text)))
    except MemoryError:  # the text is read, and the run itself looks for them
        return reading


def _find_title(
    segments: Sequence[Segment], greeting: str | None, length: int, signs: Signs
) -> tuple[Match, str] | None:
    """The first kind that a title names; for some kinds, the subject of a letter tells what the letter is."""
    found = _title(segments, signs, is_long=length > _LONG)
    if found is not None or greeting is None:
        return found
    found = _title(list(read_segments([greeting])), signs, is_long=False)
    return found if found and found[0].kind.id in read_file("marks.toml")["letter"]["kinds"] else None


def _read_signatures(text: str, opening: str, signs: Signs) -> None:
    """Record whether the document is signed or has blank lines for signatures."""
    closing, top = (
        _BLANK_NAME.sub("", part) if _list_blanks(part) else part
        for part in (text[-_CLOSING:].casefold(), opening[:400].casefold())
    )
    signed = read_file("marks.toml")["text"]["signed"]
    is_signed = any(_says_signed(part) or any(map(part.__contains__, signed)) for part in (closing, top))
    if signs.state is None:
        signs.state = "signed" if is_signed else "template" if len(_FIELD.findall(opening)) > 1 else None
    signs.blank_signatures = not is_signed and len(_list_blanks(text[-_CLOSING:])) >= 2
    gaps = {match[0].casefold() for match in islice(_TO_FILL.finditer(text[:_BODY] if "[" in text else ""), 9)}
    is_undated = not gaps.isdisjoint(_UNDATED) and bool(_list_blanks(text[-_CLOSING:]))
    signs.unfilled = not is_signed and (len(gaps) > 1 or is_undated or any(gap.startswith(":") for gap in gaps))


def _list_blanks(text: str) -> list[str]:
    """The empty lines of a text that are to be filled in; to look for what they are made of takes no time."""
    return _BLANKS.findall(text) if any(map(text.__contains__, ("_", "." * 8, "…" * 3))) else []


def _says_signed(part: str) -> bool:
    """Whether "(signed)" stands beside a name in a part of a text in small letters."""
    for line in part.splitlines() if "signed" in part else ():
        match = _SIGNED_BY.search(line)
        if match and not marks("", "not_signed").stand_in(plain_words(line)):
            words = plain_words(match[1] or "")
            if not any(named.end == len(words) for named in find_kinds(words)):
                return True
    return False


def _read_date(opening: str, lines: Sequence[str], text: str, signs: Signs) -> None:
    """Record the date that stands by itself at the top, when a mail was sent, or the date behind a place at the end.

    A table row, with tabs or blanks between its cells, does not date the document: it may be about a renewal. Neither
    do the ends of a period, nor what stands alone in an invitation: that is the day of what it announces.
    """
    rows = {" ".join(line.split()) for line in opening.splitlines() if "\t" in line.strip() or "   " in line.strip()}
    first = [*lines[:6], *filter(_EFFECTIVE.match, lines[6:15])]
    alone = [line for line in first if len(line) < SUBTITLE and (line not in rows or _EFFECTIVE.match(line))]
    top = [line for line in alone if not is_prose(plain_words(line)) and not line.startswith(("Original ", "This "))]
    kind = kinds().get(signs.title or "")
    invites = (kind is None or kind.over) and marks("", "invites").stand_in(plain_words(" ".join(top)))
    days = [] if invites else [day for line in top for day in _list_days(line, may_cite=kind is None or kind.over)]
    if not days and not (kind and (kind.signed or kind.serial)):
        sent = _SENT.match(text)
        closing = {*(_list_days(sent[1]) if sent else _list_signed_days(text))}
        days = [*closing] if len(closing) == 1 else []
    signs.dated = next(map(date.isoformat, days), None)


def _list_signed_days(text: str) -> Iterator[date]:
    """The days at the end of a text behind a place that it names elsewhere, too, and before who signs there; or in its
    last line, behind a sentence or a table.
    """
    folded = text.casefold()
    start = max(0, len(text) - _BRIEF)
    for match in _PLACE.finditer(text, start):
        behind = text[match.end() : match.end() + _SLIP]
        before = text[max(0, match.start() - _SLIP) : match.start()].rstrip().rpartition("\n")[2]
        is_last = not behind.strip() and (before.endswith((".", "!")) or "\t" in before)
        signed_as = " ".join(line for line in behind.splitlines() if ":" not in line)  # not "Chairman: A. Berg"
        signs_here = _BLANKS.search(behind) or marks("", "signs_as").stand_in(plain_words(signed_as))
        if (is_last or signs_here) and folded.count(match[1].casefold()) > 1 + is_last:
            yield from (day for day in _list_days(match[0]) if day <= today())


def _list_days(line: str, *, may_cite: bool = False) -> list[date]:
    """The days in a line, without those of a period, a law, a founding, or a source that it may cite as looked up."""
    found = [when for when in dates(line.replace("_", " ")) if when.end or when.month_day]
    entry = _ENTRY.search(line) if may_cite else None
    if entry and any(_LOOKED_UP.search(line, 0, when.start) for when in found):
        found = [when for when in found if when.start < entry.start()]
    ends = [
        place for place, (one, other) in enumerate(pairwise(found)) if _UNTIL.fullmatch(line, one.stop, other.start)
    ]
    return [
        when.end
        for place, when in enumerate(found)
        if when.end and when.months is None and not when.forecast and not {place, place - 1} & {*ends}
        if not _OTHER_DAY.search(line, 0, when.start)
    ]


def _title(segments: Sequence[Segment], signs: Signs, *, is_long: bool) -> tuple[Match, str] | None:
    """The first kind that a title names, and the title's line; a weak name counts if the body confirms its kind."""
    for segment, behind in zip(segments, [*segments[1:], None], strict=False):
        match = match_over(segment, is_long=is_long)
        looks = not segment.is_inside and (segment.is_short or segment.place < TOP)
        if match is None and looks:  # to look for a kind takes most of the time
            match = find_kind(segment.words)
            if match is not None and (
                match.kind.over
                or (match.weak and match.kind.id not in signs.body)
                # an insurer at the top of its letter: "Meridian Mutual Insurance"
                or (match.weak and match.kind.id == "insurance" and " " in segment.words)
                or not is_title(match, segment)
                # whose minutes they are stands in the next line: "Minutes", "General Meeting 2024"
                or (
                    match.kind.id == "board_minutes"
                    and behind
                    and match.weak
                    and match.kind.against.stand_in(behind.words)
                )
            ):
                match = None
        is_told = match is not None and (match.kind.signed or match.kind.id in signs.body)
        signs.is_late = match is not None and segment.place >= (TOP if is_told else _FIRST_SEGMENTS)
        match = match or find_opened_kind(segment)
        if match is not None:
            return _find_made_under(match.kind, segments[segment.place + 1 :][:2]) or (match, segment.line)
        if segment.place < TOP and segment.is_short:
            signs.denied += find_spoken_kinds(segment.words)
    return None


def _find_made_under(plan: Kind, behind: Sequence[Segment]) -> tuple[Match, str] | None:
    """Below the title of a plan, that of what is granted under it: "Notice of Stock Option Grant"."""
    for segment in behind:
        match = find_kind(segment.words) if not segment.is_part and segment.part[:1].isalnum() else None  # no item
        if match and match.kind.under == plan.id and not match.weak and is_title(match, segment):
            return match, segment.line
    return None


def _find_index(lines: Sequence[str], text: str, found: tuple[Match, str] | None) -> tuple[Match, str] | None:
    """Recognise what is only about documents: a receipt that is no bill, links to files, or an index without a title,
    most of whose lines name documents of several kinds.
    """
    if len(text) > _LONG or len(lines) < 3:
        return None
    is_unbilled = found and "receipt" in found[1].split() and "this is not a bill" in text.casefold()
    if is_unbilled or _lists_files(text, found[0].kind if found else None):
        return Match(kinds()["about"], 0, 0, weak=False), ""
    named = [match for line in lines if line.count(" ") < LONGEST_TITLE and (match := find_kind(plain_words(line)))]
    several = len({match.kind.wider or match.kind.id for match in named}) >= (3 if len(named) > 0.6 * len(lines) else 4)
    if several and len(named) >= 0.4 * len(lines):
        return Match(kinds()["index"], 0, 0, weak=False), ""
    return None


def _lists_files(text: str, titled: Kind | None) -> bool:
    """Whether a page has a title and links to files; also a paragraph if several links are called as that title is."""
    files, rest = [match[0] for match in _FILES.finditer(text)], _FILES.sub("", text)
    if len(files) <= 2 or len(rest) > _SHORT:
        return False
    alike = sum(1 for name in map(find_kind, map(plain_words, files)) if name and name.kind is titled) > 1
    said = [part for part in rest.split("\n\n") if plain_words(part) and not part.startswith("---\n")]
    headings = [part for part in said if part.startswith("##")]
    said = [part for part in said if part not in headings] if len(headings) == len(files) else said
    return len(said) <= 1 + alike and (alike or sum(map(len, said)) < SUBTITLE)


def _only_said(segments: Sequence[Segment], text: str, signs: Signs, title: str | None) -> tuple[Match, str] | None:
    """In a slip of paper, find what is requested or will follow, and what it says does not exist."""
    if len(text) > _SHORT:
        return None
    of_accounts = any(match.kind.id.endswith("financial_statements") for match in find_kinds(title or ""))
    if title is not None and of_accounts and _REMARK.search(text) and "\n" not in text.strip():
        return Match(kinds()["placeholder"], 0, 0, weak=False), title
    for segment in segments:
        for match in find_kinds(segment.words):
            if match.kind.id in {"request_list", "placeholder"} and (segment.line == title or len(text) < _SLIP):
                return match, segment.line
            if marks("", "denied").stand_in(" ".join(segment.words[: match.start].split()[-3:])):
                signs.denied.append(match.kind.id)
    return None


def find_denied_kinds(sentence: str) -> list[str]:
    """The kinds of which a sentence says that there are none: "The company has no D&O insurance."."""
    words, says = plain_words(sentence), read_file("marks.toml")["none"]
    if not words.endswith(tuple(says["behind"])) and not any(f"{none} " in words for none in says["before"]):
        return []  # to look for kinds takes most of the time
    return [
        match.kind.id
        for match in find_kinds(words)
        if match.kind.title
        and (tail := words[match.end :].strip()) in says["behind"] + says["tails"]
        and (tail in says["behind"] or words[: match.start].rstrip().endswith(tuple(says["before"])))
    ]


def _is_about(kind: Kind, line: str, body: str) -> bool:
    """Whether a text in plain words explains what its title means or, where that names an agreement, calls itself a
    policy or a memo, twice or more, and never an agreement.
    """
    if not kind.signed:
        may_explain = bool(line) and any(map(body.__contains__, (f"stands for {line}", f"{line} is ", f"{line} are ")))
        return may_explain and re.search(_EXPLAINED.format(re.escape(line)), body) is not None
    says = _POLICY.findall(body)
    return len(says) > 1 and any(says) and AGREEMENT.search(body) is None


def _names_parties(kind: Kind, line: str, body: str) -> bool:
    """Whether the parties to an agreement follow its title, behind which nothing else stands in its line."""
    named = find_kind(line) if kind.signed and not kind.over else None
    if (
        named is None
        or 2 * named.start > len(line)
        or not (named.end == len(line) or BETWEEN.match(line, named.end + 1))
    ):
        return False
    return _PARTIES.match(body, body.find(line) + named.end) is not None


def _audit(segments: Sequence[Segment], text: str, signs: Signs) -> str | None:
    """Whether accounts are audited: first by the title, then by the auditors, then by the opening."""
    says = read_file("marks.toml")["audit"]
    title = next((segment for segment in segments if segment.line == signs.line), None)
    early = [segment for segment in segments if title is not None and abs(segment.place - title.place) <= 3]
    if any(marks("audit", "negative").stand_in(segment.words) for segment in early if segment.is_short):
        return "negative"
    running = " ".join(text[:_AUDITED].casefold().replace("’", "'").split())
    if any(map(running.__contains__, says["report"])):
        if _gives_no_opinion(running):
            return "negative"
        if any(words in running for words in says["opinion"]):
            return "opinion"
    opening = plain_words(text.lstrip()[:_OPENING])
    if marks("audit", "negative").stand_in(opening):
        return "negative"
    return "claim" if _claims_audit(segments[:12], opening, signs) else None


def _claims_audit(first: Sequence[Segment], opening: str, signs: Signs) -> bool:
    """Whether a title among the first lines says that the accounts are audited."""
    audited = names("audited_financial_statements")  # few texts have them; to look for all kinds takes most of the time
    if not audited.stand_in(opening):
        return False
    likely = [segment for segment in first if not segment.is_part and audited.stand_in(segment.words)]
    matches = [match for one in likely if not is_prose(one.words) for match in find_kinds(one.words)]
    named = {match.kind.id for match in matches if not match.weak or match.kind.id in signs.body}
    return "audited_financial_statements" in named


def _gives_no_opinion(running: str) -> bool:
    """Whether auditors say, in a text in small letters, that they give no opinion on the accounts.

    It does not count where that sentence, or the one before, is about something other than the accounts.
    """
    says = read_file("marks.toml")["audit"]
    if any(words in running for words in says["none"]):
        return True
    for match in re.finditer("|".join(map(re.escape, says["none_alone"])), running):
        before = _SENTENCE.split(running[max(0, match.start() - _BEFORE) : match.start()])[-2:]
        behind = _SENTENCE.split(running[match.start() : match.end() + _BEFORE], maxsplit=1)[0]
        if not any(words in sentence for sentence in (*before, behind) for words in says["beside"]):
            return True
    return False


def _state(segments: Sequence[Segment], marginal: Sequence[str], text: str, signs: Signs) -> str | None:
    """The document's state according to the lines at the top and those repeated on its pages."""
    titled = [
        segment.words
        for segment in segments
        if segment.line == signs.line
        or (segment.place < TOP and segment.is_short and not segment.is_inside and segment.may_tell_state)
    ]
    empty = {plain_words(line[:300]) for line in text[:_OPENING].splitlines() if _list_blanks(line)}
    to_sign = {segment.words for segment in segments if segment.line in empty}
    kind, opening = kinds().get(signs.title or ""), text[:_OPENING]
    for words in [*titled, *marginal]:
        is_short = words.count(" ") < 10 and not is_prose(words)
        state = find_state(words, is_own=bool(kind and kind.title) and words == signs.line) if is_short else None
        if state is not None and (state != "signed" or (words.count(" ") < 2 and words not in to_sign)):
            return state
    gaps = [gap for gap in _GAPS.finditer(opening) if gap[0][0] not in "_.…" or gap.start() < len(text) * 3 // 4]
    return "template" if kind is not None and kind.signed and len(gaps) >= 4 else None  # without where it is signed
