"""A memo held against a room: each of its figures, quotations and statements is supported, contradicted or not found.

A quotation must stand in the room word for word (`quoted`). A figure whose concept and period are known is held against
the ledger: where documents differ, the figure that counts by the ledger's rule is what the memo is held to; how much it
grew is computed (`growth`). All else, and figures that the ledger does not know, go by the proof of statements against
the likeliest passages. No model is asked.
"""

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum, StrEnum
from itertools import pairwise
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from tasks.figures.concepts import concepts_file, taxonomy
from tasks.figures.conflicts import RoomFigure, agree, deciding_step, groups, ranking, say_step
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import agrees, find_figures
from tasks.figures.figure import Figure as LedgerFigure
from tasks.figures.fiscal_calendar import Calendar, learn_calendar
from tasks.figures.limited import WrittenText, find_now
from tasks.language.escaped import escaped
from tasks.language.periods import last_day
from tasks.memo.claims import (
    MemoStatement,
    StatementKind,
    agrees_with,
    figure_a_year_before,
    quotation_places,
    split,
    stated_growth,
)
from tasks.memo.room import MemoPlace, MemoTexts, RoomPassage
from tasks.reports.html import allowed, environment, part
from tasks.scoring.passages import Places
from tasks.statements import check as statement_proof
from tasks.statements.differences import Difference, DifferenceKind, is_of
from tasks.statements.figures import QUARTER, StatedFigure, figures, same, same_size

_MOST_PLACES: Final = 5
_NEGATIONS: Final = frozenset({"not", "no", "never", "neither", "nor", "without", "denied", "n't"})
_COMPARED: Final = re.compile(r"\b(?:from|against|compared (?:to|with)|versus|vs\.?|after)\s+(?:about )?\S{0,4}\s?$")
_YEAR_BEHIND: Final = re.compile(r"\s+(?:in|for)\s+(?:FY ?|fiscal (?:year )?)?((?:19|20)\d\d)\b")
_YEAR: Final = re.compile(r"\b\d{4}\b(?=-)")
_SCALED: Final = re.compile(r"(?P<amount>[$€£] ?(?P<digits>\d[\d.,]*\d|\d)) (?P<scale>thousand|million)\b")
_OTHER_PLACE: Final = frozenset(
    {
        DifferenceKind.OTHER_PLACE,
        DifferenceKind.OF_ANOTHER_FIGURE,
        DifferenceKind.OF_SOMETHING_ELSE,
        DifferenceKind.CHANGED_PLACES,
    }
)
_ABOUT_FIGURES: Final = frozenset({DifferenceKind.NOT_ITS_FIGURE, DifferenceKind.OF_ANOTHER_FIGURE})
_SHORTEST_NAME: Final = 3
"""Letters of a word that names the room's company, at least."""

_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*(?![.,]?\d)")
_MARKS: Final = str.maketrans(".,", ",.")
_WORDS: Final = re.compile(r"[^\W\d_][\w&'’-]*|\d[\d.,]*|[.;:]")
_JOINING: Final = 3
"""Letters of the longest word that joins two others: "and", "of", "the"."""
_AFTER: Final = re.compile(r",? after (?=(?:[$€£¥]|[A-Z]{3} ?)\d|\d[\d.,]* ?(?:%|per ?cent))")
"""Before an amount of an earlier time, and no time itself: "after $ 1,066 million in 2022"."""
_RULES: Final = ("basis", "authority")
"""Steps of the ledger's rule that make another document's figure the one a memo has to give; that one is newer alone
does not."""


class MemoVerdict(StrEnum):
    """What a room says of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_FOUND = "not_found"


class MemoReason(Enum):
    """Why a claim has its verdict: each has its sentence as its value, but for what the proof of statements found."""

    OTHER_WORDS = "the room has it with other words"
    FIGURES_STAND = "its figures stand there, in other words"
    WORD_FOR_WORD = "word for word"
    OTHER_GROWTH = "the room's figures give a change of {0} % over the year before"
    OTHER_COUNTS = "{0} says it too, but another figure counts ({1})"
    OTHER_FIGURE = "the room has another figure for {0} of {1}"


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim, the verdict on it, where the room says so, and why.

    Attributes:
        reason, details: why, and the words that belong to it.
        difference: why, where a sentence of the room does not say what the claim says.
    """

    statement: MemoStatement
    verdict: MemoVerdict
    places: Sequence[MemoPlace] = ()
    reason: MemoReason | None = None
    details: tuple[str, ...] = ()
    difference: Difference | None = None

    @property
    def why(self) -> str:
        """The reason in a few words; "" where the verdict says all."""
        if self.difference is not None:
            return self.difference.why
        return self.reason.value.format(*self.details) if self.reason else ""


