"""Checks a memo against a room: each of its figures, quotations and statements is supported, contradicted or not found.

A quotation must stand in the room word for word. Figures are first compared with the ledger: one whose concept is known
is compared with the ledger's figures for its period, however it is worded; one without a period with the latest, and
what a sentence compares it with ("up from 13 %") with the year before. What the ledger supports cannot be contradicted
by a sentence. Growth is computed (`_growth`). Everything else is checked against the most likely passages. No model is
asked.
"""

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum, StrEnum
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from tasks.figures.conflicts import RoomFigure, agree, find_deciding_step, groups, rank_figures, say_step
from tasks.figures.figure import Figure as LedgerFigure
from tasks.figures.figure import concepts_file, name_in_words
from tasks.figures.fiscal_calendar import Calendar, learn_calendar
from tasks.figures.ledger import find_now
from tasks.figures.limited import WrittenText
from tasks.language.normalise import escape_text
from tasks.language.numbers import PERCENT, RATIO
from tasks.language.periods import count_months
from tasks.language.quotations import locate
from tasks.language.words import stem
from tasks.memo.claims import MemoPlace, MemoStatement, MemoTexts, StatementKind, quotation_places, split
from tasks.memo.contracts import RoomContract, call_contract, choose_contracts, hold_terms, read_terms, split_facts
from tasks.memo.measures import (
    UNITS,
    StatedMeasure,
    agrees,
    find_last,
    find_value,
    is_same_time,
    names_another,
    read_measures,
    read_periods,
    says_multiple,
    turns_loss,
)
from tasks.reports.html import allow_source, environment, part
from tasks.rooms import RoomPassage, exact_place
from tasks.scoring.figure_checks import amount_in_words, period_in_words
from tasks.scoring.passages import Places
from tasks.statements import check as statement_proof
from tasks.statements.figures import StatedFigure, figures, is_cut_off
from tasks.statements.reading import Difference, DifferenceKind
from tasks.table.columns import value_in_words

_MOST_PLACES: Final = 5
_NEGATIONS: Final = frozenset({"not", "no", "never", "neither", "nor", "without", "denied", "n't"})
_SCALED: Final = re.compile(r"(?P<amount>[$€£] ?(?P<digits>\d[\d.,]*\d|\d)) (?P<scale>thousand|million)\b")
_RATE: Final = re.compile(
    r"\b(?:(?:per|an?|each|every) (?:day|week|month|quarter)|(?:dai|week|month|quarter)ly)\b(?!.{0,30}\bburn)",
    re.IGNORECASE,
)
"""An amount for a shorter time than that of the ledger's figure: "monthly revenue"; a burn is one for a month."""
_NARROWED: Final = r"(?: (?:attributable|before|after|from|excluding|including)\b)?"
"""A word behind a name that makes it another one: "net income attributable"."""
_CAPITALS: Final = re.compile(r"(?<!\w)(?:[A-Z0-9]++\W++){7,}")
"""Words in capitals throughout, as clauses on liability are written."""
_HOLLOW: Final = re.compile(
    r",? unless (?:it is )?(?:(?:sooner|earlier) )?(?:terminated|ended)\b(?: (?:sooner|earlier))?"
    r"(?: as provided (?:herein|in this \w+))?|\bhereby\b|\bduring the term(?: of this \w+)?,"
    r"|\bupon (?:the )?(?:execution|signing|signature)(?: of this \w+)?,".replace(" ", r"\s"),
    re.IGNORECASE,
)
"""What holds of every term and duty of a contract, so that it limits none."""
_MANNER: Final = re.compile(
    r",? (in whole or in part|for (?:its |their )?convenience|with(?:out| or without) cause|for any (?:or no )?reason"
    r"|at any time),?"
)
_MAY_END: Final = re.compile(rf"(\bmay terminate\b(?: this [\w ]{{3,30}}?)?)((?:{_MANNER.pattern})+)")
_OF_NOTICE: Final = re.compile(
    r"\b(prior|advance|written)\b(?=(?: written)? notice\b)|(?<=\bnotice)( to (?:the )?(?:other )?\w+)(?=[.,;])"
)
"""A right to end a contract, and how it and a notice may be given: words that need not be told."""
_ON_NOTICE: Final = re.compile(r"\b(?:upon|with)\b(?=[^.;]{0,80}\bnotice\b)", re.IGNORECASE)
"""What says the same as "on", and no condition."""
_MOST_CONTRACTS: Final = 8
"""Contracts that a statement may mean, at most; one that may mean more is not held against them."""
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*(?![.,]?\d)")
_MARKS: Final = str.maketrans(".,", ",.")
_SHORTEST_NAME: Final = 3
"""Letters of a word that names the room's company, at least."""
_RULES: Final = ("basis", "authority")
"""Steps of the ledger's rule that make another document's figure the one a memo has to give; that one is newer alone
does not."""


