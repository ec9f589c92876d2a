"""How much of what a question asks the sentences of a text speak to: whether there is an answer to be quoted at all.

Ranking puts sentences in order, however little the best of them has to do with the question. Here the words of a
question that carry its subject are looked for in each sentence and those beside it. A word counts by its rarity in the
text, so one that is nowhere counts most, and the name of a company that is everywhere hardly.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Final

from tasks.language.periods import NUMBER_WORDS, header_words
from tasks.language.sentences import strip_numbering
from tasks.language.words import (
    ASKING_WORDS,
    COMMON_WORDS,
    STOP_WORDS,
    detect_language,
    detect_script_language,
    tokens,
)
from tasks.ranking.lexicon import stem
from tasks.ranking.query import find_meant_phrases

LEAST: Final = 0.48
"""The share of a question that what answers it covers. Chosen on 52 questions of eight documents in three languages."""
COMMON: Final = frozenset().union(*COMMON_WORDS.values()) | STOP_WORDS | ASKING_WORDS
_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_GROUPS: Final = re.compile(r"(?<=\d)(?=(?:\d{3}){1,6}$)")
_A_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_TIME: Final = re.compile(
    r"\b(?:in|for|during|fy|year|im|jahr|für|en|pour|exercice) ?(?:the |year |fiscal |fy ?|jahr |l'exercice ){0,3}"
    r"(?P<year>(?:19|20)\d\d)(?![\d/-])",
    re.IGNORECASE,
)
"""A year that an answer has to be of; others are bounds ("before 2030"), ends of a span, or no years."""
_OTHERS: Final = (
    r"(?:supplier|vendor|customer|client|landlord|lessor|tenant|lender|insurer|seller|buyer|purchaser|acquirer|competitor"
    r"|contractor|subcontractor|distributor|licensor|licensee|guarantor|subsidiary|lieferant(?:en)?|kunden?|vermieters?"
    r"|mieters?|verkaufers?|kaufers?|wettbewerbers?|fournisseur|bailleur|locataire|vendeur|acquereur|concurrent|proveedor"
    r"|cliente|arrendador|arrendatario|vendedor|fornitore|locatore|venditore|leverancier|klant|verhuurder)"
)
"""Those who are not the company that a question is about, in folded text, unless it names them."""
_OWN: Final = re.compile(
    r"annual|total|net$|gross|current|regist|head|chief|execut|people|person|share|social|board|manag|director|officer"
    r"|stockholder|own|employ|staff|office$|revenue|turnover|profit|found|incorporat|auditor|insurer|subsidiar"
    r"|geschaftsfuhr|gesellschafter|aktionar|mitarbeiter|umsatz|sitz$|vorstand|prufer|versicherer|administra|gerant"
    r"|dirigeant|actionnaire|salarie|effectif|affaires|siege|commissaire|empleado|accionista|ingresos|dipendent|soci$"
    r"|amministrator|ricavi|werknemer|aandeelhouder|bestuurder|omzet"
)
"""What every company has of its own: who the supplier's directors are does not say who the company's are."""
_FEWEST: Final = 50  # sentences that a text is taken to have: in five of them each word is common
_MOST_ASKED: Final = 30  # words of a question that no sentence can be asked to cover; a longer one sets a task
_NONE: Final = 0.75  # times that a word is taken to stand in a text that has it not
_NO_NOUN: Final = r"(?! (?!(?:is|are|was|were|has|had|number|in|at|on|as|and|ist|sind|est|sont|es|son|e|en|et)\b)[a-z])"
"""No word follows that may go with the one before: the customer service is the company's."""
_OF_THINGS: Final = 1.5
_GERMAN: Final = frozenset("welche welcher welches welchem welchen wer wem wen wessen wann wieviel wieviele".split())  # noqa: SIM905
"""Words that begin a question in German alone."""
_SELF: Final = re.compile(
    r"company|business|firma?|corporation|unternehmen|gesellschaft|societe|entreprise|empresa|sociedad|societa|azienda|bedrijf"
)
"""Words for the company that a question is about, which hardly need to be said."""
_SHORTEST: Final = 3  # letters of a word that carries a subject
_SHORT: Final = 6  # letters from which on a stem may stand inside a compound; a shorter one begins a word
_SMALL: Final = 0.3
"""The weight of a verb or an adjective in German, which writes nouns with capitals, of the verb that ends a question in
English, and of words for the company."""
_LAST: Final = (
    r"(?:[^?]*\s)?(?!(?:the|an?|its|their|our|of|for|in|on|at|to|from|with|by|per|under|and|or|how|what|any|no)\s)"
    r"[\w'’&.-]+\s"
)
_CLOSING_VERB: Final = re.compile(
    rf"\A(?>[\s\S]*?\b(?:is|are|was|were)\s){_LAST}(?P<participle>[a-z]+ed)\W*$"
    rf"|\A(?>[\s\S]*?\b(?:do|does|did|must|can|will|may|should|shall)\s){_LAST}(?P<verb>[a-z]+)\W*$"
)
_VERBS: Final = re.compile(
    r"\b[Ww]ho (\w+)|\b(?:do|does|did)(?: [A-Z][\w&.-]*){1,9} ([a-z]+)"
    r"|^\W*(?i:please )?((?i:describe|explain|list|name|outline|parlez|show|summari[sz]e|tell))\b"
)
_LONGEST: Final = 300  # characters of a question whose last verb is looked for