def check_memo(text: str, places: Places, name: str, room: MemoTexts) -> list[CheckedClaim]:
    """Hold a memo against a room.

    Args:
        text: the memo's words.
        places: its places, as its reader gave them.
        name: its file name.
        room: what it is held against.

    Returns:
        Its claims in its order, each with a verdict.

    Raises:
        Unreadable: its figures are not found within the limits of a document.
    """
    ledger = groups(room.ledger.figures)
    written = WrittenText(_without_owner(text, room.names), places, name, concepts_file(), _calendar(text, name, room))
    stated, found = find_now(written)
    checked = []
    for statement in split(text, places):
        if statement.kind is StatementKind.QUOTATION:
            checked.append(_quotation(statement, room))
            continue
        words = _with_points(statement.words) if found.comma_decimal else statement.words
        own = [figure for figure in stated if statement.start <= figure.start < statement.end]
        checked.append(_statement(replace(statement, words=words), own, ledger, room))
    return checked


def _without_owner(text: str, names: str) -> str:
    """The memo with blanks for the room's company as an owner: "Acme's revenue" is no other company's."""
    words = [re.escape(word) for word in names.split() if len(word) >= _SHORTEST_NAME]
    if not words:
        return text
    owner = re.compile(rf"\b(?:{'|'.join([re.escape(names), *words])})['’]s?(?!\w)", re.IGNORECASE)
    return owner.sub(lambda match: " " * len(match[0]), text)


def _with_points(words: str) -> str:
    """Words of a memo that writes decimals with a comma in the notation that statements are read in: "8.60"."""
    return _NUMBER.sub(lambda match: match[0].translate(_MARKS), words)


def _calendar(text: str, name: str, room: MemoTexts) -> Calendar:
    """The fiscal year of a memo: the room's, else its own. A memo is no older than what it speaks of."""
    if room.calendar.said:
        return room.calendar
    own = learn_calendar(text, name)
    return replace(own, dated=max(filter(None, (own.dated, room.calendar.dated)), default=None))


def _quotation(statement: MemoStatement, room: MemoTexts) -> CheckedClaim:
    is_exact, places = quotation_places(statement.words, room)
    if is_exact:
        return CheckedClaim(statement, MemoVerdict.SUPPORTED, places)
    if places:
        return CheckedClaim(statement, MemoVerdict.CONTRADICTED, places, MemoReason.OTHER_WORDS)
    return CheckedClaim(statement, MemoVerdict.NOT_FOUND)


def _statement(
    statement: MemoStatement, own: Sequence[LedgerFigure], ledger: Mapping[Any, Sequence[RoomFigure]], room: MemoTexts
) -> CheckedClaim:
    """The verdict of the ledger on a sentence's figures, else that of the proof of statements."""
    known = [*own, *_of_other_years(statement.words, own)]
    by_ledger = [found for figure in known if (found := _by_ledger(statement, figure, ledger, room)) is not None]
    growth = _growth(statement, own, ledger, room) if by_ledger else None
    against = [found for found in by_ledger if found.verdict is MemoVerdict.CONTRADICTED]
    if growth is not None and growth.verdict is MemoVerdict.CONTRADICTED:
        against.append(growth)
    is_denied = not _NEGATIONS.isdisjoint(statement.words.casefold().replace("n’t", " n't").split())
    if is_denied:
        return _proved(statement, room)
    by_rule = [found for found in against if found.reason is MemoReason.OTHER_COUNTS]
    proved = _proved(statement, room) if not by_rule else None
    if proved is not None and (proved.verdict is MemoVerdict.SUPPORTED or not (against or by_ledger)):
        return proved  # a row of another name has it: net sales beside total revenue
    if proved is None or against:
        return replace(against[0], places=_places(against))
    held = [*by_ledger, growth] if growth is not None else by_ledger
    lacks_growth = growth is None and stated_growth(statement.words) is not None
    if lacks_growth or len(held) < len(_amounts(statement.words)):
        return proved if _is_against_others(proved, known) else CheckedClaim(statement, MemoVerdict.NOT_FOUND)
    return CheckedClaim(statement, MemoVerdict.SUPPORTED, _places(held), MemoReason.FIGURES_STAND)


