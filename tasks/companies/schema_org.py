"""What a page's schema.org Organization says, as values of the profile's fields.

Which of the organizations that a page describes is the company is decided by its address: one that
lives on another registrable domain is a publisher, a parent or a customer, and tells nothing here.

Telephone numbers as the sources write them, in the form that can be called from abroad.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from tasks.companies.claims import one_text
from tasks.companies.domain import domain_of


def international(phone: Any, country: str | None) -> str | None:
    """A telephone number with its country's prefix where that is known: `(408) 996-1010` is `+1 408-996-1010`."""
    text = one_text(phone)
    if text is None:
        return None
    digits = "".join(each for each in text if each.isdigit())
    if text.startswith("+") or len(digits) < 7 or len(digits) > 18:
        return text if len(digits) >= 7 else None
    if digits.startswith("011"):  # how an international call is begun in the US
        return f"+{digits[3:]}"
    national = digits[1:] if len(digits) == 11 and digits.startswith("1") else digits
    if country in {"US", "CA"} and len(national) == 10:
        return f"+1 {national[:3]}-{national[3:6]}-{national[6:]}"
    return text


_KINDS: Final = frozenset(
    "Organization Corporation LocalBusiness OnlineBusiness OnlineStore NGO EducationalOrganization CollegeOrUniversity "  # noqa: SIM905 - a list of words reads best as words
    "GovernmentOrganization NewsMediaOrganization MedicalOrganization ResearchOrganization Airline Consortium "
    "FinancialService BankOrCreditUnion InsuranceAgency AccountingService ProfessionalService LegalService Store "
    "AutomotiveBusiness FoodEstablishment LodgingBusiness Hotel Restaurant RealEstateAgent TravelAgency "
    "EmploymentAgency HealthAndBeautyBusiness HomeAndConstructionBusiness GeneralContractor Project "
    "FundingAgency PerformingGroup SportsOrganization WorkersUnion LibrarySystem Cooperative".split()
)
_ABOVE: Final = ("parentOrganization", "memberOf", "sponsor", "funder", "affiliation")
_RANGES: Final[tuple[tuple[int, int], ...]] = (
    (1, 1),
    (2, 10),
    (11, 50),
    (51, 200),
    (201, 500),
    (501, 1000),
    (1001, 5000),
    (5001, 10_000),
)
_MOST: Final = 10_000_000
"""No company has more employees."""
_EMAIL: Final = re.compile(r"[\w.+%-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_DATE: Final = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:T.*)?")
_ALSO: Final = {
    "deutschland": "DE", "österreich": "AT", "schweiz": "CH", "france": "FR", "españa": "ES", "italia": "IT",
    "usa": "US", "united states of america": "US", "uk": "GB", "united kingdom": "GB", "great britain": "GB",
    "england": "GB", "scotland": "GB", "wales": "GB", "danmark": "DK", "sverige": "SE", "norge": "NO", "suomi": "FI",
    "nederland": "NL", "the netherlands": "NL", "belgië": "BE", "belgique": "BE", "polska": "PL", "czechia": "CZ",
    "south korea": "KR", "russia": "RU", "türkiye": "TR", "vietnam": "VN",
}  # fmt: skip
"""Countries by names that the table of ISO 3166 does not have."""


def own_organization(things: Sequence[Mapping[str, Any]], domain: str) -> Mapping[str, Any] | None:
    """The organization among a page's things that is the company of that domain; None where none certainly is.

    One that gives its address on the domain is; one that gives none is when it is the only one.
    """
    above = {each.get("@id") for thing in things for name in _ABOVE for each in _objects(thing.get(name))} - {None}
    found = [thing for thing in things if _is_organization(thing) and thing.get("@id") not in above]
    placed = [(thing, {domain_of(url) for url in _addresses(thing)} - {None}) for thing in found]
    own = [thing for thing, domains in placed if domain in domains]
    if own:
        return max(own, key=len)
    nowhere = [thing for thing, domains in placed if not domains]
    return nowhere[0] if len(nowhere) == len(found) == 1 else None


def read_organization(thing: Mapping[str, Any], base: str, domain: str) -> Iterator[tuple[str, Any]]:
    """The profile's fields with what the organization says of each; relative addresses are taken from `base`.

    What is not said, or not in a form that has one meaning, is not given.
    """
    yield "name", _text(thing.get("name")) or _text(thing.get("legalName"))
    yield "website", next((url for url in _addresses(thing, ("url",)) if domain_of(url) == domain), None)
    yield "tagline", _text(thing.get("slogan"))
    addresses = [place for each in _objects(thing.get("address")) if (place := _place(each))]
    if len(addresses) == 1:
        yield "hq", {**addresses[0], "is_hq": True}
    others = [
        place
        for each in _objects(thing.get("location"))
        for inner in _objects(each.get("address")) or [each]
        if (place := _place(inner)) and place not in addresses
    ]
    if len(addresses) + len(others) > 1:
        known = len(addresses) == 1
        yield (
            "locations",
            [{**place, "is_hq": (place in addresses) if known else None} for place in [*addresses, *others]],
        )
    contacts = [thing, *_objects(thing.get("contactPoint"))]
    country = addresses[0]["country"] if len(addresses) == 1 else None
    yield (
        "extra.phone_number",
        next(filter(None, (_phone(contact.get("telephone"), country) for contact in contacts)), None),
    )
    yield "extra.contact_email", next(filter(None, (_email(contact.get("email")) for contact in contacts)), None)
    founded = _day(_text(thing.get("foundingDate")))
    yield "founded_year", founded and founded["year"]
    yield "extra.founding_date", founded
    yield "company_size", _size(thing.get("numberOfEmployees"))
    yield "profile_pic_url", _picture(thing.get("logo"), base)
    yield from _elsewhere(thing.get("sameAs"))


