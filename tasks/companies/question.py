"""Ask Company Question: a free text that answers a question about one company, from what public sources say.

The web domain says which company is meant; a name alone is looked up exactly, never guessed at. The sources are the
claims of the sources of facts and public pages (`pages.py`), none of a namesake. What no source tells is a normal
answer that says so; no model is asked to fill the gap, and what it says beyond its sources is left out (`proof.py`).

Claims in words: one sentence a fact, for an answerer to read and to quote.
"""

import logging
import re
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

from pydantic import BaseModel

from tasks.ai.answer_cache import answer_once
from tasks.ai.answerer import Answer, Source
from tasks.ai.prompt_injection import paragraphs_without_injections
from tasks.ai.registry import current_answerer
from tasks.companies import search
from tasks.companies.answer_check import Ground, prove
from tasks.companies.claims import Claim
from tasks.companies.company_match import Identity
from tasks.companies.domain import registrable
from tasks.companies.facts import CompanyFacts, fetch_facts
from tasks.companies.pages import Found, read_pages
from tasks.companies.settings import CompanySettings
from tasks.companies.sources.registry import configured_sources
from tasks.errors import BadRequest, DiligenceError, NotFound, TookTooLong
from tasks.operation import operation
from tasks.remote.fan_out import FanOut
from tasks.text.sentences import sentences

_OPENINGS = {
    "name": "The company's name is",
    "description": "The company is described so:",
    "hq": "The headquarters is at",
    "locations": "A location is at",
    "founded_year": "The company was founded in the year",
    "company_size": "The number of employees (company size) is",
    "company_size_on_social": "The number of employees on the social network is",
    "specialities": "The specialities are",
    "categories": "The categories are",
    "customer_list": "The customers are",
    "similar_companies": "A similar company:",
    "affiliated_companies": "An affiliated company:",
    "acquisitions": "The acquisitions:",
    "exit_data": "An exit:",
    "funding_data": "A funding round:",
    "updates": "A post of the company:",
    "extra.founding_date": "The company was founded on the date",
}


def tell(claims: Sequence[Claim]) -> str:
    """The claims as sentences, one or more lines each, in their order."""
    return "\n".join(line for claim in claims for line in _lines(claim))


def _lines(claim: Claim) -> list[str]:
    name = claim.field.rpartition(".")[2].replace("_", " ")
    opening = _OPENINGS.get(claim.field, f"The {name} is")
    if claim.value == []:
        return [f"The {name}: the source says that there are none."]
    if claim.field == "company_size":
        return [_sentence(opening, _range(*claim.value))]
    if isinstance(claim.value, list) and isinstance(claim.value[0], dict):
        return [_sentence(opening, _words(each)) for each in claim.value]
    return [_sentence(opening, _words(claim.value))]


def _sentence(opening: str, words: str) -> str:
    whole = f"{opening} {words.strip()}"
    return whole if whole.endswith((".", "!", "?")) else f"{whole}."


def _range(low: int | None, high: int | None) -> str:
    if low is None or high is None:
        return "unknown" if low == high else f"{low} or more" if high is None else f"at most {high}"
    return f"{low} to {high}"


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(f"({_words(each)})" if isinstance(each, dict) else _words(each) for each in value) or "none"
    if isinstance(value, dict):
        return _object(value)
    return str(value)


def _object(value: Mapping[str, Any]) -> str:
    if value.keys() == {"day", "month", "year"}:
        return _date(value)
    if "line_1" in value:
        town = " ".join(filter(None, (value["postal_code"], value["city"])))
        return ", ".join(filter(None, (value["line_1"], town, value["state"], value["country"])))
    return "; ".join(f"{key.replace('_', ' ')} {_words(each)}" for key, each in value.items() if each is not None)


def _date(date: Mapping[str, int | None]) -> str:
    """As much of an ISO date as is known."""
    known = f"{date['year']:04}" if date["year"] is not None else "unknown year"
    if date["month"] is not None:
        known += f"-{date['month']:02}"
        if date["day"] is not None:
            known += f"-{date['day']:02}"
    return known


log = logging.getLogger(__name__)

_SECONDS: Final = 60.0
"""For all pages of a question; the model's time is its own."""
_SENTENCE: Final = re.compile(r"^\d+\. (.*)\n   — (.*)$", re.MULTILINE)
"""A sentence of an extractive answer, and where it comes from."""
_RULES: Final = (
    "The company that is meant is {company}. Answer about it alone, each statement with the number of the source that "
    "says it, and with the source's own words in quotation marks where yours differ from them. A statement that no "
    "source proves is left out."
)


@dataclass(frozen=True)
class _Told:
    """A source: its name, its place or date, its address, the text to answer from, and all of its text.

    `planted`: words in it that were meant for a model were left out.
    """

    name: str
    place: str | None
    url: str | None
    text: str
    whole: str
    planted: bool = False

    @property
    def listed(self) -> str:
        return ", ".join(filter(None, (self.name, self.place, self.url)))


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
        text = _answer(question, domain, Identity(name or None, (domain,)))
    elif name:
        text = _answer(question, name, Identity(name, tuple(_domains(name))))
    else:
        text = answer_once(current_answerer(), question, []).text_with_notes
    return CompanyAnswer(question=question, company_name=company_name, web_domain=web_domain, answer=text)


