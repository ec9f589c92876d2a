"""The schema: what the migrations make is what the models describe, on both databases."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect
from sqlmodel import SQLModel

import storage
from storage import database, migrations, runs
from tests.storage import processes, rows

OPEN = """
from storage import database, runs
with database.writing() as session:
    print(runs.find_run(session, "latest"), flush=True)
"""


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    return config


def test_head_names_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(_config()).get_current_head() == migrations.HEAD


def test_the_migrated_schema_is_what_the_models_say(new_database_url: str) -> None:
    for module in iter_modules(storage.__path__):  # whose tables no other test has imported yet
        import_module(f"storage.{module.name}")
    with database.reading() as session:
        context = MigrationContext.configure(session.connection(), opts={"compare_type": True})
        assert compare_metadata(context, SQLModel.metadata) == []


def test_opening_again_changes_nothing(new_database_url: str) -> None:
    with database.writing() as session:
        runs.add_run(session, rows.run(), [])
    database.close()
    with database.reading() as session:
        assert runs.find_run(session, "latest") is not None
        assert MigrationContext.configure(session.connection()).get_current_revision() == migrations.HEAD


def test_four_processes_may_open_a_new_database_at_once(new_database_url: str) -> None:
    running = [processes.start(OPEN) for _ in range(4)]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert said == ["None\n"] * 4
    assert [process.returncode for process in running] == [0] * 4


def test_an_up_to_date_database_is_opened_without_alembic(new_home: Path) -> None:
    with database.reading() as session:
        session.connection()
    check = processes.start(f"{OPEN}\nimport sys; print('alembic' in sys.modules)")
    assert check.communicate(timeout=60)[0] == "None\nFalse\n"


def test_migrations_can_be_taken_back(new_database_url: str) -> None:
    with database.writing() as session:
        config = _config()
        config.attributes["connection"] = session.connection()
        command.downgrade(config, "base")
        assert set(inspect(session.connection()).get_table_names()) <= {"alembic_version"}
    database.close()
    with database.reading() as session:
        assert runs.find_run(session, "latest") is None


@pytest.mark.parametrize("name", ["100%", "a b", "ü"])
def test_a_home_of_any_name_will_do(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new_home: Path) -> None:
    monkeypatch.setenv("DILIGENCE_HOME", str(tmp_path / name))
    with database.writing() as session:
        runs.add_run(session, rows.run(), [])
    assert (tmp_path / name / "diligence.db").is_file()
