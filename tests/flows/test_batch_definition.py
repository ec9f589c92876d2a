"""A batch as a deployment keeps it: what a worker needs when the files are not on its machine."""

import json
import logging
import shutil
from pathlib import Path

import pytest

from flows.artifacts import make_slug
from flows.batch_definition import DeployedBatch, in_its_folder, load_batch
from flows.batch_file import read_batch
from storage.settings import override_settings
from tasks.errors import NotConfigured, NotFound
from tasks.figures.figure import taxonomy

CRITERIA = 'scale: [0, 5]\ncriteria:\n  - {id: established, fact: founded_year, rule: "<= 2018"}\n'
BATCH = """name: Autumn screen
criteria: criteria.yaml
drive_root: rooms
ai_budget: 20000 tokens
companies:
  - {name: Alpha, domain: alpha.example, folder: alpha}
"""


@pytest.fixture
def file(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "batch"
    (folder / "facts").mkdir(parents=True)
    (folder / "facts" / "alpha.example.json").write_text('{"founded_year": 2010}')
    (folder / "criteria.yaml").write_text(CRITERIA)
    (folder / "autumn.yaml").write_text(BATCH)
    return folder / "autumn.yaml"


def sent(file: Path) -> DeployedBatch:
    """What arrives at a worker of a batch that was deployed."""
    return DeployedBatch.model_validate_json(DeployedBatch.of(read_batch(file)).model_dump_json())


def test_where_the_files_are_the_run_is_the_same_as_from_them(file: Path) -> None:
    assert load_batch(file, None, sent(file)).fingerprint("x") == read_batch(file).fingerprint("x")


def test_a_file_that_says_the_same_as_was_deployed_is_not_said_to_have_changed(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bands = '  - {id: growth, figure: revenue, bands: {5: ">= EUR 5 million", 2.5: ">= EUR 1 million"}}\n'
    (file.parent / "criteria.yaml").write_text(CRITERIA + bands)
    with caplog.at_level(logging.WARNING):
        batch = load_batch(file, None, sent(file))
    assert caplog.messages == []
    assert batch.fingerprint("x") == read_batch(file).fingerprint("x")


def test_a_worker_elsewhere_has_the_batchs_own_concepts(file: Path) -> None:
    (file.parent / "concepts.toml").write_text('[bookings]\nkind = "duration"\nlabels = ["bookings"]\n')
    (file.parent / "criteria.yaml").write_text('criteria:\n  - {id: a, figure: bookings, rule: "> 1"}\n')
    file.write_text(f"{BATCH}figure_concepts: concepts.toml\n")
    definition = sent(file)
    shutil.rmtree(file.parent)
    batch = load_batch(file, None, definition)
    assert "bookings" in taxonomy(Path(str(batch.settings["figure_concepts"]))).concepts
    assert load_batch(file, None, definition).settings == batch.settings


def test_a_worker_elsewhere_has_criteria_settings_and_facts(file: Path) -> None:
    definition = sent(file)
    shutil.rmtree(file.parent)
    batch = load_batch(file, None, definition)
    assert [company.domain for company in batch.companies] == ["alpha.example"]
    assert [criterion.id for criterion in batch.criteria.criteria] == ["established"]
    assert batch.settings["ai_budget"] == "20000 tokens"
    facts = Path(str(batch.settings["facts"])) / "alpha.example.json"
    assert json.loads(facts.read_text()) == {"founded_year": 2010}
    assert load_batch(file, None, definition).settings == batch.settings  # an interrupted run goes on


def test_a_run_enters_the_folder_it_was_deployed_in_where_that_is_on_this_machine(file: Path, tmp_path: Path) -> None:
    definition, before = sent(file), Path.cwd()
    definition.directory = tmp_path
    with in_its_folder(definition):
        assert Path.cwd() == tmp_path
    assert Path.cwd() == before
    for elsewhere in (tmp_path / "of another machine", None):
        definition.directory = elsewhere
        with in_its_folder(definition):
            assert Path.cwd() == before


@pytest.mark.parametrize("now", [BATCH.replace("Alpha", "Beta"), "name: 1"], ids=["another", "wrong"])
def test_a_file_that_changed_since_is_said_and_does_not_count(
    file: Path, now: str, caplog: pytest.LogCaptureFixture
) -> None:
    definition = sent(file)
    file.write_text(now)
    with caplog.at_level(logging.WARNING):
        batch = load_batch(file, None, definition)
    assert batch.companies[0].name == "Alpha"
    assert "deploy it again" in caplog.text


def test_what_travels_is_a_name_and_a_hash_and_nothing_that_the_batch_says(file: Path) -> None:
    travels = sent(file).model_dump(mode="json")
    assert (set(travels), travels["name"]) == ({"name", "hash", "directory"}, "Autumn screen")
    assert sent(file).hash == travels["hash"]


def test_a_worker_with_another_database_says_which_setting_it_lacks(file: Path, tmp_path: Path) -> None:
    deployed = sent(file)
    with override_settings({"home": str(tmp_path / "other")}), pytest.raises(NotFound, match="DILIGENCE_DATABASE_URL"):
        load_batch(file, None, deployed)


def test_a_worker_without_the_model_that_was_to_judge_begins_nothing(file: Path) -> None:
    with override_settings({"ai_model": "judge-1"}):
        deployed = sent(file)
        assert load_batch(file, None, deployed).name == "Autumn screen"
    with pytest.raises(NotConfigured, match="'judge-1', and this worker has none"):
        load_batch(file, None, deployed)
    file.write_text(f"{BATCH}ai_model: judge-1\n")
    assert load_batch(file, None, sent(file)).name == "Autumn screen", "the batch brings its own"


def test_the_same_batch_on_another_machine_is_the_same(file: Path, tmp_path: Path) -> None:
    here = read_batch(file)
    shutil.copytree(file.parent, tmp_path / "elsewhere")
    there = read_batch(tmp_path / "elsewhere" / file.name)
    assert here.settings != there.settings
    assert here.fingerprint("x") == there.fingerprint("x")
    (tmp_path / "elsewhere" / "concepts.toml").write_text('[bookings]\nkind = "duration"\nlabels = ["bookings"]\n')
    (tmp_path / "elsewhere" / file.name).write_text(f"{BATCH}figure_concepts: concepts.toml\n")
    assert read_batch(tmp_path / "elsewhere" / file.name).fingerprint("x") != here.fingerprint("x")


def test_names_as_prefect_takes_them() -> None:
    assert make_slug("Autumn screen: Käufer & Co.") == "autumn-screen-kaufer-co"
    assert make_slug("alpha.example") == "alpha-example"
    assert make_slug("!!!") != make_slug("???")
