"""What a person saw of a cell when deciding on it, and whether a later run shows the same."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

from storage.scores import Absence, CriterionOutcome, Quote

NOTHING_YET: Final[Mapping[str, Any]] = {"score": None, "status": None, "quotes": [], "digest": "nothing yet"}
"""The evidence of a cell that a run has not come to."""


def name_evidence(outcome: CriterionOutcome, quotes: Sequence[Quote]) -> dict[str, Any]:
    """The evidence of a cell as JSON: its outcome, its quotations with their places, and a digest of all of it.

    What the program says about its own work (a confidence, a warning) is not evidence. A rule's reason names the fact
    or figure that it was compared with; a model's reason is its own words.
    """
    shown: dict[str, Any] = {
        "score": outcome.score,
        "status": outcome.status.value,
        "absence": outcome.absence and outcome.absence.value,
        "reason": None if outcome.kind == "judged" else outcome.reason,
        "contradictions": [contradiction.get("about") for contradiction in outcome.contradictions],
        "quotes": [
            {"document_id": quote.document_id, "document_name": quote.document_name, "text": quote.text}
            for quote in quotes
        ],
    }
    digest = _digest(shown)
    for entry, quote in zip(shown["quotes"], quotes, strict=True):
        entry["place"] = quote.place
    return shown | {"digest": digest}


def name_cell(value: Any, absence: Absence | None, quotes: Sequence[str]) -> dict[str, Any]:
    """The evidence of a cell of a table as JSON: what the program says, the words that say so, and their digest."""
    shown = {"value": value, "absence": absence and absence.value, "quotes": list(quotes)}
    return shown | {"digest": _digest(shown)}


def _digest(shown: Mapping[str, Any]) -> str:
    return sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:24]


def quote_key(document_id: str | None, text: str) -> str:
    """What identifies a quotation in decisions: its words and its document, wherever they stand in it."""
    return sha256(f"{document_id or ''}\0{text}".encode(errors="surrogatepass")).hexdigest()[:16]


def name_company(cells: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The evidence of a whole company: the digest of each of its cells, by the criterion's id."""
    return {"cells": {criterion_id: cell["digest"] for criterion_id, cell in cells.items()}}


def is_same(seen: Mapping[str, Any], now: Mapping[str, Any] | None) -> bool:
    """Whether evidence is what a person saw; `now` is None if the run has no such cell."""
    if now is None:
        return False
    return bool(seen.get("cells") == now.get("cells") if "cells" in now else seen.get("digest") == now.get("digest"))
