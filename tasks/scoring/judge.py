"""Judged criteria: passages found, a judgement asked for as often as wanted, its quotations checked.

Finding and checking read the evidence and belong to one thread; asking takes long, touches nothing of
ours and may be done in another.

Repeated judgements of one criterion taken together: the score in the middle, and how many agree with it.

A judge that is asked the same twice may answer twice; one answer alone does not show it.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import median_low

from storage.scores import ScoreStatus
from tasks.ai.answer_cache import judge_once
from tasks.ai.answerer import Answerer, Source
from tasks.ai.budget import BudgetSpent, Ledger
from tasks.ai.prompt_injection import without_injections
from tasks.ai.prompts import as_material
from tasks.errors import DiligenceError, TooLarge
from tasks.scoring.checks import nearest_passages
from tasks.scoring.criteria import Judged
from tasks.scoring.evidence import Evidence, Found
from tasks.scoring.judgement import Judgement, instructions, prove
from tasks.scoring.results import Contradiction, Finding, Quotation

# Of equally many, what claims less.
_CAUTIOUS_FIRST = (ScoreStatus.UNSUPPORTED, ScoreStatus.MISSING, ScoreStatus.SCORED)


def taken_together(findings: Sequence[Finding]) -> Finding:
    """One finding for what several judgements of the same criterion gave; of a single one, that one.

    Most of those that came out decide whether there is a score. It is the median, of an even number the
    lower of the two in the middle: a score that was given. `agreement` is the share of all repeats, failed
    ones too, that came out like it. The first of these gives the reason; the quotations are those of all
    of them. When every repeat failed, so did the criterion.
    """
    if len(findings) == 1:
        return findings[0]
    came_out = [finding for finding in findings if not finding.failed]
    if not came_out:
        return findings[0]
    alike = _alike(came_out)
    confidences = [each.confidence for each in alike if each.confidence is not None]
    return replace(
        alike[0],
        reason=alike[0].reason + _failures(findings),
        quotes=_joined(alike),
        confidence=median_low(confidences) if confidences else None,
        agreement=len(alike) / len(findings),
        contradictions=_contradictions(alike),
    )


def _alike(came_out: Sequence[Finding]) -> list[Finding]:
    """Those of the status that most have and, where they are scores, of the score in the middle."""
    counts = Counter(each.status for each in came_out)
    status = max(_CAUTIOUS_FIRST, key=lambda each: counts[each])  # the first one of equals
    alike = [each for each in came_out if each.status is status]
    scores = [each.score for each in alike if each.score is not None]
    if not scores:
        return alike
    middle = median_low(scores)
    return [each for each in alike if each.score == middle]


def _failures(findings: Sequence[Finding]) -> str:
    failed = [finding for finding in findings if finding.failed]
    return f" ({len(failed)} of {len(findings)} judgements failed. {failed[0].reason})" if failed else ""


def _joined(alike: Sequence[Finding]) -> list[Quotation]:
    """The quotations of all, each once, those that stand first; the first finding's keep their numbers."""
    kept: dict[Hashable, Quotation] = {}
    for quote in (quote for each in alike for quote in each.quotes):
        kept.setdefault(_span(quote.found) if quote.found else quote.text, quote)
    return sorted(kept.values(), key=lambda quote: quote.found is None)


def _contradictions(alike: Sequence[Finding]) -> list[Contradiction]:
    kept: dict[Hashable, Contradiction] = {}
    for each in (contradiction for finding in alike for contradiction in finding.contradictions):
        kept.setdefault(frozenset((_span(each.one), _span(each.other))), each)
    return list(kept.values())


def _span(found: Found) -> tuple[str, int, int]:
    return found.document.document_id, found.start, found.end


_PASSAGES = 12  # what a judge is given; at about 1,200 characters each well within a small model's window
_SHOWN = 5  # what a reader is shown where no judgement is made
SHOWN = " The passages that speak to it are shown."


@dataclass(frozen=True, slots=True)
class Said:
    """What a model made of the best `passages` of those found."""

    judgement: Judgement
    passages: int


Answers = list[Said | DiligenceError]


