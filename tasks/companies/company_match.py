"""Entity disambiguation: whether a page is about the right company, not a namesake; and what its markup says of it.

The domain identifies the company, so a page must be connected with it: it is on the domain, names it, links to it, or
is a trusted registry's page about this company. If a domain is known, a name alone proves nothing; neither does a page
that sets its own company apart from ours, or that lists companies including ours.

A wall is a page that a server, a firewall or a fresh installation shows instead of the company's own. It is judged by
what it contains: marks of its maker in the markup, the name of its software instead of the company's, a demand for
scripts or cookies, and how little it says. A page with much text or many links is not a wall.

Markup is the schema.org Organization of a page, as values for the profile's fields. Which organization on a page is
the company is decided by addresses: one with an address on another registrable domain is a publisher, a parent or a
customer, and is left out. Telephone numbers are given in international form (`international`, which other sources use
too).
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urljoin, urlsplit

import idna
from pytz import country_names  # type: ignore[import-untyped]

from tasks.companies.claims import one_text
from tasks.companies.profile import CompanySettings, head_count_range
from tasks.companies.web.site import Page
from tasks.companies.web.transport import registrable_domain
from tasks.language.normalise import same_name

_SCHEMA_ORG: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("schema_org.toml").read_text("utf-8"))
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
    return any(type_ in _SCHEMA_ORG["types"] for type_ in _list(thing.get("@type")))


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
    return {**{name.casefold(): code for code, name in country_names.items()}, **_SCHEMA_ORG["countries"]}


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


_KNOWN: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("walls.toml").read_text("utf-8"))
_APART: Final = re.compile(rf"(?:{'|'.join(_KNOWN['apart'])})\b(?:(?![.!?]\s|\n).){{0,120}}$", re.IGNORECASE)
"""Words with which a page names a company that it is not about; the rest of the sentence is before the name."""
_PARKED: Final = re.compile("|".join(_KNOWN["parked"]), re.IGNORECASE | re.DOTALL)
_MAX_PARKED: Final = 2000
"""Characters; a longer page is not a parked one, whatever it says about domains."""
_MAX_OTHER_COMPANIES: Final = 8
"""Other domains that a page on one company names in its text; a directory names dozens."""
_DOMAIN: Final = re.compile(
    r"(?<![\w@.-])(?:https?://)?(?:www\.)?((?:[a-z0-9-]{1,63}\.){1,3}[a-z]{2,18})(?![\w-])", re.IGNORECASE
)


@dataclass(frozen=True)
class Identity:
    """The company that is meant: its name and domains (several if companies share the name), and what belongs to it.

    `sites` are the prefixes of its own pages' addresses, `article` is the address of its Wikipedia article, `ciks` are
    its ten-digit numbers with the SEC.
    """

    name: str | None
    domains: tuple[str, ...] = ()
    sites: tuple[str, ...] = field(default=())
    article: str | None = None
    ciks: tuple[str, ...] = ()

    def owns(self, url: str) -> bool:
        """Whether the address is on the company's own site."""
        return registrable_domain(url) in self.domains or any(_below(url, site) for site in self.sites)

    def filed(self, url: str) -> bool:
        """Whether the address is that of a filing by the company with the SEC."""
        if registrable_domain(url) != "sec.gov" and not _below(url, CompanySettings.current().sec_url):
            return False
        return any(re.search(rf"(?<!\d)0*{cik.lstrip('0')}(?!\d)", url) for cik in self.ciks)

    def standing(self, url: str) -> int:
        """How close a page is to the company, judging by its address: 0 its own, 1 a registry's, 2 any other."""
        return 0 if self.owns(url) else 1 if self.filed(url) or url == self.article else 2

    def is_shown_by(self, page: Page, url: str) -> bool:
        """Whether the page, found at `url`, is about this company."""
        if self.standing(url) < 2:
            return True
        if not self.domains:
            return self.name is not None and names_exactly(self.name, page)
        if self._is_namesakes_site(page, url):
            return False
        named = {match[1].casefold() for match in _DOMAIN.finditer(page.text)}
        if len(named) > _MAX_OTHER_COMPANIES and not self._is_in_title(page):  # a list
            return False
        mentions = [
            (mention.start(), page.text)
            for domain in self.domains
            for mention in _match_domain(domain).finditer(page.text)
        ]
        if mentions:
            return not all(_APART.search(text[max(0, at - 200) : at]) for at, text in mentions)
        linked = [one for one in page.links if one[0].startswith(("http://", "https://"))]
        links = [words for link, words in linked if registrable_domain(link) in self.domains]
        return bool(links) and not all(_is_told_apart(words, page.text) for words in links)

    def _is_in_title(self, page: Page) -> bool:
        """Whether the page's title names the company, as the title of an article about it does."""
        title = replace(page, paragraphs=[])
        return any(_match_domain(domain).search(page.title or "") for domain in self.domains) or (
            self.name is not None and names_exactly(self.name, title)
        )

    def _is_namesakes_site(self, page: Page, url: str) -> bool:
        """Whether the page's schema.org data show that its site belongs to another company of that name."""
        host = registrable_domain(url)
        if self.name is None or host is None:
            return False
        return any(
            registrable_domain(address) == host
            and any(same_name(*pair) for pair in ((self.name, name), (name, self.name)))
            for thing in page.schema_org
            for name, address in _names_and_urls(thing)
        )