class MemoVerdict(StrEnum):
    """What a room says about a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_FOUND = "not_found"


class MemoReason(Enum):
    """Why a claim has its verdict: the value of each is its sentence, except for what the proof of statements found."""

    OTHER_WORDS = "The room has it with another word or figure."
    GIVES = "{0} gives {1} for {2}, the memo {3}: the same."
    AGREES = "{0} gives {1} for {2}, which agrees with the memo's {3}."
    GIVES_OTHER = "{0} gives {1} for {2}, the memo {3}."
    WORD_FOR_WORD = "The room has it word for word."
    OTHER_COUNTS = "{0} says it too, but another figure counts: {1} ({2})."
    SEVERAL = "Not each contract that it may mean says so: name the one that is meant."
    NEAREST = "No sentence was found that says it in nearly these words; this is the nearest."


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim, its verdict, where the room says so, and why.

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
        """The reason in a few words; "" if the verdict says everything."""
        if self.difference is not None:
            return self.difference.why
        return self.reason.value.format(*self.details) if self.reason else ""


def check_memo(text: str, places: Places, name: str, room: MemoTexts) -> list[CheckedClaim]:
    """Check a memo against a room.

    Args:
        text: the memo's words.
        places: its places, as its reader gave them.
        name: its file name.
        room: what it is checked against.

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
        words = statement.words
        if found.comma_decimal:  # the statement check reads decimal points: "8.60"
            words = _NUMBER.sub(lambda match: match[0].translate(_MARKS), words)
        own = [figure for figure in stated if statement.start <= figure.start < statement.end]
        checked.append(_statement(replace(statement, words=words), own, ledger, room))
    return checked


def _without_owner(text: str, names: str) -> str:
    """The memo with the room's company blanked out where it is an owner: "Acme's revenue" is not another company's."""
    words = [re.escape(word) for word in names.split() if len(word) >= _SHORTEST_NAME]
    if not words:
        return text
    owner = re.compile(rf"\b(?:{'|'.join([re.escape(names), *words])})['’]s?(?!\w)", re.IGNORECASE)
    return owner.sub(lambda match: " " * len(match[0]), text)


def _calendar(text: str, name: str, room: MemoTexts) -> Calendar:
    """The fiscal year for a memo: the room's, else its own. The memo is dated no earlier than the documents it is
    about.
    """
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
    """The ledger's verdict on a sentence's figures, otherwise that of the statement check."""
    if not _NEGATIONS.isdisjoint(statement.words.casefold().replace("n’t", " n't").split()):
        return _prove(statement, room)
    if _RATE.search(statement.words):
        return _prove(statement, room)
    measures = read_measures(statement.words, room.names)
    measured = _by_measures(statement, measures, own, ledger, room)
    held = [*_by_figures(statement, own, ledger, room, has_measures=bool(measures)), *measured]
    against = [one for one in held if one.verdict is MemoVerdict.CONTRADICTED]
    is_whole = bool(measured) or (len(held) >= len(_amounts(statement.words)) and not says_multiple(statement.words))
    if held and not against and is_whole:
        return replace(held[0], places=_places(held))
    by_rule = [one for one in against if one.reason is MemoReason.OTHER_COUNTS]
    if by_rule:
        return replace(by_rule[0], places=_places(by_rule))
    proved = _prove(statement, room)
    if proved.verdict is MemoVerdict.SUPPORTED or not held:
        return proved  # a row of another name has it: net sales beside total revenue
    if against:
        return replace(against[0], places=_places(against))
    ours = {abs(amount.value) for amount in _amounts(proved.difference.ours if proved.difference else "")}
    is_held = any(abs(figure.value) in ours for figure in own)  # what the ledger has cannot be denied by a sentence
    return CheckedClaim(statement, MemoVerdict.NOT_FOUND) if is_held else proved


