"""Runs of a batch on a real server with a real, weak model, as users start them."""

import json
import subprocess
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from deployments.run import SAMPLE
from tests.deployments.test_command_line import DILIGENCE, clean_environment
from tests.flows.conftest import write_room
from tests.real_models.llama_server import SMOLLM2, LlamaServer, missing
from tests.real_models.test_answers import assert_all_is_well
from tests.servers.recorder import Recorder

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(missing(SMOLLM2) is not None, reason=str(missing(SMOLLM2))),
]


def write_batch(folder: Path, drive_root: Path, room: str, *asked: str) -> Path:
    """A batch of one company with those judged criteria."""
    folder.mkdir(exist_ok=True)
    criteria = [{"id": f"q{number}", "ask": question} for number, question in enumerate(asked, 1)]
    (folder / "criteria.yaml").write_text(json.dumps({"scale": [0, 5], "criteria": criteria}))
    (folder / "batch.yaml").write_text(
        dedent(f"""
            name: On a real server
            criteria: criteria.yaml
            fact_sources: [files]
            drive_root: {drive_root}
            companies:
              - {{name: Cuidara, domain: cuidara.example, folder: {room}}}
        """)
    )
    return folder / "batch.yaml"


def start_run(batch: Path, folder: Path, **settings: str) -> subprocess.Popen[bytes]:
    """Begin a run of the batch; its report lies in `out` below `folder`."""
    words = [*DILIGENCE, "run", str(batch), "--out", str(folder / "out")]
    return subprocess.Popen(words, cwd=folder, env=clean_environment(folder) | settings)


def judged(folder: Path) -> list[dict[str, Any]]:
    """The judged criteria of the report in `folder`."""
    report = json.loads((folder / "report.json").read_text())
    return [criterion for company in report["companies"] for criterion in company["criteria"]]


def assert_is_judged(criterion: dict[str, Any]) -> None:
    """The model was asked, and what came of it has a status and a reason: a weak one may have given no judgement."""
    assert criterion["status"] in {"scored", "missing", "unsupported", "contested", "unscored"}
    assert criterion["reason"]
    assert "cannot be reached" not in criterion["reason"]
    assert "gave no answer within" not in criterion["reason"]


def test_a_room_of_the_sample_is_judged_with_nothing_set_but_address_and_model(
    smollm2: LlamaServer, prefect_url: str, tmp_path: Path
) -> None:
    asked = "Can customers or lenders terminate, or must they consent, on a change of control?"
    batch = write_batch(tmp_path / "batch", SAMPLE.parent, "rooms/cuidara", asked)
    with Recorder(smollm2.url) as recorder:
        settings = {"DILIGENCE_AI_MODEL": smollm2.model, "OPENAI_BASE_URL": recorder.url}
        with start_run(batch, tmp_path, PREFECT_API_URL=prefect_url, **settings) as running:
            pass
        assert running.returncode in {0, 1}  # 1 where the model gave no judgement
        assert_all_is_well(recorder.asked)
    (criterion,) = judged(tmp_path / "out")
    assert_is_judged(criterion)


def test_a_server_that_is_killed_and_started_again_in_mid_run_loses_nothing(prefect_url: str, tmp_path: Path) -> None:
    rooms = tmp_path / "rooms"
    write_room(
        rooms / "cuidara",
        {
            "customers.txt": "The largest customer may leave with sixty days' notice. It brings 24 % of revenue.",
            "people.txt": "The chief executive knows all customers. Nobody stands in for her.",
        },
    )
    asked = ("May the largest customer leave?", "Does somebody stand in for the chief executive?")
    batch = write_batch(tmp_path / "batch", rooms, "cuidara", *asked)
    server = LlamaServer(SMOLLM2, window=2048, slots=1)  # so that answers are short
    with server:
        settings = {
            "DILIGENCE_AI_MODEL": server.model,
            "OPENAI_BASE_URL": server.url,
            "DILIGENCE_AI_API": "chat",
            "DILIGENCE_AI_SEARCH_PLAN": "off",
            "DILIGENCE_AI_STATEMENT_CHECK": "off",
            "PREFECT_API_URL": prefect_url,
        }
        with start_run(batch, tmp_path, **settings) as first:
            while not server.is_busy:
                assert first.poll() is None
                time.sleep(0.02)
            server.kill()
            server.start()
        assert first.returncode in {0, 1}
        assert len(judged(tmp_path / "out")) == 2
        with start_run(batch, tmp_path, **settings) as second:
            pass
        assert second.returncode in {0, 1}
    for criterion in judged(tmp_path / "out"):
        assert_is_judged(criterion)
