"""Judged criteria: passages found, a judgement asked for as often as wanted, its quotations checked.

Finding and checking read the evidence and belong to one thread; asking takes long, touches nothing of
ours and may be done in another.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from storage.scores import ScoreStatus
from tasks.ai.answerer import Answerer, Source
from tasks.ai.ledger import BudgetSpent, Ledger
from tasks.ai.orders import without_orders
from tasks.ai.prompt import as_material
from tasks.ai.remembered import judge_once
from tasks.errors import DiligenceError, TooLarge
from tasks.scoring.criteria import Judged
from tasks.scoring.evidence import Evidence, Found
from tasks.scoring.finding import Finding, Quotation
from tasks.scoring.judgement import Judgement, instructions
from tasks.scoring.nearest import nearest_passages
from tasks.scoring.proving import prove
from tasks.scoring.repeats import taken_together

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
    name, place = (without_orders(words)[0] for words in (found.document.name, found.place))
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
