"""The sample's report as JSON, part by part, without what is another with each run or each machine."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from tests.golden.records import Measured, digest_json

_PASSING: Final = frozenset({"started_at", "finished_at", "retrieved_at", "document_url"})
"""Times, and addresses of the service on this machine. The run's id is left out too."""
_NAMES: Final = {"criteria": "id", "documents": "document_name", "facts": "field"}
"""Parts of a company whose entries have a line each, by this field."""


def measure() -> Measured:
    """A hash of each part of the report, of each criterion with its score, of each document and each fact."""
    measured = Measured(("hash", "value"))
    report = _without_passing(_report())
    del report["run"]["id"]
    for name, value in report["run"].items():
        measured.add(f"run: {name}", digest_json(value))
    for company in report["companies"]:
        for name, value in company.items():
            if name not in _NAMES:
                shown = value if isinstance(value, int | float | str) else ""
                measured.add(f"{company['name']}: {name}", digest_json(value), shown)
                continue
            for entry in value:
                shown = entry.get("status", entry.get("value", ""))
                if name == "criteria" and entry["score"] is not None:
                    shown = entry["score"]
                shown = shown if isinstance(shown, int | float | str) else ""
                measured.add(f"{company['name']}: {name}: {entry[_NAMES[name]]}", digest_json(entry), shown)
    return measured


def _report() -> Any:
    """What `diligence demo` writes."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"DILIGENCE_HOME": f"{folder}/home", "PREFECT_HOME": f"{folder}/home/prefect"}
        words = [sys.executable, "-m", "deployments.cli", "demo", "--out", f"{folder}/report"]
        subprocess.run(words, env=environment, check=True, capture_output=True)
        return json.loads(Path(folder, "report", "report.json").read_text(encoding="utf-8"))


def _without_passing(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _without_passing(value) for name, value in content.items() if name not in _PASSING}
    if isinstance(content, list):
        return [_without_passing(value) for value in content]
    return content
