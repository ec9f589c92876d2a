"""Rooms of some 200 requested items, built by seed: how many statuses and documents of each item are right.

`python -m tests.benchmarks.request_rooms` prints F1 of the rooms with even seeds; `--shut` those with odd seeds.
`--fresh` makes them of other things, whose documents have other names than the list has for them; `--shut` has
things of its own there. `--size 200` gives each room more customers, suppliers, sites and people until its list is as
long.
"""

import argparse
import random
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tasks.documents.kinds.contents import sketch
from tasks.documents.kinds.document import document_kind
from tasks.documents.kinds.room import IndexedDocument, RoomKinds
from tasks.documents.kinds.signs import read_signs
from tasks.requests.match import OPENING, match_requests
from tasks.requests.request_list import Request

_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_FRESH: dict[str, Any] = tomllib.loads(Path(__file__).with_name("request_rooms_fresh.toml").read_text(encoding="utf-8"))
_YEARS = (2022, 2023, 2024)
_SYLLABLES = ("ba", "lo", "mir", "ten", "so", "vel", "ka", "dun", "pe", "ris", "ol", "gan", "fi", "tur", "na", "zel")
_ENDINGS = ("berg", "wick", "holm", "ford", "stad", "mont")  # no word of `_prose` has them
_STYLES = ("numbered", "numbered folders", "plain", "other numbers", "opaque")


class Expected(NamedTuple):
    """What an item must come out as."""

    status: str
    documents: frozenset[str]


@dataclass
class Room:
    """A room with the list that was sent for it, and what is right."""

    style: str
    requests: list[Request] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)
    documents: dict[str, tuple[IndexedDocument, str]] = field(default_factory=dict)
    unexpected: set[str] = field(default_factory=set)

    def add(self, name: str, folder: str, text: str) -> str:
        """Put a document into the room; gives its id."""
        document_id = f"d{len(self.documents)}"
        self.documents[document_id] = (IndexedDocument(document_id, name, folder), text)
        return document_id


