"""A model that judges but gives no search plan and checks no statement: the run ends as it does without either."""

import json
from pathlib import Path

import pytest

from tests.deployments.test_command_line import run
from tests.flows.conftest import batch_file
from tests.servers.openai_server import ModelRequest, ModelResponse, ModelServer, saying

__all__ = ["batch_file"]

JUDGEMENT = json.dumps(
    {
        "found": True,
        "score": 4,
        "reason": "Its customers are satisfied and stay for years.",  # no passage says so: it would be checked
        "quotes": [{"source": 1, "text": "Ninety percent of revenue is recurring.", "stance": "for"}],
    }
)


def only_judging(request: ModelRequest) -> ModelResponse:
    """Answers with a judgement, whatever is asked for."""
    return saying(JUDGEMENT)(request)


@pytest.mark.nightly
@pytest.mark.slow  # two runs of the command
def test_without_plans_and_checks_scores_and_exit_status_are_the_same(batch_file: Path, prefect_url: str) -> None:
    with ModelServer(plans=None) as server:
        server.always(only_judging)
        environment = {
            "OPENAI_BASE_URL": server.url,
            "DILIGENCE_AI_MODEL": "a-model",
            "PREFECT_API_URL": prefect_url,
        }
        outcomes, warned = [], []
        for asked in ("off", "on"):
            wanted = {"DILIGENCE_AI_SEARCH_PLAN": asked, "DILIGENCE_AI_STATEMENT_CHECK": asked}
            done = run(["run", batch_file], batch_file.parent, **environment, **wanted)
            assert done.returncode == 0, done.stderr
            shown = run(["report", "latest", "--format", "json"], batch_file.parent)
            report = json.loads(shown.stdout)
            outcomes.append(
                [
                    (company["name"], criterion["id"], criterion["status"], criterion["score"])
                    for company in report["companies"]
                    for criterion in company["criteria"]
                ]
            )
            warned.append(done.stderr)
        assert outcomes[0] == outcomes[1]
        assert ("Alpha", "recurring", "scored", 4) in outcomes[0]
        assert "no search plan could be had" in warned[1]
        assert "no search plan could be had" not in warned[0]
        assert server.plan_requests
