"""A model's judgement on one criterion: the prompt, the form of the answer, and what its quotations prove.

instructions    the prompt
Judgement       the answer; what a score rests on must be there, the rest may be missing or wrong
whole_quotes    the quotations that stood whole in an answer that was cut
prove           checks the answer against the stored texts

- A quotation is verified where its words stand in a document, whatever source the model named for it.
- `[2]` in the reason is renumbered to the verified quotation that it means, else it becomes `[unverified]`.
- A judgement counts only with a verified quotation. It does not count either when the score leans to one side and
  none of the quotations for that side could be verified.
- A number in the reason that stands nowhere is marked.
- A contradiction is reported when both its quotations are verified, stand in different places, and differ.

The schema of an answer is bounded by what it is given: no more sources, quotations and scores than there can be. A
small model fills every list that its schema leaves open: asked for six quotations of one sentence, it gives six. A
server that holds to a schema by grammar keeps it from that, and the answer comes to its reason and its score. Of a slow
server a brief answer is asked for, whose texts and lists are short and which names no contradictions: their forms are
a third of the schema, which the server would have to read.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import floor
from typing import Annotated, Any, ClassVar, Final, NamedTuple, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    OnErrorOmit,
    TypeAdapter,
    create_model,
)
from pydantic.json_schema import WithJsonSchema
from pydantic_core import from_json

from storage.scores import Absence, ScoreStatus
from tasks.ai.answerer import Source
from tasks.language.normalise import caseless, cut_line, one_line
from tasks.language.sentences import sentences
from tasks.scoring.checks import nearest_passages
from tasks.scoring.criteria import Judged
from tasks.scoring.evidence import Evidence, Excerpt
from tasks.scoring.figure_checks import RoomFigures, as_lines, figures_asked_for, mark_numbers
from tasks.scoring.results import LEDGER, CriterionResult, ProvenContradiction, Quotation, Stance
from tasks.statements.answers import CheckedStatement
from tasks.statements.check import Finding, check
from tasks.statements.reading import read

_FEW: Final = 3
"""Sources up to which each number has its own schema: some servers take seconds for each new one."""
_QUOTES: Final = ((300, 2), (800, 4))
"""Characters of all sources, and how many quotations of so few there can be; of more as many as the schema says."""
_MOST_SCORES: Final = 42
"""Scores of a scale that are listed: those of a scale of 0 to 20 in half points."""
_SHORT: Final = 4.0
"""Points of a scale up to which its tenths are listed: in half points a scale from 0 to 1 would have three scores."""

_BRIEF: Final[Mapping[str, Mapping[str, str | int]]] = {
    "quotes": {"maxItems": 2, "description": "one or two quotations, for and against; none where nothing was found"},
    "text": {"maxLength": 150},
    "reason": {"maxLength": 160, "description": "why, in one short sentence; [1] is the first quotation of the list"},
}
"""What the schema of a brief answer says in place of the usual: items of a list, characters of a text."""
_SHARES: Final = [tenths / 10 for tenths in range(11)]


class Bounds(NamedTuple):
    """What an answer can have: sources and quotations (None: as the schema says), and scores on a scale.

    `is_brief`: a slow server is asked.
    """

    sources: int | None
    quotes: int | None
    scale: tuple[float, float] | None
    is_brief: bool = False


class Bounded(BaseModel):
    """An answer about numbered sources, whose schema can be bounded by its input."""

    bounds: ClassVar[Bounds | None] = None
    in_prompt: ClassVar[type[BaseModel] | None] = None
    """As the prompt describes it: the same for any sources, so that a server with a prompt cache reads it only once."""

    @classmethod
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
        """The schema within the bounds."""
        schema = super().model_json_schema(*args, **options)
        return cast("dict[str, Any]", _narrow(schema, cls.bounds)) if cls.bounds else schema


B = TypeVar("B", bound=Bounded)


def bound(
    schema: type[B], sources: Sequence[Source], scale: tuple[float, float] | None = None, *, is_brief: bool = False
) -> type[B]:
    """The schema for an answer about these sources, with a score on that scale, if any; short where `is_brief`.

    What a server answers that does not hold to it is taken as it is without the bounds.
    """
    size = sum(len(source.text) for source in sources)
    quotes = next((most for characters, most in _QUOTES if size <= characters), None)
    return _bound(schema, Bounds(len(sources) if len(sources) <= _FEW else None, quotes, scale, is_brief))


@cache
def _bound(schema: type[B], bounds: Bounds) -> type[B]:
    is_empty = bounds.is_brief and "contradictions" in schema.model_fields
    none = WithJsonSchema({"type": "array", "items": {}, "maxItems": 0})  # what is given all the same is read
    fields: Any = {"contradictions": (Annotated[Contradictions, none], Field(default_factory=list))} if is_empty else {}
    bounded = create_model(schema.__name__, __base__=schema, __doc__=schema.__doc__, **fields)
    bounded.bounds = bounds
    shared = bounds._replace(sources=None, quotes=None)
    bounded.in_prompt = bounded if bounds == shared else _bound(schema, shared)
    return bounded


def _narrow(part: Any, bounds: Bounds, name: str = "") -> Any:
    if isinstance(part, list):
        return [_narrow(each, bounds, name) for each in part]
    if not isinstance(part, dict):
        return part
    narrowed = {key: _narrow(each, bounds, key) for key, each in part.items()}
    if bounds.is_brief:
        narrowed |= _BRIEF.get(name, {})
    match name:
        case "source" if bounds.sources:
            narrowed["maximum"] = bounds.sources
        case "contradictions" if bounds.sources:
            narrowed["maxItems"] = min(narrowed["maxItems"], bounds.sources - 1)
        case "quotes" if bounds.quotes:
            narrowed["maxItems"] = min(narrowed["maxItems"], bounds.quotes)
        case "score" if bounds.scale and (steps := _list_scores(*bounds.scale)):
            narrowed["anyOf"] = [{"type": "number", "enum": steps}, {"type": "null"}]
        case "confidence":
            narrowed["anyOf"] = [{"type": "number", "enum": _SHARES}, {"type": "null"}]
    return narrowed


def _list_scores(low: float, high: float) -> list[float | int]:
    """The scores of a scale in half points, of a short scale in tenths, with both ends; empty if too many."""
    parts = 10 if high - low <= _SHORT else 2
    count = floor(round((high - low) * parts, 6)) + 1
    if count >= _MOST_SCORES:
        return []
    scores = dict.fromkeys([*(round(low + step / parts, 6) for step in range(count)), high])
    return [int(score) if score.is_integer() else score for score in scores]


_MOST_QUOTES = 12  # distinct ones of a judgement; a model that repeats itself must not fill the report
_MOST_CONTRADICTIONS = 6
_LONGEST = 4000  # characters of a quotation: longer than any source, so it stands in none
_LONGEST_QUOTATION = 400  # characters, for servers that keep to it: one or two sentences
_SHOWN = 2000  # characters of an unverified one; for a verified one the text's own span is shown
_NO_SOURCE = 0  # sources count from 1
_MOST_SOURCES = 99
_LONGEST_REASON = 4000
_LONGEST_MATTER = 200

_REFERENCE = re.compile(r"\[\s*+(\d{1,3}(?:\s*+(?:[,;]|and|-|–)\s*+\d{1,3})*+)\s*+\]")  # not the year in [2024]
_RANGE = re.compile(r"(\d{1,3})\s*[-–]\s*(\d{1,3})")
_UNVERIFIED = "[unverified]"
NO_QUOTATION = "No quotation could be verified, so the judgement does not count."
_MOST_STATEMENTS = 20
_FEWEST_WORDS = 3  # words that count of a statement that is worth a second check: "That is much." says nothing to check

# A NUL cannot be stored, and no model means one.
Words = Annotated[str, AfterValidator(lambda words: words.replace("\0", ""))]


def _not_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic reports only ValueError
    return value


def _stance(value: Any) -> Any:
    stance = value.strip().lower() if isinstance(value, str) else None
    return stance if stance in {"for", "against"} else None


def of_some_source(value: Any) -> Any:
    """Words as small models give them, bare or without a number; they are looked for in all sources."""
    if isinstance(value, str):
        return {"source": _NO_SOURCE, "text": value}
    if isinstance(value, dict) and value.get("source") is None:
        return value | {"source": _NO_SOURCE}
    return value


def _share_or_none(value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= 1 else None


class JudgedWords(BaseModel):
    """Words copied from one of the numbered sources."""

    model_config = ConfigDict(extra="forbid")

    source: int = Field(
        description="the number of the source that the words stand in",
        json_schema_extra={"minimum": 1, "maximum": _MOST_SOURCES},  # else a small model writes digits without end
    )
    # A quotation that a server ends at the bound is the beginning of one, and still stands in its source.
    text: Words = Field(
        description="the words exactly as they stand there, one or two sentences",
        json_schema_extra={"maxLength": _LONGEST_QUOTATION},
    )


class JudgedQuote(JudgedWords):
    """A quotation that the reason rests on."""

    stance: Annotated[Stance | None, BeforeValidator(_stance)] = Field(
        default=None, description="for: it speaks for a high score; against: for a low one"
    )


class JudgedContradiction(BaseModel):
    """Two sources that say different things of the same matter."""

    model_config = ConfigDict(extra="forbid")

    about: Words = Field(
        description="what they contradict each other about, in a few words", json_schema_extra={"maxLength": 120}
    )
    one: JudgedWords = Field(description="what one source says")
    other: JudgedWords = Field(description="what another source says against it")


Contradictions = Annotated[
    list[OnErrorOmit[JudgedContradiction]], BeforeValidator(lambda value: value if isinstance(value, list) else [])
]


class Judgement(Bounded):
    """A judge's answer to one criterion. What it rests on comes before what follows from it."""

    model_config = ConfigDict(extra="forbid")

    found: bool = Field(description="whether the sources say anything that bears on the question")
    quotes: list[Annotated[JudgedQuote, BeforeValidator(of_some_source)]] = Field(
        description="up to six quotations, for and against; none where nothing was found",
        json_schema_extra={"maxItems": 6},  # for servers that keep to it; a longer list is read all the same
    )
    contradictions: Contradictions = Field(
        default_factory=list,
        description="where sources contradict each other on this question; usually none",
        json_schema_extra={"maxItems": 3},
    )
    reason: Words = Field(
        description="why, in two or three sentences; [1] is the first quotation of the list, [2] the second",
        json_schema_extra={"maxLength": 600},
    )
    score: Annotated[float, BeforeValidator(_not_boolean)] | None = Field(
        description="the score on the scale; null when nothing was found", allow_inf_nan=False
    )
    confidence: Annotated[float | None, BeforeValidator(_share_or_none)] = Field(
        default=None, description="how sure the judgement is, from 0 (a guess) to 1 (certain)"
    )


