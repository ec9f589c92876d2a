"""The companies room's settings: which sources are asked, where they are, and what may be fetched."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from storage.settings import RoomSettings

KNOWN_SOURCES = ("profile_api", "files", "wikidata", "sec", "gleif", "website")
"""Every name that `DILIGENCE_FACT_SOURCES` may hold."""


def _split(given: Any) -> Any:
    """`files, sec` as a list in the environment or a batch file; a name given twice counts once."""
    names = given if isinstance(given, list | tuple) else str(given).split(",")
    return tuple(dict.fromkeys(name for name in (str(name).strip().lower() for name in names) if name))


def _known_places(names: tuple[str, ...]) -> tuple[str, ...]:
    from tasks.companies.web.safe_addresses import Allowed  # noqa: PLC0415 - it brings httpx, which `--help` does without

    if names:
        Allowed.parse(names)
    return names


def _without_slash(address: str) -> str:
    return address.rstrip("/")


Url = Annotated[str, Field(pattern=r"^https?://[^\s/]\S*$")]
"""An address of the web."""
Server = Annotated[Url, AfterValidator(_without_slash)]
"""The address of a server, without the path that is asked for, and without a slash at its end."""


class CompanySettings(RoomSettings):
    """What the companies room is told."""

    fact_sources: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)] = Field(
        ("files", "wikidata", "sec", "gleif", "website"),
        description=f"the sources asked for facts, in order of precedence, comma-separated: {', '.join(KNOWN_SOURCES)}",
    )
    facts: Path | None = Field(
        None, description="the folder of the source `files`, one <domain>.json a company; `facts` in the current folder"
    )
    contact: str | None = Field(
        None,
        description="the contact in the User-Agent, an e-mail or web address, that Wikidata and the SEC ask for",
        pattern="^[ -~]{1,200}$",
    )
    web_allow: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split), AfterValidator(_known_places)] = Field(
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
    search: Literal["searxng", "brave", "tavily", "hosted"] | None = Field(
        None, description="who searches the web; hosted is the AI server itself"
    )
    search_url: Server | None = Field(None, description="its address, where it is not the provider's own")
    search_key: SecretStr | None = Field(None, description="its key")
    facts_max_age: float = Field(
        24,
        ge=0,
        description="hours that a source's word on a company is used again before it is asked anew; that it knows "
        "nothing, a quarter of them and an hour at most",
    )
    facts_timeout: float = Field(30, gt=0, description="seconds that one source may take for one company")


def reads_pages() -> bool:
    """Whether the settings let public pages be read: a company's site, Wikipedia, filings, what a search finds."""
    settings = CompanySettings.current()
    return settings.search is not None or not {"website", "wikidata", "sec"}.isdisjoint(settings.fact_sources)
