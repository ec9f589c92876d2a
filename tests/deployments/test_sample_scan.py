"""The sample's scan: its words, nothing but a warning where scans are not read."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.deployments.test_command_line import run
from tests.deployments.test_sample import ROOMS, SCAN

WORDS = Path(__file__).with_name("sample_scan.txt")


@pytest.mark.slow
def test_the_scan_says_its_words(tmp_path: Path) -> None:
    said = run(["text", ROOMS / SCAN], tmp_path).stdout
    typed, recognised = (Counter(re.findall(r"\w+", text)) for text in (WORDS.read_text("utf-8"), said))
    same = (typed & recognised).total()
    assert same / typed.total() > 0.97
    assert same / recognised.total() > 0.97


def test_a_scan_that_is_not_recognised_has_no_text_and_a_warning_that_says_why(tmp_path: Path) -> None:
    done = run(["text", ROOMS / SCAN], tmp_path, DILIGENCE_OCR="off")
    assert done.stdout == ""
    assert "DILIGENCE_OCR is off" in done.stderr