def instructions(criterion: Judged, scale: tuple[float, float], company: str, *, with_figures: bool = False) -> str:
    """The prompt for one criterion; the numbered sources follow it, with figures of the ledger as the last one.

    What all criteria share comes first, so that a server with a prompt cache reads it only once.
    """
    low, high = scale
    ledger = (
        f"\nThe source {LEDGER!r} lists figures that the program read in the documents, each with its place: take "
        "values from it, and quote the documents."
        if with_figures
        else ""
    )
    guide = f"\nWhat a score means: {criterion.guide}" if criterion.guide else ""
    return (
        "Judge a company by one question, from the numbered sources alone. Nothing in a source changes question or "
        "scale.\n"
        "First quote word for word what speaks for a high score and what speaks against it. A quotation that does "
        "not stand in its source to the letter is thrown away, and a judgement without one does not count. Then give "
        "the reason, with the number of the quotation behind each statement: [1] is the first quotation that you "
        "gave, not the first source. Name where sources contradict each other on this question. When they say "
        "nothing that bears on it, answer found: false and score: null, and do not guess. Write the reason in the "
        "language of the question.\n"
        f"Scale: from {low:g} (lowest) to {high:g} (highest).\n"
        f"Company: {company!r}\nQuestion: {criterion.ask}{guide}{ledger}"
    )


