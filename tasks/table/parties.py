"""The parties of a contract: the names before `between`, in definitions, or behind labels."""

import re
from collections.abc import Iterator
from typing import Final

from tasks.table.contract import OPENING, Contract, FoundValue, find_all, written
from tasks.table.spans import Span

_BETWEEN: Final = written("between")
_LEGAL_END: Final = re.compile(written("legal_end"), re.IGNORECASE)
_NAME_END: Final = re.compile(written("name_end"))
_PARTY_BREAK: Final = re.compile(written("party_break"), re.IGNORECASE)
_ALIAS: Final = re.compile(written("alias"))
_NO_ALIAS: Final = re.compile(written("no_alias"), re.IGNORECASE)
_LISTED_NEXT: Final = re.compile(written("listed_next"))
_DESCRIBED: Final = re.compile(written("described"), re.IGNORECASE)
_THE: Final = re.compile(r"(?:\s*(?:the|der|die|dem|la|le|Frau|Herrn?|Mme|Mrs?\.?|Ms\.?) (?=[A-Z]\w+ [A-Z]))?")
_SMALL: Final = frozenset("of and the for de la di du y e und van der des für en et in".split())
_NO_PARTY: Final = re.compile(written("no_party"), re.IGNORECASE)


def find_parties(contract: Contract) -> FoundValue | None:
    """The names of the parties: what follows `between`, each name up to its description."""
    flat = contract.flat
    best: list[tuple[str, Span]] = []
    for match in find_all(contract, _BETWEEN, OPENING):
        is_plain = match[0].strip().casefold() in {"by", "with"}
        names = list(_party_names(contract, match.end(), match.end() + 2000))
        has_aliases = all(_ALIAS.search(flat, span.end, span.end + 500) for _, span in names)
        is_pair = len({_plain_name(name) for name, _ in names}) == len(names) >= 2
        if is_pair and (has_aliases or (not is_plain and not best)):
            best = names
            if has_aliases:
                break
    best = best or _aliased_names(flat) or _labelled_names(contract.text[:OPENING])
    if not best:
        return None
    first, last = best[0][1].start, best[-1][1].end
    spans = (Span(first, last),) if last - first < 900 else tuple(span for _, span in best)
    return FoundValue([name for name, _ in best], spans, 0.85)


_BEFORE_NAME: Final = re.compile(written("before_name"))


def _aliased_names(flat: str) -> list[tuple[str, Span]]:
    """The first two names with a legal form that an alias in brackets follows."""
    found: dict[str, Span] = {}
    for alias in (one for one in _ALIAS.finditer(flat, 0, OPENING) if not _NO_ALIAS.search(one[0])):
        low = max(0, alias.start() - 300, max((span.end for span in found.values()), default=0))
        known = {_plain_name(name) for name in found}
        for start in (match.end() for match in _BEFORE_NAME.finditer(flat, low, alias.start())):
            end = _NAME_END.search(flat, start, alias.end())
            name = " ".join(flat[start : end.start()].split()).strip(" ,") if end else ""
            is_near = end is not None and not re.search(r"[a-z]\.\s", flat[end.end() : alias.start()])
            if (
                end
                and is_near
                and _LEGAL_END.search(name)
                and " " in name
                and _plain_name(name) not in known
                and _is_party(name, flat, end.start(), has_alias=False)
            ):
                dot = end.start() + (flat[end.start() : end.start() + 1] == ".")
                found.setdefault(" ".join(flat[start:dot].split()).strip(" ,"), Span(start, dot))
                break
        if len(found) == 2:
            return list(found.items())
    return []


_LABELLED: Final = re.compile(written("labelled"), re.IGNORECASE | re.MULTILINE)


def _labelled_names(text: str) -> list[tuple[str, Span]]:
    """The names of lines such as `Landlord: Alpha Ltd`, where there are two or more."""
    found = {
        _plain_name(match["name"]): (match["name"].strip(), Span(*match.span("name")))
        for match in _LABELLED.finditer(text)
    }
    return list(found.values()) if len(found) > 1 else []


def _plain_name(name: str) -> str:
    return re.sub(r"\W", "", name.casefold())


def _party_names(contract: Contract, start: int, end: int) -> Iterator[tuple[str, Span]]:
    """The names between two places, each with where it stands, up to the first that is none.

    A line that ends in a legal form ends a name: an address, or the rest of a title page, follows.
    """
    flat = contract.flat
    position = start
    while position < end:
        position += len(_THE.match(flat[position : position + 60])[0])  # type: ignore[index] # it may be empty
        stop = _name_end(contract, position, end)
        name = " ".join(flat[position:stop].split()).strip(" ,*")
        if flat[stop : stop + 1] == "." and _LEGAL_END.search(name):
            name, stop = f"{name}.", stop + 1
        alias = _ALIAS.search(flat, stop, min(end, stop + 450))
        if alias and _NO_ALIAS.search(alias[0]):
            return
        if not _is_party(name, flat, stop, has_alias=alias is not None and alias.start() - stop < 3):
            return
        yield name, Span(position, stop)
        behind = alias.end() if alias else stop
        following = (_listed_next(flat, behind, end) if alias else None) or _PARTY_BREAK.search(flat, behind, end)
        if following is None or following.start() - behind > 250:
            return
        position = following.end()


def _name_end(contract: Contract, position: int, end: int) -> int:
    """Where the name ends that begins at a place: before a bracket, a conjunction, another line or its seat."""
    flat = contract.flat
    match = _NAME_END.search(flat, position, end)
    conjunction = _PARTY_BREAK.search(flat, position, end)
    stop = match.start() if match else end
    before_and = flat[position : conjunction.start()].rstrip(" ,") if conjunction else ""
    if conjunction and conjunction.start() < stop and _LEGAL_END.search(before_and):
        stop = conjunction.start()
    line = contract.text.find("\n", position, stop)
    goes_on = _LEGAL_END.match(flat[line + 1 : stop].split(" ")[0].strip(","))
    if line >= 0 and not goes_on and _LEGAL_END.search(flat[position:line].rstrip(" ,")):
        stop = line
    comma = flat.find(",", position, stop)
    is_whole = _LEGAL_END.search(flat[position:stop].strip(" ,"))
    return comma if comma >= 0 and _LEGAL_END.search(flat[position:comma]) and not is_whole else stop


def _listed_next(flat: str, start: int, end: int) -> re.Match[str] | None:
    """The comma before another party of a list: one with a legal form, and an alias or a description behind it.

    Without these it may be the seat or the register of the party before.
    """
    match = _LISTED_NEXT.match(flat, start, end)
    if match is None or " and " in match["name"] or not _LEGAL_END.search(match["name"]):
        return None
    return None if match["name"].split()[-1].islower() else match


def _is_party(name: str, flat: str, stop: int, *, has_alias: bool) -> bool:
    """Whether words are a name: they end in a legal form, or an alias or a description follows."""
    if not 2 < len(name) < 90 or name.count(" ") > 11 or _NO_PARTY.fullmatch(name):
        return False
    words = {word for word in name.split() if word.islower()} - _SMALL
    if words and not (len(words) == 1 and _LEGAL_END.search(name)):
        return False
    return bool(_LEGAL_END.search(name)) or has_alias or _DESCRIBED.match(flat, stop) is not None
