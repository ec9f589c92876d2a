"""What evidence costs: processor time and time of a run with `evidence: cited` beside the same with `evidence: none`.

python -m tests.benchmarks.evidence COMPANIES CRITERIA [DOCUMENTS]      one pair of that size, as 200 40 100
python -m tests.benchmarks.evidence COMPANIES CRITERIA DOCUMENTS SECONDS      with a model that takes so long an answer

The sample's batch, and a batch of rooms that are written here: each company has PDFs of its own words, and the sample's
criteria ask after them. Without a model, a page is drawn for the best passage of each criterion; with one, which is a
server on the loopback that quotes a line that it was shown, for each quotation. The processor time of
every process of a run counts, those that read and draw among them: it is read from /proc while they run. The time that
passes says something on an idle machine alone.
"""

import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from reportlab.pdfgen.canvas import Canvas

from tests.servers.openai_server import ModelRequest, ModelResponse, ModelServer, saying

_SAMPLE: Final = Path(__file__).parents[2] / "deployments/sample"
_COMPANIES: Final = 20
_DOCUMENTS: Final = 6
_PAGES: Final = 15
_PAIRS: Final = 2
_ASKED: Final = ("How sound are, or is,", "What is said of", "What changed lately in", "Which risks come from")
_LINE: Final = re.compile(r"came to \d+ thousand euros in \d{4}\.")
_TICK: Final = os.sysconf("SC_CLK_TCK")
_TOPICS: Final = (
    "recurring revenue from maintenance contracts and subscriptions", "churn, renewals and net revenue retention",
    "the largest customer and its share of the revenue", "patents, software and other intellectual property",
    "pending litigation, a claim for damages", "termination upon a change of control", "the founder and key people",
    "audited financial statements of the year", "the cap table and its shareholders", "the shareholder agreement",
    "the data protection policy", "depreciation of machines", "the lease of the plant", "insurance of the stock",
)  # fmt: skip


class Cost(NamedTuple):
    """What a run took, in seconds: the processor time of all its processes, and the time that passed."""

    processor: float
    passed: float


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    with tempfile.TemporaryDirectory() as folder:
        yield _row("the sample's 3 companies", _SAMPLE / "batch.yaml", Path(folder))
        batch = _batch(Path(folder, "batch"), _COMPANIES, _SAMPLE / "criteria.yaml")
        yield _row(f"{_COMPANIES} companies of {_DOCUMENTS} PDFs", batch, Path(folder))


def _row(
    name: str, batch: Path, folder: Path, pairs: int = _PAIRS, settings: Mapping[str, str] | None = None
) -> tuple[str, str, str]:
    shares: list[Cost] = []
    for pair in range(pairs):
        without = _cost(batch, folder / f"{name}-{pair}-none", "none", settings)
        report = folder / f"{name}-{pair}-cited"
        with_evidence = _cost(batch, report, "cited", settings)
        shares.append(Cost(*((more - less) / more for more, less in zip(with_evidence, without, strict=True))))
    files = [path.stat().st_size for path in (report / "report" / "evidence").iterdir()]
    pictures = [path.stat().st_size for path in (report / "report" / "evidence").iterdir() if path.suffix != ".html"]
    processor, passed = map(statistics.median, zip(*shares, strict=True))
    figure = (
        f"{processor:.3f} of {with_evidence.processor:.0f} s of processor time, {passed:.3f} of "
        f"{with_evidence.passed:.0f} s that passed; {len(files)} files of {sum(files) >> 10} KB, of "
        f"which {len(pictures)} pictures, the largest of {max(pictures, default=0) >> 10} KB"
    )
    return f"share of evidence in a run, {name}", figure, ".15, 150 KB"


def _cost(batch: Path, home: Path, evidence: str, settings: Mapping[str, str] | None = None) -> Cost:
    """What a run on a fresh home takes, with all its processes."""
    environment = os.environ | {
        **(settings or {}),
        "DILIGENCE_HOME": str(home),
        "PREFECT_HOME": str(home / "prefect"),
        "DILIGENCE_EVIDENCE": evidence,
    }
    environment.pop("PREFECT_API_URL", None)
    command = [sys.executable, "-m", "deployments.cli", "run", str(batch), "--out", str(home / "report")]
    used: dict[int, int] = {}
    start = time.monotonic()
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as run:
        while run.poll() is None:
            _note(run.pid, used)
            time.sleep(0.02)
    passed = time.monotonic() - start
    if not (home / "report" / "report.html").exists():
        raise RuntimeError("The run wrote no report: what it took says nothing.")
    return Cost(sum(used.values()) / _TICK, passed)