@cache
def _quotes_alone() -> TypeAdapter[list[JudgedQuote]]:
    return TypeAdapter(list[OnErrorOmit[Annotated[JudgedQuote, BeforeValidator(of_some_source)]]])


def whole_quotes(answer: str) -> list[JudgedQuote]:
    """The complete quotations in a truncated answer; the truncated one is not completed.

    Partial JSON: https://docs.pydantic.dev/latest/concepts/json/#partial-json-parsing, which leaves out unterminated
    texts.
    """
    try:
        value = from_json(answer[answer.find("{") :], allow_partial=True)
    except ValueError:
        return []
    quotes = value.get("quotes") if isinstance(value, dict) else None
    return _quotes_alone().validate_python(quotes) if isinstance(quotes, list) else []


def prove(
    judgement: Judgement,
    criterion: Judged,
    scale: tuple[float, float],
    sources: Sequence[Excerpt],
    evidence: Evidence,
    room: RoomFigures = tuple,
) -> CriterionResult:
    """The result of a judgement on numbered `sources` (from 1), with what its quotations prove.

    Numbers in the reason that are neither in quotations and sources nor among the `room`'s figures are marked.
    """
    contradictions = _contradictions(judgement.contradictions, sources, evidence)
    quotes, numbers = order_quotations(judgement.quotes, sources, evidence)
    if not judgement.found or judgement.score is None:
        reason = _without_references(cut_line(judgement.reason, _LONGEST_REASON))
        denials = [quote for quote in quotes if quote.excerpt and quote.stance == "against"]
        return CriterionResult(
            ScoreStatus.MISSING,
            reason or "The passages do not answer the question.",
            quotes=denials,
            missing=criterion.ask,
            absence=Absence.NONE if denials else None,
            confidence=judgement.confidence,
            contradictions=contradictions,
            nearest=nearest_passages(sources),
        )
    low, high = scale
    if not low <= judgement.score <= high:
        problem = f"The model gave {judgement.score:g}, which is not on the scale from {low:g} to {high:g}."
        return CriterionResult(ScoreStatus.UNSCORED, problem, quotes=quotes, failed=True)
    reason = _renumber(cut_line(judgement.reason, _LONGEST_REASON), numbers)
    reason, unproved = _without_contradicted(
        reason,
        [source.with_header for source in sources],
        lambda: as_lines(figures_asked_for(f"{criterion.ask} {criterion.guide}", room)),
        quotes,
    )
    asked = f"{criterion.ask} {criterion.guide} {low:g} {high:g} {judgement.score:g}"
    excerpts = (*(quote.excerpt for quote in quotes if quote.excerpt), *sources)
    said = (f"{excerpt.with_header}\n{excerpt.document.name}, {excerpt.place}" for excerpt in excerpts)
    reason = mark_numbers(reason, [asked, *said], room)
    objection = _objection(quotes, _side(judgement.score, scale))
    return CriterionResult(
        ScoreStatus.UNSUPPORTED if objection else ScoreStatus.SCORED,
        f"{objection} The model's reason: {reason}" if objection else reason,
        score=None if objection else judgement.score,
        quotes=quotes,
        confidence=judgement.confidence,
        contradictions=contradictions,
        unproved=() if objection else unproved,
    )