@dataclass(frozen=True, slots=True)
class Question:
    """A judged criterion made ready to be asked: the passages to judge by, and the prompt.

    The first `speaking` of `found` share words with the question. A room that has fewer than a judge is given
    is filled up with its other passages: what is asked in one language may be answered in another.
    """

    criterion: Judged
    scale: tuple[float, float]
    repeats: int
    found: Sequence[Found]
    speaking: int
    sources: Sequence[Source]
    instructions: str

    def ask(self, answerer: Answerer, ledger: Ledger | None = None) -> Answers:
        """What the model says each time, or why it said nothing. Ends where the budget does."""
        answers: Answers = []
        for nth in range(1, self.repeats + 1):
            try:
                answers.append(self._ask(answerer, ledger, nth))
            except BudgetSpent as spent:
                return [spent]
            except DiligenceError as error:
                answers.append(error)
        return answers

    def finding(self, answers: Answers, evidence: Evidence) -> Finding:
        """What the answers prove. A model's failure is a finding too: `unscored`, with the passages."""
        judged = taken_together([self._finding(answer, evidence) for answer in answers])
        if judged.status is ScoreStatus.UNSCORED and not judged.quotes:
            return _showing(judged, self.found[: self.speaking])
        if self.speaking:
            return judged
        given = f"No passage shares a word with the question; the model was given the room's first {len(self.found)}."
        return replace(judged, reason=f"{judged.reason} ({given})")

    def _ask(self, answerer: Answerer, ledger: Ledger | None, nth: int) -> Said:
        """Ask once; a model that cannot take all the passages is given the best half of them, and of these again."""
        passages = len(self.sources)
        while True:
            material = as_material(self.sources[:passages])
            try:
                said = judge_once(answerer, self.instructions, material, Judgement, ledger=ledger, nth=nth)
            except TooLarge:
                if passages == 1:
                    raise
                passages //= 2
            else:
                return Said(said.value, passages)

    def _finding(self, answer: Said | DiligenceError, evidence: Evidence) -> Finding:
        if isinstance(answer, DiligenceError):
            spent = isinstance(answer, BudgetSpent)
            return Finding(ScoreStatus.UNSCORED, answer.message, failed=not spent, unfinished=spent)
        finding = prove(answer.judgement, self.criterion, self.scale, self.found, evidence)
        if finding.nearest:
            finding = replace(finding, nearest=nearest_passages(self.found[: self.speaking]))
        if answer.passages == len(self.found):
            return finding
        taken = f"The model took only the best {answer.passages} of the {len(self.found)} passages found."
        return replace(finding, reason=f"{finding.reason} ({taken})")


def prepare(
    criterion: Judged,
    scale: tuple[float, float],
    company: str,
    evidence: Evidence,
    answerer: Answerer,
    repeats: int = 1,
) -> Question | Finding:
    """What to ask about one criterion for one company, or the finding where there is nothing or nobody to ask."""
    found = evidence.find(f"{criterion.ask} {criterion.guide}", _PASSAGES)
    speaking = len(found)
    if answerer.judges and speaking < _PASSAGES:
        found = [*found, *evidence.others(found, _PASSAGES - speaking)]
    if not found:
        return Finding(ScoreStatus.MISSING, _nothing(evidence), missing=criterion.ask)
    if not answerer.judges:
        nobody = "No model is configured (DILIGENCE_AI_MODEL), so no judgement was made."
        return _showing(Finding(ScoreStatus.UNSCORED, nobody), found)
    sources = [_source(number, each) for number, each in enumerate(found, 1)]
    return Question(criterion, scale, repeats, found, speaking, sources, instructions(criterion, scale, company))


def _source(number: int, found: Found) -> Source:
    """A passage as a source. A file's or a sheet's name can give orders too."""
    name, place = (without_injections(words)[0] for words in (found.document.name, found.place))
    return Source(number, name, place, found.telling)


def _nothing(evidence: Evidence) -> str:
    """Why no passage was found."""
    if not evidence.documents:
        return "The data room holds no document."
    unread = len(evidence.unread)
    if unread == len(evidence.documents):
        return "No document of the data room gave any text."
    among = f" {unread} of its {len(evidence.documents)} documents gave no text." if unread else ""
    return f"No passage of the data room shares a word with the question.{among}"


def _showing(finding: Finding, found: Sequence[Found]) -> Finding:
    """The finding with the passages that a judge would have seen."""
    if not found:
        return finding
    return replace(
        finding,
        reason=finding.reason + SHOWN,
        quotes=[Quotation.of(each) for each in found[:_SHOWN]],
    )
