"""The SSRF guard: http and https to hosts on the public internet only, safe from DNS rebinding.

A name is resolved once, its addresses are checked, and the connection is made to one of them.
"""

import re
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final, Self

import httpcore
import httpx

from tasks.cancellation import FanOut
from tasks.companies.profile import host_or_network, registrable
from tasks.errors import BadRequest, NotAllowed
from tasks.remote.retry import TimedStream, limit_time

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
    """The parts of an http or https address. `host` is in lower-case A-labels, or an IP address without brackets."""

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
            raise NotAllowed("This is not a web address, so it is not fetched.") from None
        if scheme not in _PORTS:
            raise NotAllowed("Only addresses that begin with http:// or https:// are fetched.")
        if parts.userinfo:
            raise NotAllowed("An address with a user name in it is not fetched.")
        if port is not None and not 0 < port < 1 << 16:
            raise NotAllowed("An address with an impossible port is not fetched.")
        return cls(scheme, _plain_host(host), port or _PORTS[scheme], parts.raw_path.decode("ascii"))

    def join(self, location: str) -> "Address":
        """The address that a redirect's `location` or a page's link leads to.

        Raises:
            NotAllowed: it is none that is fetched.
        """
        if len(location) > _LONGEST:
            raise NotAllowed(f"An address of more than {_LONGEST} characters is not fetched.")
        try:
            joined = str(httpx.URL(str(self)).join(location.strip()))
        except (httpx.InvalidURL, UnicodeError, ValueError):
            raise NotAllowed("This is not a web address, so it is not fetched.") from None
        return Address.parse(joined)

    @property
    def by_name(self) -> bool:
        """Whether the host is a name rather than an IP address."""
        return ":" not in self.host and not _NUMBER.fullmatch(self.host.rpartition(".")[2])

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port, which identify one server."""
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
    """What `DILIGENCE_WEB_ALLOW` names: hosts and networks that may be fetched from although they are not public."""

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
        """Why no connection may be made to `address` (an IP address), to which `host` resolves; None if it may."""
        try:
            ip = _unwrap(ip_address(address))
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
    """Whether the address is reachable from the public internet, and so in no private, local, shared or reserved
    network.

    Python's own `is_global` changed between releases of 3.11, and counts addresses within 6to4 as public.
    """
    address = _unwrap(address)
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _PUBLIC_6 and not any(address in network for network in _NOT_PUBLIC_6)


def _unwrap(address: IPAddress) -> IPAddress:
    """The IPv4 address where a connection to this one ends, if IPv4-mapped or in the well-known NAT64 range."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _plain_host(host: str) -> str:
    """The host without a trailing dot; an IPv6 address without its brackets.

    Raises:
        NotAllowed: it is not a host name, or it is an IP address spelt to hide it (octal, hexadecimal, one number).
    """
    host = host.lower().removesuffix(".")
    if ":" in host:
        try:
            literal = IPv6Address(host.strip("[]"))
        except ValueError:
            raise NotAllowed("This is not a web address, so it is not fetched.") from None
        if literal.scope_id is not None:
            raise NotAllowed("An address of one network interface is not fetched.")
        return literal.compressed
    if not _NAME.fullmatch(host) or len(host) > 253:
        raise NotAllowed("This is not a web address, so it is not fetched.")
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        try:
            return str(IPv4Address(host))
        except ValueError:
            raise NotAllowed("An IP address written in an unusual way is not fetched.") from None
    return host


def registrable_domain(url: str) -> str | None:
    """The registrable domain of an address; None for IP addresses and for text that is not an address."""
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


Resolver = Callable[[str, int], Sequence[str]]
"""The IP addresses of a host, for a port. Raises OSError when there are none."""

_ADDRESSES_TRIED: Final = 4
"""Addresses of one host that are tried, one after the other, within the time for connecting."""


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host according to this machine's resolver; every name within `localhost` is this machine.

    Raises:
        OSError: the resolver knows no address.
    """
    if host == "localhost" or host.endswith(".localhost"):  # RFC 6761; not every resolver does so
        return ["127.0.0.1", "::1"]
    infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in infos))


class CheckedTransport(httpx.HTTPTransport):
    """Sends httpx's requests to addresses that `allowed` reaches; with None, to any.

    Connections stay open for half a minute. How many there are at a time is the rate limiters' business. An address
    that is not public, and not allowed, is a `NotAllowed`.
    """

    def __init__(self, allowed: Allowed | None, trust: ssl.SSLContext, resolver: Resolver = resolve) -> None:
        super().__init__(verify=trust, trust_env=False)
        self._pool = httpcore.ConnectionPool(  # httpx has no parameter for where connections are made
            ssl_context=trust,
            network_backend=_CheckedBackend(allowed, resolver),
            max_connections=None,
            max_keepalive_connections=64,
            keepalive_expiry=30,
        )


class _CheckedBackend(httpcore.NetworkBackend):
    """Makes the connections for httpcore."""

    def __init__(self, allowed: Allowed | None, resolver: Resolver) -> None:
        self._allowed = allowed
        self._resolver = resolver
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to one of the host's addresses.

        Raises:
            NotAllowed: one of them is not public, and not allowed.
            httpcore.ConnectError, httpcore.ConnectTimeout: none answers.
        """
        until = time.monotonic() + limit_time(timeout, httpcore.ConnectTimeout)
        addresses = self._addresses(host, port, until)
        if self._allowed is not None:
            for address in addresses:
                refusal = self._allowed.refusal(host, address, port)
                if refusal is not None:
                    raise NotAllowed(refusal)
        failure: Exception = httpcore.ConnectError("no address")
        tried = addresses[:_ADDRESSES_TRIED]
        for left, address in zip(range(len(tried), 0, -1), tried, strict=True):
            seconds = max(0.01, (until - time.monotonic()) / left)
            try:
                stream = self._sockets.connect_tcp(address, port, seconds, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return TimedStream(stream)
        raise failure

    def _addresses(self, host: str, port: int, until: float) -> Sequence[str]:
        """The host's addresses; the system's resolver has no time limit, so it runs in a separate thread."""
        resolving = FanOut(1, "resolve").submit(self._resolver, host, port)
        try:
            addresses = resolving.result(timeout=max(0.0, until - time.monotonic()))
        except TimeoutError:
            if resolving.done():  # an OSError of the resolver, which may be one too
                raise httpcore.ConnectError("the name is not known") from None
            raise httpcore.ConnectTimeout("resolving took too long") from None
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from None
        if not addresses:
            raise httpcore.ConnectError("the name is not known")
        return addresses