def build(seed: int, chosen: Sequence[dict[str, Any]] = _DATA["thing"]) -> Room:
    """A room by its seed, of these things."""
    chance = random.Random(seed)
    room = Room(_STYLES[seed // 2 % len(_STYLES)])
    company = chance.choice(["Vellamo", "Trident Works", "Hallgarth", "Miravent"])
    things = [(thing, entity) for thing in chosen for entity in thing.get("entities", [None])]
    sections = list(dict.fromkeys(thing["section"] for thing, _ in things))
    chance.shuffle(sections)
    folders = list(sections)
    if room.style == "other numbers":
        chance.shuffle(folders)
    for number, section in enumerate(sections, 1):
        mine = [(thing, entity) for thing, entity in things if thing["section"] == section]
        chance.shuffle(mine)
        for place, (thing, entity) in enumerate(mine, 1):
            _add_item(room, chance, f"{number}.{place}", thing, entity, company, folders.index(section) + 1)
    spare = _DATA["unexpected"]
    for name, text in chance.sample(list(zip(spare["name"], spare["text"], strict=True)), 5):
        room.unexpected.add(room.add(f"{name}.pdf", "Miscellaneous", text))
    return room


def enlarge(things: Sequence[dict[str, Any]], size: int, seed: int) -> list[dict[str, Any]]:
    """The things with more names of those that have some, in turn, until a list of them has that many items."""
    chance = random.Random(seed)
    larger = [{**thing, "entities": list(thing.get("entities", ()))} for thing in things]
    named = [thing for thing in larger if thing["entities"]]
    missing = size - sum(len(thing["entities"]) or 1 for thing in larger)
    for number in range(missing if named else 0):
        name = "".join(chance.sample(_SYLLABLES, 2)).capitalize() + chance.choice(_ENDINGS)
        named[number % len(named)]["entities"].append(f"{name} {chance.choice(['', 'Ltd', 'AG', 'Group'])}".strip())
    return [thing if thing["entities"] else {**thing, "entities": [None]} for thing in larger]


def _add_item(
    room: Room, chance: random.Random, number: str, thing: dict[str, Any], entity: str | None, company: str, folder: int
) -> None:
    years = chance.choice(["2022, 2023 and 2024", "2022-2024", "2022 to 2024", "the last three fiscal years"])
    wording = chance.choice(thing["item"]).format(e=entity, y3=years, c=company)
    room.requests.append(Request(number=number, item=wording, section=thing["section"]))
    outcome = chance.choices(["received", "partly", "missing"], [0.6, 0.15, 0.25])[0]
    documents: set[str] = set()
    path = _folder(room.style, folder, thing["section"])
    called = chance.choice(thing["name"])

    def put(year: int | None, mark: str = "", words: str = "", copies: int = 1) -> None:
        name = called.format(e=entity, y=year, c=company)
        text = thing["text"].format(e=entity, y=year, c=company)
        text += f"\nReference {chance.randrange(10**6)}. " + _prose(chance)
        if words == "part":
            text = text.replace("\n", "\nPart 1 of 2\n", 1)
        if words == "draft":
            text = "DRAFT\n" + text.replace("signed by:", "parties:")
        for copy in range(copies):
            ending = chance.choice([".pdf", ".docx", ".txt"])
            own = f"scan_{chance.randrange(10**4):04}" if room.style == "opaque" and year is None else f"{name}{mark}"
            if room.style == "numbered":
                own = f"{number} {own}" + (f" ({year})" if year and str(year) not in own else "")
            where = f"{path}/{number} {thing['section']}" if room.style == "numbered folders" else path
            documents.add(room.add(f"{own}{' copy' if copy else ''}{ending}", where, text))

    years_asked = _YEARS if thing.get("years") else (None,)
    if outcome == "partly" and thing.get("template"):
        outcome = "missing"
    if outcome == "partly" and thing.get("years"):
        for year in chance.sample(years_asked, 2):
            put(year)
    elif outcome == "partly":
        kind = chance.choice(["draft", "part"])
        put(None, " DRAFT" if kind == "draft" else " part 1 of 2", kind)
    elif outcome == "received":
        for year in years_asked:
            put(year, copies=2 if chance.random() < 0.08 else 1)
    room.expected.append(Expected(outcome, frozenset(documents)))


def _folder(style: str, number: int, section: str) -> str:
    return section if style in {"plain", "opaque"} else f"{number:02} {section}"


def _prose(chance: random.Random) -> str:
    """Sentences of words that nobody asks for."""
    return " ".join("".join(chance.sample(_SYLLABLES, 3)) for _ in range(150))


def evaluate(room: Room) -> tuple[int, int, int, list[str]]:
    """Right, given and expected pairs of an item and its status with its documents; what is wrong in words."""
    kinds, signs, marks, openings = {}, {}, {}, {}
    for document_id, (row, text) in room.documents.items():
        signs[document_id], marks[document_id] = read_signs(text, []), sketch(text)
        kinds[document_id] = document_kind(row.name, row.path, signs[document_id])
        openings[document_id] = text[:OPENING]
    rows = {name: row for name, (row, _) in room.documents.items()}
    contents = {name: str(hash(text)) for name, (_, text) in room.documents.items()}
    outcomes = match_requests(room.requests, RoomKinds(rows, kinds, signs, marks, contents), openings)
    given: set[tuple[str, str]] = set()
    expected: set[tuple[str, str]] = set()
    for outcome, right in zip(outcomes, room.expected, strict=False):
        key = f"{outcome.request.number} {outcome.request.item}" if outcome.request else ""
        expected |= {(key, right.status)} | {(key, document) for document in right.documents}
        given |= {(key, outcome.status.value)} | {(key, row.document_id) for row in outcome.documents}
    expected |= {("unexpected", document) for document in room.unexpected}
    given |= {("unexpected", row.document_id) for one in outcomes[len(room.requests) :] for row in one.documents}
    wrong = [f"{sign} {key}: {_named(room, what)}" for sign, key, what in sorted(_differences(given, expected))]
    return len(given & expected), len(given), len(expected), wrong


def _differences(given: set[tuple[str, str]], expected: set[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    yield from (("given", *pair) for pair in given - expected)
    yield from (("not given", *pair) for pair in expected - given)


def _named(room: Room, what: str) -> str:
    return f"{room.documents[what][0].path}/{room.documents[what][0].name}" if what in room.documents else what


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shut", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--size", type=int, default=0)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    for seed in range(int(options.shut), 20, 2):
        fresh = [thing for thing in _FRESH["thing"] if thing.get("shut", False) is options.shut]
        room = build(seed, enlarge(fresh if options.fresh else _DATA["thing"], options.size, seed))
        right, given, expected, wrong = evaluate(room)
        print(f"{seed:3} {room.style:17} {len(room.requests)} items, F1 {2 * right / (given + expected):.3f}")
        for line in wrong if options.verbose else ():
            print("   ", line)


if __name__ == "__main__":
    main()
