"""The general vocabulary: what a question calls something, and what documents call it.

Beside this module lie its files, `finance.toml` and `contracts.toml`. Each of their tables is one entry, named after
what it is about (the name is for the reader, and unique):

    [capital_expenditure]
    asks = ["capital expenditure", "capex", "capital spending"]
    says = ["purchases of property, plant and equipment", "additions to property and equipment"]
    stands = "cash flow"

asks    phrases of questions. The entry is meant when all words of one of them stand close together in the question
        (within two words more than the phrase has, in any order; plural and verb endings and stop words do not count).
says    phrases of documents: a text speaks to the question when one of them stands in it, its words close together.
        `#` is any number: "# employees".
stands  optional: the statement on whose page a filing gives it: "balance sheet", "income statement", "cash flow",
        "equity statement".
weight  optional, 1.0 when left out: how much the entry counts beside the question's own words.

A phrase of `asks` that stands in the question counts as one of `says` too and is not repeated there.
Entries are general knowledge of a field: no company's name, no number, no year.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

from tasks.language.words import tokens

NUMBER = "#"

FIELDS = ("finance", "contracts")
_KEYS = {"asks", "says", "stands", "weight"}
_SHOWN = 6  # phrases of questions that tell what an entry means

Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VocabularyEntry:
    """One thing with its names. Phrases are tuples of `tokens`; `field` is one of `FIELDS`.

    `meaning` and `terms` are its name with phrases of questions, and all phrases of documents, as they are written.
    """

    name: str
    field: str
    asks: tuple[Phrase, ...]
    says: tuple[Phrase, ...]
    stands: str | None = None
    weight: float = 1.0
    meaning: str = ""
    terms: str = ""


@dataclass(frozen=True, slots=True)
class FinancialStatement:
    """The titles of a statement, and its line items."""

    titles: tuple[Phrase, ...]
    lines: tuple[Phrase, ...]


@cache
def statements() -> dict[str, FinancialStatement]:
    """The statements of an annual report (`statements.toml`), by their names in the vocabulary."""
    tables = tomllib.loads((resources.files(__name__) / "statements.toml").read_text("utf-8"))
    return {
        name: FinancialStatement(tuple(map(phrase, table["titles"])), tuple(map(phrase, table["lines"])))
        for name, table in tables.items()
    }


@cache
def entries() -> tuple[VocabularyEntry, ...]:
    """All entries of the vocabulary, in the order of the files.

    Raises:
        ValueError: for a file that does not keep to the format above.
    """
    files = {field: resources.files(__name__) / f"{field}.toml" for field in FIELDS}
    return tuple(entry for field, file in files.items() for entry in parse(file.read_text("utf-8"), field))


def parse(text: str, field: str) -> list[VocabularyEntry]:
    """The entries of one file's text.

    Raises:
        ValueError: for text that does not keep to the format above.
    """
    return [_entry(name, field, table) for name, table in tomllib.loads(text).items()]


def _entry(name: str, field: str, table: object) -> VocabularyEntry:
    if not isinstance(table, dict) or not {"asks", "says"} <= table.keys() <= _KEYS:
        raise ValueError(f"vocabulary: [{name}] needs asks and says, and may have stands and weight")
    stands, weight = table.get("stands"), table.get("weight", 1.0)
    if stands is not None and stands not in statements():
        raise ValueError(f"vocabulary: [{name}] stands on none of {', '.join(sorted(statements()))}")
    if not isinstance(weight, (int, float)) or weight <= 0:
        raise ValueError(f"vocabulary: [{name}] has a weight that is not above 0")
    meaning = f"{name.replace('_', ' ')}: {', '.join(table['asks'][:_SHOWN])}"
    asks, says = _phrases(name, table["asks"]), _phrases(name, table["says"])
    return VocabularyEntry(name, field, asks, says, stands, float(weight), meaning, ". ".join(table["says"]))


def _phrases(name: str, listed: Iterable[str]) -> tuple[Phrase, ...]:
    phrases = tuple(dict.fromkeys(map(phrase, listed)))
    if () in phrases:
        raise ValueError(f"vocabulary: [{name}] has a phrase without a word that counts")
    return phrases


def phrase(text: str) -> Phrase:
    """The significant words of a phrase; `#` stays, for any number."""
    return tuple(word for part in text.split() for word in ([NUMBER] if part == NUMBER else tokens(part)))


@cache
def shares() -> dict[str, float]:
    """The share of passages of 100 words that contain a frequent word (in the form of `tokens`), 0 to 1.

    The mean over annual reports and contracts, for words in at least 0.2 % of passages (`frequent.txt`: word and per
    mille). Words that are not in it are rare.
    """
    listed = (resources.files(__name__) / "frequent.txt").read_text("utf-8").split()
    return {NUMBER: 0.8} | {word: int(share) / 1000 for word, share in zip(listed[::2], listed[1::2], strict=True)}
