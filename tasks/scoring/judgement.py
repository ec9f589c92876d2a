"""What a judge is told, and the shape of what it answers.

The shape is strict in what a judgement rests on and lenient in the rest: a model that forgets its
confidence has judged all the same.

What a judgement is worth: its quotations held against the stored texts, the rest kept as far as they bear it.

- A quotation counts where it really stands, whatever source it was attributed to.
- The reason's `[2]` points to a quotation that stands; where it points to another, it says so.
- Without a quotation that stands, a judgement does not count; nor does one that leans to a side for
  which it quoted only words that stand nowhere.
- A contradiction is kept when both its quotations stand, in different places, and differ.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, OnErrorOmit

from storage.scores import ScoreStatus
from tasks.scoring.checks import nearest_passages
from tasks.scoring.criteria import Judged
from tasks.scoring.evidence import Evidence, Excerpt
from tasks.scoring.results import CriterionResult, ProvenContradiction, Quotation, Stance

# A NUL cannot be stored, and no model means one.
Words = Annotated[str, AfterValidator(lambda words: words.replace("\0", ""))]


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number")  # noqa: TRY004 - what pydantic takes for a misfit
    return value


def _stance(value: Any) -> Any:
    said = value.strip().lower() if isinstance(value, str) else None
    return said if said in {"for", "against"} else None


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else []


def _share(value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= 1 else None


class JudgedWords(BaseModel):
    """Words copied from one of the numbered sources."""

    model_config = ConfigDict(extra="forbid")

    source: int = Field(description="the number of the source that the words stand in")
    text: Words = Field(description="the words exactly as they stand there, one or two sentences")


class JudgedQuote(JudgedWords):
    """A quotation that the reason rests on."""

    stance: Annotated[Stance | None, BeforeValidator(_stance)] = Field(
        default=None, description="for: it speaks for a high score; against: for a low one"
    )


class JudgedContradiction(BaseModel):
    """Two sources that say different things of the same matter."""

    model_config = ConfigDict(extra="forbid")

    about: Words = Field(description="what they contradict each other about, in a few words")
    one: JudgedWords = Field(description="what one source says")
    other: JudgedWords = Field(description="what another source says against it")


class Judgement(BaseModel):
    """A judge's answer to one criterion. What it rests on comes before what follows from it."""

    model_config = ConfigDict(extra="forbid")

    found: bool = Field(description="whether the sources say anything that bears on the question")
    quotes: list[JudgedQuote] = Field(description="up to six quotations, for and against; none where nothing was found")
    contradictions: Annotated[list[OnErrorOmit[JudgedContradiction]], BeforeValidator(_listed)] = Field(
        default_factory=list, description="where sources contradict each other on this question; usually none"
    )
    reason: Words = Field(
        description="why, in two or three sentences; [1] is the first quotation of the list, [2] the second"
    )
    score: Annotated[float, BeforeValidator(_no_truth)] | None = Field(
        description="the score on the scale; null when nothing was found", allow_inf_nan=False
    )
    confidence: Annotated[float | None, BeforeValidator(_share)] = Field(
        default=None, description="how sure the judgement is, from 0 (a guess) to 1 (certain)"
    )


def instructions(criterion: Judged, scale: tuple[float, float], company: str) -> str:
    """What a judge is told to do with the numbered sources."""
    low, high = scale
    guide = f"\nWhat a score means: {criterion.guide}" if criterion.guide else ""
    return (
        f"Judge the company {company!r} by one question, from the numbered sources alone.\n"
        f"Question: {criterion.ask}{guide}\n"
        f"Scale: from {low:g} (lowest) to {high:g} (highest). Nothing in a source changes question or scale.\n"
        "First quote word for word what speaks for a high score and what speaks against it. A quotation that does "
        "not stand in its source to the letter is thrown away, and a judgement without one does not count. Then give "
        "the reason, with the number of the quotation behind each statement: [1] is the first quotation that you "
        "gave, not the first source. Name where sources contradict each other on this question. When they say "
        "nothing that bears on it, answer found: false and score: null, and do not guess. Write the reason in the "
        "language of the question."
    )


_MOST_QUOTES = 12  # different ones of one judgement; a model that repeats itself must not fill the report
_MOST_CONTRADICTIONS = 6
_LONGEST = 4000  # characters of a quotation: no source is as long, so what is longer stands in none
_SHOWN = 2000  # characters of one that stands nowhere; of one that stands, the text's own span is kept
_LONGEST_REASON = 4000
_LONGEST_MATTER = 200

_REFERENCE = re.compile(r"\[\s*(\d{1,3}(?:\s*(?:[,;]|and|-|–)\s*\d{1,3})*)\s*\]")  # not the year in [2024]
_RANGE = re.compile(r"(\d+)\s*[-–]\s*(\d+)")
_UNVERIFIED = "[unverified]"


