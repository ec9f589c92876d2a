"""How long a batch takes whose model needs seconds for an answer: companies one after the other, and at the same time.

The floor is what the calls take at the most that the model is asked at once (16), without anything else.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tests.benchmarks.batches import room_of, write_batch
from tests.servers.openai_server import ModelRequest, ModelResponse, ModelServer, saying

_AT_ONCE = 16
_VERDICT = json.dumps({"found": True, "score": 4, "reason": "It is said.", "quotes": []})
_PLAN = json.dumps({"wordings": ["revenue"]})


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    with tempfile.TemporaryDirectory() as folder:
        for companies, criteria, seconds in ((20, 9, 3.0), (100, 16, 3.0)):
            what = f"{companies} companies × {criteria} judgements of {seconds:g} s"
            batch = _write_batch(Path(folder) / str(companies), companies, criteria)
            floor = companies * criteria * seconds / _AT_ONCE
            one = _run(batch, seconds, "1") if companies < 50 else None
            many = _run(batch, seconds, None)
            before = f", {one:.0f} s one company at a time" if one is not None else ""
            yield what, f"{many:.0f} s ({many / floor:.2f} × the floor of {floor:.0f} s){before}", "1.3 × the floor"
        batch = _write_batch(Path(folder) / "quick", 20, 9)
        one, many = _run(batch, 0.2, "1"), _run(batch, 0.2, None)
        figure = f"{many:.0f} s, {one / many:.2f} × as fast as one company at a time ({one:.0f} s)"
        yield "20 companies × 9 judgements of 0.2 s", figure, "2.5 ×"


def _write_batch(folder: Path, companies: int, criteria: int) -> Path:
    for number in range(companies):
        room = room_of(folder, number)
        for document in range(20):
            (room / f"{document}.txt").write_text(
                f"The revenue of company {number} was {document} million euros.\n" * 20
            )
    asked = [f'id: q{number}, ask: "Is revenue source {number} secure?"' for number in range(criteria)]
    return write_batch(folder, "In flight", companies, asked)


def _run(batch: Path, seconds: float, at_once: str | None) -> float:
    def answer(request: ModelRequest) -> ModelResponse:
        return replace(saying(_PLAN if request.asks_for_plan else _VERDICT)(request), delay=seconds)

    with ModelServer() as model, tempfile.TemporaryDirectory() as home:
        model.always(answer)
        environment = os.environ | {
            "DILIGENCE_HOME": home,
            "PREFECT_HOME": f"{home}/prefect",
            "DILIGENCE_AI_MODEL": "a-model",
            "OPENAI_API_KEY": "a-key",
            "OPENAI_BASE_URL": model.url,
        }
        environment.pop("PREFECT_API_URL", None)
        if at_once is not None:
            environment["DILIGENCE_COMPANIES_AT_ONCE"] = at_once
        words = [sys.executable, "-m", "deployments.cli", "run", str(batch), "--out", f"{home}/report"]
        start = time.perf_counter()
        subprocess.run(words, env=environment, check=True, capture_output=True)
        return time.perf_counter() - start
