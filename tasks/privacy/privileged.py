"""Privileged documents: those of a room that go to no model, according to the setting `DILIGENCE_AI_PRIVILEGED`.

A document is privileged by its kind, its name, or a folder above it; so is any copy of it. `Evidence.open_to` and
`RoomPassages.open_to` leave privileged documents out when a room is opened to a model. Criteria that need no model
(facts, documents, figures) and people's own searches use all documents.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from functools import lru_cache
from ipaddress import ip_address
from unicodedata import normalize
from urllib.parse import urlsplit

from tasks.documents.kinds.catalogue import kinds, plain_words
from tasks.documents.kinds.document import may_be_any
from tasks.documents.kinds.room import Listed, room_kinds
from tasks.documents.kinds.signs import read_signs
from tasks.privacy import PrivacySettings
from tasks.reading.text_writer import Reading

_NAMED = 3  # documents that a notice names


def find_privileged(documents: Sequence[Listed], texts: Mapping[str, int], above: Iterable[str] = ()) -> frozenset[str]:
    """The ids of the privileged documents in a room.

    Args:
        documents: the documents of the room.
        texts: by document the id of its text, where it has one.
        above: paths of the room's own folder, as far as they are known.
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
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{count} kept from the model (DILIGENCE_AI_PRIVILEGED): {', '.join(names[:_NAMED])}{more}."


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