def _is_organization(thing: Mapping[str, Any]) -> bool:
    return not _KINDS.isdisjoint(each for each in _list(thing.get("@type")) if isinstance(each, str))


def _addresses(thing: Mapping[str, Any], names: Sequence[str] = ("url", "@id")) -> list[str]:
    found = [_text(each) for name in names for each in _list(thing.get(name))]
    return [each for each in found if each and each.startswith(("http://", "https://"))]


def _elsewhere(given: Any) -> Iterator[tuple[str, Any]]:
    """The company in the networks and databases that it says it is in."""
    for url in filter(None, map(_text, _list(given)[:50])):
        try:
            parts = urlsplit(url)
        except ValueError:
            continue
        host, path = domain_of(url), [step for step in parts.path.split("/") if step]
        if host == "linkedin.com" and len(path) > 1 and path[0] in {"company", "school", "showcase"}:
            slug = path[1].lower()
            yield "social_url", f"https://www.linkedin.com/{path[0]}/{path[1]}"
            yield ("social_internal_id" if slug.isdigit() else "universal_name_id"), slug
        elif host == "crunchbase.com" and len(path) > 1 and path[0] == "organization":
            yield "extra.funding_db_profile_url", url
        elif host == "facebook.com" and len(path) == 1 and path[0] not in {"profile.php", "sharer.php"}:
            yield "extra.network_a_id", path[0]
        elif host in {"twitter.com", "x.com"} and len(path) == 1 and path[0] not in {"share", "intent"}:
            yield "extra.network_b_id", path[0].removeprefix("@")


def _place(given: Mapping[str, Any]) -> dict[str, Any] | None:
    place = {
        "country": _country(given.get("addressCountry")),
        "city": _text(given.get("addressLocality")),
        "postal_code": _text(given.get("postalCode")),
        "line_1": _text(given.get("streetAddress")),
        "state": _text(given.get("addressRegion")),
    }
    return place if any(place.values()) else None


def _country(given: Any) -> str | None:
    """The two-letter code of a country that is given by code or by name."""
    for each in _list(given):
        name = _text(each.get("name") if isinstance(each, Mapping) else each)
        if name and re.fullmatch("[A-Za-z]{2}", name) and name.lower() != "uk":
            return name.upper()
        code = _countries().get(name.casefold()) if name else None
        if code:
            return code
    return None


@cache
def _countries() -> dict[str, str]:
    from pytz import country_names  # type: ignore[import-untyped]  # noqa: PLC0415 - it reads a table

    return {name.casefold(): code for code, name in country_names.items()} | _ALSO


def _phone(given: Any, country: str | None) -> str | None:
    text = _text(given)
    text = text.removeprefix("tel:") if text else None
    return international(text, country) if text and re.fullmatch(r"[+\d][\d ()./-]{5,30}", text) else None


def _email(given: Any) -> str | None:
    text = _text(given)
    text = text.removeprefix("mailto:").partition("?")[0] if text else ""
    return text if _EMAIL.fullmatch(text) else None


def _day(given: str | None) -> dict[str, int | None] | None:
    """An ISO date as far as it is given."""
    found = _DATE.fullmatch(given or "")
    if found is None:
        return None
    year, month, day = (int(group) if group else None for group in found.groups())
    try:
        datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
    except ValueError:
        return None
    return {"day": day, "month": month, "year": year} if 1000 <= (year or 0) <= datetime.now(UTC).year else None


def _size(given: Any) -> list[int | None] | None:
    """The range of head-counts: the one that is given, or the usual one that holds the number given."""
    for each in _list(given):
        if isinstance(each, Mapping):
            ends = [_number(each.get("minValue")), _number(each.get("maxValue"))]
            if ends != [None, None]:
                return _in_order(ends)
        value = each.get("value") if isinstance(each, Mapping) else each
        parts = re.fullmatch(r"(\d[\d,]*)\s*[-–]\s*(\d[\d,]*)", value) if isinstance(value, str) else None
        if parts:
            return _in_order([_number(parts[1]), _number(parts[2])])
        number = _number(value)
        if number:
            low, high = next((ends for ends in _RANGES if ends[0] <= number <= ends[1]), (10_001, None))
            return [low, high]
    return None


def _in_order(ends: list[int | None]) -> list[int | None] | None:
    low, high = ends
    return ends if low is None or high is None or low <= high else None


def _number(given: Any) -> int | None:
    if isinstance(given, str) and re.fullmatch(r"\d{1,3}(?:,?\d{3})*|\d{1,9}", given.strip()):
        given = int(given.strip().replace(",", ""))
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= _MOST:
        return None
    return int(given) if given == int(given) else None


def _picture(given: Any, base: str) -> str | None:
    for each in _list(given):
        url = _text((each.get("url") or each.get("contentUrl")) if isinstance(each, Mapping) else each)
        if url:
            return web_address(url, base)
    return None


def web_address(url: str, base: str) -> str | None:
    """An address made absolute, where it is one of the web and no longer than one is."""
    try:
        found = urljoin(base, url)
    except ValueError:
        return None
    return found if found.startswith(("http://", "https://")) and len(found) <= 2000 else None


def _text(value: Any) -> str | None:
    """A text, or the first of several, in one line of at most 500 characters; a number as it is written."""
    if isinstance(value, list):
        return next(filter(None, map(_text, value[:10])), None)
    if isinstance(value, Mapping):
        value = value.get("@value") or value.get("@id")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    text = one_text(value)
    return text if text is None or len(text) <= 500 else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in _list(value) if isinstance(each, Mapping)]
