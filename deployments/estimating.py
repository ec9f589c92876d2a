"""Telling what a batch would cost: a small table on stdout, the progress on stderr."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from deployments.running import progress_of, read_ready
from flows import embedded
from tasks.ai.money import dollars

if TYPE_CHECKING:
    from flows.estimate import Estimate
    from tasks.ai.answerer import Usage


def print_estimate(batch_file: Path, criteria: Path | None) -> int:
    """Print what a batch would ask of the model and what that costs. Gives the exit status: 1 for unreadable rooms.

    Raises:
        BadRequest: what is wrong in the batch.
        NotConfigured: the budget is in USD and the model's price is not known.
    """
    asked = read_ready(batch_file, criteria)
    console = Console(stderr=True)
    console.print(f"{asked.name}: the data rooms are read, and what was read is kept for the run. No model is asked.")
    with console.status("Starting Prefect …"):
        server = embedded.server()
        server.__enter__()
    try:
        from flows.estimate import estimate  # noqa: PLC0415 - Prefect settles where its home is when it is imported

        with progress_of(asked.name, console):
            found = estimate(batch_file.absolute(), criteria and criteria.absolute())
    finally:
        server.__exit__(*sys.exc_info())
    for line in told(found):
        print(line)  # noqa: T201 - the result
    return 1 if any(each.problem for each in found.companies) else 0


def told(found: "Estimate") -> list[str]:
    """An estimate in lines of plain text."""
    problems = [f"{each.name}: {each.problem}" for each in found.companies if each.problem]
    if found.model is None:
        return ["No model is configured (DILIGENCE_AI_MODEL): nothing would be asked, and nothing paid.", *problems]
    rows: list[tuple[str, ...]] = [("", "calls", "tokens in", "tokens out", "usual cost", "at most")]
    rows += [(each.name, *_figures(found, each.usual, each.most)) for each in found.companies if not each.problem]
    rows += [("all", *_figures(found, found.usual, found.most))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = [
        "  ".join([name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))])
        for name, *cells in rows
    ]
    most = f"at most  {found.longest:,} tokens an answer, and every judgement asked for twice"
    return [*table, "", *problems, _priced(found), most, *_spent(found), *_budget(found)]


def _figures(found: "Estimate", usual: "Usage", most: "Usage") -> tuple[str, ...]:
    cost, highest = (dollars(found.price.of(usage)) if found.price else "?" for usage in (usual, most))
    return str(usual.calls), f"{usual.input_tokens:,}", f"{usual.output_tokens:,}", cost, highest


def _priced(found: "Estimate") -> str:
    if found.price is None:
        return f"no price known for {found.model}: write it into a file and name that in DILIGENCE_AI_PRICES"
    return f"price    {found.model}: {found.price.input:g} USD in, {found.price.output:g} USD out, for a million tokens"


def _spent(found: "Estimate") -> list[str]:
    if not found.spent.calls:
        return []
    usd = "" if found.spent_usd is None else f", {dollars(found.spent_usd)}"
    return [f"spent    {found.spent.calls} calls{usd}, by the run that was broken off and would go on"]


def _budget(found: "Estimate") -> list[str]:
    if found.cap is None:
        return []
    if found.fits(found.most):
        enough = "enough in any case"
    elif found.fits(found.usual):
        enough = "enough, unless answers are unusually long"
    else:
        enough = "not enough; the run would end with the rest unscored"
    return [f"budget   {found.cap}: {enough}"]
