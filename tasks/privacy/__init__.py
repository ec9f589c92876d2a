"""What of a room goes to no model, or only under other names, and the settings that say so.

A document is privileged according to the setting `DILIGENCE_AI_PRIVILEGED`: by its kind, its name, or a folder above
it; so is any copy of it. `Evidence.open_to` and `RoomPassages.open_to` leave privileged documents out when a room is
opened to a model. Criteria that need no model (facts, documents, figures) and people's own searches use all documents.

Names of people and companies are sent to a model as stand-ins (pseudonyms) and restored in its answer. A name is
replaced word by word, so that "Anna Müller", "Müller, Anna" and "Müllers" agree: each word has its own stand-in, such
as `PersonqBCDF`, in the same case as the name. Endings and compounds stay attached to it. A word that is also an
ordinary word (`May`, `Bank`) is only replaced beside another word of its name, or a title. Every spelling has one
stand-in and every stand-in one spelling, so that quotations are restored to the letter. Should a text contain a
stand-in, their prefix is chosen anew.

The names of a room come from the user's list, the company's profile and signature blocks. A signature block has the
name after a label ("Name:"), after the mark of a signature ("/s/"), or below the closing words of a letter; the name
of a company includes its legal form. The words that identify these are in `names.toml`.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache, cached_property, lru_cache, reduce
from ipaddress import ip_address
from itertools import count, dropwhile, islice, product
from operator import or_
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Final
from unicodedata import normalize
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field
from pydantic_settings import SettingsConfigDict

from storage import database, texts
from storage.settings import Settings
from tasks.documents.kinds.catalogue import kinds, plain_words
from tasks.documents.kinds.document import may_be_any
from tasks.documents.kinds.room import Listed, room_kinds
from tasks.documents.kinds.signs import read_signs
from tasks.errors import NotConfigured
from tasks.language.normalise import join_first
from tasks.language.words import COMMON_WORDS, spell_out
from tasks.reading.text_writer import Reading


def _as_switch(value: Any) -> Any:
    return ("on" if value else "off") if isinstance(value, bool) else value


class PrivacySettings(Settings):
    """What a model is not told."""

    model_config = SettingsConfigDict(str_strip_whitespace=True)

    ai_privileged: str | None = Field(
        None,
        description="what is never sent to a model: folders, names (with * and ?) or kinds of documents, with commas",
    )
    ai_privileged_model: str | None = Field(
        None,
        description="the one model that may be given privileged documents, where its server is local",
    )
    ai_pseudonyms: Annotated[str | None, BeforeValidator(_as_switch)] = Field(
        None,
        description="on, or a file of names, one per line: stand-ins replace names of people and companies for models",
    )


_NAMED = 3  # documents that a notice names


def find_privileged(documents: Sequence[Listed], texts: Mapping[str, int], above: Iterable[str] = ()) -> frozenset[str]:
    """The ids of the privileged documents in a room.

    Args:
        documents: the documents of the room.
        texts: by document the id of its text, where it has one.
        above: known paths of the room's own folder, which rules may name too.
    """
    rules = privileged_rules()
    if not rules:
        return frozenset()
    tops = ["", *above]
    kept = {
        one.document_id for one in documents if any(is_named(f"{top}/{one.path}/{one.name}", rules) for top in tops)
    }
    if wanted := _kinds_in(rules):
        signs = room_kinds(documents, texts, {}).signs
        rows = ((one.document_id, one.name, one.path) for one in documents)
        kept |= {key for key, name, path in rows if may_be_any(name, path, signs.get(key), wanted)}
    contents = {texts[name] for name in kept if name in texts}
    return frozenset(kept | {name for name, text_id in texts.items() if text_id in contents})


def find_privileged_files(above: str, read: Mapping[str, Reading]) -> set[str]:
    """The names of those documents, read but not stored, that are privileged.

    Args:
        above: the path of the folder, or of the document.
        read: by its path in the folder each document as it was read.
    """
    rules = privileged_rules()
    wanted = _kinds_in(rules)
    kept = {name for name in read if is_named(f"{above}/{name}", rules)}
    for name, reading in read.items() if wanted else ():
        if may_be_any(name, "", read_signs(reading.text, reading.places), wanted):
            kept.add(name)
    texts = {read[name].text for name in kept}
    return {name for name, reading in read.items() if reading.text in texts}


def is_named(path: str, rules: Iterable[str] | None = None) -> bool:
    """Whether a rule matches the name of a document or of a folder above it; `path` has the folders, with `/` between
    them.
    """
    patterns = [_plain(rule).removeprefix("**/").removesuffix("/**").strip("/") for rule in rules or privileged_rules()]
    return any(_pattern(pattern).search(_plain(path)) for pattern in patterns if pattern)


@lru_cache(maxsize=1000)
def _pattern(rule: str) -> re.Pattern[str]:
    """A pattern for the rule as neighbouring names in a path, either literally or with `*` and `?` as wildcards."""
    start = "^" if rule.startswith("*") else "(?:^|/)"  # what matches behind a later `/` matches from the first, too
    return re.compile(rf"(?:^|/){re.escape(rule)}(?:/|$)|{start}{translate(rule)[4:-3]}(?:/|$)", re.DOTALL)


def may_read_all(model: str | None, address: str | None) -> bool:
    """Whether that model at that address may have privileged documents: it is local and named, or none is asked."""
    return model is None or (model == PrivacySettings.current().ai_privileged_model and is_local(address or ""))


def say_kept(names: Sequence[str]) -> str:
    """The notice that documents with these names were kept from the model; empty for none."""
    if not names:
        return ""
    count = "1 document was" if len(names) == 1 else f"{len(names)} documents were"
    return f"{count} kept from the model (DILIGENCE_AI_PRIVILEGED): {join_first(names, _NAMED)}."


def privileged_rules() -> list[str]:
    """What the environment and the running batch declare privileged."""
    written = dict.fromkeys((PrivacySettings().ai_privileged, PrivacySettings.current().ai_privileged))
    return [rule.strip() for rules in written for rule in (rules or "").split(",") if rule.strip()]


def _kinds_in(rules: Iterable[str]) -> set[str]:
    """The kinds in the catalogue that the rules name, by id or title."""
    wanted = {*map(plain_words, rules)}
    return {kind.id for kind in kinds().values() if wanted & {plain_words(kind.id), plain_words(kind.title)}}


def _plain(path: str) -> str:
    return normalize("NFC", path).casefold().replace("\\", "/")


def is_local(address: str) -> bool:
    """Whether a server is at a loopback or private address, or at a host whose name has no dot."""
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        return bool(host) and "." not in host


_BEFORE, _AFTER = 4, 5  # lines around a label or a signature that belong to its block
_WORD: Final = re.compile(r"[^\W\d_][\w'’.&/-]*")
_COLON: Final = re.compile(r"[:\t]")
_COMMENT: Final = re.compile(r"\[comment, ([^,\]]+),")  # its author, as the readers write it
_BEHIND: Final = re.compile(r"[\t;<(\[|]|\s{3}|__|\s\w+:")  # what ends a name on its line
_LONGEST_NAME, _LONGEST_FIRM = 6, 8  # words
_LONGEST_LINE: Final = 120  # characters; a longer one is not a line of a signature block


@dataclass(frozen=True, slots=True)
class Names:
    """Names as written; a name from the user's list that may be either counts as a person's."""

    people: frozenset[str] = frozenset()
    companies: frozenset[str] = frozenset()

    def __or__(self, other: "Names") -> "Names":
        """The names of both."""
        return Names(self.people | other.people, self.companies | other.companies)


@cache
def words_about(kind: str) -> frozenset[str]:
    """The words of that kind from `names.toml`, case-folded."""
    return frozenset(map(str.casefold, tomllib.loads(Path(__file__).with_name("names.toml").read_text("utf-8"))[kind]))


def listed_names(lines: Iterable[str]) -> Names:
    """The names in a user's list, one a line."""
    names = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return _sort(names) | Names(companies=frozenset(name for name in names if len(name.split()) == 1))


