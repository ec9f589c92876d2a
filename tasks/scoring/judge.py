"""Judged criteria: passages found, a judgement asked for, every quotation checked against the stored text."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from storage.scores import ScoreStatus
from tasks.ai.answerer import Answerer, AnswererFailed, Source, Usage
from tasks.ai.prompt import as_material
from tasks.ai.remembered import judge_once
from tasks.errors import DiligenceError
from tasks.scoring.criteria import Judged
from tasks.scoring.evidence import Evidence, Found
from tasks.scoring.finding import Finding

_PASSAGES = 12  # what a judge is given; at about 1,200 characters each well within a small model's window
_SHOWN = 5  # what a reader is shown where no judgement is made
_MOST_QUOTES = 12  # of one judgement; a model that repeats itself must not fill the report
_LONGEST = 2000  # characters of a quotation that stands nowhere; of one that stands, the text's own span is kept

# A NUL cannot be stored, and no model means one.
Words = Annotated[str, AfterValidator(lambda words: words.replace("\0", ""))]


class JudgedQuote(BaseModel):
    """Words copied from one of the numbered sources."""

    model_config = ConfigDict(extra="forbid")

    source: int = Field(description="the number of the source that the words stand in")
    text: Words = Field(description="the words exactly as they stand there, one or two sentences")


class Judgement(BaseModel):
    """A judge's answer to one criterion."""

    model_config = ConfigDict(extra="forbid")

    found: bool = Field(description="whether the sources say anything that bears on the question")
    score: float | None = Field(description="the score on the scale; null when nothing was found", allow_inf_nan=False)
    reason: Words = Field(description="why, in two or three sentences that rest on the quotes")
    quotes: list[JudgedQuote] = Field(description="one to four quotations that prove the reason")


def judge(
    criterion: Judged, scale: tuple[float, float], company: str, evidence: Evidence, answerer: Answerer
) -> Finding:
    """Judge one criterion for one company. A model's failure is a finding too: `unscored`, with the passages."""
    found = evidence.find(f"{criterion.ask} {criterion.guide}", _PASSAGES)
    if not found:
        return Finding(ScoreStatus.MISSING, _nothing(evidence), missing=criterion.ask)
    if not answerer.judges:
        return _unscored("No model is configured (DILIGENCE_AI_MODEL), so no judgement was made.", found)
    sources = [Source(number, each.document.name, each.place, each.text) for number, each in enumerate(found, 1)]
    try:
        judged = judge_once(answerer, _instructions(criterion, scale, company), as_material(sources), Judgement)
    except AnswererFailed as error:
        return _unscored(error.message, found, failed=True, usage=error.usage)
    except DiligenceError as error:
        return _unscored(error.message, found, failed=True)
    return _checked(criterion, scale, judged.value, judged.usage, found, evidence)


def _instructions(criterion: Judged, scale: tuple[float, float], company: str) -> str:
    low, high = scale
    guide = f"\nWhat a score means: {criterion.guide}" if criterion.guide else ""
    return (
        f"Judge the company {company!r} by one question, from the numbered sources alone.\n"
        f"Question: {criterion.ask}{guide}\n"
        f"Scale: from {low:g} (lowest) to {high:g} (highest).\n"
        "Quote word for word what your reason rests on, for and against. A quotation that does not stand in its "
        "source to the letter is thrown away, and a judgement without one does not count. When the sources say "
        "nothing that bears on the question, answer found: false and score: null, and do not guess."
    )


def _checked(
    criterion: Judged,
    scale: tuple[float, float],
    judgement: Judgement,
    usage: Usage,
    found: Sequence[Found],
    evidence: Evidence,
) -> Finding:
    """Keep of a judgement what its quotations prove."""
    reason = " ".join(judgement.reason.split())
    if not judgement.found or judgement.score is None:
        return Finding(
            ScoreStatus.MISSING, reason or "The passages found do not tell.", missing=criterion.ask, usage=usage
        )
    proved, unverified = _proved(judgement.quotes, found, evidence)
    low, high = scale
    if not low <= judgement.score <= high:
        problem = f"The model gave {judgement.score:g}, which is not on the scale from {low:g} to {high:g}."
        return Finding(ScoreStatus.UNSCORED, problem, quotes=proved, unverified=unverified, failed=True, usage=usage)
    if not proved:
        reason = f"No quotation could be verified, so the judgement does not count. It said: {reason}"
        return Finding(ScoreStatus.UNSUPPORTED, reason, unverified=unverified, usage=usage)
    return Finding(ScoreStatus.SCORED, reason, score=judgement.score, quotes=proved, unverified=unverified, usage=usage)


def _proved(quotes: Sequence[JudgedQuote], found: Sequence[Found], evidence: Evidence) -> tuple[list[Found], list[str]]:
    """The quotations that stand somewhere, each where it stands, and those that stand nowhere; none twice."""
    proved: dict[tuple[str, int, int], Found] = {}
    unverified: dict[str, None] = {}
    for quote in quotes[:_MOST_QUOTES]:
        said_to_stand = found[quote.source - 1] if 1 <= quote.source <= len(found) else None
        stands = evidence.verify(quote.text, said_to_stand)
        if stands is None:
            unverified[quote.text[:_LONGEST]] = None
        else:
            proved[stands.document.document_id, stands.start, stands.end] = stands
    return list(proved.values()), list(unverified)


def _nothing(evidence: Evidence) -> str:
    """Why no passage was found."""
    if not evidence.documents:
        return "The data room holds no document."
    unread = len(evidence.unread)
    if unread == len(evidence.documents):
        return "No document of the data room gave any text."
    among = f" {unread} of its {len(evidence.documents)} documents gave no text." if unread else ""
    return f"No passage of the data room shares a word with the question.{among}"


def _unscored(reason: str, found: Sequence[Found], *, failed: bool = False, usage: Usage | None = None) -> Finding:
    return Finding(
        ScoreStatus.UNSCORED,
        f"{reason} The passages that speak to it are shown.",
        quotes=found[:_SHOWN],
        failed=failed,
        usage=usage or Usage(),
    )
