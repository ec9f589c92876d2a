"""What an operator's form gives the flows."""

from pathlib import Path
from typing import Any

import pytest
from prefect import Flow

from deployments.deploy import plain_fields
from flows.batch import batch
from flows.due_diligence import due_diligence


@pytest.mark.parametrize("flow", [batch, due_diligence])
def test_a_field_that_was_emptied_is_as_good_as_left_out(flow: Flow[..., Any]) -> None:
    given = flow.validate_parameters({"batch_file": "screen.yaml", "criteria": "", "out": "", "reports": "reports"})
    assert (given["criteria"], given["out"], given["reports"]) == (None, None, Path("reports"))


@pytest.mark.parametrize("flow", [batch, due_diligence])
def test_what_may_be_left_out_is_a_plain_field(flow: Flow[..., Any]) -> None:
    shown = flow.parameters.model_dump()
    plain_fields(shown)
    field = shown["properties"]["criteria"]
    assert "anyOf" not in field
    assert field["type"] == "string"
    assert "criteria" not in shown.get("required", [])
