"""The same said from the other side: `Northmoor bought the bakery from Calloway.` of `Calloway sold the bakery to
Northmoor.`, `Customers receive a refund.` of `We will give you a refund.`
"""

import re
from collections.abc import Iterator
from typing import Final

from tasks.language.periods import MONTH_NAME
from tasks.language.words import stem
from tasks.statements.reading import Sentence

_TO: Final = {
    "sell": ("sell sells sold selling", "buy buys bought buying"),
    "lend": ("lend lends lent lending", "borrow borrows borrowed borrowing"),
    "lease": ("lease leases leased leasing", "lease leases leased leasing"),
    "license": ("license licenses licensed licensing", "license licenses licensed licensing"),
    "give": ("give gives gave giving", "receive receives received receiving"),
    "provide": ("provide provides provided providing", "receive receives received receiving"),
    "grant": ("grant grants granted granting", "receive receives received receiving"),
    "award": ("award awards awarded awarding", "receive receives received receiving"),
    "pay": ("pay pays paid paying", "receive receives received receiving"),
    "issue": ("issue issues issued issuing", "receive receives received receiving"),
}
"""Verbs of whom it goes `to`, and what the other side does."""
_FROM: Final = {
    "buy": ("buy buys bought buying", "sell sells sold selling"),
    "acquire": ("acquire acquires acquired acquiring", "sell sells sold selling"),
    "purchase": ("purchase purchases purchased purchasing", "sell sells sold selling"),
    "borrow": ("borrow borrows borrowed borrowing", "lend lends lent lending"),
    "receive": ("receive receives received receiving", "give gives gave giving"),
    "lease": ("lease leases leased leasing", "lease leases leased leasing"),
    "rent": ("rent rents rented renting", "let lets let letting"),
}
"""Verbs of whom it comes `from`, and what the other side does."""


def _forms(verbs: dict[str, tuple[str, str]]) -> dict[str, str]:
    return dict(pair for own, other in verbs.values() for pair in zip(own.split(), other.split(), strict=True))


_GIVING, _TAKING = _forms(_TO), _forms(_FROM)
_SIDES: Final = frozenset(map(stem, [*_GIVING.values(), *_TAKING.values(), "get", "gets", "got", "obtain"]))
_HELPING: Final = (
    r"(?:(?:has|have|had|will|shall|may|can|must|would|is|are|was|were|to|also|then|now|agreed|intends?|plans?|expects?|"
    r"expected|today|announced|said|it|that) )*"
)
_BEFORE: Final = (
    r"(?P<lead>(?:.*[,–—;:] (?:and |but )?|.* (?:and|but) )?)(?P<who>[^,;:–—]{1,60}?) (?P<helping>" + _HELPING + ")"
)
_PARTY: Final = (
    r"(?:the |our |its |their )?[\w&’'.-]+"
    r"(?: (?!(?:for|in|on|under|at|from|by|as|if|when|after|with|and|to|within|per)\b)[\w&’'.-]+){0,3}"
)
_REST: Final = r"(?P<rest>(?:[ ,.;].*)?)"
_ENDING: Final = r"(?P<rest>(?: (?:for|on|within|in|under|if|when|after|by|at|as|until|to|of)\b.*|[,.;].*)?)"
_TOWARDS: Final = re.compile(
    rf"{_BEFORE}(?P<verb>{'|'.join(_GIVING)}) (?P<what>.{{3,160}}?) to (?P<other>{_PARTY}){_REST}", re.IGNORECASE
)
_DIRECT: Final = re.compile(
    rf"{_BEFORE}(?P<verb>{'|'.join(_GIVING)}) "
    r"(?P<other>customers|users|subscribers|clients|members|you|us|them|(?:[Tt]he )?[A-Z][\w&]+(?: [A-Z][\w&]+)*) "
    rf"(?P<what>(?:a|an|the|their|your|all|any|up to|at least|full|[$€£¥\d]).*?){_ENDING}",
)
_AWAY: Final = re.compile(
    rf"{_BEFORE}(?P<verb>{'|'.join(_TAKING)}) (?P<what>.{{3,160}}?) from (?P<other>{_PARTY}){_REST}", re.IGNORECASE
)
_CONTRACTED: Final = re.compile(r"\b(we|they|it|you)['’]ll\b", re.IGNORECASE)
_NO_PARTY: Final = re.compile(
    rf"(?:\d|an?\b|to\b|that\b|which\b|each\b|all\b|{MONTH_NAME}\b)",
    re.IGNORECASE,
)


def from_the_other_side(stated: Sentence, source: str) -> Iterator[str]:
    """What a sentence says with its other party as the subject, where the statement has a verb of that side."""
    if not any(token.stem in _SIDES for token in stated.tokens):
        return
    source = _CONTRACTED.sub(r"\1 will", source)
    for pattern, verbs, preposition in (
        (_TOWARDS, _GIVING, "from"),
        (_DIRECT, _GIVING, "from"),
        (_AWAY, _TAKING, "to"),
    ):
        match = pattern.fullmatch(source)
        if match is None or _NO_PARTY.match(match["other"]):
            continue
        verb = verbs[match["verb"].lower()]
        who = {"we": "us", "they": "them"}.get(match["who"].lower(), match["who"])
        other = {"us": "we", "them": "they"}.get(match["other"].lower(), match["other"])
        yield f"{match['lead']}{other} {match['helping']}{verb} {match['what']} {preposition} {who}{match['rest']}"