def _growth(
    statement: MemoStatement, own: Sequence[LedgerFigure], ledger: Mapping[Any, Sequence[RoomFigure]], room: MemoTexts
) -> CheckedClaim | None:
    """What the room's figures say of the growth that a sentence states of its only concept; None where nothing."""
    stated = stated_growth(statement.words)
    if stated is None or len({figure.concept for figure in own}) != 1:
        return None
    latest = max(own, key=lambda figure: last_day(figure.period))
    group = ledger.get(next(iter(groups([_as_room_figure(latest)]))))
    later = ranking(group)[0] if group else None
    earlier = figure_a_year_before(later, room.ledger.figures) if later is not None else None
    if later is None or earlier is None or (agrees := agrees_with(stated, later, earlier)) is None:
        return None
    places = [_figure_place(later, room), _figure_place(earlier, room)]
    if agrees:
        return CheckedClaim(statement, MemoVerdict.SUPPORTED, places)
    percent = (later.figure.value / earlier.figure.value - 1) * 100
    return CheckedClaim(statement, MemoVerdict.CONTRADICTED, places, MemoReason.OTHER_GROWTH, (f"{percent:+.1f}",))


def _is_against_others(proved: CheckedClaim, known: Sequence[LedgerFigure]) -> bool:
    """Whether a verdict rests on anything but a figure that the ledger has too, which is no sentence's to deny."""
    words = _figure_not_there(proved.difference)
    return not words or not any(
        abs(amount.value) == abs(figure.value) for amount in _amounts(words) for figure in known
    )


def _figure_not_there(difference: Difference | None) -> str:
    """The figure that a sentence has not, as the claim writes it; "" where it is not that what speaks against it."""
    return difference.word if difference is not None and difference.kind is DifferenceKind.NOT_ITS_FIGURE else ""


def _of_other_years(words: str, own: Sequence[LedgerFigure]) -> Iterator[LedgerFigure]:
    """The figures of other years that a sentence compares its own with: "up from € 3.9 million in 2023"."""
    for amount in figures(words):
        before, behind = _COMPARED.search(words[: amount.start]), _YEAR_BEHIND.match(words, amount.end)
        same_unit = [figure for figure in own if figure.unit == amount.unit]
        if amount.is_date or before is None or behind is None or not same_unit:
            continue
        figure = same_unit[-1]
        years = int(behind[1]) - int(figure.period.rpartition("/")[2][:4])
        if years and "-02-29" not in figure.period:
            period = _YEAR.sub(lambda year, years=years: str(int(year[0]) + years), figure.period)  # type: ignore[misc] # mypy has no type for a lambda's default
            step = Decimal(10) ** (amount.value.copy_abs().adjusted() - amount.digits + 1)
            yield replace(figure, value=amount.value, step=step, period=period)


def _places(found: Sequence[CheckedClaim]) -> list[MemoPlace]:
    return list(dict.fromkeys(place for one in found for place in one.places))[:_MOST_PLACES]


