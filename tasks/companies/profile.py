"""The company profile: its fields, the paths that name them (`hq.country`), the domain that identifies a company, and
where to look for all this: the settings for companies say which sources are asked and which pages may be fetched.

Every key of the contract is present. `null` means unknown; an empty array means that a source says there are none.
`extra` is a group of fields rather than a value: it is always an object, so that clients may read into it. `claims`
builds a profile from the sources' claims.

A company is identified by a registrable domain, such as `example.co.uk`, not `www.example.co.uk`. It must have the same
key everywhere, so a domain is normalised: lower case, no trailing dot, international names as A-labels
(`müller.example` is `xn--mller-kva.example`; IDNA 2008 with the mapping of UTS 46, as browsers do it). Only the
registries' part of the public suffix list counts: `alice.github.io` belongs to `github.io`.
"""

import ipaddress
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from enum import StrEnum
from functools import cache, lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NoReturn, Union, get_args, get_origin

import idna
from publicsuffixlist import PublicSuffixList
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import NoDecode

from storage.settings import Settings
from tasks.errors import BadRequest


def _utc(value: str) -> str:
    try:
        time = datetime.fromisoformat(value)
        time = (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("must be an ISO 8601 time, such as 2026-03-31T00:00:00Z") from None
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")


Timestamp = Annotated[str, AfterValidator(_utc)]
"""An ISO 8601 time in UTC with `Z`. A time without a zone is taken as UTC, a date as its first second."""


class _Part(BaseModel):
    """Types are as in the contract: a number in quotes is not a number, and an unknown key is a mistake."""

    model_config = ConfigDict(
        strict=True, extra="forbid", allow_inf_nan=False, json_schema_serialization_defaults_required=True
    )


class Date(_Part):
    """A day; unknown parts are null."""

    day: int | None = None
    month: int | None = None
    year: int | None = None


class Location(_Part):
    """An address. `country` is the two-letter code."""

    country: str | None = None
    city: str | None = None
    postal_code: str | None = None
    line_1: str | None = None
    is_hq: bool | None = None
    state: str | None = None


class RelatedCompany(_Part):
    """A similar or affiliated company."""

    name: str | None = None
    link: str | None = None
    industry: str | None = None
    location: str | None = None


class Update(_Part):
    """A post of the company."""

    article_link: str | None = None
    image: str | None = None
    posted_on: Date | None = None
    text: str | None = None
    total_likes: int | None = None


class Acquisition(_Part):
    """One company bought another. `price` is in US dollars."""

    social_profile_url: str | None = None
    funding_db_profile_url: str | None = None
    announced_date: Date | None = None
    price: int | None = None


class Acquisitions(_Part):
    """Which companies the company bought, and who bought it."""

    acquired: list[Acquisition] | None = None
    acquired_by: Acquisition | None = None


class Exit(_Part):
    """A holding that the company has sold or taken public."""

    social_profile_url: str | None = None
    funding_db_profile_url: str | None = None
    name: str | None = None


class Investor(_Part):
    """A participant in a funding round. `type` is `person` or `organization`."""

    social_profile_url: str | None = None
    name: str | None = None
    type: str | None = None


class FundingRound(_Part):
    """One round. `money_raised` is in US dollars."""

    funding_type: str | None = None
    money_raised: int | float | None = None
    announced_date: Date | None = None
    number_of_investor: int | None = None
    investor_list: list[Investor] | None = None


class AnnualRevenue(_Part):
    """A year's revenue: `amount` in units of `currency` (ISO 4217), `start` and `end` as ISO dates.

    `start` is null if the source only gives the end; `end` is a year if it says no more.
    """

    amount: int | float | None = None
    currency: str | None = None
    start: str | None = None
    end: str | None = None


def _is_unknown(value: object) -> bool:
    return value is None


class Extra(_Part):
    """Fields that a funding database has. `company_type` is a free label, unlike the profile's.

    `employee_count` and `annual_revenue` (newest year first) are not fields of the contract: their keys only appear if
    a source gives them.
    """

    funding_db_profile_url: str | None = None
    ipo_status: str | None = None
    funding_db_rank: int | None = None
    founding_date: Date | None = None
    operating_status: str | None = None
    company_type: str | None = None
    contact_email: str | None = None
    phone_number: str | None = None
    network_a_id: str | None = None
    network_b_id: str | None = None
    number_of_funding_rounds: int | None = None
    total_funding_amount: int | None = None
    stock_symbol: str | None = None
    ipo_date: Date | None = None
    number_of_lead_investors: int | None = None
    number_of_investors: int | None = None
    total_fund_raised: int | None = None
    number_of_investments: int | None = None
    number_of_lead_investments: int | None = None
    number_of_exits: int | None = None
    number_of_acquisitions: int | None = None
    employee_count: int | None = Field(default=None, exclude_if=_is_unknown)
    annual_revenue: list[AnnualRevenue] | None = Field(default=None, exclude_if=_is_unknown)


class CompanyProfile(_Part):
    """A company as its sources know it. `company_size` is a head-count range; an open end is null."""

    social_internal_id: str | None = None
    description: str | None = None
    website: str | None = None
    industry: str | None = None
    company_size: Annotated[list[int | None], Field(min_length=2, max_length=2)] | None = None
    company_size_on_social: int | None = None
    hq: Location | None = None
    company_type: str | None = None
    founded_year: int | None = None
    specialities: list[str] | None = None
    locations: list[Location] | None = None
    name: str | None = None
    tagline: str | None = None
    universal_name_id: str | None = None
    profile_pic_url: str | None = None
    search_id: str | None = None
    similar_companies: list[RelatedCompany] | None = None
    affiliated_companies: list[RelatedCompany] | None = None
    updates: list[Update] | None = None
    follower_count: int | None = None
    acquisitions: Acquisitions | None = None
    exit_data: list[Exit] | None = None
    extra: Annotated[Extra, BeforeValidator(lambda value: Extra() if value is None else value)] = Field(
        default_factory=Extra
    )
    funding_data: list[FundingRound] | None = None
    categories: list[str] | None = None
    customer_list: list[str] | None = None
    social_url: str | None = None
    last_updated: Timestamp | None = None


_HEAD_COUNTS: Final = ((1, 1), (2, 10), (11, 50), (51, 200), (201, 500), (501, 1000), (1001, 5000), (5001, 10_000))
"""The ranges of head-counts in profiles; above them is 10001 and more."""


def head_count_range(count: int) -> list[int | None]:
    """The `company_size` of a company with so many employees."""
    return next(([*ends] for ends in _HEAD_COUNTS if ends[0] <= count <= ends[1]), [10_001, None])


class FieldType(StrEnum):
    """The type of a field. `date` is an object of day, month and year; `time` a timestamp as text."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    TIME = "time"
    LIST = "list"
    OBJECT = "object"


@cache
def fields() -> Mapping[str, FieldType]:
    """Every path of the profile with its type, parents before their parts; list elements have the index `0`.

    Any other index has the same type: `locations.3.city` has that of `locations.0.city`.
    """
    return types.MappingProxyType(dict(_walk("", CompanyProfile)))


def field_type(path: str) -> FieldType:
    """The type of the field at `path`, a dotted path such as `extra.ipo_status`, `hq.country` or `company_size.0`.

    Raises:
        BadRequest: the profile has no such field; the message gives the nearest ones.
    """
    known = fields()
    known_type = known.get(path)
    if known_type is None and not path.startswith("company_size."):  # a range has two ends, other lists have any length
        known_type = known.get(re.sub(r"\.[0-9]{1,6}(?=\.|$)", ".0", path))
    if known_type is None:
        near = get_close_matches(path[:100], known, n=3, cutoff=0.6)
        hint = f"Did you mean {' or '.join(near)}?" if near else "Name a field such as founded_year or hq.country."
        raise BadRequest(f"The company profile has no field {path[:100]!r}. {hint}")
    return known_type


Step = int | str


def find_mistakes(values: Mapping[str, Any]) -> dict[tuple[Step, ...], ErrorDetails]:
    """What of these values is no Company profile, by where it stands; nothing where they are one.

    The validator's steps for the two types of a number, which the profile does not have, are left out.
    """
    try:
        CompanyProfile.model_validate(values)
    except ValidationError as error:
        mistakes = error.errors(include_url=False, include_context=False, include_input=False)
        return {tuple(step for step in one["loc"] if step not in {"int", "float"}): one for one in mistakes}
    return {}


def remove_value(values: Any, location: Sequence[Step]) -> None:
    """Remove what stands there, unless something around it was removed before."""
    try:
        for step in location[:-1]:
            values = values[step]
        del values[location[-1]]
    except (KeyError, IndexError, TypeError):
        return


def value_at(profile: CompanyProfile | Mapping[str, Any], path: str) -> Any:
    """The value at `path` as JSON, or None if the profile does not know it.

    Raises:
        BadRequest: the profile has no such field; the message gives the nearest ones.
    """
    field_type(path)
    value: Any = profile.model_dump() if isinstance(profile, CompanyProfile) else profile
    for step in path.split("."):
        if isinstance(value, list):
            value = value[int(step)] if int(step) < len(value) else None
        elif value is not None:
            value = value.get(step)
    return value


def _walk(path: str, annotation: Any) -> Iterator[tuple[str, FieldType]]:
    """The paths at and below one annotation, with their field types."""
    if path == "last_updated":
        yield path, FieldType.TIME
        return
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    kinds = [part for part in get_args(annotation) if part is not types.NoneType]
    if get_origin(annotation) in (Union, types.UnionType):
        yield from [(path, FieldType.NUMBER)] if float in kinds else _walk(path, kinds[0])
    elif get_origin(annotation) is list:
        yield path, FieldType.LIST
        for step in ("0", "1") if path == "company_size" else ("0",):
            yield from _walk(f"{path}.{step}", kinds[0])
    elif issubclass(annotation, BaseModel):
        if path:
            yield path, FieldType.DATE if annotation is Date else FieldType.OBJECT
        for name, field in annotation.model_fields.items():
            yield from _walk(f"{path}.{name}" if path else name, field.annotation)
    else:
        yield path, {str: FieldType.TEXT, int: FieldType.INTEGER, bool: FieldType.BOOLEAN}[annotation]


_NAMES: Final = {
    "founded_year": "founding year",
    "company_size": "employees",
    "company_size.0": "smallest number of employees",
    "company_size.1": "largest number of employees",
    "hq": "headquarters",
    "hq.country": "country of the headquarters",
    "hq.city": "city of the headquarters",
    "hq.is_hq": "seat is the headquarters",
    "profile_pic_url": "logo",
    "extra.ipo_status": "listed or private",
}


def field_name(path: str) -> str:
    """The field at this dotted path in words: `extra.operating_status` is the operating status."""
    if path in _NAMES:
        return _NAMES[path]
    steps = [step for step in path.split(".") if not step.isdigit() and step not in {"extra", "profile"}]
    return (steps[-1] if steps else path).replace("_", " ")


_PARTS = re.compile(
    r"(?:(?P<scheme>[a-z][a-z0-9+.-]*:)?(?P<slashes>[/\\]{2}))?"
    r"(?:(?P<user>[^/\\?#]*)@)?"
    r"(?P<host>\[[^\]@]*\]|[^/\\?#:\[\]@]*)"
    r"(?P<port>:[0-9]*)?"
    r"(?P<path>[/\\][^?#]*)?"
    r"(?P<query>\?[^#]*)?"
    r"(?P<fragment>\#.*)?",
    re.IGNORECASE | re.DOTALL,
)
_PART_NAMES = {
    "scheme": "a scheme",
    "slashes": "slashes",
    "user": "a user name",
    "port": "a port",
    "path": "a path",
    "query": "parameters",
    "fragment": "a fragment",
}


@lru_cache(maxsize=1024)
def registrable(value: str, field: str = "domain") -> str:
    """The normalised form of a company's web domain: lower case, no trailing dot, A-labels.

    `field` is the caller's name for the value, for the error message.

    Raises:
        BadRequest: it is not a registrable domain; the message says which domain to send.
    """
    text = value.strip()
    if not text:
        _refuse(field, "is blank; send the company's web domain, such as example.com")
    if _is_address(text):
        _refuse(field, "is an IP address; send the company's web domain, such as example.com")
    parts = _PARTS.fullmatch(text)
    if parts is None:
        _refuse(field, "is not a web domain; send one such as example.com")
    surplus = [name for part, name in _PART_NAMES.items() if parts[part] is not None]
    if "a scheme" in surplus:
        surplus.remove("slashes")
    host = _plain(parts["host"], field)
    domain = _suffixes().privatesuffix(host)
    if domain is None:
        is_ending = "is" if "." in host else "is at most"
        _refuse(
            field,
            f'"{host}" {is_ending} an ending that companies register under; send a whole domain, such as example.com',
        )
    if domain != host:
        surplus.insert(0, "a subdomain")
    if surplus:
        _refuse(field, f"holds {', '.join(surplus)}; send {domain} instead")
    return str(domain)


def _plain(host: str, field: str) -> str:
    """The host as lower-case A-labels, without a trailing dot."""
    if _is_address(host):
        _refuse(field, "is an IP address; send the company's web domain, such as example.com")
    try:
        # 253 octets are the most (RFC 1035), and what is cut here is still too long
        name = idna.encode(host[:300].lower(), uts46=True, std3_rules=True).decode("ascii").lower().removesuffix(".")
    except (idna.IDNAError, UnicodeError):
        _refuse(
            field, "is not a domain name (letters, digits and hyphens, separated by dots); send one such as example.com"
        )
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", name.rpartition(".")[2]):  # read as an IPv4 address by every browser
        _refuse(field, "is an IP address; send the company's web domain, such as example.com")
    return name


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _refuse(field: str, what: str) -> NoReturn:
    sentence = what if what.startswith('"') else f'"{field}" {what}'
    raise BadRequest(f"{sentence}.", {field: what})


@cache
def _suffixes() -> PublicSuffixList:
    """The list shipped with the library, parsed once in 0.04 s. Unknown endings (`.example`) count as public."""
    return PublicSuffixList(only_icann=True)


_HOST: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")


def host_or_network(name: str) -> str | IPv4Network | IPv6Network:
    """A value of `DILIGENCE_WEB_ALLOW`: a network (an address is a network with one host), otherwise a host name.

    Raises:
        ValueError: it is neither; the message says which value.
    """
    name = name.strip().lower().strip("[]").rstrip(".")
    try:
        return ip_network(name, strict=False)
    except ValueError:
        if not _HOST.fullmatch(name) or _NUMBER.fullmatch(name.rpartition(".")[2]):
            raise ValueError(f"{name!r} is not a host, IP address or network such as 10.0.0.0/8") from None
        return name


def _split(value: Any) -> Any:
    """Convert `files, sec`, as written in the environment or a batch file, to a tuple; a repeated name counts once."""
    names = value if isinstance(value, list | tuple) else str(value).split(",")
    return tuple(dict.fromkeys(name for name in (str(name).strip().lower() for name in names) if name))


def _check_hosts(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        host_or_network(name)
    return names


Url = Annotated[str, Field(pattern=r"^https?://[^\s/]\S*$")]
"""An address of the web."""
Server = Annotated[Url, AfterValidator(lambda address: address.rstrip("/"))]
"""The address of a server, without a path and without a slash at its end."""


SearcherName = Literal["searxng", "brave", "tavily", "hosted"]
"""A provider of web search: the name of its entry in `tasks.companies.pages.SEARCHERS`."""


class CompanySettings(Settings):
    """The sources of facts, their addresses and keys, the web search, and the limits of both."""

    fact_sources: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)] = Field(
        ("files", "wikidata", "sec", "gleif", "website"),
        description="the sources asked for facts, in order of precedence, comma-separated; profile_api comes first "
        "where it has a key",
    )
    facts: Path | None = Field(
        None, description="the folder of the source `files`, one <domain>.json a company; `facts` in the current folder"
    )
    contact: str | None = Field(
        None,
        description="the contact in the User-Agent, an e-mail or web address; without it Wikidata, Wikipedia and the "
        "SEC are not asked",
        pattern="^[ -~]{1,200}$",
    )
    web_allow: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split), AfterValidator(_check_hosts)] = Field(
        (), description="hosts, addresses or networks (CIDR) that fetched pages may lie on though private"
    )
    website_url: str = Field(
        "https://{domain}",
        description="where a company's own site is; {domain} stands for its domain",
        pattern=r"^https?://([^\s{}]|\{domain\})+$",
    )
    wikidata_url: Server = Field("https://www.wikidata.org", description="Wikidata's address")
    wikidata_sparql_url: Url = Field(
        "https://query.wikidata.org/sparql", description="the whole address of its query service"
    )
    wikipedia_url: Server = Field("https://en.wikipedia.org", description="Wikipedia's address")
    sec_url: Server = Field("https://www.sec.gov", description="the SEC's address")
    sec_data_url: Server = Field("https://data.sec.gov", description="the address of its data")
    gleif_url: Server = Field("https://api.gleif.org", description="GLEIF's address")
    profile_api_url: Server = Field("https://enrichlayer.com", description="the commercial provider's address")
    profile_api_key: SecretStr | None = Field(None, description="the key of the commercial provider")
    search: SearcherName | None = Field(None, description="who searches the web; hosted is the AI server itself")
    search_url: Server | None = Field(None, description="its address, where it is not the provider's own")
    search_key: SecretStr | None = Field(None, description="its key")
    facts_max_age: float = Field(
        24,
        ge=0,
        description="hours that a source's answer on a company is used before it is asked again; where it knew "
        "nothing, a quarter of them and an hour at most",
    )
    facts_timeout: float = Field(30, gt=0, description="seconds that one source may take for one company")
    facts_patience: float = Field(
        900,
        ge=0,
        description="seconds that a batch waits for a source that refuses requests for now, or whose budget is spent, "
        "before it goes on without it",
    )


def reads_pages() -> bool:
    """Whether the settings allow reading public pages: company sites, Wikipedia, filings, search results."""
    settings = CompanySettings.current()
    return settings.search is not None or not {"website", "wikidata", "sec"}.isdisjoint(settings.fact_sources)