def is_parked(page: Page) -> bool:
    """Whether a home page is the placeholder of a domain that is for sale or unused."""
    text = f"{page.title or ''}\n{page.description or ''}\n{page.text}"
    return len(text) <= _MAX_PARKED and bool(_PARKED.search(text))


def is_empty(page: Page) -> bool:
    """Whether a page says nothing at all."""
    return not any((page.title, page.description, page.text.strip(), page.schema_org))


def names_exactly(name: str, page: Page) -> bool:
    """Whether the page names a company of exactly that name: `Alpha`, `Alpha GmbH`, and not `Alpha Industries`."""
    words = re.findall(r"\w+", name)
    if not words:
        return False
    phrase = r"(?<!\w)" + r"\W{1,3}".join(map(re.escape, words)) + r"(?!\w)(?P<more>(?:[ ,]{1,2}[\w.&/]+)?)"
    for match in re.finditer(phrase, f"{page.title or ''}\n{page.text}", re.IGNORECASE):
        more = match["more"].strip(" ,")
        if not more or not more[0].isupper() or same_name(name, f"{name} {more}"):
            return True
    return False


def _is_told_apart(words: str, text: str) -> bool:
    """Whether a link's words occur in the text only where the text says what it is not about."""
    starts = [match.start() for match in re.finditer(re.escape(words.strip()), text)] if words.strip() else []
    return bool(starts) and all(_APART.search(text[max(0, at - 200) : at]) for at in starts)


def _match_domain(domain: str) -> re.Pattern[str]:
    """A pattern for the domain as a word of its own, or at the end of a host name or e-mail address."""
    return re.compile(rf"(?<![\w-]){re.escape(domain)}(?![\w-]|\.\w)", re.IGNORECASE)


def _names_and_urls(thing: object) -> Iterator[tuple[str, str]]:
    if isinstance(thing, dict) and isinstance(thing.get("name"), str) and isinstance(thing.get("url"), str):
        yield thing["name"], thing["url"]


def _below(url: str, site: str) -> bool:
    one, other = urlsplit(url), urlsplit(site)
    folder = unquote(other.path).rstrip("/") + "/"
    return (one.scheme, one.netloc) == (other.scheme, other.netloc) and (unquote(one.path) + "/").startswith(folder)


class Wall(Enum):
    """What a page is instead of the company's own, as a sentence for the reader of the facts."""

    BROWSER = "The website of {domain} asks for a browser that runs scripts. Read its pages yourself, or ask later."
    DENIED = "The website of {domain} refuses to be read by programs, so its pages were not read."
    CONSENT = "The website of {domain} shows its pages only after a choice of cookies, so they were not read."
    LOGIN = "The website of {domain} shows its pages only after a login or with a password, so they were not read."
    DEFAULT = "The website of {domain} shows a default page of its software or host, so it was not used."
    PARKED = "The domain {domain} is parked, so its page was not used."
    UNNAMED = "The website of {domain} says hardly anything and does not name the company, so it was not used."

    def sentence(self, domain: str) -> str:
        """The sentence about that domain's website."""
        return self.value.format(domain=domain)

    @property
    def shuts_out(self) -> bool:
        """Whether the company's own pages are behind it."""
        return self in {Wall.BROWSER, Wall.DENIED, Wall.CONSENT, Wall.LOGIN}


_MARKS: Final = [
    (mark.encode(), Wall[name.upper()], certainty == "sure")
    for certainty, marks in _KNOWN["marks"].items()
    for name, written in marks.items()
    for mark in written
]
"""What makers of walls write into them, which wall that is, and whether it is on no ordinary page."""
_HOSTS: Final = {label: Wall[name.upper()] for name, labels in _KNOWN["hosts"].items() for label in labels}
"""The first label of hosts to which a site sends those whom it does not let in."""
_WORDS: Final = [
    (re.compile("|".join(words), re.IGNORECASE), Wall[name.upper()]) for name, words in _KNOWN["words"].items()
]
"""What is called the same in each language: what a wall asks for, and the software and hosts of default pages."""
_CONTROL: Final = re.compile(rb"<(?:button|form|input)\b", re.IGNORECASE)
_PASSWORD: Final = re.compile(rb"type=[\"']?password", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"(?<![\w-])[\w-]++(?:\.[\w-]++)++")
_MAX_WORDS, _MAX_NAME = 1000, 5
"""Words of a text in which a name is looked for, and words of a name."""
_MAX_WALL, _MAX_UNNAMED = (5000, 12), (600, 4)
"""Characters of text and links within the site: a larger page is not a wall, or says enough without the name."""


