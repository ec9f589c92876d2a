"""Which languages texts are written in: enough to say in which words they can be searched.

A language in Latin letters is known by its commonest words, any other by its script. Texts of a few words, tables of
figures and lists of names tell nothing and are left out.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

_READ = 2_000  # characters of a text that are looked at
_LEAST_WORDS = 4  # common words of a language that a text must have to be in it
_LEAST_SHARE = 0.1  # of the texts that tell a language; fewer are quotations, addresses, a foreign clause
_MOST = 4  # languages
_LEAST_LETTERS = 20  # of a script

_COMMON: Final = {
    "English": "the of and to in for is on that by with as be are this from or which an shall not has at",
    "German": "der die das und den von mit für auf ist im dem nicht ein eine des sich werden als auch zur wird oder",
    "French": "le la les des et du en est que une pour dans par sur au aux ce qui pas avec sont ou être cette",
    "Spanish": "el la los las de y en que por con para una del se un al es como más su sus o sobre entre",
    "Portuguese": "o os as de e em que por com para uma do da dos das se um ao não é como mais na no pela pelo",
    "Italian": "il lo la gli le di e che per con una del della dei delle un al è non nel nella sono come da dal",
    "Dutch": "de het een en van in is op te dat met voor niet zijn aan door of bij worden als ook naar om wordt",
    "Danish": "og i at det er til en af på for med som der den de ikke har et fra ved blev bliver kan eller",
    "Swedish": "och i att det är till en av på för med som den de inte har ett från vid om kan eller ska samt",
    "Norwegian": "og i at det er til en av på for med som den de ikke har et fra ved ble blir kan eller skal",
    "Finnish": "ja on ei se että oli ovat myös kuin tai joka sekä mukaan sen vuoden ole mutta jotka voi",
    "Polish": "i w na z do nie się że jest oraz o od przez dla po za które lub być tym jako ich jak",
    "Czech": "a v na je se že s z do o pro k za jako po od nebo jsou který není být podle ve",
    "Romanian": "și în de la cu pe din pentru este nu că o un să se sau prin care sunt ca al ale",
    "Hungarian": "a az és hogy nem is egy meg ez vagy mint volt csak már ki kell van által ha",
    "Turkish": "ve bir bu için ile olarak da de olan veya gibi daha her en ne kadar sonra göre ise",
}
_SCRIPTS: Final = {
    "Japanese": re.compile(r"[\u3040-\u30ff]"),
    "Chinese": re.compile(r"[\u4e00-\u9fff]"),
    "Korean": re.compile(r"[\uac00-\ud7af]"),
    "Russian": re.compile(r"[\u0400-\u04ff]"),
    "Greek": re.compile(r"[\u0370-\u03ff]"),
    "Arabic": re.compile(r"[\u0600-\u06ff]"),
    "Hebrew": re.compile(r"[\u0590-\u05ff]"),
    "Hindi": re.compile(r"[\u0900-\u097f]"),
    "Thai": re.compile(r"[\u0e00-\u0e7f]"),
}
COMMON_WORDS: Final = {language: frozenset(words.split()) for language, words in _COMMON.items()}
"""The commonest words of languages in Latin letters."""
_WORD = re.compile(r"[^\W\d_]+")


def detect_language(text: str) -> str | None:
    """The language of a text by its English name; None where the text does not tell."""
    text = text[:_READ]
    if not text.isascii():
        letters = {script: len(pattern.findall(text)) for script, pattern in _SCRIPTS.items()}
        most = max(letters, key=lambda script: letters[script])
        if letters[most] >= _LEAST_LETTERS and letters[most] * 5 > len(text):
            # Japanese is written with Chinese characters too, Chinese without kana.
            return "Japanese" if most == "Chinese" and letters["Japanese"] >= _LEAST_LETTERS else most
    words = Counter(_WORD.findall(text.lower()))
    counts = {language: sum(words[word] for word in common) for language, common in COMMON_WORDS.items()}
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] >= max(_LEAST_WORDS, words.total() / 12) else None


def detect_script_language(letter: str) -> str | None:
    """The language of a letter that is not Latin; None where it is, or nothing is known of its script."""
    if letter.isascii():
        return None
    return next((language for language, pattern in _SCRIPTS.items() if pattern.match(letter)), None)


def detect_languages(texts: Sequence[str]) -> tuple[str, ...]:
    """The languages that a tenth of the texts or more are written in, the commonest first; at most four."""
    counts = Counter(language for language in map(detect_language, texts) if language)
    common = [language for language, count in counts.most_common(_MOST) if count >= _LEAST_SHARE * counts.total()]
    return tuple(common)