def profile_names(name: str, domain: str, profile: Mapping[str, Any] | None) -> Names:
    """The company's names, and those of the parents, subsidiaries and investors in its profile."""
    known = profile or {}
    investors = (one for each in known.get("funding_data") or () for one in each.get("investor_list") or ())
    others = [*(known.get("affiliated_companies") or ()), *investors]
    people = {one["name"] for one in others if one.get("type") == "person" and one["name"]}
    companies = {name, known.get("name"), domain.partition(".")[0], *(one["name"] for one in others)}
    return Names(frozenset(people), frozenset(one for one in companies if one and one not in people))


def stored_names(text_ids: Iterable[int]) -> Names:
    """The names in the signature blocks of stored texts."""
    found = Names()
    with database.reading() as session:
        sizes = texts.text_sizes(session, list(text_ids))
    for group in texts.group_sizes(sizes):
        with database.reading() as session:
            found = reduce(or_, (signature_names(text) for _, text in texts.load_words(session, group)), found)
    return found


def signature_names(text: str) -> Names:
    """The names in the signature blocks of a text."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    short = ((at, line) for at, line in enumerate(lines) if len(line) <= _LONGEST_LINE)
    signed = (name for at, line in short for name in _signed(line, at, lines))
    return _sort([*signed, *_COMMENT.findall(text)])


def _signed(line: str, at: int, lines: list[str]) -> Iterator[str]:
    """Yield the names in a line of a signature block or in the lines beside it."""
    written, colon, value = _COLON.sub("\0", line, count=1).partition("\0")
    label = written.casefold().strip()
    block = lines[max(at - _BEFORE, 0) : at + _AFTER]
    has_block = bool(colon) and any(_label(other) in words_about("beside") for other in block)
    yield from (line[sign.end() :].lstrip(": ") for sign in _signatures().finditer(line))
    if has_block and label in words_about("labels"):
        yield value.strip()
    if has_block and label in words_about("correspondents"):
        yield from re.split("[,;]", value)
    if colon and _find_company(_WORD.findall(written)):  # "Accepted for Alpha A/S: Ada Byron"
        yield from (written, value)
    if line.casefold().rstrip(",. ") in words_about("closings"):
        yield from islice((other for other in lines[at + 1 : at + 4] if _sort([other]) != Names()), 1)
    if colon and label in words_about("beside"):
        yield from (other for other in block if _find_company(_WORD.findall(other)))


def _label(line: str) -> str:
    return _COLON.split(line, maxsplit=1)[0].partition("_")[0].casefold().strip()


@cache
def _signatures() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words_about('signed')))})(?!\w)", re.IGNORECASE)


def _sort(lines: Iterable[str]) -> Names:
    """The people and companies named in the lines; anything that is not a name is left out."""
    people, companies = set(), set()
    for line in lines:
        words = _WORD.findall(_BEHIND.split(line.strip())[0])
        company = _find_company(words)
        words = _WORD.findall(_BEHIND.split(line.partition(",")[0].strip())[0])
        if company is not None:
            companies.add(company)
        elif _is_person(words):
            people.add(" ".join(words))
    return Names(frozenset(people), frozenset(companies))


def _is_person(words: list[str]) -> bool:
    """Whether there are two or more capitalised words, with nothing but particles among them."""
    particles = [word for word in words if not word[0].isupper()]
    is_short = words[:1] != particles[:1] and len(words) - len(particles) > 1 and len(words) <= _LONGEST_NAME
    return is_short and words_about("particles") >= {*particles}


def _find_company(words: list[str]) -> str | None:
    """The company whose legal form, such as GmbH or S.p.A., the words end in, without what precedes its name."""
    form = re.sub(r"[./]", "", words[-1]).casefold() if words else ""
    before = [at for at, word in enumerate(words) if word[0].islower() and word not in words_about("particles")]
    name = [*dropwhile(lambda word: word[0].islower(), words[before[-1] + 1 if before else 0 :])]
    return " ".join(name) if form in words_about("forms") and 1 < len(name) <= _LONGEST_FIRM else None


_ON, _OFF = frozenset({"on", "true", "yes", "1"}), frozenset({"", "off", "false", "no", "0"})
_LETTERS: Final = "bcdfghjklmnpqrstvwxz"  # of codes: no vowels, so that a code makes no word
_SHORT, _LONG = 4, 6  # letters of names that are replaced in small letters, and as parts of compounds
_ENDINGS: Final = frozenset({"s", "es", "n", "ns", "en", "a", "e", "i", "u", "em", "om"})
_ADDRESS: Final = frozenset({"@", "_", "-", "/"})
_COMMON: Final = frozenset().union(*COMMON_WORDS.values())
_NAME: Final = re.compile(r"[^\W_]+(?:['’&+][^\W_]+)*")
_LETTERS_BEHIND: Final = re.compile(r"[^\W\d_]+")
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})


def hides_names() -> bool:
    """Whether names are replaced."""
    return _setting().casefold() not in _OFF


def user_names() -> Names:
    """The names that the user lists: in a file, one a line, or in the setting itself, separated by commas.

    Raises:
        NotConfigured: the setting names a file that cannot be read.
    """
    written = _setting()
    if written.casefold() in _ON | _OFF:
        return Names()
    is_file = "/" in written or written.endswith((".txt", ".csv")) or Path(written).is_file()
    try:
        return listed_names(Path(written).read_text("utf-8").splitlines() if is_file else written.split(","))
    except (OSError, UnicodeDecodeError):
        raise NotConfigured(
            "DILIGENCE_AI_PSEUDONYMS names a file that cannot be read. Give a text file with a name a line, or `on` "
            "to replace only the names in profiles and signature blocks."
        ) from None


def _setting() -> str:
    return (PrivacySettings.current().ai_pseudonyms or "").strip()


class StandIns:
    """The stand-ins of names, constant for the lifetime of the object. Safe to use from several threads."""

    def __init__(self, names: Names) -> None:
        """Give each word of the names a stand-in; the same names get the same ones."""
        self._codes: dict[str, str] = {}  # by the spelling in which a name is listed
        self._spellings: dict[str, str] = {}
        self._words: dict[str, tuple[str, str]] = {}  # the listed spelling and what it is, by the caseless one
        self._beside: dict[str, set[str]] = {}  # other words of a name
        self._new_codes = map("".join, product(_LETTERS, repeat=4))
        self._lock = Lock()
        for kind, listed in (("person", names.people), ("firm", names.companies)):
            for name in sorted(listed):
                self._add(name, kind)

    def _add(self, name: str, kind: str) -> None:
        left_out = words_about("titles") | words_about("particles") | words_about("forms")
        words = [
            word
            for word in _NAME.findall(unicodedata.normalize("NFC", name))
            if len(word) > 1 and word.casefold() not in left_out
        ]
        for word in words:
            others = {spelling.casefold() for other in words if other != word for spelling in _spell(other)}
            for spelling in _spell(word):
                self._words.setdefault(spelling.casefold(), (spelling, kind))
                self._beside.setdefault(spelling.casefold(), set()).update(others)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        forms = {form for word, (listed, _) in self._words.items() for form in (word, listed, listed.upper())}
        return re.compile(spell_out(sorted(forms)) if forms else "(?!)", re.IGNORECASE)

    def hide(self, texts: Sequence[str]) -> tuple[list[str], Callable[[str], str]]:
        """The texts with stand-ins in place of names, and a function that restores the names in an answer to them."""
        marks = _Marks(texts)
        return [self._hide(text, marks) for text in texts], lambda text: self._show(text, marks)

    def _hide(self, text: str, marks: "_Marks") -> str:
        def stand_in(match: re.Match[str]) -> str:
            word = self._words.get(match[0].casefold())
            if word is None or not self._is_name(match):
                return match[0]
            listed, kind = word
            for styled in (str, str.upper, str.lower):
                if match[0] == styled(listed):
                    return styled(marks.write(kind, self._code(listed)))
            return marks.write(kind, self._code(match[0]))

        return self._pattern.sub(stand_in, text)

    def _show(self, text: str, marks: "_Marks") -> str:
        def name(match: re.Match[str]) -> str:
            spelling = self._spellings.get(match["code"].casefold())
            if spelling is None:
                return match[0]
            written = match["kind"] + match["code"]
            return spelling.upper() if written.isupper() else spelling.lower() if written.islower() else spelling

        return marks.pattern.sub(name, text)

    def _code(self, spelling: str) -> str:
        with self._lock:
            if spelling not in self._codes:
                code = next(self._new_codes)
                self._codes[spelling], self._spellings[code] = code, spelling
            return self._codes[spelling]

    def _is_name(self, match: re.Match[str]) -> bool:
        """Whether a word of a name is a name here, and not part of another word or a word of the language."""
        text, word = match.string, match[0]
        before, behind = text[max(match.start() - 1, 0) : match.start()], text[match.end() : match.end() + 40]
        in_address = before in _ADDRESS or behind[:1] in _ADDRESS
        if before.isalpha() and not (before.islower() and word[0].isupper()):
            return False
        if not _may_be_followed(word, behind, in_address=in_address):
            return False
        beside = self._beside[word.casefold()]
        if word.casefold() not in _COMMON | words_about("words") or (not beside and word[0].isupper()):
            return not word[0].islower() or len(word) >= _SHORT or in_address
        around = {
            *map(str.casefold, _NAME.findall(text[max(match.start() - 40, 0) : match.start()])[-1:]),
            *map(str.casefold, _NAME.findall(behind)[:1]),
        }
        return bool(around & beside) or (word[0].isupper() and bool(around & words_about("titles")))


def _may_be_followed(word: str, behind: str, *, in_address: bool) -> bool:
    """Whether these letters may follow a name: an ending, a further name, or the rest of a compound.

    "Müllervertrag" is a contract called by a name; "international" does not refer to a company Inter.
    """
    rest = _LETTERS_BEHIND.match(behind)
    if rest is None or rest[0] in _ENDINGS or rest[0][0].isupper():
        return True
    return in_address or (word[0].isupper() and len(word) >= _LONG)


class _Marks:
    """How stand-ins are written: they begin with letters that occur in no text of a question."""

    def __init__(self, texts: Sequence[str]) -> None:
        for letters in (letter * times for times in count(1) for letter in "qxzjkv"):
            begin = re.compile(f"(?:person|firm){letters}", re.IGNORECASE)
            if not any(begin.search(text) for text in texts):
                break
        self._letters = letters
        self.pattern = re.compile(rf"(?P<kind>person|firm){letters}(?P<code>[{_LETTERS}]{{4}})", re.IGNORECASE)

    def write(self, kind: str, code: str) -> str:
        return f"{kind.capitalize()}{self._letters}{code.upper()}"


def _spell(word: str) -> Iterator[str]:
    """The possible spellings of a word of a name, such as `Müller` and `Mueller`."""
    composed = unicodedata.normalize("NFC", word)
    decomposed = unicodedata.normalize("NFD", word)
    yield from dict.fromkeys(
        (composed, decomposed, composed.translate(_UMLAUTS), "".join(filter(_is_no_accent, decomposed)))
    )


def _is_no_accent(letter: str) -> bool:
    return unicodedata.category(letter) != "Mn"
