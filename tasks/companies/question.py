"""Ask Company Question: answers a question about one company from public sources, and cites them.

The web domain identifies the company. A name alone is looked up exactly, and never guessed. The sources are the claims
of fact sources (as sentences) and public pages (`pages`), none about another company of the same name
(`company_match`). If no source has an answer, the answer says so. Parts of a model's answer that the sources do not
support are left out (`tasks.statements`).
"""

import logging
import re
import time
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from tasks.ai.answerer import Answer, Source
from tasks.ai.calls import answer_once
from tasks.ai.extractive import answer_by_quotation, quote_sentences
from tasks.ai.prompt_injection import find_orders, without_injections
from tasks.ai.registry import current_answerer, with_names
from tasks.answers import LEFT_OUT, check_answer
from tasks.cancellation import FanOut
from tasks.companies.claims import Claim
from tasks.companies.company_match import Identity
from tasks.companies.facts import CompanyFacts, fetch_facts
from tasks.companies.pages import choose_searcher, read_pages
from tasks.companies.profile import CompanySettings, registrable
from tasks.companies.sources import choose_sources
from tasks.errors import DiligenceError, NotFound, TookTooLong, check_question
from tasks.language.sentences import sentences
from tasks.offload import offload
from tasks.operation import operation
from tasks.privacy import profile_names
from tasks.spending.budget import make_question_ledger
from tasks.statements.answers import Ground

log = logging.getLogger(__name__)

_SECONDS_FOR_PAGES: Final = 60.0
"""For all pages of a question; the model has its own time limit."""
_EXTRACTIVE_SENTENCE: Final = re.compile(r"^\d+\. (.*)\n   — (.*)$", re.MULTILINE)
"""A sentence of an extractive answer, and the name of its source."""
_RULES: Final = (
    "The company that is meant is {company}. Answer about it alone, each statement with the number of the source that "
    "says it, one sentence for each, in the source's own words where you can. A statement that no source supports is "
    "left out."
)
_OPENINGS: Final[dict[str, str]] = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf-8"))
"""How the sentence about a field begins."""


class CompanyAnswer(BaseModel):
    """The answer, with the question, name and domain as the caller sent them."""

    question: str
    company_name: str | None
    web_domain: str | None
    answer: str


@dataclass(frozen=True)
class _NumberedSource:
    """A source of the answer: its name, its place or date, its address, the text to answer from, and its full text.

    `has_injection`: it contains orders to a model.
    """

    name: str
    place: str | None
    url: str | None
    text: str
    full_text: str
    has_injection: bool = False

    @property
    def listed(self) -> str:
        return ", ".join(filter(None, (self.name, self.place, self.url)))


@operation(name="company_question")
def company_question(question: str, company_name: str | None = None, web_domain: str | None = None) -> CompanyAnswer:
    """Answer `question` about the company with that web domain, otherwise the one with that name, otherwise about none.

    The answer ends with its sources and the numbers that it cites them by.

    Raises:
        BadRequest: the question is blank, or the domain is no registrable one.
        DiligenceError: no source could be asked, or the model gave no answer.
    """
    check_question(question, "question_prompt")
    name = (company_name or "").strip()
    if web_domain is not None:
        domain = registrable(web_domain, field="company_domain")
        text = _answer(question, domain, Identity(name or None, (domain,)))
    elif name:
        text = _answer(question, name, Identity(name, tuple(_find_domains(name))))
    else:
        text = answer_once(current_answerer(), question, [], ledger=make_question_ledger()).text_with_notes
    return CompanyAnswer(question=question, company_name=company_name, web_domain=web_domain, answer=text)


def _find_domains(name: str) -> list[str]:
    """The domains of the companies with that name; there may be several.

    Raises:
        DiligenceError: no source knows the name, and at least one could not be asked.
    """
    domains: list[str] = []
    failures: list[DiligenceError] = []
    sources = choose_sources()
    threads = FanOut(len(sources), "names")
    futures = [threads.submit(source.domains, name) for source in sources]
    wait(futures, timeout=CompanySettings.current().facts_timeout)
    for source, future in zip(sources, futures, strict=True):
        try:
            domains += _result_in_time(future, source.name)
        except DiligenceError as error:
            log.warning("the source %s failed to look up a name: %s", source.name, error)
            failures.append(error)
    if failures and not domains:
        raise failures[0]
    return list(dict.fromkeys(domains))