def _answer(question: str, company: str, identity: Identity) -> str:
    searcher = search.configured()
    asked = FanOut(1, "facts").submit(_known, identity.domains)
    found = read_pages(question, identity, searcher, time.monotonic() + _SECONDS)
    try:
        known = asked.result()
    except DiligenceError as error:
        if not found.readings:
            raise
        known, found = [], replace(found, notes=[*found.notes, error.message])
    notes = list(found.notes)
    if found.readings and not identity.domains:
        notes.insert(0, f"No source knows which company is meant: these are pages that name {company} exactly.")
    told = [*_claimed(known), *_read(found)]
    if told:
        text = _from(question, company, found, told)
    else:
        names = ", ".join([*(source.name for source in configured_sources()), *([searcher.name] if searcher else [])])
        text = f"The sources asked ({names}) tell nothing about {company}, so there is nothing to take an answer from."
    return "\n\n".join([*notes, text])


def _from(question: str, company: str, found: Found, told: Sequence[_Told]) -> str:
    """The answer with its sources at the end: those that it uses, or else all that were read."""
    asked = current_answerer()
    sources = [Source(number, each.name, each.place, each.text) for number, each in enumerate(told, 1)]
    if asked.model is None:
        answer = asked.answer(question, sources)
        return _with_sources(_noted(answer.text, answer), told, _shown(answer.text, told))
    name = found.identity.name or company
    meant = f"{name} ({company})" if name != company else company
    answer = answer_once(asked, f"{question}\n\n{_RULES.format(company=meant)}", sources)
    grounds = [Ground(number, each.url or each.place, each.text, each.whole) for number, each in enumerate(told, 1)]
    proved = prove(answer.text, question, f"{name} {company}", grounds, wary=any(each.planted for each in told))
    left = f"{proved.left_out} of the model's statements" if proved.left_out > 1 else "One of the model's statements"
    if not proved.text:
        from tasks.ai.extractive import ExtractiveAnswerer  # noqa: PLC0415 - where the model's answer is of no use

        text = ExtractiveAnswerer().answer(question, sources).text
        text = f"The model's answer was left out: the sources do not say it.\n\n{text}"
        return _with_sources(_noted(text, answer), told, [])
    text = proved.text
    if proved.left_out:
        text += f"\n\n{left} {'were' if proved.left_out > 1 else 'was'} left out: the sources do not say it."
    return _with_sources(_noted(text, answer), told, sorted(proved.cited))


def _noted(text: str, answer: Answer) -> str:
    """The text with what the answerer says of how it came about."""
    return "\n\n".join((text, *answer.notes))


def _shown(text: str, told: Sequence[_Told]) -> list[int]:
    """The sources whose sentences an extractive answer shows; several may bear one name and date."""
    texts = [(", ".join(filter(None, (each.name, each.place))), frozenset(sentences(each.text))) for each in told]
    numbers = {
        next((at for at, (named, said) in enumerate(texts, 1) if named == label and sentence in said), 0)
        for sentence, label in _SENTENCE.findall(text)
    }
    return sorted(numbers - {0})


def _with_sources(text: str, told: Sequence[_Told], used: Sequence[int]) -> str:
    numbers = used or range(1, len(told) + 1)
    listed = [f"[{number}] {told[number - 1].listed}" for number in numbers]
    return "\n".join((text.rstrip(), "", "Sources:", *listed))


def _claimed(known: Sequence[tuple[str, CompanyFacts]]) -> list[_Told]:
    """What each source of facts says at each address, of one date together."""
    found = []
    for domain, facts in known:
        grouped: dict[tuple[str, str | None, str | None], list[Claim]] = {}
        for claim in facts.claims:
            grouped.setdefault((claim.source, claim.url, claim.as_of), []).append(claim)
        for (source, url, as_of), claims in grouped.items():
            lines = tell(claims).split("\n")
            kept = paragraphs_without_injections(lines)
            text, planted = "\n".join(kept), kept != lines
            if planted:
                log.warning("words meant for a model were left out of the facts of %s", source)
            if text:
                place = f"as of {as_of[:10]}" if as_of else None
                found.append(_Told(f"{source}: {domain}", place, url, text, text, planted))
    return found


def _read(found: Found) -> list[_Told]:
    return [
        _Told(reading.title, reading.url, None, "\n\n".join(reading.passages), reading.whole, found.planted)
        for reading in found.readings
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
    sources = configured_sources()
    threads = FanOut(len(sources), "names")
    asked = [threads.submit(source.domains, name) for source in sources]
    wait(asked, timeout=CompanySettings.current().facts_timeout)
    for source, each in zip(sources, asked, strict=True):
        try:
            found |= dict.fromkeys(each.result() if each.done() else _late(source.name))
        except DiligenceError as error:
            log.warning("the source %s failed to look up a name: %s", source.name, error)
            failures.append(error)
    if failures and not found:
        raise failures[0]
    return list(found)


def _late(source: str) -> NoReturn:
    seconds = CompanySettings.current().facts_timeout
    raise TookTooLong(f"The source {source} took longer than {seconds:g} s for a name (DILIGENCE_FACTS_TIMEOUT).")