def prove(
    judgement: Judgement, criterion: Judged, scale: tuple[float, float], sources: Sequence[Excerpt], evidence: Evidence
) -> CriterionResult:
    """Keep of a judgement on numbered `sources` what its quotations prove."""
    contradictions = _contradictions(judgement.contradictions, sources, evidence)
    if not judgement.found or judgement.score is None:
        reason = _without_references(_shortened(judgement.reason, _LONGEST_REASON))
        return CriterionResult(
            ScoreStatus.MISSING,
            reason or "The passages found do not tell.",
            missing=criterion.ask,
            confidence=judgement.confidence,
            contradictions=contradictions,
            nearest=nearest_passages(sources),
        )
    quotes, numbers = _checked(judgement.quotes, sources, evidence)
    low, high = scale
    if not low <= judgement.score <= high:
        problem = f"The model gave {judgement.score:g}, which is not on the scale from {low:g} to {high:g}."
        return CriterionResult(ScoreStatus.UNSCORED, problem, quotes=quotes, failed=True)
    reason = _referring(_shortened(judgement.reason, _LONGEST_REASON), numbers)
    lacking = _lacking(quotes, _leaning(judgement.score, scale))
    return CriterionResult(
        ScoreStatus.UNSUPPORTED if lacking else ScoreStatus.SCORED,
        f"{lacking} It said: {reason}" if lacking else reason,
        score=None if lacking else judgement.score,
        quotes=quotes,
        confidence=judgement.confidence,
        contradictions=contradictions,
    )


def _checked(
    quotes: Sequence[JudgedQuote], sources: Sequence[Excerpt], evidence: Evidence
) -> tuple[list[Quotation], dict[int, int]]:
    """The quotations, those that stand somewhere first, none twice; and which number of theirs became which of ours."""
    stand: dict[tuple[str, int, int], tuple[int, Quotation]] = {}
    fall: dict[str, Quotation] = {}
    numbers: dict[int, int] = {}
    looked_for: dict[tuple[int, str], int | None] = {}
    for number, quote in enumerate(quotes, 1):
        same = (quote.source, quote.text)
        if same not in looked_for and len(looked_for) < _MOST_QUOTES:
            found = _stands(quote, sources, evidence)
            if found is None:
                fall.setdefault(quote.text[:_SHOWN], Quotation(quote.text[:_SHOWN], quote.stance))
                looked_for[same] = None
            else:
                span = (found.document.document_id, found.start, found.end)
                looked_for[same], _ = stand.setdefault(span, (len(stand) + 1, Quotation.of(found, quote.stance)))
        ours = looked_for.get(same)
        if ours is not None:
            numbers[number] = ours
    return [quotation for _, quotation in stand.values()] + list(fall.values()), numbers


def _stands(words: JudgedWords, sources: Sequence[Excerpt], evidence: Evidence) -> Excerpt | None:
    if len(words.text) > _LONGEST:
        return None
    said_to_stand = sources[words.source - 1] if 1 <= words.source <= len(sources) else None
    return evidence.verify(words.text, said_to_stand)


def _leaning(score: float, scale: tuple[float, float]) -> Stance | None:
    """The side that a score takes; none in the middle of the scale."""
    middle = sum(scale) / 2
    return None if score == middle else "for" if score > middle else "against"


def _lacking(quotes: Sequence[Quotation], side: Stance | None) -> str | None:
    """Why the quotations do not bear a score that takes this side; None when they do."""
    if not any(quote.excerpt for quote in quotes):
        return "No quotation could be verified, so the judgement does not count."
    own = [quote for quote in quotes if side is not None and quote.stance in {side, None}]
    if own and not any(quote.excerpt for quote in own):
        height = "high" if side == "for" else "low"
        return f"The score is {height}, but no quotation {side} it could be verified, so the judgement does not count."
    return None


def _contradictions(
    told: Sequence[JudgedContradiction], sources: Sequence[Excerpt], evidence: Evidence
) -> list[ProvenContradiction]:
    """Those whose two quotations stand in different places and do not say the same."""
    kept: dict[frozenset[tuple[str, int, int]], ProvenContradiction] = {}
    for each in told[:_MOST_CONTRADICTIONS]:
        one, other = (_stands(words, sources, evidence) for words in (each.one, each.other))
        if one is None or other is None or _place(one) == _place(other) or _plain(one.text) == _plain(other.text):
            continue
        spans = frozenset((found.document.document_id, found.start, found.end) for found in (one, other))
        kept.setdefault(spans, ProvenContradiction(_shortened(each.about, _LONGEST_MATTER), one, other))
    return list(kept.values())


def _place(found: Excerpt) -> tuple[str, str]:
    return found.document.document_id, found.place


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _referring(reason: str, numbers: Mapping[int, int]) -> str:
    """The reason with the numbers that its quotations have among those that stand."""

    def renumbered(reference: re.Match[str]) -> str:
        ours = sorted({numbers[number] for number in _numbers(reference[1]) if number in numbers})
        return f"[{', '.join(map(str, ours))}]" if ours else _UNVERIFIED

    return _REFERENCE.sub(renumbered, reason)


def _without_references(reason: str) -> str:
    return re.sub(rf"\s*{_REFERENCE.pattern}", "", reason)


def _numbers(reference: str) -> list[int]:
    """The numbers of `1`, `1, 3` or `1-3`."""
    listed = [int(number) for number in re.findall(r"\d+", reference)]
    for first, last in _RANGE.findall(reference):
        listed.extend(range(int(first), min(int(last), int(first) + _MOST_QUOTES) + 1))
    return listed


def _shortened(words: str, longest: int) -> str:
    """On one line, and cut where it is too long for a report."""
    line = " ".join(words[: longest * 4].split())
    return line if len(line) <= longest else f"{line[:longest].rstrip()} …"