def _by_ledger(
    statement: MemoStatement, figure: LedgerFigure, ledger: Mapping[Any, Sequence[RoomFigure]], room: MemoTexts
) -> CheckedClaim | None:
    """What the ledger says of one figure of a memo; None where it has none of the same concept and period."""
    own = _as_room_figure(figure)
    group = ledger.get(next(iter(groups([own]))))
    if not group:
        return None
    ranked = ranking(group)
    agreeing = [other for other in ranked if agree(own, other)]
    if agreeing and not agree(own, ranked[0]):
        step = deciding_step(ranked[0], agreeing[0])
        if step in _RULES:
            differing = [_figure_place(other, room) for other in ranked if not agree(own, other)]
            details = (agreeing[0].document_name, say_step(step, ranked[0], agreeing[0]))
            return CheckedClaim(statement, MemoVerdict.CONTRADICTED, differing, MemoReason.OTHER_COUNTS, details)
    if agreeing:
        return CheckedClaim(statement, MemoVerdict.SUPPORTED, [_figure_place(other, room) for other in agreeing])
    places, details = (
        [_figure_place(other, room) for other in ranked],
        (figure.concept.replace("_", " "), figure.period),
    )
    return CheckedClaim(statement, MemoVerdict.CONTRADICTED, places, MemoReason.OTHER_FIGURE, details)


def _as_room_figure(figure: LedgerFigure) -> RoomFigure:
    return RoomFigure(figure, figure.basis or "management", "", "", "", deck=False, dated=None)


def _figure_place(row: RoomFigure, room: MemoTexts) -> MemoPlace:
    shown = room.line_of(row.text_id, row.figure.start, row.figure.end)
    return MemoPlace(row.document_id, row.document_name, row.figure.place, shown)


def _proved(statement: MemoStatement, room: MemoTexts) -> CheckedClaim:
    """The verdict of the proof of statements on the likeliest passages."""
    passages = room.passages(statement.words)
    grounds = [passage.text for passage in passages]
    result = statement_proof.check(_AFTER.sub(", compared with ", statement.words), grounds, room.names)
    if result.verdict is not statement_proof.Finding.SUPPORTED and result.sentence:
        sentence = result.sentence
        written = _as_written(statement.words, sentence, room.scale_of(passages[result.text].document.text_id))
        if written != statement.words:
            result = statement_proof.check(written, grounds, room.names)
            if is_of(result.difference, _ABOUT_FIGURES) and _has_all(
                _amounts(written), _amounts(sentence)
            ):  # beside other figures
                return CheckedClaim(statement, MemoVerdict.NOT_FOUND)
    if result.verdict is not statement_proof.Finding.SUPPORTED:
        result = _in_scale(statement.words, passages, room) or result
    if result.verdict is statement_proof.Finding.SUPPORTED:
        return CheckedClaim(statement, MemoVerdict.SUPPORTED, [_place(passages, result)])
    if " ".join(result.sentence.split()) == statement.text:  # a row below its unit, which a passage may be without
        return CheckedClaim(statement, MemoVerdict.SUPPORTED, [_place(passages, result)], MemoReason.WORD_FOR_WORD)
    if result.verdict is statement_proof.Finding.CONTRADICTED and not (
        (is_of(result.difference, _ABOUT_FIGURES) and _has_its_figures(statement.words, result.sentence))
        or (is_of(result.difference, _OTHER_PLACE) and _has_in_order(statement.words, result.sentence))
        or (
            is_of(result.difference, {DifferenceKind.OTHER_PLACE}) and "\t" in result.sentence
        )  # columns say no more than their heads
        or _is_of_something_else(statement.words, result.sentence)
        or (_figure_not_there(result.difference) and _has_a_longer_name(statement.words, result.sentence))
        or _is_quarter_otherwise_named(result)
        or _stands_elsewhere(statement.words, result, grounds, room.names)
    ):
        place = _place(passages, result)
        return CheckedClaim(statement, MemoVerdict.CONTRADICTED, [place], difference=result.difference)
    return CheckedClaim(statement, MemoVerdict.NOT_FOUND)


def _in_scale(words: str, passages: Sequence[RoomPassage], room: MemoTexts) -> statement_proof.Check | None:
    """The proof of a statement by a sentence without scales of a document that counts in the statement's; else None."""
    for scale in dict.fromkeys(match["scale"] for match in _SCALED.finditer(words)):
        bare = _SCALED.sub(lambda match, scale=scale: match["amount" if match["scale"] == scale else 0], words)  # type: ignore[misc] # mypy has no type for a lambda's default
        own = [at for at, passage in enumerate(passages) if room.scale_of(passage.document.text_id) == scale]
        result = statement_proof.check(bare, [passages[at].text for at in own], room.names)
        is_proved = result.verdict is statement_proof.Finding.SUPPORTED
        if is_proved and _as_written(words, result.sentence, scale) == bare:
            return replace(result, text=own[result.text])
    return None