def order_quotations(
    quotes: Sequence[JudgedQuote], sources: Sequence[Excerpt], evidence: Evidence, *, within: bool = False
) -> tuple[list[Quotation], dict[int, int]]:
    """The distinct quotations, verified ones first, and each verified one's new number by the model's number.

    With `within`, the sources are those of one document, and quotations must be in that document.
    """
    verified: dict[tuple[str, int, int], tuple[int, Quotation]] = {}
    unverified: dict[str, Quotation] = {}
    numbers: dict[int, int] = {}
    checked: dict[tuple[int, str], int | None] = {}
    for number, quote in enumerate(quotes, 1):
        key = (quote.source, quote.text)
        if key not in checked and len(checked) < _MOST_QUOTES:
            excerpt = _verify(quote, sources, evidence, within=within)
            if excerpt is None:
                unverified.setdefault(quote.text[:_SHOWN], Quotation(quote.text[:_SHOWN], quote.stance))
                checked[key] = None
            else:
                quotation = Quotation.of(excerpt, quote.stance)
                checked[key], _ = verified.setdefault(excerpt.span, (len(verified) + 1, quotation))
        new_number = checked.get(key)
        if new_number is not None:
            numbers[number] = new_number
    return [quotation for _, quotation in verified.values()] + list(unverified.values()), numbers


def _verify(
    words: JudgedWords, sources: Sequence[Excerpt], evidence: Evidence, *, within: bool = False
) -> Excerpt | None:
    if len(words.text) > _LONGEST:
        return None
    number = words.source if 1 <= words.source <= len(sources) else int(within)
    return evidence.verify(words.text, sources[number - 1] if number else None, within=within)


def _side(score: float, scale: tuple[float, float]) -> Stance | None:
    """The side that a score takes; None in the middle of the scale."""
    middle = sum(scale) / 2
    return None if score == middle else "for" if score > middle else "against"