def _result_in_time(future: Future[Sequence[str]], source: str) -> Sequence[str]:
    if future.done():
        return future.result()
    seconds = CompanySettings.current().facts_timeout
    raise TookTooLong(f"The source {source} took longer than {seconds:g} s for a name (DILIGENCE_FACTS_TIMEOUT).")


def _answer(question: str, company: str, identity: Identity) -> str:
    """The answer, preceded by notes on what went wrong. `company` is the domain or name that the caller sent."""
    searcher = choose_searcher()
    facts_search = FanOut(1, "facts").submit(_load_known_facts, identity.domains)
    page_set = read_pages(question, identity, searcher, time.monotonic() + _SECONDS_FOR_PAGES)
    try:
        facts = facts_search.result()
    except DiligenceError as error:
        if not page_set.pages:
            raise
        facts, page_set = [], replace(page_set, notes=[*page_set.notes, error.message])
    notes = list(page_set.notes)
    if page_set.pages and not identity.domains:
        notes.insert(0, f"No source knows which company is meant: these are pages that name {company} exactly.")
    numbered = _number_facts(facts)
    for page in page_set.pages:
        passages = "\n\n".join(page.passages)
        numbered.append(_NumberedSource(page.title, page.url, None, passages, page.text, page_set.has_injection))
    if numbered:
        text = _answer_from(numbered, question, company, page_set.identity)
    else:
        names = ", ".join([*(source.name for source in choose_sources()), *([searcher.name] if searcher else [])])
        text = f"The sources asked ({names}) say nothing about {company}, so there is nothing to answer from."
    return "\n\n".join([*notes, text])


def _load_known_facts(domains: Sequence[str]) -> list[tuple[str, CompanyFacts]]:
    """The facts about those companies that any source knows, each with its domain."""
    facts = []
    for domain in domains:
        try:
            facts.append((domain, fetch_facts(domain).facts))
        except NotFound:
            continue
    return facts


def _number_facts(facts: Sequence[tuple[str, CompanyFacts]]) -> list[_NumberedSource]:
    """One source for each address and date among the claims."""
    numbered = []
    for domain, company in facts:
        grouped: dict[tuple[str, str | None, str | None], list[Claim]] = {}
        for claim in company.claims:
            grouped.setdefault((claim.source, claim.url, claim.as_of), []).append(claim)
        for (source, url, as_of), claims in grouped.items():
            text = claims_in_words(claims)
            has_injection = bool(find_orders(text))
            if has_injection:
                log.warning("words in the facts of %s give orders to a model", source)
            if text:
                place = f"as of {as_of[:10]}" if as_of else None
                numbered.append(_NumberedSource(f"{source}: {domain}", place, url, text, text, has_injection))
    return numbered


def _answer_from(numbered: Sequence[_NumberedSource], question: str, company: str, identity: Identity) -> str:
    """The answer followed by its sources: those that it uses, otherwise all of them."""
    current = with_names(current_answerer(), lambda: profile_names(identity.name or "", company, None))
    sources = [Source(number, source.name, source.place, source.text) for number, source in enumerate(numbered, 1)]
    name = identity.name or company
    if current.model is None:
        answer = offload(answer_by_quotation, question, sources, f"{name} {company}")
        return _with_sources(_with_notes(answer.text, answer), numbered, offload(_find_shown, answer.text, numbered))
    meant = f"{name} ({company})" if name != company else company
    ledger = make_question_ledger()
    rules = _RULES.format(company=meant)
    answer = answer_once(current, f"{question}\n\n{rules}", sources, ledger=ledger)
    grounds = offload(_grounds, numbered)
    has_injection = any(source.has_injection for source in numbered)
    names = f"{name} {company}"
    proof = check_answer(
        answer.text, question, names, grounds, current, ledger=ledger, strict=has_injection, rules=rules
    )
    checked, notes = proof.answer, proof.notes
    if not proof.stands:
        text = offload(quote_sentences, question, sources, names)
        text = "\n\n".join(filter(None, (LEFT_OUT.format("sources do"), checked.shown, text)))
        return _with_sources(_with_notes(text, answer), numbered, [])
    text = "\n\n".join((checked.shown, *notes))
    return _with_sources(_with_notes(text, answer), numbered, sorted(checked.cited))


