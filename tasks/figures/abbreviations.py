"""Short names that mean a concept in one language alone: "CA" is chiffre d'affaires in French, California in English.

They count where a document is written in that language; the name that they stand for is looked up in the taxonomy.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from tasks.figures.anchors import lowered

SHORT_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "fr": dict.fromkeys(("ca", "ca net", "ca ht", "ca total"), "chiffre d affaires"),
    "de": {"ek": "eigenkapital", "ju": "jahresuberschuss", "ma": "mitarbeiter"},
    "it": {"mol": "ebitda", "pn": "patrimonio netto"},
}  # fmt: skip
"""By language, as the taxonomy writes labels: in lower case and without accents."""

_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the of and to in for with on at was were is are year ended revenue income total net assets sales",
        "fr": "le la les des du au aux et en est sont pour exercice clos résultat trésorerie capitaux propres marge"
        " dettes effectif bilan compte montants milliers chiffre",
        "de": "der die das den dem des und im am zum per von mit ist wurde jahr geschäftsjahr umsatz ergebnis bilanz"
        " mitarbeiter eigenkapital liquide mittel angaben",
        "es": "el la los las del y en por para ejercicio ventas ingresos resultado deuda patrimonio empleados miles",
        "it": "il lo gli la dei della delle e di al nel per esercizio ricavi fatturato utile patrimonio dipendenti",
        "nl": "de het een en van op in met bij boekjaar omzet winst resultaat vermogen medewerkers liquide middelen",
        "pt": "o os as do da dos das e em no na exercício receita lucro ativo caixa milhares patrimônio",
        "sv": "och av för den som till belopp årsredovisning omsättning nettoomsättning rörelseresultat tillgångar"
        " årets resultat anställda eget kapital likvida medel räkenskapsår kronor",
        "da": "og af for den som til beløb årsrapport nettoomsætning resultatopgørelse aktiver årets resultat"
        " medarbejdere egenkapital likvide beholdninger regnskabsår kroner",
        "no": "og av for den som til beløp årsregnskap driftsinntekter driftsresultat resultatregnskap eiendeler"
        " årsresultat ansatte egenkapital bankinnskudd regnskapsår kroner",
    }.items()
}
_WORD: Final = re.compile(r"[^\W\d_]+")
_HEAD: Final = 6000
"""Characters by which a document's language is told."""

_FEWEST: Final = 3


def language_of(text: str) -> str:
    """The language whose common words a text's beginning has most of; "" where there are few, or as many of two."""
    counts = Counter(_WORD.findall(lowered(text[:_HEAD])))
    found = sorted(
        ((sum(counts[word] for word in words), language) for language, words in _WORDS.items()), reverse=True
    )
    (most, language), (second, _) = found[:2]
    return language if most >= _FEWEST and most > second else ""
