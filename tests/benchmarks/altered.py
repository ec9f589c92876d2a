"""Sentences made false in one place, by kinds of change, and the same sentences in another form that stays true."""
# ruff: noqa: E501, SIM905 - patterns and lists of words read best in one piece

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random
from typing import Final

Change = Callable[[str, Random], str | None]

_AMOUNT: Final = re.compile(
    r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w,])|(?<![\w.,/-])\d+\.\d+(?![\w.,]*\d)|(?<![\w.,/-])\d{2,3}(?![\w,./-]|\.\d)"
)
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
_MONTHS: Final = "January February March April May June July August September October November December".split()
_OPPOSITES: Final = dict(
    pair.split(":")
    for pair in (
        "increased:decreased decreased:increased increase:decrease decrease:increase higher:lower lower:higher rose:fell grew:shrank "
        "gain:loss loss:gain profit:loss sold:bought purchased:sold acquired:sold more:less above:below before:after after:before "
        "began:ended approved:rejected includes:excludes include:exclude accepted:rejected effective:ineffective domestic:foreign "
        "public:private maximum:minimum minimum:maximum positive:negative with:without fixed:variable secured:unsecured "
        "allowed:forbidden permitted:prohibited open:closed assets:liabilities revenues:expenses inflows:outflows new:old"
    ).split()
)


def _one(pattern: str | re.Pattern[str], replace: Callable[[re.Match[str]], str], flags: int = 0) -> Change:
    compiled = re.compile(pattern, flags) if isinstance(pattern, str) else pattern

    def change(sentence: str, source: Random) -> str | None:
        matches = list(compiled.finditer(sentence))
        if not matches:
            return None
        match = source.choice(matches)
        return sentence[: match.start()] + replace(match) + sentence[match.end() :]

    return change


def _negated(sentence: str, source: Random) -> str | None:
    removed = _one(r"\b(?:not|never) |n't\b", lambda match: "")(sentence, source)
    if removed:
        return re.sub(r"\b(did|does|do) (\w+)", r"\2", removed)
    return _one(r"\b(?:was|were|is|are|has|have|had|will|may|shall|must|can)\b", lambda match: f"{match[0]} not")(
        sentence, source
    )


def _swapped_figures(sentence: str, source: Random) -> str | None:
    figures = list(
        re.finditer(r"\$ ?\d[\d,.]*\d(?: (?:million|billion|thousand))?|\d[\d.]*\d?%|" + _AMOUNT.pattern, sentence)
    )
    for one, other in pairwise(figures):
        same_kind = one[0][0] == other[0][0] == "$" or one[0][-1] == other[0][-1] == "%"
        if same_kind and one[0] != other[0]:
            return (
                sentence[: one.start()]
                + other[0]
                + sentence[one.end() : other.start()]
                + one[0]
                + sentence[other.end() :]
            )
    return None


def _another(match: re.Match[str]) -> str:
    digits = match[0]
    at = next(place for place, digit in enumerate(digits) if digit.isdigit())
    return digits[:at] + str(int(digits[at]) % 9 + 1) + digits[at + 1 :]


def _signed(sentence: str, source: Random) -> str | None:
    return _one(r"\$ ?\d[\d,.]*\d|\b\d[\d.]*%", lambda match: f"-{match[0]}")(sentence, source)


def _swapped_roles(sentence: str, source: Random) -> str | None:
    match = re.match(
        r"^((?:The |Our |[A-Z])[\w’']+(?: [A-Z][\w’']+){0,2}) ((?:has |have )?(?:acquired|purchased|sold|paid|issued|granted|engaged|provided|entered into|owns|controls|manages|appointed|notified|sued|leases|pays)) ((?:the |an? |its |our )?[A-Z]?[\w’-]+(?: [\w’-]+)?)\b(.*)$",
        sentence,
    )
    if match:
        subject, verb, thing, rest = match.groups()
        return f"{thing[0].upper()}{thing[1:]} {verb} {subject[0].lower() + subject[1:] if subject.startswith(('The', 'Our')) else subject}{rest}"
    match = re.search(r"\b(from) ((?:the |an? |its )?[\w’-]+) to ((?:the |an? |its )?[\w’-]+)\b", sentence)
    if match and match[2] != match[3]:
        return f"{sentence[: match.start()]}from {match[3]} to {match[2]}{sentence[match.end() :]}"
    return None


