"""The flow `estimate`: what a run would ask of the model and what that costs, before anything is asked.

The data rooms are indexed and read as the run would do it, and what was read is kept for the run. The
prompts are those of the run, answers that are kept are not counted, and no outcome is written down.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prefect import flow

from flows.batch_file import read_batch
from flows.extract_all import extract_all
from flows.index_folder import index_folder
from flows.run import companies_to_do, run_in_passing
from storage import database, runs
from storage.runs import RunCompany
from storage.settings import override_settings
from tasks.ai.budget import LONGEST_ANSWER, cap_and_price, ledger_of
from tasks.ai.estimate import USUAL_ANSWER, CountingAnswerer
from tasks.ai.money import Cap, Price, Usage
from tasks.ai.registry import current_answerer
from tasks.errors import DiligenceError
from tasks.scoring.evidence import Evidence
from tasks.scoring.score import criterion_results


@dataclass(frozen=True)
class CompanyEstimate:
    """What one company would cost. `problem` says why it could not be told.

    `most` holds more than all that can be asked: every prompt and answer at its longest, and each judgement
    asked for a second time because the answer did not fit.
    """

    name: str
    usual: Usage = field(default_factory=Usage)
    most: Usage = field(default_factory=Usage)
    problem: str | None = None


@dataclass(frozen=True)
class Estimate:
    """What is still to be asked for a batch. `model` is None where no model is configured.

    `longest` is what `most` takes an answer for, in tokens: what the budget allows it, without one a guess.
    `spent` and `spent_usd` are what the run, when one was broken off, has cost already.
    """

    model: str | None
    price: Price | None
    cap: Cap | None
    longest: int
    spent: Usage
    spent_usd: float | None
    companies: Sequence[CompanyEstimate]

    @property
    def usual(self) -> Usage:
        """What all companies together would usually take."""
        return sum((company.usual for company in self.companies), Usage())

    @property
    def most(self) -> Usage:
        """What all companies together can take."""
        return sum((company.most for company in self.companies), Usage())

    def fits(self, usage: Usage) -> bool:
        """Whether `usage`, on top of what was spent, stays within the cap. Without one, it does."""
        if self.cap is None:
            return True
        if self.cap.tokens is not None:
            total = self.spent + usage
            return total.input_tokens + total.output_tokens <= self.cap.tokens
        assert self.cap.usd is not None
        return self.price is None or (self.spent_usd or 0.0) + self.price.of(usage) <= self.cap.usd


@flow(name="estimate")
def estimate(batch_file: Path, criteria: Path | None = None) -> Estimate:
    """Tell what a batch would cost. Of a run that was broken off: what is left of it.

    Args:
        batch_file: the YAML or CSV file.
        criteria: the criteria file; needed with a CSV.

    Raises:
        BadRequest: what is wrong in the files. Conflict: the batch is being run.
        NotConfigured: the budget is in USD and the model's price is not known.
    """
    asked = read_batch(batch_file, criteria)
    with override_settings(asked.settings):
        cap, price = cap_and_price()
        with run_in_passing(asked) as run:
            longest = ledger_of(run).answer_limit or LONGEST_ANSWER
            companies = [_count(company, longest) for company in companies_to_do(run)]
            with database.reading() as session:
                row = runs.get_run(session, run)
            spent = Usage(row.calls, row.input_tokens, row.output_tokens)
            return Estimate(current_answerer().model, price, cap, longest, spent, row.usd, companies)


def _count(company: RunCompany, longest: int) -> CompanyEstimate:
    """Read a company's data room and count what would be asked; `longest` is what one answer may have, in tokens."""
    assert company.id is not None
    answerer = CountingAnswerer(current_answerer())
    try:
        room_id = index_folder(company.folder, company_id=company.id)
        extract_all(company.folder, room_id=room_id, company_id=company.id)
        for _result in criterion_results(company.id, Evidence(company.id), answerer, None):
            pass
    except DiligenceError as error:
        return CompanyEstimate(company.name, problem=error.message)
    calls = answerer.calls
    # What did not fit is sent back with what is wrong with it: the prompt again, the answer, and as much once more.
    again = Usage(calls, answerer.most_input + 2 * calls * longest, calls * longest)
    return CompanyEstimate(
        company.name,
        usual=Usage(calls, answerer.usual_input, calls * min(USUAL_ANSWER, longest)),
        most=Usage(calls, answerer.most_input, calls * longest) + again,
    )
