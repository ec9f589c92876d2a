"""The flow `score_company`: scores one company on every criterion of a run, or copies scores that are still valid."""

from prefect.artifacts import create_markdown_artifact

from flows.artifacts import company_key, flow, scorecard
from flows.run import find_run_company
from tasks.reports.report import build
from tasks.scoring.score import score_criteria, take_over
from tasks.tracking import is_shown, show


@flow(name="score_company")
def score_company(domain: str, run: str = "latest") -> bool:
    """Score one company of a run on all of the run's criteria.

    Args:
        domain: the company's domain.
        run: the run's id, its batch's name, or `latest`.

    Returns:
        Whether every judgement that was requested was made.

    Raises:
        NotFound: no such run, or the company is not in it.
    """
    company = find_run_company(run, domain)
    assert company.id is not None
    if take_over(company.id):
        return True
    is_complete = score_criteria.tracked(company.id, is_new=True)
    if is_shown():
        report = build(company.run_id, company.domain, scores_alone=True)
        card = scorecard(report.companies[0], report.run)
        key = company_key("scorecard", company.domain)
        show(create_markdown_artifact, card, key=key, description=f"{company.name}: scores")
    return is_complete