def _entity(sentence: str, source: Random) -> str | None:
    names = [
        match for match in re.finditer(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b(?! \d)", sentence) if match[0] not in _MONTHS
    ]
    if not names:
        return None
    match = source.choice(names)
    return (
        sentence[: match.start()]
        + source.choice(["Norway", "Zeta", "Osaka", "Winkler", "Halden"])
        + sentence[match.end() :]
    )


def _subject(sentence: str, source: Random) -> str | None:
    match = re.match(
        r"^(Net income|Net loss|Revenues?|Net sales|Gross profit|Operating income|Interest expense|Total assets|Cash|Our [a-z]+|The [A-Z]?[a-z]+)\b",
        sentence,
    )
    if not match or match[1] in {"The Company", "Our company"}:
        return None
    return source.choice(["The pension fund", "Goodwill", "The warehouse", "Our auditors"]) + sentence[match.end() :]


def _expected(sentence: str, source: Random) -> str | None:
    removed = _one(
        r"\b(?:is|are|was|were) (?:expected|required|permitted|entitled|intended|planned|obligated) to (?:be )?|\b(?:may|might|could|would|should) (?:be )?|\b(?:expects?|plans?|intends?) to ",
        lambda match: "will " if source.random() < 0 else "",
    )
    changed = removed(sentence, source)
    if changed:
        return changed
    return _one(r"\b(was|were) (\w+ed)\b", lambda match: f"{match[1]} expected to be {match[2]}")(sentence, source)


def _quantified(sentence: str, source: Random) -> str | None:
    pairs = {"all": "some", "each": "some", "some": "all", "many": "all", "most": "all", "certain": "all", "at least": "at most", "at most": "at least", "up to": "at least",
             "more than": "less than", "less than": "more than", "approximately": "more than", "substantially all": "some", "several": "all", "any": "most", "a majority": "all", "no more than": "at least"}  # fmt: skip
    pattern = r"\b(?:" + "|".join(sorted(pairs, key=len, reverse=True)) + r")\b(?! of us)"
    return _one(pattern, lambda match: pairs[match[0]])(sentence, source)


def _ordinal(sentence: str, source: Random) -> str | None:
    pairs = {"first": "second", "second": "third", "third": "first", "fourth": "first", "largest": "smallest", "highest": "lowest", "lowest": "highest", "primary": "secondary", "last": "first",
             "largest ": "second-largest ", "senior": "junior", "main": "only", "leading": "smallest", "initial": "final", "best": "worst", "most significant": "least significant"}  # fmt: skip
    return _one(r"\b(?:" + "|".join(word.strip() for word in pairs) + r")\b", lambda match: pairs[match[0]])(
        sentence, source
    )


def _without_condition(sentence: str, source: Random) -> str | None:
    for pattern in (
        r",? (?:unless|if|except|other than|excluding|subject to|provided that|to the extent)\b[^,.;]*(?=[,.;])",
        r"^(?:If|Unless|Except|Subject to)\b[^,]*, ",
    ):
        match = re.search(pattern, sentence)
        if match and len(match[0].split()) > 2:
            rest = (sentence[: match.start()] + sentence[match.end() :]).strip()
            if len(rest.split()) > 5:
                return rest[0].upper() + rest[1:]
    return None


_CHANGES: Final[dict[str, Change]] = {
    "negation": _negated,
    "opposite": _one(r"\b(?:" + "|".join(_OPPOSITES) + r")\b", lambda match: _OPPOSITES[match[0]]),
    "other figure": _one(_AMOUNT, _another),
    "figures swapped": _swapped_figures,
    "scale": _one(r"\b(?:million|billion|thousand)\b", lambda match: {"million": "billion", "billion": "million", "thousand": "million"}[match[0]]),
    "unit": _one(r"(?<=\d )(?:days|months|years|shares|weeks|hours|employees|square feet|acres|miles|patents|countries|stores)\b", lambda match: {"days": "months", "months": "years", "years": "days", "shares": "units", "weeks": "days", "hours": "days"}.get(match[0], "vehicles")),
    "sign": _signed,
    "period": _one(_YEAR, lambda match: str(int(match[0]) - 1)),
    "day or month": _one(r"\b(?:" + "|".join(_MONTHS) + r") \d{1,2}\b", lambda match: f"{_MONTHS[(_MONTHS.index(match[0].split()[0]) + 5) % 12]} {match[0].split()[1]}"),
    "roles swapped": _swapped_roles,
    "entity": _entity,
    "subject": _subject,
    "modality": _expected,
    "quantifier": _quantified,
    "order": _ordinal,
    "condition dropped": _without_condition,
    "currency": _one(r"\$(?= ?\d)", lambda match: "€"),
    "percent for points": _one(r"(?<=\d)%|(?<=\d) percent\b", lambda match: " percentage points"),
}  # fmt: skip


def altered(sentence: str, source: Random) -> Iterator[tuple[str, str]]:
    """Each kind of change that the sentence allows, with the sentence changed so."""
    for kind, change in _CHANGES.items():
        result = change(sentence, source)
        if result and " ".join(result.split()) != " ".join(sentence.split()):
            yield kind, " ".join(result.split())


def _long_date(match: re.Match[str]) -> str:
    return f"{match[2]} {match[1]} {match[3]}"


_FORMS: Final[dict[str, Change]] = {
    "as it stands": lambda sentence, _: sentence,
    "percent in words": _one(r"(?<=\d)%", lambda match: " percent"),
    "thousands without commas": _one(r"(?<![\d,.])(\d{1,3}),(\d{3})(?![\d,.]\d)", lambda match: match[1] + match[2]),
    "scale in letters": _one(r"\$ ?(\d[\d.]*) (million|billion)\b", lambda match: f"${match[1]}{'m' if match[2] == 'million' else 'bn'}"),
    "day before month": _one(r"\b(" + "|".join(_MONTHS) + r") (\d{1,2}), (\d{4})\b", _long_date),
    "adverbial at the end": lambda sentence, _: (
        f"{match[2][0].upper()}{match[2][1:]} {match[1][0].lower()}{match[1][1:]}." if (match := re.match(r"^((?:In|During|On|At|As of|For) [^,]{4,40}?(?:, \d{4})?), ((?!and|or)[^;]{20,})\.$", sentence)) else None
    ),
    "short form": _one(r"\b(did|does|do|was|were|is|are|has|have) not\b", lambda match: f"{match[1]}n't"),
    "said in other words": lambda sentence, source: _reworded(sentence),
}  # fmt: skip
_REWORDED: Final = {
    "increased": "rose", "decreased": "fell", "purchased": "bought", "acquired": "purchased", "approximately": "about", "employees": "staff", "primarily": "mainly",
    "due to": "because of", "compared to": "compared with", "commenced": "began", "obtain": "get", "utilize": "use", "prior to": "before", "subsequent to": "after",
    "terminate": "end", "required to": "obliged to", "entered into": "signed", "agreement": "contract", "additional": "further", "customers": "clients", "shareholders": "stockholders",
    "stockholders": "shareholders", "manufacture": "make", "provide": "offer", "total": "overall", "revenues": "sales", "expenses": "costs", "in addition": "also", "assist": "help", "must": "has to",
    "receive": "get", "located": "situated", "notify": "inform", "permitted": "allowed", "prohibited": "forbidden", "pursuant to": "under", "believes": "thinks", "anticipates": "expects", "principal": "main",
}  # fmt: skip


def _reworded(sentence: str) -> str | None:
    """One or two words of it as an analyst may put them."""
    result, count = sentence, 0
    for word, other in _REWORDED.items():
        changed = re.sub(rf"\b{word}\b", other, result, count=1)
        if changed != result and count < 2:
            result, count = changed, count + 1
    return result if count else None


def true_forms(sentence: str, source: Random) -> Iterator[tuple[str, str]]:
    """Each form that the sentence may take and stay true, with its name."""
    for kind, form in _FORMS.items():
        result = form(sentence, source)
        if result and (kind == "as it stands" or result != sentence):
            yield kind, result