def _as_written(statement: str, sentence: str, scale: str) -> str:
    """The statement with its amounts as a sentence of a document writes them that counts in thousands or millions.

    "$ 4,640 million" is "$ 4,640" there, where the sentence has that amount without a scale of its own.
    """
    return _SCALED.sub(
        lambda match: (
            match["amount"]
            if match["scale"] == scale
            and re.search(
                rf"(?<![\d.,]){re.escape(match['digits'])}(?![\d.,]*\d)(?!\)? ?(?:thousand|million|billion))", sentence
            )
            else match.group()
        ),
        statement,
    )


def _place(passages: Sequence[RoomPassage], result: statement_proof.Check) -> MemoPlace:
    return passages[result.text].place(result.sentence)


def _has_its_figures(statement: str, sentence: str) -> bool:
    """Whether a sentence has all figures of an undated statement, rounding aside.

    It may then say them of something else, but no other figure of the same. With dates two figures may be exchanged.
    """
    stated, source = figures(statement), figures(sentence)
    return not any(figure.is_date for figure in stated) and _has_all(stated, source)


def _has_all(stated: Sequence[StatedFigure], source: Sequence[StatedFigure]) -> bool:
    return all(any(same_size(figure, other) or _agree_rounded(figure, other) for other in source) for figure in stated)


def _has_in_order(statement: str, sentence: str) -> bool:
    """Whether a sentence has a statement's figures, two or more, in the same order: they are of the same things."""
    stated, source = _amounts(statement), iter(_amounts(sentence))
    return len(stated) > 1 and all(
        any(same_size(figure, other) or _agree_rounded(figure, other) for other in source) for figure in stated
    )


def _is_quarter_otherwise_named(result: statement_proof.Check) -> bool:
    """Whether a quarter is all that a sentence has not, which names no other: its last day, weeks, or no year."""
    words = _figure_not_there(result.difference)
    quarters = [figure.date for figure in figures(words) if figure.unit == QUARTER]
    named = [figure.date for figure in figures(result.sentence) if figure.unit == QUARTER]
    return bool(quarters) and all(
        (own[0] is None or year[0] is None) and own[1] == year[1] for own in quarters for year in named
    )


def _has_a_longer_name(statement: str, sentence: str) -> bool:
    """Whether a sentence parts two words that stand side by side in a statement: net income, net interest income."""
    words, others = (_WORDS.findall(part.casefold()) for part in (statement, sentence))
    side_by_side = set(pairwise(others))
    triples = zip(others, others[1:], others[2:], strict=False)
    parted = {(one, other) for one, between, other in triples if between.isalpha() and len(between) > _JOINING}
    return any(pair in parted and pair not in side_by_side for pair in pairwise(words))


def _stands_elsewhere(statement: str, result: statement_proof.Check, grounds: Sequence[str], names: str) -> bool:
    """Whether another sentence, which has as many words of the statement, has the amounts that one sentence has not.

    The one may be of another quarter, or of a part of the company.
    """
    words, source = _figure_not_there(result.difference), figures(result.sentence)
    wanted = _amounts(words) if words else [one for one in _amounts(statement) if not _has_all([one], source)]
    sought = words or " ".join(statement[one.start : one.end] for one in wanted)
    if not wanted:
        return False
    return any(
        other.share >= result.share and other.sentence != result.sentence and _has_all(wanted, figures(other.sentence))
        for other in statement_proof.compared(statement, grounds, sought, names)
    )


def _amounts(sentence: str) -> list[StatedFigure]:
    return [figure for figure in figures(sentence) if not figure.is_date]


def _agree_rounded(one: StatedFigure, other: StatedFigure) -> bool:
    """Whether both may be one figure, rounded: 24 % and 23.9 %."""
    steps = (Decimal(10) ** (figure.value.copy_abs().adjusted() - figure.digits + 1) for figure in (one, other))
    own_step, other_step = steps
    return one.unit == other.unit and agrees(abs(one.value), own_step, abs(other.value), other_step)


