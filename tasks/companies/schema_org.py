"""The schema.org Organization on a page as values for the profile's fields.

Which organization on a page is the company is decided by addresses: one with an address on another registrable domain
is a publisher, a parent or a customer, and is left out. Telephone numbers are given in international form
(`international`, which other sources use too).
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from pytz import country_names  # type: ignore[import-untyped]

from tasks.companies.claims import one_text
from tasks.companies.profile import head_count_range
from tasks.companies.web.transport import registrable_domain

_KNOWN: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("schema_org.toml").read_text("utf-8"))
_OUTER_ORGANIZATIONS: Final = ("parentOrganization", "memberOf", "sponsor", "funder", "affiliation")
_MAX_EMPLOYEES: Final = 10_000_000
"""No company has more."""
_EMAIL: Final = re.compile(r"[\w.+%-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_DATE: Final = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:T.*)?")


def own_organization(things: Sequence[Mapping[str, Any]], domain: str) -> Mapping[str, Any] | None:
    """The organization on a page that is certainly the company of that domain; None if there is none.

    It must have an address on the domain, or no address if it is the only organization.
    """
    outer = {
        inner.get("@id") for thing in things for name in _OUTER_ORGANIZATIONS for inner in _objects(thing.get(name))
    }
    candidates = [thing for thing in things if _is_organization(thing) and thing.get("@id") not in outer - {None}]
    with_domains = [(thing, {registrable_domain(url) for url in _urls(thing)} - {None}) for thing in candidates]
    own = [thing for thing, domains in with_domains if domain in domains]
    if own:
        return max(own, key=len)
    without_domain = [thing for thing, domains in with_domains if not domains]
    return without_domain[0] if len(without_domain) == len(candidates) == 1 else None


def read_organization(thing: Mapping[str, Any], base: str, domain: str) -> Iterator[tuple[str, Any]]:
    """The profile's fields with the organization's values; None for values that are missing or ambiguous.

    Relative addresses are resolved against `base`.
    """
    yield "name", _text(thing.get("name")) or _text(thing.get("legalName"))
    yield "website", next((url for url in _urls(thing, ("url",)) if registrable_domain(url) == domain), None)
    yield "tagline", _text(thing.get("slogan"))
    addresses = [place for address in _objects(thing.get("address")) if (place := _place(address))]
    if len(addresses) == 1:
        yield "hq", {**addresses[0], "is_hq": True}
    others = [
        place
        for location in _objects(thing.get("location"))
        for address in _objects(location.get("address")) or [location]
        if (place := _place(address)) and place not in addresses
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
    yield from _profiles_elsewhere(thing.get("sameAs"))


def _is_organization(thing: Mapping[str, Any]) -> bool:
    return any(type_ in _KNOWN["types"] for type_ in _list(thing.get("@type")))


def _urls(thing: Mapping[str, Any], names: Sequence[str] = ("url", "@id")) -> list[str]:
    texts = [_text(value) for name in names for value in _list(thing.get(name))]
    return [text for text in texts if text and text.startswith(("http://", "https://"))]


def _profiles_elsewhere(same_as: Any) -> Iterator[tuple[str, Any]]:
    """The company's profiles in networks and databases, read from the addresses in `sameAs`."""
    for url in filter(None, map(_text, _list(same_as)[:50])):
        try:
            parts = urlsplit(url)
        except ValueError:
            continue
        host, path = registrable_domain(url), [step for step in parts.path.split("/") if step]
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


def _place(address: Mapping[str, Any]) -> dict[str, Any] | None:
    place = {
        "country": _country(address.get("addressCountry")),
        "city": _text(address.get("addressLocality")),
        "postal_code": _text(address.get("postalCode")),
        "line_1": _text(address.get("streetAddress")),
        "state": _text(address.get("addressRegion")),
    }
    return place if any(place.values()) else None