def _by_figures(
    statement: MemoStatement,
    own: Sequence[LedgerFigure],
    ledger: Mapping[Any, Sequence[RoomFigure]],
    room: MemoTexts,
    *,
    has_measures: bool,
) -> Iterator[CheckedClaim]:
    """The ledger's verdicts on a sentence's figures; without measures no turned loss is held."""
    turns = not has_measures and turns_loss(statement.words)
    is_row = any(statement.words.startswith(f"{figure.label}:") for figure in own)
    labels = " ".join(figure.label for figure in own)
    is_other = not has_measures and not is_row and names_another(statement.words, f"{room.names} {labels}")
    for figure in own:
        one = _by_ledger(statement, figure, ledger, room)
        if one is None or (turns and figure.value < 0 and one.verdict is MemoVerdict.SUPPORTED):
            continue
        if not is_other or one.verdict is MemoVerdict.SUPPORTED:
            yield one


def _by_measures(
    statement: MemoStatement,
    measures: Sequence[StatedMeasure],
    own: Sequence[LedgerFigure],
    ledger: Mapping[Any, Sequence[RoomFigure]],
    room: MemoTexts,
) -> list[CheckedClaim]:
    """The ledger's verdict on each amount of a statement that says nothing else; nothing if it cannot tell of one."""
    held: list[CheckedClaim] = []
    for measure in measures:
        names = measure.expression.names
        name = next((figure.label for figure in own if figure.concept in names), name_in_words(names[0]))
        one = _by_measure(statement, measure, name, ledger, room)
        if one is None and measure.figure.digits:
            return [one for one in held if one.verdict is MemoVerdict.CONTRADICTED]
        held += [one] if one is not None else []
    return held


def _by_measure(
    statement: MemoStatement,
    measure: StatedMeasure,
    name: str,
    ledger: Mapping[Any, Sequence[RoomFigure]],
    room: MemoTexts,
) -> CheckedClaim | None:
    """The ledger's verdict on an amount that a statement gives by a name; the latest counts where it gives no time."""
    values = room.values(measure.expression)
    dated = read_periods(measure.time, room.calendar) if measure.time else set[str]()
    last = find_last(statement.words, measure.time, values, room.calendar, room.latest(measure.expression))
    value = find_value(measure, values, dated or last)
    if value is None:
        return None
    first = value.inputs[0].figure
    is_stated = len(value.inputs) == 1 and value.name == first.concept and measure.figure.limit in {"", "exact"}
    if is_stated and value.unit == UNITS.get(measure.figure.unit, measure.figure.unit):
        stated = replace(first, label=name, value=measure.figure.value, step=measure.figure.step)
        verdict = _by_ledger(statement, stated, ledger, room)
        if verdict is None or dated or verdict.verdict is MemoVerdict.SUPPORTED:
            return verdict
    is_so = agrees(measure.figure, value)
    is_of_several = len({row.document_id for row in value.inputs}) > 1
    is_guessed = bool(measure.time) or 0 < count_months(value.period) < 12  # the year of a part of a year
    is_undated = not dated and (is_guessed or any(agrees(measure.figure, other) for other in values))
    is_other = _names_other_line(name, statement.words, value.inputs[0], room)
    is_cut = is_cut_off(measure.figure.value, measure.figure.step, value.value)
    if is_so is None or (not is_so and (is_of_several or is_undated or is_other or is_cut)):
        return None
    amount, unit = value.value, value.unit
    if unit == RATIO and measure.figure.unit == PERCENT:
        amount, unit = amount * 100, PERCENT
    matter = f"{measure.expression.in_words} {period_in_words(value.period)}"
    amount = round(amount, 1) if unit == PERCENT else amount
    words = [amount_in_words(each, unit) for each in (amount, measure.figure.value)]
    is_exact = measure.figure.limit in {"", "exact"}
    so = MemoReason.GIVES if is_exact else MemoReason.AGREES
    return CheckedClaim(
        statement,
        MemoVerdict.SUPPORTED if is_so else MemoVerdict.CONTRADICTED,
        [_figure_place(row, room) for row in value.inputs],
        so if is_so else MemoReason.GIVES_OTHER,
        (value.inputs[0].document_name, words[0], matter, words[1]),
    )


def _names_other_line(name: str, words: str, row: RoomFigure, room: MemoTexts) -> bool:
    """Whether a figure's document has a line of this name beside the figure's own: net sales beside total revenues."""
    said = re.search(re.escape(name) + _NARROWED, words, re.IGNORECASE)
    name = said[0] if said else name
    if not name or set(map(stem, name.split())) <= set(map(stem, row.figure.label.split())):
        return False
    line = rf"^[^\w\n]{{0,20}}{re.escape(name)}\b[^\n\t]{{0,60}}\t[^\n]*\d"
    return re.search(line, room.text_of(row.text_id), re.IGNORECASE | re.MULTILINE) is not None


