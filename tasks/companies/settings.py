"""Settings for companies: which sources to ask, where they are, and which pages may be fetched."""

import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from storage.settings import Settings

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
"""A provider of web search: the name of its entry in `tasks.companies.search.SEARCHERS`."""


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
