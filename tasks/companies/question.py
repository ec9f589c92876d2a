"""Ask Company Question: a free text that answers a question about one company, from what its sources say.

The web domain says which company is meant; a name alone is looked up exactly, never guessed at. What
no source tells is a normal answer that says so, and no model is asked to fill the gap.
"""

import logging
from collections.abc import Sequence

from pydantic import BaseModel

from tasks.ai import answerer
from tasks.ai.answerer import Source
from tasks.companies.domain import registrable
from tasks.companies.facts import CompanyFacts, fetch_facts
from tasks.companies.sources import Claim, configured
from tasks.companies.wording import tell
from tasks.errors import BadRequest, DiligenceError, NotFound
from tasks.operation import operation

log = logging.getLogger(__name__)


class CompanyAnswer(BaseModel):
    """The answer with what was asked, as given."""

    question: str
    company_name: str | None
    web_domain: str | None
    answer: str


@operation(name="company_question")
def company_question(question: str, company_name: str | None = None, web_domain: str | None = None) -> CompanyAnswer:
    """Answer `question` about the company with that web domain, or else of that name, or about none.

    The answer ends with its sources, numbered as it cites them.

    Raises:
        BadRequest: the question is blank, or the domain is no registrable one.
        DiligenceError: no source could be asked, or the model gave no answer.
    """
    if not question.strip():
        raise BadRequest("The question is empty. Send the question as text.", {"question_prompt": "must not be empty"})
    name = (company_name or "").strip()
    if web_domain is not None:
        domain = registrable(web_domain, field="company_domain")
        text = _answer(question, domain, _known([domain]))
    elif name:
        text = _answer(question, name, _known(_domains(name)))
    else:
        text = answerer.current().answer(question, []).text
    return CompanyAnswer(question=question, company_name=company_name, web_domain=web_domain, answer=text)


def _answer(question: str, company: str, known: Sequence[tuple[str, CompanyFacts]]) -> str:
    if not known:
        names = ", ".join(source.name for source in configured())
        return f"The sources asked ({names}) tell nothing about {company}, so there is nothing to take an answer from."
    titled = [each for domain, facts in known for each in _sources(domain, facts.claims)]
    sources = [Source(number, name, place, text) for number, (name, place, text, _) in enumerate(titled, 1)]
    listed = [
        f"[{number}] {', '.join(part for part in (name, place, url) if part)}"
        for number, (name, place, _, url) in enumerate(titled, 1)
    ]
    answer = answerer.current().answer(question, sources)
    return "\n".join((answer.text.rstrip(), "", "Sources:", *listed))


def _sources(domain: str, claims: Sequence[Claim]) -> list[tuple[str, str | None, str, str | None]]:
    """Name, place, text and address of what each source says at each address, of one date together."""
    grouped: dict[tuple[str, str | None, str | None], list[Claim]] = {}
    for claim in claims:
        grouped.setdefault((claim.source, claim.url, claim.as_of), []).append(claim)
    return [
        (f"{source}: {domain}", f"as of {as_of[:10]}" if as_of else None, tell(group), url)
        for (source, url, as_of), group in grouped.items()
    ]


def _known(domains: Sequence[str]) -> list[tuple[str, CompanyFacts]]:
    """The facts about those of the companies that a source knows."""
    found = []
    for domain in domains:
        try:
            found.append((domain, fetch_facts(domain)[1]))
        except NotFound:
            continue
    return found


def _domains(name: str) -> list[str]:
    """The domains of the companies of that name; several companies may share one.

    Raises:
        DiligenceError: no source knows the name, and one of them could not be asked.
    """
    found: dict[str, None] = {}
    failures: list[DiligenceError] = []
    for source in configured():
        try:
            found |= dict.fromkeys(source.domains(name))
        except DiligenceError as error:
            log.warning("the source %s failed to look up a name: %s", source.name, error)
            failures.append(error)
    if failures and not found:
        raise failures[0]
    return list(found)