def _places(found: Sequence[CheckedClaim]) -> list[MemoPlace]:
    return list(dict.fromkeys(place for one in found for place in one.places))[:_MOST_PLACES]


def _by_ledger(
    statement: MemoStatement, figure: LedgerFigure, ledger: Mapping[Any, Sequence[RoomFigure]], room: MemoTexts
) -> CheckedClaim | None:
    """The ledger's verdict on one figure in a memo; None if it has none of the same concept and period."""
    own = RoomFigure(figure, figure.basis or "management", "", "", "", deck=False, dated=None)
    group = _figures_alike(own, ledger)
    if not group:
        return None
    ranked = rank_figures(group)
    agreeing = [other for other in ranked if agree(own, other)]
    if agreeing and not agree(own, ranked[0]):
        step = find_deciding_step(ranked[0], agreeing[0])
        if step in _RULES:
            differing = [_figure_place(other, room) for other in ranked if not agree(own, other)]
            counted = amount_in_words(ranked[0].figure.value, ranked[0].figure.unit)
            details = (agreeing[0].document_name, counted, say_step(step, ranked[0], agreeing[0]))
            return CheckedClaim(statement, MemoVerdict.CONTRADICTED, differing, MemoReason.OTHER_COUNTS, details)
    shown = agreeing or ranked
    if not agreeing and any(abs(other.figure.value) == abs(figure.value) for other in ranked):
        return None  # the sign alone differs: a cost or a loss that one of them writes without it
    if not agreeing and any(is_cut_off(figure.value, figure.step, other.figure.value) for other in ranked):
        return None
    if not agreeing and _names_other_line(figure.label, statement.words, ranked[0], room):
        return None
    theirs = shown[0].figure
    matter = f"{name_in_words(theirs.concept)} {period_in_words(theirs.period)}"
    amounts = [amount_in_words(each.value, each.unit) for each in (theirs, figure)]
    return CheckedClaim(
        statement,
        MemoVerdict.SUPPORTED if agreeing else MemoVerdict.CONTRADICTED,
        [_figure_place(other, room) for other in shown],
        MemoReason.GIVES if agreeing else MemoReason.GIVES_OTHER,
        (shown[0].document_name, amounts[0], matter, amounts[1]),
    )


def _prove(statement: MemoStatement, room: MemoTexts) -> CheckedClaim:
    """The verdict of the room on a statement as a whole, else on each thing that it says of a contract or a party.

    It is supported if all of them are, and contradicted if one is.
    """
    whole = _prove_whole(statement, room)
    facts = split_facts(statement.words) if whole.verdict is MemoVerdict.NOT_FOUND else []
    held = [_prove_whole(replace(statement, words=words), room) for words in facts]
    against = [one for one in held if one.verdict is MemoVerdict.CONTRADICTED]
    if against or (held and all(one.verdict is MemoVerdict.SUPPORTED for one in held)):
        return replace((against or held)[0], statement=statement, places=_places(against or held))
    return whole


def _prove_whole(statement: MemoStatement, room: MemoTexts) -> CheckedClaim:
    """The verdict of the room's words on a statement, else that of the contracts that it can mean.

    What one contract says is no verdict on another, nor on a statement that may mean several.
    """
    proved = _by_words(statement, room)
    is_proved = proved.verdict is not MemoVerdict.NOT_FOUND
    proving = {place.document_id for place in proved.places}
    if is_proved and proving.isdisjoint(one.document.document_id for one in room.contracts):
        return proved
    stated = read_terms(statement.words)
    contracts = choose_contracts(statement.words, stated, room.contracts)
    if not contracts and is_proved and any(call_contract(statement.words)):
        return CheckedClaim(statement, MemoVerdict.NOT_FOUND)  # what the room has no such contract for
    if not contracts or (is_proved and proving == {one.document.document_id for one in contracts}):
        return proved
    held = [_by_contract(statement, stated, contract, room) for contract in contracts[:_MOST_CONTRACTS]]
    by_verdict = {one.verdict: one for one in reversed(held)}
    if len(contracts) == 1 and held[0].places:
        return held[0]
    if MemoVerdict.SUPPORTED in by_verdict and len(contracts) <= _MOST_CONTRACTS:
        names_party = any(any(one.find_parties(statement.words)) for one in contracts)
        speaking = {one.verdict for one in held if one.places or not names_party}
        if speaking == {MemoVerdict.SUPPORTED}:
            return by_verdict[MemoVerdict.SUPPORTED]
    is_open = is_proved or MemoVerdict.SUPPORTED in by_verdict
    return CheckedClaim(statement, MemoVerdict.NOT_FOUND, _places(held), MemoReason.SEVERAL) if is_open else proved


