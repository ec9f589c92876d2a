"""Claims in words: one sentence a fact, for an answerer to read and to quote."""

from collections.abc import Mapping, Sequence
from typing import Any

from tasks.companies.sources import Claim

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
