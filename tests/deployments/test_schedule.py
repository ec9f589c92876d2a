"""The schedule of a deployment is checked before anything is asked of Prefect."""

import pytest

from deployments.deploy import check_schedule
from tasks.errors import BadRequest
from tests.cases import cases


@cases("cron", ["0 20 * * 1-5", "*/15 * * * *", "0 6 1 * *", "0 6 * * mon"])
def test_schedules_that_are_due_some_day_are_taken(cron: str) -> None:
    check_schedule(cron, "Europe/Berlin")


@cases("cron", ["every evening", "0 20 * *", "61 * * * *", "0 0 30 2 *", "0 0 * * * *", ""])
def test_what_is_no_schedule_or_never_due_is_one_sentence_that_names_it(cron: str) -> None:
    with pytest.raises(BadRequest) as refused:
        check_schedule(cron, "UTC")
    assert repr(cron) in refused.value.message
    assert "\n" not in refused.value.message


@cases("zone", ["Mars/Olympus", "", "../etc/passwd", "Europe"])
def test_what_is_no_time_zone_is_named(zone: str) -> None:
    with pytest.raises(BadRequest, match="not a time zone"):
        check_schedule("0 20 * * *", zone)