def _is_of_something_else(statement: str, sentence: str) -> bool:
    """Whether two sentences with different amounts speak of different periods or concepts, so that both may hold."""
    stated, source = figures(statement), figures(sentence)
    amounts = [figure for figure in stated if not figure.is_date]
    if not amounts or any(same(figure, other) for figure in amounts for other in source):
        return False
    years, other_years = ({figure.date[0] for figure in group if figure.is_date} - {None} for group in (stated, source))
    if years and other_years and years.isdisjoint(other_years):
        return True
    concepts, other_concepts = _concepts(statement), _concepts(sentence)
    return bool(concepts and other_concepts and concepts.isdisjoint(other_concepts))


def _concepts(sentence: str) -> set[str]:
    return {figure.concept for figure in find_figures(LedgerDocument(sentence, ()), taxonomy()).figures}


MARK: Final = "diligence check"
"""The generator that the page names: a page without it is somebody else's, and is not written over."""

_SIGNS: Final = {MemoVerdict.SUPPORTED: "✓", MemoVerdict.CONTRADICTED: "✗", MemoVerdict.NOT_FOUND: "?"}
_VERDICTS: Final = {
    MemoVerdict.SUPPORTED: "supported",
    MemoVerdict.CONTRADICTED: "contradicted",
    MemoVerdict.NOT_FOUND: "not found",
}


class MemoSegment(NamedTuple):
    """A stretch of the memo's text: the innermost claim that it is of, and the claims that end with it.

    Claims are numbers from 1; 0 for none.
    """

    text: str
    claim: int
    ending: Sequence[int]


def as_json(memo: str, checked: Sequence[CheckedClaim]) -> str:
    """The JSON of a checked memo: `{memo, statements: [{text, kind, verdict, places, why}]}`."""
    content = {"memo": memo, "statements": [_row(one) for one in checked]}
    return escaped(json.dumps(content, ensure_ascii=False, indent=2)) + "\n"


def _row(one: CheckedClaim) -> dict[str, Any]:
    return {
        "text": one.statement.text,
        "kind": str(one.statement.kind),
        "verdict": str(one.verdict),
        "places": [
            {
                "document_id": place.document_id,
                "document_name": place.document_name,
                "place": place.place,
                "text": place.text,
            }
            for place in one.places
        ],
        "why": one.why,
    }


def render_memo(memo: str, room: str, text: str, checked: Sequence[CheckedClaim], unread: Sequence[str]) -> str:
    """The page of a checked memo: `memo` and `room` are their names, `unread` documents that could not be read."""
    style = part("memo.css")
    policy = f"default-src 'none'; style-src {allowed(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    claims = list(enumerate(checked, 1))
    return (
        environment()
        .get_template("memo.html")
        .render(
            memo=memo,
            room=room,
            generator=MARK,
            policy=policy,
            style=Markup(style),  # noqa: S704 - our own file
            claims=claims,
            contradicted=[(n, one) for n, one in claims if one.verdict is MemoVerdict.CONTRADICTED],
            segments=_segments(text, checked),
            counts=[(verdict, sum(one.verdict is verdict for one in checked)) for verdict in _VERDICTS],
            unread=unread,
            signs=_SIGNS,
            verdicts=_VERDICTS,
        )
    )


def _segments(text: str, checked: Sequence[CheckedClaim]) -> list[MemoSegment]:
    """The memo's text in stretches; quotations lie within sentences."""
    spans = [(one.statement.start, one.statement.end) for one in checked]
    borders = sorted({0, len(text), *(border for span in spans for border in span)})
    segments: list[MemoSegment] = []
    open_claims: list[int] = []
    starts: dict[int, list[int]] = {}
    for n, (start, _) in enumerate(spans, 1):
        starts.setdefault(start, []).append(n)
    for start, end in itertools.pairwise(borders):
        open_claims = [n for n in open_claims if spans[n - 1][1] > start] + starts.get(start, [])
        innermost = min(open_claims, key=lambda n: spans[n - 1][1] - spans[n - 1][0], default=0)
        ending = [n for n in open_claims if spans[n - 1][1] == end]
        segments.append(MemoSegment(text[start:end], innermost, ending))
    return segments
