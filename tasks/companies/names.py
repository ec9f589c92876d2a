"""When two names mean the same company: exactly, but for case, spacing, punctuation and the legal form left out."""

import re
import unicodedata

_FORMS = frozenset(
    "ab ag aps as asa bv co company corp corporation gmbh inc incorporated kft kg kgaa kk limited llc llp lp "  # noqa: SIM905 - a list of words reads best as words
    "ltd mbh nv ohg oy oyj plc pte pty sa sarl sas se sl spa sro srl ug".split()
)


def same_name(asked: str, known: str) -> bool:
    """Whether `asked` is the company's name `known`, or that name without its legal form (`Alpha` for `Alpha GmbH`).

    `Alpha AG` is not `Alpha GmbH`, and nothing is guessed: `Alpha` is not `Alpha Industries`.
    """
    wanted, words = _words(asked), _words(known)
    while words:
        if words == wanted:
            return True
        if words[-1] not in _FORMS or len(words) == 1:
            return False
        words.pop()
    return False


def _words(name: str) -> list[str]:
    """`S.p.A.` and `A/S` are one word each, `&` and commas none."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return re.findall(r"\w+", re.sub(r"(?<=\b\w)[./](?=\w\b)", "", folded))
