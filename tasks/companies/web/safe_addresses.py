"""The SSRF guard: which addresses may be fetched, http and https on hosts of the public internet alone.

An address is parsed once, here, and connected to as it was checked: two parsers that disagree are the oldest way
round such a check. A host's name says nothing; what it resolves to is checked by `Allowed.refusal` where the
connection is made (`transport.py`).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, Self

import httpx

from tasks.companies.domain import registrable
from tasks.companies.settings import host_or_network
from tasks.errors import BadRequest, NotAllowed

IPAddress = IPv4Address | IPv6Address

_LONGEST: Final = 4096
"""Characters of an address; servers take 8,000 in all, and links of pages have a few hundred."""
_NAME: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORTS: Final = {"http": 80, "https": 443}

# IANA's special-purpose registries, and the address that Azure gives to its machines' host.
_NOT_PUBLIC_4: Final = [
    IPv4Network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    )
]
_PUBLIC_6: Final = IPv6Network("2000::/3")
# Teredo and its neighbours, documentation, and 6to4, which carries an IPv4 address to a relay of anyone's.
_NOT_PUBLIC_6: Final = [IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")]
_NAT64: Final = IPv6Network("64:ff9b::/96")
_LOOPBACK: Final = (IPv4Address("127.0.0.1"), IPv6Address("::1"))


@dataclass(frozen=True)
class Address:
    """An http or https address in its parts. `host` is in lower-case A-labels or an IP address without brackets."""

    scheme: str
    host: str
    port: int
    target: str
    """Path and query, percent-encoded."""

    @classmethod
    def parse(cls, url: str, params: Mapping[str, str] | None = None) -> Self:
        """Parse an address; `params` are added to its query.

        Raises:
            NotAllowed: it is not http or https, holds a user name, or is not well formed.
        """
        if len(url) > _LONGEST:
            raise NotAllowed(f"An address of more than {_LONGEST} characters is not fetched.")
        try:
            parts = httpx.URL(url.strip())
            if params:  # this encodes the query anew, and some servers tell the encodings apart
                parts = parts.copy_merge_params(params)
            scheme, host, port = parts.scheme, parts.raw_host.decode("ascii"), parts.port
        except (httpx.InvalidURL, UnicodeError, ValueError):
            raise NotAllowed("What should be a web address is none, and is not fetched.") from None
        if scheme not in _PORTS:
            raise NotAllowed("Only addresses that begin with http:// or https:// are fetched.")
        if parts.userinfo:
            raise NotAllowed("An address with a user name in it is not fetched.")
        if port is not None and not 0 < port < 1 << 16:
            raise NotAllowed("An address with an impossible port is not fetched.")
        return cls(scheme, _plain_host(host), port or _PORTS[scheme], parts.raw_path.decode("ascii"))

    def join(self, location: str) -> "Address":
        """The address that a redirect's `location` or a page's link leads to from here.

        Raises:
            NotAllowed: it is none that is fetched.
        """
        if len(location) > _LONGEST:
            raise NotAllowed(f"An address of more than {_LONGEST} characters is not fetched.")
        try:
            joined = str(httpx.URL(str(self)).join(location.strip()))
        except (httpx.InvalidURL, UnicodeError, ValueError):
            raise NotAllowed("What should be a web address is none, and is not fetched.") from None
        return Address.parse(joined)

    @property
    def by_name(self) -> bool:
        """Whether the host has a name, and is no IP address."""
        return ":" not in self.host and not _NUMBER.fullmatch(self.host.rpartition(".")[2])

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port: what belongs to one server."""
        return self.scheme, self.host, self.port

    @property
    def base(self) -> str:
        """The address without path and query."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + (f":{self.port}" if self.port != _PORTS[self.scheme] else "")

    def __str__(self) -> str:
        return self.base + self.target


@dataclass(frozen=True)
class Allowed:
    """What `DILIGENCE_WEB_ALLOW` names: hosts and networks that may be fetched from though they are not public."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[IPv4Network | IPv6Network, ...] = field(default=())

    @classmethod
    def parse(cls, names: Iterable[str]) -> Self:
        """Hosts, addresses and networks in CIDR form.

        Raises:
            ValueError: one is none of these; the message says which.
        """
        places = [host_or_network(name) for name in names]
        hosts = frozenset(place for place in places if isinstance(place, str))
        return cls(hosts, tuple(place for place in places if not isinstance(place, str)))

    def refusal(self, host: str, address: str, port: int) -> str | None:
        """Why no connection may be made to `address` (an IP address), which `host` resolves to; None: it may."""
        try:
            ip = _unwrapped(ip_address(address))
        except ValueError:
            return "The address leads to no IP address, and is not fetched."
        if host in self.hosts or self._contains(ip):
            return None
        if not is_public(ip):
            return "The address leads to a private network, and is not fetched. DILIGENCE_WEB_ALLOW names what may be."
        if port not in _PORTS.values():
            return "The address has a port that public pages do not use, and is not fetched."
        return None

    def _contains(self, address: IPAddress) -> bool:
        addresses = _LOOPBACK if address in _LOOPBACK else (address,)  # `localhost` is both
        return any(address in network for network in self.networks for address in addresses)


def is_public(address: IPAddress) -> bool:
    """Whether the public internet reaches that address: it is in no private, local, shared or reserved network.

    Python's own `is_global` changed its mind with releases of 3.11, and takes addresses within 6to4 for public.
    """
    address = _unwrapped(address)
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _PUBLIC_6 and not any(address in network for network in _NOT_PUBLIC_6)


def _unwrapped(address: IPAddress) -> IPAddress:
    """The IPv4 address that a connection to this one ends at: IPv4-mapped, or through the well-known NAT64."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _plain_host(host: str) -> str:
    """The host without a trailing dot, an IPv6 address without its brackets.

    Raises:
        NotAllowed: it is no host, or an IP address in a spelling (octal, hexadecimal, one number) that hides it.
    """
    host = host.lower().removesuffix(".")
    if ":" in host:
        try:
            literal = IPv6Address(host.strip("[]"))
        except ValueError:
            raise NotAllowed("What should be a web address is none, and is not fetched.") from None
        if literal.scope_id is not None:
            raise NotAllowed("An address of one network interface is not fetched.")
        return literal.compressed
    if not _NAME.fullmatch(host) or len(host) > 253:
        raise NotAllowed("What should be a web address is none, and is not fetched.")
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        try:
            return str(IPv4Address(host))
        except ValueError:
            raise NotAllowed("An IP address in an unusual spelling is not fetched.") from None
    return host


def domain_of(url: str) -> str | None:
    """The registrable domain of an address; None for an IP address, and for what is no address."""
    try:
        host = Address.parse(url).host
    except NotAllowed:
        return None
    labels = host.split(".")
    for known in range(2, min(len(labels), 6) + 1):  # public suffixes have five labels at most
        try:
            return registrable(".".join(labels[-known:]))
        except BadRequest:
            continue
    return None
