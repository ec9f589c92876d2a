"""The second check of a reason: the model is asked what the sources of its statements say of them.

By words the statements of a reason are checked when the judgement is (`judgement`): what a passage says stands, and in
place of what a passage contradicts stands its sentence. Only what is then left is asked about, the statements that no
passage says in their words: of those that are supported about one in a hundred is false, and asking about them too
would more than double the calls. All statements of a reason are one call, and only the reason that is shown is checked,
not those of repeated judgements.

The verdicts stand behind the reason and move no score. Whatever goes wrong is a warning, and after a failure no other
reason of the company is checked: a model that gives no verdicts is asked once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from tasks.ai.answerer import Answerer, NotAsked
from tasks.ai.budget import BudgetSpent, Ledger
from tasks.ai.settings import AiSettings
from tasks.ai.statement_check import Opinion, second_opinions
from tasks.errors import DiligenceError
from tasks.scoring.judge import Question
from tasks.scoring.results import CriterionResult
from tasks.statements.answers import CheckedStatement, Ground
from tasks.statements.check import Verdict

_MOST: Final = 8
"""Statements of one reason, which has two or three sentences."""
_LONGEST: Final = 500
"""Characters of a statement in an estimate: a reason has at most 4,000."""

Opinions = Mapping[int, Opinion]


class ReasonChecks:
    """Checks the reasons of one company's judgements. Safe to use from several threads."""

    def __init__(self, company: str, answerer: Answerer, ledger: Ledger | None) -> None:
        """Checks by that model; the company's name may stand for a source's "we"."""
        self._company, self._answerer, self._ledger = company, answerer, ledger
        self._failure: DiligenceError | None = None

    @property
    def are_made(self) -> bool:
        """Whether a model checks, and the settings want it."""
        return self._answerer.judges and AiSettings.current().ai_statement_check

    def left(self, question: Question, result: CriterionResult) -> Sequence[CheckedStatement]:
        """The statements of a result's reason that are to be asked about; in an estimate the longest there can be."""
        if not self.are_made:
            return ()
        if result.estimated:
            texts = [source.text for source in question.passages.without]
            most = (texts * _MOST)[:_MOST]
            return [CheckedStatement(text[:_LONGEST], Verdict.NOT_FOUND, quote=text) for text in most]
        return result.unproved[:_MOST] if result.status.counts else ()

    def ask(self, statements: Sequence[CheckedStatement], question: Question) -> Opinions | DiligenceError:
        """The verdicts, by the statement's place, or why there are none."""
        if self._failure is not None:
            return self._failure
        sources = question.passages.without  # words that give orders prove nothing
        grounds = [Ground(source.number, None, source.text, source.text) for source in sources]
        try:
            return second_opinions(self._answerer, statements, self._company, grounds, ledger=self._ledger)
        except NotAsked:
            return {}
        except DiligenceError as error:
            self._failure = error
            return error


def with_opinions(
    result: CriterionResult, statements: Sequence[CheckedStatement], opinions: Opinions | DiligenceError
) -> CriterionResult:
    """The result, with the verdicts behind its reason; with a warning where there are none."""
    if isinstance(opinions, DiligenceError):
        warning = f"The statements of its reason were checked by their words alone. {opinions.message}"
        unfinished = result.unfinished or isinstance(opinions, BudgetSpent)
        return replace(result.warned(warning), unfinished=unfinished)
    verdicts: dict[Opinion, list[str]] = {"supported": [], "contradicted": [], "not said": []}
    for place, opinion in opinions.items():
        verdicts[opinion].append(statements[place].text)
    if not any(verdicts.values()):
        return result
    asked = "one statement" if len(opinions) == 1 else f"{len(opinions)} statements"
    counts = ", ".join(
        f"{len(texts)} {opinion}" + (": " + " ".join(f"“{text}”" for text in texts) if opinion != "supported" else "")
        for opinion, texts in verdicts.items()
        if texts
    )
    note = f"(By their words, the passages do not say {asked} of this reason; second check by the model: {counts}.)"
    return replace(result, reason=f"{result.reason} {note}")