def measure_coverage(
    question: str, texts: Sequence[str], known: str = "", likeliest: Iterable[int] = ()
) -> Sequence[float]:
    """For each text, the share of the question, 0 to 1, that it and those beside it speak to.

    It is 1 where nothing is asked, or so much that it is a task.

    Args:
        question: in any language; words of scripts without Latin letters are not looked at.
        texts: the sentences of a source, in order.
        known: words that need not be there, such as the name of the company that all texts are about.
        likeliest: the places of texts in which what documents call the thing that is asked for counts as well.
    """
    folded = list(map(_fold, texts))
    language = _find_language(question, texts)
    names = _asked_names(question, set(tokens(known)), language)
    years = {match["year"] for match in _TIME.finditer(question)}
    # Other years are a bound or the end of a span, which need not be said.
    asked = [name for name in names if name in years or not _A_YEAR.fullmatch(name)]
    having = {name: _find_holders(name, folded, language) for name in asked if len(names) <= _MOST_ASKED}
    dated = [having[year] for year in years & having.keys()]
    if dated and not any(map(any, dated)):
        return [0.0] * len(texts)  # nothing is said of that year
    weights = {
        name: names[name] * log(1 + max(len(texts), _FEWEST) / (sum(has) or _NONE)) for name, has in having.items()
    }
    total = sum(weights.values())
    if not total:
        return [1.0] * len(texts)
    covered = _find_covered(question, texts, having, _find_theirs(question, names, language), likeliest)
    things = _find_things(question, names, language) & set(weights) or set(weights)
    parts = (total, set(weights)), (sum(map(weights.__getitem__, things)) / _OF_THINGS, things)
    return [min(sum(map(weights.__getitem__, words & names)) / whole for whole, names in parts) for words in covered]


def _find_covered(
    question: str,
    texts: Sequence[str],
    having: Mapping[str, list[bool]],
    theirs: re.Pattern[str] | None,
    likeliest: Iterable[int],
) -> list[set[str]]:
    """For each text, the words of the question that it and those beside it have, without texts that are of `theirs`."""
    others = {at for at, text in enumerate(texts) if theirs is not None and theirs.search(_fold(text))}
    for at, has in itertools.product(others, having.values()):
        has[at] = False
    covered = [{word for word, has in having.items() if any(has[max(0, at - 1) : at + 2])} for at in range(len(texts))]
    meant = find_meant_phrases(question)
    for at in likeliest if meant else ():
        beside = (texts[place] for place in range(max(0, at - 1), min(at + 2, len(texts))) if place not in others)
        covered[at] |= _find_meant(meant, " ".join(beside), having)
    return covered


def _find_things(question: str, names: Mapping[str, float], language: str) -> set[str]:
    """The words for what a question asks of someone, of which two thirds of the share are needed: whose a thing is does
    not say that there is one.

    Names are left out, and verbs, which change their form in the answer: "pay" and "paid".
    """
    verbs = {word.casefold() for match in _VERBS.finditer(question) for word in match.groups() if word}
    return {
        name
        for name, weight in names.items()
        if (weight == 1 or name.endswith("ed")) and name not in verbs and not _is_name(name, question, language)
    }


