"""How many companies of a batch are examined at the same time."""

import pytest

from flows.batch_file import BatchSettings
from tests.cases import cases


@cases(("judged", "at_once"), [(0, 2), (1, 10), (9, 10), (12, 8), (16, 6), (60, 6)])
def test_the_fewer_judgements_a_company_needs_the_more_are_in_flight(judged: int, at_once: int) -> None:
    assert BatchSettings.current().at_once(judged=judged) == at_once


def test_a_setting_counts_whatever_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_COMPANIES_AT_ONCE", "3")
    assert [BatchSettings.current().at_once(judged=judged) for judged in (0, 9, 60)] == [3, 3, 3]