def _by_contract(
    statement: MemoStatement, stated: Mapping[str, Any], contract: RoomContract, room: MemoTexts
) -> CheckedClaim:
    """A contract's verdict on a statement about it: of the terms that both give, else of its sentences."""
    document, text = contract.document, room.text_of(contract.document.text_id)
    terms = hold_terms(statement.words, stated, contract, text) if stated else []
    if terms:
        shown = min(terms, key=lambda term: term.is_same)
        given, own = value_in_words(shown.given), value_in_words(shown.stated)
        place = exact_place(document.text_id, shown.start, shown.end)
        words = room.line_of(document.text_id, shown.start, shown.end)
        return CheckedClaim(
            statement,
            MemoVerdict.SUPPORTED if shown.is_same else MemoVerdict.CONTRADICTED,
            [MemoPlace(document.document_id, document.document_name, place, words)],
            MemoReason.GIVES if shown.is_same else MemoReason.GIVES_OTHER,
            (document.document_name, given, name_in_words(shown.name), own),
        )
    spoken = _CAPITALS.sub(lambda match: match[0].lower(), text)
    spoken = _ON_NOTICE.sub("on  ", _blank_untold(_HOLLOW, spoken, statement.words))
    spoken = _MAY_END.sub(lambda match: match[1] + _blank_untold(_MANNER, match[2], statement.words), spoken)
    spoken = _blank_untold(_OF_NOTICE, spoken, statement.words)
    told = contract.retell(_ON_NOTICE.sub("on", statement.words))
    results = [statement_proof.check(words, [spoken], room.names) for words in told]
    order = (statement_proof.Finding.SUPPORTED, statement_proof.Finding.CONTRADICTED, statement_proof.Finding.NOT_FOUND)
    best = min(results, key=lambda one: (order.index(one.verdict), -one.share))
    span = locate(best.sentence, spoken)
    if span is None or (best.verdict is statement_proof.Finding.NOT_FOUND and not best.is_worth_showing):
        return CheckedClaim(statement, MemoVerdict.NOT_FOUND)
    place = exact_place(document.text_id, *span)
    places = [MemoPlace(document.document_id, document.document_name, place, " ".join(text[slice(*span)].split()))]
    if best.verdict is statement_proof.Finding.SUPPORTED:
        return CheckedClaim(statement, MemoVerdict.SUPPORTED, places)
    is_extended = "renewal" in contract.cells and not stated.keys().isdisjoint(("term", "expiry"))
    if best.verdict is statement_proof.Finding.CONTRADICTED and not (is_extended or _is_other_right(best)):
        return CheckedClaim(statement, MemoVerdict.CONTRADICTED, places, difference=best.difference)
    return CheckedClaim(statement, MemoVerdict.NOT_FOUND, places, MemoReason.NEAREST)


def _blank_untold(pattern: re.Pattern[str], text: str, words: str) -> str:
    """A text with white space for those words of a pattern that a statement does not tell."""
    return pattern.sub(
        lambda match: match[0] if match[0].lower().strip(" ,")[:15] in words.lower() else " " * len(match[0]), text
    )


def _is_other_right(result: statement_proof.Check) -> bool:
    """Whether a clause gives a right to another than the statement, or another right: neither denies it."""
    kinds = (DifferenceKind.OPPOSITE, DifferenceKind.NAME)
    return result.difference is not None and result.difference.kind in kinds and " may " in result.sentence


def _figures_alike(own: RoomFigure, ledger: Mapping[Any, Sequence[RoomFigure]]) -> Sequence[RoomFigure]:
    """The ledger's figures with the same concept, entity and period; the end of a period may differ by some days."""
    key = next(iter(groups([own])))
    if key in ledger:
        return ledger[key]
    for other, rows in ledger.items():
        is_alike = other[:3] == key[:3] and other[4:] == key[4:]
        if is_alike and is_same_time(rows[0].figure.period, own.figure.period):
            return rows
    return ()


def _figure_place(row: RoomFigure, room: MemoTexts) -> MemoPlace:
    shown = room.line_of(row.text_id, row.figure.start, row.figure.end)
    return MemoPlace(row.document_id, row.document_name, row.figure.place, shown)