def find_wall(page: Page, domain: str, *, is_home: bool = True) -> Wall | None:
    """What the page is instead of one of the company's own; None if it is the company's.

    On pages other than the home page, only proof of a wall counts: they may be short and name nobody.
    """
    if is_home and is_parked(page):
        return Wall.PARKED
    host = urlsplit(page.url).netloc
    if registrable_domain(page.url) == domain and host.partition(":")[0] != domain and host.partition(".")[0] in _HOSTS:
        return _HOSTS[host.partition(".")[0]]
    links = {link for link, _ in page.links if urlsplit(link).netloc == host and urlsplit(link).path.strip("/")}
    size = len(page.text), len(links)
    if size[0] > _MAX_WALL[0] or size[1] > _MAX_WALL[1]:
        return None
    markup = page.markup.lower()
    marks = [(wall, sure) for mark, wall, sure in _MARKS if mark in markup]
    if proofs := [wall for wall, sure in marks if sure]:
        return proofs[0]
    said, about, speaks_for_company = _read_words(page, domain, _CONTROL.search(markup) is not None)
    if speaks_for_company:
        return None
    is_small = all(count <= most for count, most in zip(size, _MAX_UNNAMED, strict=True))
    if is_small:
        said += [wall for wall, _ in marks] + [Wall.LOGIN] * bool(_PASSWORD.search(markup))
    wall = about or next(iter(said), None)
    if wall is None and b"<script" in markup and not any((*_own_texts(page), page.schema_org)):
        wall = Wall.BROWSER
    if not is_home:
        return wall if wall and wall.shuts_out and is_small else None
    return wall or (Wall.UNNAMED if is_small else None)


def _own_texts(page: Page) -> tuple[str, ...]:
    names = (page.title or "", page.metadata.get("og:site_name", ""))
    return (*names, page.description or "", *page.paragraphs)


def _read_words(page: Page, domain: str, has_controls: bool) -> tuple[list[Wall], Wall | None, bool]:
    """The walls that a page's words indicate, the wall that it is about, and whether it speaks for the company."""
    title, site_name, description, *_ = texts = _own_texts(page)
    organization = str((own_organization(page.schema_org, domain) or {}).get("name") or "")
    said = [*filter(None, map(_wall_words, (title, site_name))), *_main_wall_words(page.paragraphs)]
    about = _wall_words(description) if description else next(iter(said), None)
    is_named = any(names_company(text, domain) and not _wall_words(text) for text in texts)
    is_named = is_named or bool(organization and not _wall_words(organization))
    asks_for_consent = about is Wall.CONSENT and has_controls
    speaks = names_company(description, domain) or (is_named and about in {None, Wall.CONSENT})
    return said, about, speaks and not asks_for_consent


def names_company(text: str, domain: str) -> bool:
    """Whether the text contains the company's name, as in its domain, in ordinary words and not as an address."""
    words = re.findall(r"[^\W_]++", _fold(_ADDRESS.sub(" ", text)))[:_MAX_WORDS]
    label, plain_label = _labels(domain)
    for start in range(len(words)):
        run = ""
        for word in words[start : start + _MAX_NAME]:
            run += word
            for name in (label, plain_label):
                if run == name or (len(name) > 4 and name in run):
                    return True
                if len(run) > 4 and len(run) > 0.6 * len(name) and run in name:
                    return True
    return False


def is_default_text(text: str, page: Page, domain: str) -> bool:
    """Whether the text names the software in the page's `generator` instead of the company, as
    unchanged defaults do.
    """
    software = re.match(r"\w+", page.metadata.get("generator", ""))
    return bool(software and software[0].casefold() in text.casefold() and not names_company(text, domain))


def _wall_words(text: str) -> Wall | None:
    """The kind of wall that uses such words, in any language; None if none does."""
    return next((wall for words, wall in _WORDS if words.search(text)), None)


def _main_wall_words(paragraphs: Sequence[str]) -> Iterator[Wall]:
    """The kinds of wall that make up the text: at least a third of it, by the length of their paragraphs."""
    walls = [_wall_words(paragraph) for paragraph in paragraphs]
    for _, wall in _WORDS:
        length = sum(len(text) for text, found in zip(paragraphs, walls, strict=True) if found is wall)
        if length and length * 3 >= sum(map(len, paragraphs)):
            yield wall


@lru_cache(maxsize=256)
def _labels(domain: str) -> tuple[str, str]:
    """A domain's first label, folded and without hyphens; also with `ue` as `u`, which `ü` becomes when folded."""
    try:
        label = idna.decode(domain).partition(".")[0]
    except idna.IDNAError:
        label = domain.partition(".")[0]
    label = re.sub(r"[\W_]+", "", _fold(label))
    return label, re.sub(r"([aou])e", r"\1", label)


def _fold(text: str) -> str:
    """The text without case and accents."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
