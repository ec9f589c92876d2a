"""The flow `estimate`: a dry run that counts model calls, tokens and cost without calling the model.

The data rooms are indexed and read as in the run, and their texts are stored, so that the run does not read
them again. The prompts are those of the run. Cached answers are not counted, and no outcome is stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from flows.batch_file import read_batch
from flows.engine import flow
from flows.extract_all import extract_all
from flows.index_folder import index_folder
from flows.run import companies_to_do, temporary_run
from storage import database, runs
from storage.runs import RunCompany
from storage.settings import override_settings
from tasks.ai.registry import current_answerer
from tasks.errors import DiligenceError
from tasks.scoring.ask import Width, search_plans
from tasks.scoring.estimate import BRIEF_ANSWER, CountingAnswerer
from tasks.scoring.evidence import Evidence
from tasks.scoring.isolation import JudgementAlone, PortionReading
from tasks.scoring.score import Inputs, criterion_results
from tasks.spending.budget import LONGEST_ANSWER, cap_and_price, find_ledger
from tasks.spending.money import Cap, Pace, Price, Usage
from tasks.table.cells import ask_company


@dataclass(frozen=True)
class CompanyEstimate:
    """What one company would cost. `problem` says why that could not be estimated.

    `most` is an upper limit: every prompt and answer at its longest, every judgement requested twice because the first
    answer did not fit the schema, a second look at each document that was read by itself, and all of that again with
    another search plan because nothing was found.
    """

    name: str
    usual: Usage = field(default_factory=Usage)
    most: Usage = field(default_factory=Usage)
    problem: str | None = None


@dataclass(frozen=True)
class Estimate:
    """What a batch would still cost. `model` is None where no model is configured.

    `longest` is the length of an answer, in tokens, that `most` counts with: the budget's limit, or an assumption
    without a budget. `spent` and `spent_usd` are what the interrupted run has cost so far. `pace` is the measured speed
    of the model, if it was measured.
    """

    model: str | None
    price: Price | None
    cap: Cap | None
    longest: int
    spent: Usage
    spent_usd: float | None
    companies: Sequence[CompanyEstimate]
    pace: Pace | None = None

    @property
    def usual(self) -> Usage:
        """What all companies together would typically use."""
        return sum((company.usual for company in self.companies), Usage())

    @property
    def most(self) -> Usage:
        """The most that all companies together could use."""
        return sum((company.most for company in self.companies), Usage())

    def fits(self, usage: Usage) -> bool:
        """Whether `usage`, on top of what was spent, stays within the budget; always true without one."""
        if self.cap is None:
            return True
        if self.cap.tokens is not None:
            total = self.spent + usage
            return total.input_tokens + total.output_tokens <= self.cap.tokens
        assert self.cap.usd is not None
        return self.price is None or (self.spent_usd or 0.0) + self.price.of(usage) <= self.cap.usd


@flow(name="estimate")
def estimate(batch_file: Path, criteria: Path | None = None) -> Estimate:
    """Estimate what a batch would cost; for an interrupted run, the part that is left.

    Args:
        batch_file: the YAML or CSV file.
        criteria: the criteria file; needed with a CSV.

    Raises:
        BadRequest: what is wrong in the files. Conflict: the batch is being run.
        NotConfigured: the budget is in USD and the model's price is not known.
    """
    screen = read_batch(batch_file, criteria)
    with override_settings(screen.settings):
        cap, price = cap_and_price()
        with temporary_run(screen) as run:
            longest = find_ledger(run).answer_limit or LONGEST_ANSWER
            planned: set[str] = set()
            companies = [_count(company, longest, planned) for company in companies_to_do(run)]
            with database.reading() as session:
                row = runs.get_run(session, run)
            spent = Usage(row.calls, row.input_tokens, row.output_tokens)
            answerer = current_answerer()
            return Estimate(answerer.model, price, cap, longest, spent, row.usd, companies, answerer.pace)


def _count(company: RunCompany, longest: int, planned: set[str]) -> CompanyEstimate:
    """Read a company's data room and count what would be asked.

    `longest` is the most tokens of one answer; `planned` are the search plans that earlier companies asked for.
    """
    assert company.id is not None
    answerer = CountingAnswerer(current_answerer(), planned, reading=PortionReading, second_look=JudgementAlone)
    try:
        room_id = index_folder(company.folder, company_id=company.id)
        extract_all(company.folder, room_id=room_id, company_id=company.id)
        with database.reading() as session:
            inputs = Inputs.of(session, company.id)
        evidence = Evidence(company.id, inputs.documents)
        plans = search_plans(evidence.open_to(answerer), answerer, None)
        for _result in criterion_results(inputs, evidence, answerer, None, plans):
            pass
        ask_company(company.id, answerer, None)
    except DiligenceError as error:
        return CompanyEstimate(company.name, problem=error.message)
    usual = min(longest, BRIEF_ANSWER) if Width.of(answerer).is_narrow else longest
    return CompanyEstimate(company.name, usual=answerer.usual(usual), most=answerer.most(longest))