def _country(value: Any) -> str | None:
    """A country's two-letter code, from its code or its name."""
    for country in _list(value):
        name = _text(country.get("name") if isinstance(country, Mapping) else country)
        if name and re.fullmatch("[A-Za-z]{2}", name) and name.lower() != "uk":
            return name.upper()
        code = _countries().get(name.casefold()) if name else None
        if code:
            return code
    return None


@cache
def _countries() -> dict[str, str]:
    return {**{name.casefold(): code for code, name in country_names.items()}, **_KNOWN["countries"]}


def _phone(value: Any, country: str | None) -> str | None:
    text = _text(value)
    text = text.removeprefix("tel:") if text else None
    return international(text, country) if text and re.fullmatch(r"[+\d][\d ()./-]{5,30}", text) else None


def international(phone: Any, country: str | None) -> str | None:
    """A telephone number with its country's prefix, if the country is known: `(408) 996-1010` becomes `+1
    408-996-1010`.
    """
    text = one_text(phone)
    if text is None:
        return None
    digits = "".join(character for character in text if character.isdigit())
    if text.startswith("+") or len(digits) < 7 or len(digits) > 18:
        return text if len(digits) >= 7 else None
    if digits.startswith("011"):  # the prefix for international calls in the US
        return f"+{digits[3:]}"
    national = digits[1:] if len(digits) == 11 and digits.startswith("1") else digits
    if country in {"US", "CA"} and len(national) == 10:
        return f"+1 {national[:3]}-{national[3:6]}-{national[6:]}"
    return text


def _email(value: Any) -> str | None:
    text = _text(value)
    text = text.removeprefix("mailto:").partition("?")[0] if text else ""
    return text if _EMAIL.fullmatch(text) else None


def _day(text: str | None) -> dict[str, int | None] | None:
    """As much of the ISO date as is known."""
    match = _DATE.fullmatch(text or "")
    if match is None:
        return None
    year, month, day = (int(group) if group else None for group in match.groups())
    try:
        datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
    except ValueError:
        return None
    return {"day": day, "month": month, "year": year} if 1000 <= (year or 0) <= datetime.now(UTC).year else None


def _size(value: Any) -> list[int | None] | None:
    """The given range of head-counts, or the usual range that a single number falls into."""
    for size in _list(value):
        if isinstance(size, Mapping):
            ends = [_number(size.get("minValue")), _number(size.get("maxValue"))]
            if ends != [None, None]:
                return _in_order(ends)
        count = size.get("value") if isinstance(size, Mapping) else size
        parts = re.fullmatch(r"(\d[\d,]*)\s*[-–]\s*(\d[\d,]*)", count) if isinstance(count, str) else None
        if parts:
            return _in_order([_number(parts[1]), _number(parts[2])])
        number = _number(count)
        if number:
            return head_count_range(number)
    return None


def _in_order(ends: list[int | None]) -> list[int | None] | None:
    low, high = ends
    return ends if low is None or high is None or low <= high else None


def _number(value: Any) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"\d{1,3}(?:,?\d{3})*|\d{1,9}", value.strip()):
        value = int(value.strip().replace(",", ""))
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MAX_EMPLOYEES:
        return None
    return int(value) if value == int(value) else None


def _picture(value: Any, base: str) -> str | None:
    for image in _list(value):
        url = _text((image.get("url") or image.get("contentUrl")) if isinstance(image, Mapping) else image)
        if url:
            return web_address(url, base)
    return None


def web_address(url: str, base: str) -> str | None:
    """The absolute http or https address; None for any other kind, and for more than 2,000 characters."""
    try:
        absolute = urljoin(base, url)
    except ValueError:
        return None
    return absolute if absolute.startswith(("http://", "https://")) and len(absolute) <= 2000 else None


def _text(value: Any) -> str | None:
    """The text, or the first of several, in one line of at most 500 characters; an integer as digits."""
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
    return [element for element in _list(value) if isinstance(element, Mapping)]
