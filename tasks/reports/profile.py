"""The facts of a company's profile as a reader wants them: the telling ones first, values in words."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from tasks.companies.claims import Claim
from tasks.companies.profile import field_name
from tasks.reports.wording import plain

_FIRST: Final = (
    "description",
    "industry",
    "founded_year",
    "hq",
    "company_size",
    "company_type",
    "extra.operating_status",
    "extra.ipo_status",
    "extra.stock_symbol",
    "specialities",
    "extra.number_of_funding_rounds",
    "extra.total_funding_amount",
    "website",
    "extra.contact_email",
    "extra.phone_number",
)
_NOT_FOR_READERS: Final = frozenset({"name", "profile_pic_url", "updates", "similar_companies", "affiliated_companies"})
_MOST: Final = 8
"""Entries of a list that are named; the rest is counted."""


class Fact(NamedTuple):
    """A fact in words, and the claim that it comes from."""

    name: str
    value: str
    claim: Claim


def profile_facts(claims: Sequence[Claim]) -> list[Fact]:
    """The facts that readers look for, in their order, then the others; ids, pictures and neighbours are left out.

    Args:
        claims: of each field one.
    """
    order = {field: place for place, field in enumerate(_FIRST)}
    facts = [
        Fact(field_name(claim.field), in_words(claim.field, claim.value), claim)
        for claim in sorted(claims, key=lambda claim: order.get(claim.field, len(order)))
        if claim.field not in _NOT_FOR_READERS and not claim.field.endswith("_id")
    ]
    return [fact for fact in facts if fact.value]


def in_words(field: str, value: Any) -> str:
    """A profile's value as a reader would write it; empty where there is nothing to say."""
    if field == "company_size" and isinstance(value, list) and len(value) == 2:
        low, high = (plain(end) if end is not None else "" for end in value)
        return f"{low} to {high}" if low and high else f"{low} or more" if low else f"up to {high}"
    if isinstance(value, list):
        entries = [text for entry in value[:_MOST] if (text := in_words("", entry))]
        more = len(value) - _MOST
        return ", ".join(entries) + (f" and {more} more" if more > 0 else "")
    if isinstance(value, dict):
        return _group_in_words(value)
    return plain(value).replace("_", " ").capitalize() if field == "company_type" else plain(value)


def _group_in_words(group: dict[str, Any]) -> str:
    if group.keys() >= {"day", "month", "year"}:
        return "-".join(f"{group[part]:02}" for part in ("year", "month", "day") if group[part] is not None)
    if group.keys() >= {"amount", "currency", "end"}:
        return f"{group['currency']} {plain(group['amount'])} in the year to {group['end']}"
    named = [group.get(key) for key in ("name", "funding_type", "city", "country")]
    if amount := group.get("money_raised"):
        named.append(plain(amount))
    return " ".join(str(part) for part in named if part)
