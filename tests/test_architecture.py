"""Which room may import which, and what the page on the architecture says."""

import re
from pathlib import Path

from importlinter.application.use_cases import lint_imports
from importlinter.configuration import configure

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"


def test_imports_go_down_and_make_no_circles() -> None:
    configure()  # not by importlinter.cli: that turns off every logger that exists, for all later tests
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), cache_dir=None)


def test_every_path_of_the_page_is_there() -> None:
    paths = re.findall(r"`((?:api|deployments|flows|storage|tasks|tests)/[\w./]*)`", PAGE.read_text("utf-8"))
    assert len(paths) > 40
    assert [path for path in paths if not (ROOT / path).exists()] == []
