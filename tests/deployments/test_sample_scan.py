"""The sample's scan: its source's words with Tesseract, nothing but a warning without."""

import re
from collections import Counter
from pathlib import Path

import pytest

from deployments.sample.build.markup import read
from deployments.sample.build.rooms import SOURCES
from tests.deployments.test_command_line import run
from tests.deployments.test_sample import ROOMS, SCAN
from tests.tasks.reading.ocr.scans import needs_tesseract


@needs_tesseract
def test_the_scan_says_what_its_source_says(tmp_path: Path) -> None:
    said = run(["text", ROOMS / SCAN], tmp_path).stdout
    source = " ".join(block.text for block in read(SOURCES / f"{SCAN}.md").blocks)
    typed, recognised = (Counter(re.findall(r"\w+", text)) for text in (source, said))
    same = (typed & recognised).total()
    assert same / typed.total() > 0.97
    assert same / recognised.total() > 0.97


@pytest.mark.parametrize("setting", ["DILIGENCE_OCR", "PATH"])
def test_a_scan_that_is_not_recognised_has_no_text_and_a_warning_that_says_what_to_do(
    tmp_path: Path, setting: str
) -> None:
    done = run(["text", ROOMS / SCAN], tmp_path, **{setting: "off" if setting == "DILIGENCE_OCR" else str(tmp_path)})
    assert done.stdout == ""
    assert "tesseract-ocr" in done.stderr