def _grounds(numbered: Sequence[_NumberedSource]) -> list[Ground]:
    """The sources to check an answer against. The model gets all of their text, but orders to a model prove nothing."""
    return [
        Ground(
            *(number, source.url or source.place),
            *(without_injections(text)[0] for text in (source.text, source.full_text)),
        )
        for number, source in enumerate(numbered, 1)
    ]


def _with_notes(text: str, answer: Answer) -> str:
    """The text followed by the answerer's notes."""
    return "\n\n".join((text, *answer.notes))


def _find_shown(text: str, numbered: Sequence[_NumberedSource]) -> list[int]:
    """The numbers of the sources whose sentences an extractive answer shows; several may share a name and date."""
    texts = [
        (", ".join(filter(None, (source.name, source.place))), frozenset(sentences(source.text))) for source in numbered
    ]
    numbers = set()
    for sentence, label in _EXTRACTIVE_SENTENCE.findall(text):
        matches = (at for at, (name, of_source) in enumerate(texts, 1) if name == label and sentence in of_source)
        numbers.add(next(matches, 0))
    return sorted(numbers - {0})


def _with_sources(text: str, numbered: Sequence[_NumberedSource], used: Sequence[int]) -> str:
    numbers = used or range(1, len(numbered) + 1)
    listed = [f"[{number}] {numbered[number - 1].listed}" for number in numbers]
    return "\n".join((text.rstrip(), "", "Sources:", *listed))


def claims_in_words(claims: Sequence[Claim]) -> str:
    """The claims as sentences, one or more lines each, in order, for an answerer to read and quote."""
    return "\n".join(line for claim in claims for line in _lines(claim))


def _lines(claim: Claim) -> list[str]:
    name = claim.field.rpartition(".")[2].replace("_", " ")
    opening = _OPENINGS.get(claim.field, f"The {name} is")
    if claim.value == []:
        return [f"The {name}: the source says that there are none."]
    if claim.field == "company_size":
        return [_sentence(opening, _range(*claim.value))]
    if isinstance(claim.value, list) and isinstance(claim.value[0], dict):
        return [_sentence(opening, _words(element)) for element in claim.value]
    return [_sentence(opening, _words(claim.value))]


def _sentence(opening: str, words: str) -> str:
    sentence = f"{opening} {words.strip()}"
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def _range(low: int | None, high: int | None) -> str:
    if low is None or high is None:
        return "unknown" if low == high else f"{low} or more" if high is None else f"at most {high}"
    return f"{low} to {high}"


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        elements = [f"({_words(element)})" if isinstance(element, dict) else _words(element) for element in value]
        return ", ".join(elements) or "none"
    if isinstance(value, dict):
        return _object(value)
    return str(value)


def _object(value: Mapping[str, Any]) -> str:
    if value.keys() == {"day", "month", "year"}:
        return _date(value)
    if "line_1" in value:
        town = " ".join(filter(None, (value["postal_code"], value["city"])))
        return ", ".join(filter(None, (value["line_1"], town, value["state"], value["country"])))
    return "; ".join(f"{key.replace('_', ' ')} {_words(part)}" for key, part in value.items() if part is not None)


def _date(date: Mapping[str, int | None]) -> str:
    """As much of the ISO date as is known."""
    known = f"{date['year']:04}" if date["year"] is not None else "unknown year"
    if date["month"] is not None:
        known += f"-{date['month']:02}"
        if date["day"] is not None:
            known += f"-{date['day']:02}"
    return known
