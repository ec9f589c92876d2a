"""What a report recommends to do about a company, drawn from its outcomes alone: no model is asked for it."""

from typing import Final, NamedTuple

from tasks.reports.findings import RedFlag, possible_range, red_flags
from tasks.reports.models import CompanyReport
from tasks.reports.wording import WHOLE, percent, sentence, to_request, total_in_words

ENOUGH: Final = 0.5
"""From this share of the weight on what was scored is enough to recommend something."""
_NAMED: Final = 3


class Recommendation(NamedTuple):
    """One sentence that says what to do, and the steps, the most severe first."""

    lead: str
    steps: list[str]


def recommend(company: CompanyReport, scale: tuple[float, float]) -> Recommendation:
    """What to do about the company, in the scores' light.

    The steps are what the criteria recommend where the company falls short of them, and what to ask it for.
    """
    flags = red_flags(company, scale)
    steps = [f"{flag.criterion.name}: {flag.criterion.recommend}" for flag in flags if flag.criterion.recommend]
    requests = [request.missing for request in to_request(company) if request.missing is not None]
    if requests:
        more = f" and {len(requests) - _NAMED} more" if len(requests) > _NAMED else ""
        steps.append(sentence(f"Ask the company for: {'; '.join(requests[:_NAMED])}{more}"))
    return Recommendation(_lead(company, flags), steps)


def standing(company: CompanyReport, ranked: int) -> str:
    """Where the company stands in a sentence or two: its rank, its total, and where the total may still end.

    `ranked` is how many companies have a rank.
    """
    rank = f"Rank {company.rank} of {ranked}. " if company.rank is not None else ""
    total = total_in_words(company)
    span = possible_range(company)
    if span is None or company.coverage is None or company.coverage >= WHOLE:
        return f"{rank}Total: {total}."
    return (
        f"{rank}Total: {total}; with {percent(1 - company.coverage)} still open it may end anywhere "
        f"from {percent(span[0])} to {percent(span[1])}."
    )


def _lead(company: CompanyReport, flags: list[RedFlag]) -> str:
    high = [flag.criterion.name for flag in flags if flag.severity == "high"]
    grave = f"{len(high)} grave {'finding' if len(high) == 1 else 'findings'}"
    if company.total is None or company.coverage is None:
        return "No recommendation: nothing could be scored."
    if company.coverage < ENOUGH:
        known = f" {grave[0].upper()}{grave[1:]} so far: {_some(high)}." if high else ""
        return f"Too early to say: {percent(company.coverage)} of the weight could be scored.{known}"
    if high:
        return f"Settle {grave} before going on: {_some(high)}."
    if flags:
        return f"Go on, and settle on the way: {_some([flag.criterion.name for flag in flags])}."
    if company.coverage < WHOLE:
        return f"Go on: nothing falls short among the {percent(company.coverage)} of the weight that could be scored."
    return "Go on: nothing falls short."


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