def _by_words(statement: MemoStatement, room: MemoTexts) -> CheckedClaim:
    """The verdict of the statement check against the most likely passages."""
    passages = [replace(passage, text=_with_blank_cell(passage.text)) for passage in room.passages(statement.words)]
    result = statement_proof.check(statement.words, [passage.text for passage in passages], room.names)
    if result.verdict is not statement_proof.Finding.SUPPORTED:
        result = _in_scale(statement.words, passages, room) or result
    if not result.sentence:
        return CheckedClaim(statement, MemoVerdict.NOT_FOUND)
    place = MemoPlace.of(passages[result.text], result.sentence)
    if result.verdict is statement_proof.Finding.SUPPORTED:
        return CheckedClaim(statement, MemoVerdict.SUPPORTED, [place])
    if " ".join(result.sentence.split()) == statement.text:  # a row below its unit, which a passage may be without
        return CheckedClaim(statement, MemoVerdict.SUPPORTED, [place], MemoReason.WORD_FOR_WORD)
    if result.verdict is statement_proof.Finding.CONTRADICTED:
        return CheckedClaim(statement, MemoVerdict.CONTRADICTED, [place], difference=result.difference)
    if not result.is_worth_showing:
        return CheckedClaim(statement, MemoVerdict.NOT_FOUND)
    return CheckedClaim(statement, MemoVerdict.NOT_FOUND, [place], MemoReason.NEAREST)


def _with_blank_cell(text: str) -> str:
    """A passage that begins with a table's periods, with the blank cell before them, which no passage has."""
    first, _, rest = text.partition("\n")
    is_short = first.count("\t") + 1 == rest.partition("\n")[0].count("\t")
    return f"\t{text}" if is_short and any(map(str.isdigit, first)) else text


def _in_scale(words: str, passages: Sequence[RoomPassage], room: MemoTexts) -> statement_proof.Check | None:
    """The verdict of documents written in the statement's scale: "$ 4,640" for "$ 4,640 million"; None if they have
    none.
    """
    for scale in dict.fromkeys(match["scale"] for match in _SCALED.finditer(words)):
        bare = _SCALED.sub(lambda match, scale=scale: match["amount" if match["scale"] == scale else 0], words)  # type: ignore[misc] # mypy has no type for a lambda's default
        own = [at for at, passage in enumerate(passages) if room.scale_of(passage.document.text_id) == scale]
        result = statement_proof.check(bare, [passages[at].text for at in own], room.names)
        if result.verdict is not statement_proof.Finding.NOT_FOUND and not _SCALED.search(result.sentence):
            return replace(result, text=own[result.text])
    return None


def _amounts(sentence: str) -> list[StatedFigure]:
    return [figure for figure in figures(sentence) if not figure.is_date]


MARK: Final = "diligence check"
"""The generator that the page names: a page without it is somebody else's, and is not written over."""

_SIGNS: Final = {MemoVerdict.SUPPORTED: "✓", MemoVerdict.CONTRADICTED: "✗", MemoVerdict.NOT_FOUND: "?"}
_VERDICTS: Final = {
    MemoVerdict.SUPPORTED: "supported",
    MemoVerdict.CONTRADICTED: "contradicted",
    MemoVerdict.NOT_FOUND: "not found",
}


class MemoSegment(NamedTuple):
    """A stretch of the memo's text: the innermost claim that it belongs to, and the claims that end with it.

    Claims are numbered from 1; 0 means none.
    """

    text: str
    claim: int
    ending: Sequence[int]


def as_json(memo: str, checked: Sequence[CheckedClaim]) -> str:
    """The JSON of a checked memo: `{memo, statements: [{text, kind, verdict, places, why}]}`."""
    content = {"memo": memo, "statements": [_row(one) for one in checked]}
    return escape_text(json.dumps(content, ensure_ascii=False, indent=2)) + "\n"


def _row(one: CheckedClaim) -> dict[str, Any]:
    return {
        "text": one.statement.text,
        "kind": str(one.statement.kind),
        "verdict": str(one.verdict),
        "places": [asdict(place) for place in one.places],
        "why": one.why,
    }


def render_memo(memo: str, room: str, text: str, checked: Sequence[CheckedClaim], unread: Sequence[str]) -> str:
    """The page of a checked memo: `memo` and `room` are their names, `unread` the documents that could not be read."""
    style = part("memo.css")
    policy = f"default-src 'none'; style-src {allow_source(style)}; img-src data:; base-uri 'none'; form-action 'none'"
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
    """The memo's text, split into segments; quotations are within sentences."""
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