def _is_name(name: str, question: str, language: str) -> bool:
    """Whether a word is written as a name is inside a question, and not as "IP" is; German writes all nouns so."""
    found = re.search(rf"\w\W+({re.escape(name)})\b", question, re.IGNORECASE) if language != "German" else None
    return found is not None and found[1][0].isupper() and not found[1].isupper()


def _find_holders(name: str, folded: Iterable[str], language: str) -> list[bool]:
    """For each folded text, whether it has all words of a name."""
    patterns = [_word_pattern(word, language) for word in name.split()]
    return [all(pattern.search(text) for pattern in patterns) for text in folded]


def _find_theirs(question: str, names: Iterable[str], language: str) -> re.Pattern[str] | None:
    """The pattern of folded text that gives another's part of what is asked of the company, if any such is."""
    words = [word for name in names for word in name.split()]
    owned = "|".join(re.escape(_fold(stem(word, language))) for word in words if _OWN.match(_fold(word)))
    others = re.findall(rf"\b{_OTHERS}", _fold(question))
    of_company = all(_OWN.match(_fold(word)) or _SELF.fullmatch(_fold(word)) or word[0].isdigit() for word in words)
    if not owned or not of_company or not all(map(_OWN.match, others)):
        return None
    kind = "(?: (?:annual|total|net|gross|managing|executive|registered|social|general))?"
    genitive = "(?:of (?:the|an?|each|our|its)|des|eine[rs]|der|vom|du|de la|del|dell[ao]|van (?:de|het)) "
    return re.compile(
        rf"\b{_OTHERS}(?:['’]s|s['’]){kind} (?:{owned})"
        rf"|\b(?:our {_OTHERS} [\w-]+ was"
        rf"|(?:the|our|der|die|le|la) {_OTHERS} (?:has|hat|was|employs|emploie|beschaftigt))"
        rf" (?:[\d.,]+ )?(?:{owned}|people)"
        rf"|\b(?:{owned})\w*{kind} (?:of [\w-]+['’]s {_OTHERS}\b|{genitive}{_OTHERS}\b{_NO_NOUN})"
    )


def _find_language(question: str, texts: Sequence[str]) -> str:
    """The language whose commonest words a question has most of, if it has any; otherwise that of the texts."""
    said = _WORD.findall(question.casefold())
    if not _GERMAN.isdisjoint(said[:1]):
        return "German"
    counts = {language: sum(map(common.__contains__, said)) for language, common in COMMON_WORDS.items()}
    most = [language for language, count in counts.items() if count and count == max(counts.values())]
    told = most[0] if len(most) == 1 else detect_language("\n".join(texts[:100]))
    return told or next(iter(most), "English")


def _asked_names(question: str, known: set[str], language: str) -> dict[str, float]:
    """The words that carry a question's subject, those of one name together, each with its weight."""
    names: dict[str, float] = {}
    last, end = "", 0
    closing = _CLOSING_VERB.search(question) if language == "English" and len(question) < _LONGEST else None
    verb = closing.start(closing.lastgroup or 0) if closing else None
    for match in _WORD.finditer(question):
        word, spelling = match[0].casefold(), match[0]
        is_short = len(word) < _SHORTEST and word.isalpha() and not (spelling.isupper() and len(word) > 1)
        if word in COMMON or is_short or detect_script_language(word[0]) is not None:
            continue
        if not known.isdisjoint(tokens(word)):
            continue
        if last and last.istitle() and spelling.istitle() and question[end : match.start()].isspace():
            before, weight = names.popitem()
            names[f"{before} {word}"] = weight
        else:
            is_verb = match.start() == verb or (language == "German" and spelling.islower())
            names[word] = _SMALL if is_verb or _SELF.fullmatch(_fold(word)) else 1.0
        last, end = spelling, match.end()
    return names


