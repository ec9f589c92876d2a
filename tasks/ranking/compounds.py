"""Words that are put together from two others, as German, Dutch and the Nordic languages do: "Meldepflicht".

A question says "melden" or "Pflicht" where the document has them in one word, and the other way about. Which words are
put together is told by the room's own words alone: both parts stand in it as words. No list of words is needed, and a
part that the room does not have could not be found anyway.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from tasks.ranking.words import stem

LANGUAGES: Final = frozenset({"German", "Dutch", "Danish", "Swedish", "Norwegian", "Finnish"})
_SHORTEST = 4  # letters of a part; "er", "ung" and the like are endings
_LINKS = ("", "s", "es", "n", "en", "er")  # letters between two parts: "Umsatz" and "Steuer", "Recht-s" and "Schutz"


class Compounds:
    """The words of an index that are put together from others of its words."""

    def __init__(self, words: Iterable[tuple[str, str, int, int]]) -> None:
        """Looks at each word of a language that puts words together.

        Args:
            words: each with its spelling, its language (an English name), the number of its family, and how often it
                stands in the texts.
        """
        kept = [word for word in words if word[1] in LANGUAGES and word[0].isalpha()]
        self._counts: Counter[tuple[str, str]] = Counter()  # of each stem, with its language
        self._families: dict[tuple[str, str], int] = {}
        for spelling, language, family, count in kept:
            part = stem(spelling, language), language
            self._counts[part] += count
            self._families[part] = family
        self._languages = sorted({language for _, language in self._counts})
        related: dict[int, set[int]] = {}
        for spelling, language, family, _count in kept:
            for part_family in self._parts(spelling, language):
                if part_family != family:
                    related.setdefault(family, set()).add(part_family)
                    related.setdefault(part_family, set()).add(family)
        self._related = {family: sorted(others) for family, others in related.items()}

    def related(self, family: int) -> Sequence[int]:
        """The families of which this one is a part, and those of its own parts."""
        return self._related.get(family, ())

    def parts(self, spelling: str) -> Sequence[int]:
        """The families from which a word is put together that does not stand in the texts."""
        return next(filter(None, (self._parts(spelling, language) for language in self._languages)), ())

    def _parts(self, spelling: str, language: str) -> Sequence[int]:
        """The families of a word's two parts; none where it has none.

        Where it may be parted in several ways, it is parted where the rarer part is commonest. A part that stands once
        may be a slip of the pen.
        """
        best = 1
        parts: tuple[int, ...] = ()
        for border in range(_SHORTEST, len(spelling) - _SHORTEST + 1):
            tail = stem(spelling[border:], language), language
            if self._counts[tail] <= best:
                continue
            for link in _LINKS:
                if not spelling[:border].endswith(link) or border - len(link) < _SHORTEST:
                    continue
                head = stem(spelling[: border - len(link)], language), language
                rarer = min(self._counts[head], self._counts[tail])
                if rarer > best:
                    best, parts = rarer, (self._families[head], self._families[tail])
        return parts
