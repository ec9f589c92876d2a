"""Which room may import which, and what the page on the architecture says."""

import re
from pathlib import Path

from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"


def test_imports_go_down_and_make_no_circles() -> None:
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == EXIT_STATUS_SUCCESS


def test_every_path_of_the_page_is_there() -> None:
    paths = re.findall(r"`((?:api|deployments|flows|storage|tasks|tests)/[\w./]*)`", PAGE.read_text("utf-8"))
    assert len(paths) > 40
    assert [path for path in paths if not (ROOT / path).exists()] == []