def _note(session: int, used: dict[int, int]) -> None:
    """Note the processor time so far of the processes of a session, in ticks."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[3]) == session:
            used[int(status.parent.name)] = int(fields[11]) + int(fields[12])


def _batch(folder: Path, count: int, criteria: Path, documents: int = _DOCUMENTS) -> Path:
    """A batch of companies whose rooms hold PDFs of words that are drawn by lot."""
    chance = random.Random(1)
    companies = []
    for number in range(count):
        room = folder / f"rooms/company-{number}"
        room.mkdir(parents=True)
        for document in range(documents):
            _write_pdf(room / f"Document {document}.pdf", chance)
        companies.append(
            {"name": f"Company {number}", "domain": f"company-{number}.example", "folder": f"rooms/company-{number}"}
        )
    (folder / "facts").mkdir()
    batch = {
        "name": "Evidence",
        "criteria": str(criteria),
        "fact_sources": ["files"],
        "facts": "facts/",
        "figure_concepts": str(_SAMPLE / "concepts.toml"),
        "drive_root": ".",
        "companies": companies,
    }
    path = folder / "batch.yaml"
    path.write_text(json.dumps(batch))
    return path


def _write_pdf(path: Path, chance: random.Random) -> None:
    canvas = Canvas(str(path))
    for page in range(_PAGES):
        canvas.setFont("Helvetica-Bold", 14)
        canvas.drawString(72, 770, f"{page + 1}. On {chance.choice(_TOPICS)}")
        canvas.setFont("Helvetica", 10)
        for line in range(45):
            amount, year = chance.randint(1, 9999), chance.randint(1990, 2024)
            words = f"{chance.choice(_TOPICS)} came to {amount} thousand euros in {year}."
            canvas.drawString(72, 740 - 15 * line, words)
        canvas.showPage()
    canvas.save()


def _criteria(path: Path, count: int) -> Path:
    """Criteria that ask after the topics, each by another word of judgement."""
    asked = [
        {"id": f"c{number}", "ask": f"{_ASKED[number // len(_TOPICS) % len(_ASKED)]} {_TOPICS[number % len(_TOPICS)]}?"}
        for number in range(count)
    ]
    path.write_text(json.dumps({"scale": [0, 5], "criteria": asked}))
    return path


@contextmanager
def _model(seconds: float) -> Iterator[dict[str, str]]:
    """A model that takes so long for an answer and quotes a line; gives the settings with which a run asks it."""

    def answer(request: ModelRequest) -> ModelResponse:
        if request.asks_for_plan:
            said = json.dumps({"wordings": ["came to"]})
        else:
            lines = _LINE.findall(request.prompt)
            quotes = [{"source": 1, "text": line} for line in lines[-1:]]
            said = json.dumps({"found": bool(lines), "score": 4, "reason": "A line says it.", "quotes": quotes})
        return replace(saying(said)(request), delay=seconds)

    with ModelServer() as model:
        model.always(answer)
        yield {"DILIGENCE_AI_MODEL": "a-model", "OPENAI_API_KEY": "a-key", "OPENAI_BASE_URL": model.url}


def main(companies: int, criteria: int, documents: int = _DOCUMENTS, seconds: float | None = None) -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as model:
        asked = _criteria(Path(folder, "criteria.yaml"), criteria)
        batch = _batch(Path(folder, "batch"), companies, asked, documents)
        name = f"{companies} companies of {documents} PDFs x {criteria} criteria"
        settings = None
        if seconds is not None:
            name += f" with a model that takes {seconds:g} s"
            settings = model.enter_context(_model(seconds))
        print(*_row(name, batch, Path(folder), pairs=1, settings=settings), sep="; ")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), *map(float, sys.argv[4:]))