def _find_meant(meant: Sequence[tuple[frozenset[str], Sequence[str]]], text: str, words: Iterable[str]) -> set[str]:
    """The words of a question by which it means something that the text calls by another name."""
    said = f" {' '.join(tokens(text))} "
    asked = {word for asks, says in meant if any(f" {phrase} " in said for phrase in says) for word in asks}
    return {word for word in words if not asked.isdisjoint(tokens(word))}


def _word_pattern(word: str, language: str) -> re.Pattern[str]:
    """The pattern of a word in folded text, with any ending and in compounds; of a number, however it is grouped."""
    if _A_YEAR.fullmatch(word):
        spelled = rf"{word[0]}[,.’ ]?{word[1:]}"
        return re.compile(
            rf"(?:(?<!\d){spelled}|(?:\bfy ?|['’]|\b\d\d\d\d[/-]|\b\d\d?[./-]\d\d?[./-]){word[2:]})(?!\d)"
        )
    if word[0].isdigit():
        digits = re.sub(r"[.,](?=\d{3}(?!\d))", "", word)
        return re.compile(rf"(?<!\d){_GROUPS.sub('[,.’ ]?', digits) if digits.isdigit() else re.escape(word)}(?!\d)")
    base, own = _fold(stem(word, language)), _fold(word)
    # "fulli" and "close" are stems of "fully" and "closing".
    other = "" if own.startswith(base) else rf"|\b{re.escape(own)}"
    if len(base) >= _SHORT:
        return re.compile(re.escape(base[: max(_SHORT, len(base) - 1)]) + other)
    has_lost_e = language == "English" and word.rstrip("s") == f"{base}e"
    # An office is no officer, and a lease is not the least.
    behind = (r"(?!ers?\b)" + r"(?=[aeiouy])" * (len(base) > 3)) * has_lost_e
    start = re.escape(base if len(base) > 3 else own) + behind
    return re.compile(rf"\b{start}" + r"\b" * (len(word) < _SHORTEST) + other)


def _fold(text: str) -> str:
    """The text in small letters without accents."""
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return decomposed if decomposed.isascii() else re.sub("[\u0300-\u036f]", "", decomposed)


_LETTERS: Final = 5
_TENS, _QUANTITIES, _ARTICLES = ("|".join(header_words(name)) for name in ("tens", "quantities", "articles"))
_ASKS_COUNT: Final = re.compile(
    rf"\W*(?:{'|'.join(header_words('counts'))})\b(?! (?:time|notice|zeit|tiempo|tempo|tijd|lang))", re.IGNORECASE
)
_ASKS_NUMBER: Final = re.compile(
    rf"\W*(?:(?:\w{{1,5}} )?(?:{'|'.join(header_words('measures'))})\b"
    rf"|(?:{'|'.join(header_words('things'))})\b[^?]*?\b(?:{'|'.join(header_words('amounts'))})\b)",
    re.IGNORECASE,
)


def asks_count(question: str) -> bool:
    """Whether only a number answers a question, or a word such as none, half or sole."""
    return _ASKS_COUNT.match(question) is not None


def asks_number(question: str) -> bool:
    """Whether a number, or a time, probably answers a question."""
    return asks_count(question) or _ASKS_NUMBER.match(question) is not None


def gives_number(sentences: Iterable[str], question: str) -> bool:
    """Whether sentences have a number that is neither their own nor the question's."""
    words = " ".join(map(strip_numbering, sentences)).casefold()
    asked = re.findall(r"\w+", question.casefold())
    own = set(re.findall(r"\w+", words)).difference(asked)
    if any(map(str.isdigit, "".join(own))) or not NUMBER_WORDS.isdisjoint(own) or re.search(_TENS, " ".join(own)):
        return True
    count = _ASKS_COUNT.match(question)
    counted = question.casefold()[count.end() if count else 0 :]
    begins = [word[:_LETTERS] for word in re.findall(r"[^\W\d]+", counted) if len(word) >= _LETTERS - 1]
    if count is None or count["amount"] or not begins:
        return False
    near = rf"(?:{_QUANTITIES})\W+(?:\w+\W+){{0,2}}(?:{'|'.join(begins)})|(?:{_ARTICLES}) (?:\w+ )?{begins[0]}"
    return re.search(rf"\b(?:{near})", words) is not None
