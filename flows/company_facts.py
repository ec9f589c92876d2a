"""The flow `company_facts`: queries the fact sources for a company and stores the merged profile with its claims."""

from prefect.artifacts import create_markdown_artifact

from flows.artifacts import company_key, escape, flow
from storage import database, runs
from tasks.companies import facts
from tasks.reports.company import profile_facts
from tasks.tracking import show


@flow(name="company_facts")
def company_facts(domain: str, company_id: int | None = None) -> int | None:
    """Ask the configured sources for facts about a company.

    Args:
        domain: its web domain, as registered.
        company_id: the company of a run that the facts are for. A run goes on without facts: there is a
            warning then, and the criteria that need facts are missing.

    Returns:
        The id of the stored profile; None when a run goes on without one.

    Raises:
        BadRequest: `domain` is not a domain. NotFound, SourceFailed, NotConfigured: there are no facts, outside a run.
    """
    answer = facts.company_facts.tracked(domain) if company_id is None else facts.facts_or_reason.tracked(domain)
    if isinstance(answer, str):
        assert company_id is not None
        _assign(company_id, None, [answer])
        return None
    with database.reading() as session:
        stored = runs.latest_profile(session, domain)
    assert stored is not None
    if company_id is not None:
        _assign(company_id, stored.id, answer.warnings)
    if not answer.claims:
        return stored.id
    rows = [
        f"| {escape(fact.name)} | {escape(fact.value)} | {escape(fact.claim.source)} |"
        for fact in profile_facts(answer.claims)
    ]
    name = next((str(claim.value) for claim in answer.claims if claim.field == "name"), domain)
    show(
        create_markdown_artifact,
        "\n".join([f"# {escape(name)}", "", "| Fact | Value | Source |", "|---|---|---|", *rows]),
        key=company_key("facts", domain),
        description=f"{name}: what the sources say",
    )
    return stored.id


def _assign(company_id: int, profile_id: int | None, warnings: list[str]) -> None:
    with database.writing() as session:
        company = runs.get_company(session, company_id)
        company.profile_id = profile_id
        company.warnings = list(dict.fromkeys([*company.warnings, *warnings]))
        runs.save_company(session, company)
