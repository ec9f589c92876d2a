"""Which web domains identify a company: registrable ones, such as `example.co.uk`, not `www.example.co.uk`.

A company must have the same key everywhere, so a domain is normalised: lower case, no trailing dot, international names
as A-labels (`müller.example` is `xn--mller-kva.example`; IDNA 2008 with the mapping of UTS 46, as browsers do it). Only
the registries' part of the public suffix list counts: `alice.github.io` belongs to `github.io`.
"""

import ipaddress
import re
from functools import cache, lru_cache
from typing import NoReturn

import idna
from publicsuffixlist import PublicSuffixList

from tasks.errors import BadRequest

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
_NAMES = {
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
    surplus = [name for part, name in _NAMES.items() if parts[part] is not None]
    if "a scheme" in surplus:
        surplus.remove("slashes")
    host = _plain(parts["host"], field)
    domain = _suffixes().privatesuffix(host)
    if domain is None:
        _refuse(field, f'"{host}" is an ending that companies register under; send a whole domain, such as example.com')
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
