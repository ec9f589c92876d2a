"""Which room may import which: the contracts of pyproject.toml, held by the tool that `make check` runs."""

from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports


def test_imports_go_down_and_make_no_circles() -> None:
    assert lint_imports(config_filename="pyproject.toml", no_cache=True) == EXIT_STATUS_SUCCESS