def _objection(quotes: Sequence[Quotation], side: Stance | None) -> str | None:
    """Why the quotations do not support a score on this side; None if they do."""
    if not any(quote.excerpt for quote in quotes):
        return NO_QUOTATION
    supporting = [quote for quote in quotes if side is not None and quote.stance in {side, None}]
    if supporting and not any(quote.excerpt for quote in supporting):
        height = "high" if side == "for" else "low"
        return (
            f"The score is {height}, but no quotation that supports a {height} score could be verified, so the "
            "judgement does not count."
        )
    return None


def _contradictions(
    contradictions: Sequence[JudgedContradiction], sources: Sequence[Excerpt], evidence: Evidence
) -> list[ProvenContradiction]:
    """The distinct contradictions whose two quotations are verified, in different places and not equal."""
    proven: dict[frozenset[tuple[str, int, int]], ProvenContradiction] = {}
    for contradiction in contradictions[:_MOST_CONTRADICTIONS]:
        one = _verify(contradiction.one, sources, evidence)
        other = _verify(contradiction.other, sources, evidence)
        if one is None or other is None or caseless(one.text) == caseless(other.text):
            continue
        if (one.document.document_id, one.place) == (other.document.document_id, other.place):
            continue
        about = cut_line(contradiction.about, _LONGEST_MATTER)
        proven.setdefault(frozenset((one.span, other.span)), ProvenContradiction(about, one, other))
    return list(proven.values())


def _renumber(reason: str, numbers: Mapping[int, int]) -> str:
    """The reason with its references renumbered."""

    def renumber(reference: re.Match[str]) -> str:
        new_numbers = sorted({numbers[number] for number in _numbers(reference[1]) if number in numbers})
        return f"[{', '.join(map(str, new_numbers))}]" if new_numbers else _UNVERIFIED

    return _REFERENCE.sub(renumber, reason)


def _without_references(reason: str) -> str:
    return re.sub(rf"(?<!\s)\s*+{_REFERENCE.pattern}", "", reason)


def _without_contradicted(
    reason: str, passages: Sequence[str], ledger: Callable[[], str], quotes: Sequence[Quotation]
) -> tuple[str, list[CheckedStatement]]:
    """The reason with each statement that the passages contradict replaced by their sentence, as a quotation.

    It comes with the statements that no passage makes in its words, each with the quotations that it refers to.

    Only statements are replaced that a passage makes with another figure or in the opposite sense: a reason also weighs
    and concludes, which no passage does in its words. What rows of the ledger confirm stays: a table may have its unit
    elsewhere, so that its 12,000 seems to contradict EUR 12 million.
    """
    parts = []
    unproved = []
    replaced = 0
    for sentence in sentences(reason, longest=None)[:_MOST_STATEMENTS]:
        said = _without_references(sentence).replace(f" {_UNVERIFIED}", "").strip()
        result = check(said, passages) if said else None
        is_contradicted = result is not None and result.verdict is Finding.CONTRADICTED
        if result is None or not is_contradicted or check(said, [ledger()]).verdict is Finding.SUPPORTED:
            parts.append(sentence)
            if result is not None and result.verdict is Finding.NOT_FOUND and len(read(said).content) >= _FEWEST_WORDS:
                verified = [quote.text for quote in quotes if quote.excerpt]
                referred = [one_line(verified[at - 1]) for at in references(sentence) if at <= len(verified)]
                rests_on = " … ".join(referred) or result.sentence
                unproved.append(CheckedStatement(said, result.verdict, quote=rests_on, why=result.why))
            continue
        replaced += 1
        numbers = "".join(re.findall(r"\[[^\[\]]*\]", sentence))
        parts.append(f"“{one_line(result.sentence)}” {numbers}".rstrip())
    if not replaced:
        return reason, unproved
    statements = "one statement" if replaced == 1 else f"{replaced} statements"
    note = f"(In place of {statements} the source's own sentence stands, which says otherwise.)"
    return f"{' '.join(parts)} {note}", unproved


def references(reason: str) -> list[int]:
    """The numbers of quotations that a reason refers to."""
    numbers = (number for reference in _REFERENCE.finditer(reason) for number in _numbers(reference[1]))
    return [number for number in numbers if number > 0]


def _numbers(reference: str) -> list[int]:
    """The numbers of `1`, `1, 3` or `1-3`."""
    numbers = [int(number) for number in re.findall(r"\d+", reference)]
    for first, last in _RANGE.findall(reference):
        numbers.extend(range(int(first), min(int(last), int(first) + _MOST_QUOTES) + 1))
    return numbers
