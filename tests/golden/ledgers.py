"""The ledger of each room: the figures of each document, what contradicts, what follows, what does not tie.

The rooms are the sample's and those by hand on which the ledger was developed, as `diligence figures` prints them.
"""

import contextlib
import io
import json
from collections import defaultdict
from typing import Any, Final

from deployments.rooms import figures
from tests.golden.records import Measured, digest_json
from tests.golden.rooms import drive, in_processes

_OF_ROOM: Final = ("figure_conflicts", "derived_figures", "untied_sums", "left_out")


def measure() -> Measured:
    """How many figures each document has, and a hash of them; the same of what is said of each room."""
    measured = Measured(("count", "hash"))
    with drive() as (root, rooms):
        for room, ledger in in_processes(root, _ledger, rooms):
            by_document: dict[str, list[dict[str, Any]]] = defaultdict(list)
            for row in ledger["figures"]:
                by_document[row["document_name"]].append(row)
            for document, rows in by_document.items():
                measured.add(f"{room}/{document}", len(rows), digest_json(rows))
            for name in _OF_ROOM:
                measured.add(f"{room}: {name}", len(ledger[name]), digest_json(ledger[name]))
    return measured


def _ledger(room: str) -> dict[str, Any]:
    """What `diligence figures ROOM --format json` prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        figures(room, format="json")
    answer: dict[str, Any] = json.loads(printed.getvalue())
    return answer
