"""The log as JSON: one object a line, each with the id of the request that it belongs to."""

import json
import logging
from collections.abc import Iterator

import pytest

from storage import context, logs
from tasks.cancellation import FanOut
from tests.cases import cases


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """The lines of a log that has this format."""
    written: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(self.format(record))

    handler = Kept()
    handler.setFormatter(logs.JsonLines())
    logger = logging.getLogger("tests.log")
    logger.addHandler(handler)
    yield written
    logger.removeHandler(handler)


def test_a_line_tells_of_an_exception_without_its_message(lines: list[str]) -> None:
    try:
        int("hush-hush")
    except ValueError:
        logging.getLogger("tests.log").exception("It\nfailed: %s", "“x”")
    (line,) = lines
    parsed = json.loads(line)
    assert "\n" not in line
    assert "hush" not in line
    assert parsed["message"] == "It\nfailed: “x”"
    assert parsed["level"] == "ERROR"
    assert parsed["exception"].startswith("ValueError < tests.storage.test_logs:")


def test_the_id_goes_into_threads_and_ends_with_the_request(lines: list[str]) -> None:
    logger = logging.getLogger("tests.log")
    with FanOut(2, "test") as calls:
        for name in ("one", "two"):
            with context.request(name):
                calls.submit(logger.warning, name)
    logger.warning("none")
    assert {json.loads(line)["message"]: json.loads(line)["request_id"] for line in lines} == {
        "one": "one",
        "two": "two",
        "none": None,
    }


@cases("proposed", ["", "a b", "x" * 65, "é", 'a"b', "a\n"])
def test_an_id_that_is_none_is_replaced(proposed: str) -> None:
    with context.request(proposed) as request_id:
        assert request_id != proposed
        assert len(request_id) == 32
