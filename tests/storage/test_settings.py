"""Settings: from the batch file, the environment, the default, in that order, and always as they are now."""

import timeit
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pydantic
import pytest
from pydantic import Field

from storage import settings
from storage.settings import Settings, StorageSettings


class Example(Settings):
    """A room's settings for these tests."""

    example_jobs: int = Field(2, gt=0)
    example_name: str | None = None


def test_the_default_holds_until_the_environment_says_otherwise(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Example.current().example_jobs == 2
    monkeypatch.setenv("DILIGENCE_EXAMPLE_JOBS", "5")
    assert Example.current().example_jobs == 5
    monkeypatch.setenv("DILIGENCE_EXAMPLE_JOBS", "6")
    assert Example.current().example_jobs == 6
    monkeypatch.delenv("DILIGENCE_EXAMPLE_JOBS")
    assert Example.current().example_jobs == 2


def test_a_secret_may_lie_in_a_file_of_its_name(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "DILIGENCE_EXAMPLE_NAME").write_text("of the file\n")
    monkeypatch.setenv("DILIGENCE_SECRETS_DIR", str(tmp_path))
    assert Example.current().example_name == "of the file"
    monkeypatch.setenv("DILIGENCE_EXAMPLE_NAME", "of the environment")
    assert Example.current().example_name == "of the environment"
    monkeypatch.delenv("DILIGENCE_EXAMPLE_NAME")
    (tmp_path / "DILIGENCE_EXAMPLE_NAME").write_text("")
    monkeypatch.setenv("DILIGENCE_EXAMPLE_JOBS", "3")  # files are read when the environment has changed
    assert Example.current().example_name is None
    monkeypatch.setenv("DILIGENCE_SECRETS_DIR", str(tmp_path / "missing"))
    with pytest.raises(pydantic.ValidationError, match="its files cannot be read"):
        Example.current()


def test_a_block_may_look_at_the_environment_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_EXAMPLE_JOBS", "5")
    assert Example.current().example_jobs == 5
    with settings.environment_as_it_is():
        monkeypatch.setenv("DILIGENCE_EXAMPLE_JOBS", "6")
        assert Example.current().example_jobs == 5
        with settings.override_settings({"example_jobs": 7}):
            assert Example.current().example_jobs == 7  # built in the block, and kept for the environment as it is
    assert Example.current().example_jobs == 6
    monkeypatch.setenv("DILIGENCE_EXAMPLE_JOBS", "5")
    assert Example.current().example_jobs == 5


def test_an_empty_variable_is_as_if_it_were_not_there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_EXAMPLE_JOBS", "")
    assert Example.current().example_jobs == 2


def test_what_a_batch_gives_rules_within_its_block(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_EXAMPLE_JOBS", "5")
    with settings.override_settings({"example_jobs": 7, "home": "elsewhere"}):
        assert Example.current().example_jobs == 7
        assert StorageSettings.current().home == Path("elsewhere")
        with settings.override_settings({"example_jobs": 8}):
            assert Example.current().example_jobs == 8
        assert Example.current().example_jobs == 7
    assert Example.current().example_jobs == 5


def test_what_a_batch_gives_does_not_reach_other_threads(home: Path) -> None:
    with settings.override_settings({"example_jobs": 7}), ThreadPoolExecutor(1) as others:
        assert others.submit(lambda: Example.current().example_jobs).result() == 2


def test_a_wrong_value_names_its_field(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_EXAMPLE_JOBS", "many")
    with pytest.raises(pydantic.ValidationError, match="example_jobs"):
        Example.current()


def test_a_value_that_is_no_text_in_utf8_is_taken_as_it_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_HOME", b"/tmp/\xff".decode(errors="surrogateescape"))
    assert bytes(StorageSettings.current().home) == b"/tmp/\xff"


def test_looking_up_settings_costs_next_to_nothing(home: Path) -> None:
    """Several times a request: 8 µs here, where building them anew takes 300."""
    Example.current()
    assert min(timeit.repeat(Example.current, number=200, repeat=5)) / 200 < 150e-6
