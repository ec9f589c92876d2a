"""The source `files`: a profile a company, and a mistake in one is reported with the file's name and the field."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from storage.settings import override_settings
from tasks.companies.sources.files import FileSource, open_source
from tasks.errors import NotConfigured, SourceFailed
from tests.cases import cases
from tests.tasks.companies.sources.conftest import claimed, values_of

Write = Callable[..., Path]


def test_what_is_null_is_not_claimed_and_what_is_empty_is(write: Write) -> None:
    write("alpha.example", name="Alpha", tagline=None, categories=[], extra={"ipo_status": None, "funding_db_rank": 0})

    answer = claimed(open_source())

    assert values_of(answer) == {
        "name": "Alpha",
        "categories": [],
        "extra.funding_db_rank": 0,
    }


def test_claims_are_as_of_the_files_date(write: Write) -> None:
    write("alpha.example", name="Alpha", last_updated="2025-01-31T23:00:00+01:00")
    write("beta.example", name="Beta")

    dated, undated = (open_source().facts(domain) for domain in ("alpha.example", "beta.example"))

    assert dated is not None
    assert undated is not None
    assert [claim.as_of for claim in dated.claims] == ["2025-01-31T22:00:00Z"]
    assert [claim.as_of for claim in undated.claims] == [None]


def test_the_answer_of_the_operation_is_taken_as_a_file(write: Write) -> None:
    write("alpha.example", profile={"name": "Alpha"}, claims=[], conflicts=[])

    answer = claimed(open_source())

    assert [(claim.field, claim.value) for claim in answer.claims] == [("name", "Alpha")]


def test_a_file_may_be_called_as_people_write_the_domain(write: Write) -> None:
    write("müller.example", name="Müller")

    assert open_source().facts("xn--mller-kva.example") is not None
    assert open_source().domains("müller") == ["xn--mller-kva.example"]


def test_a_byte_order_mark_does_no_harm(facts: Path) -> None:
    (facts / "alpha.example.json").write_bytes(b'\xef\xbb\xbf{"name": "Alpha"}')

    assert open_source().facts("alpha.example") is not None


def test_an_empty_profile_knows_nothing(write: Write) -> None:
    write("alpha.example")

    assert open_source().facts("alpha.example") is None


def test_a_field_with_a_typo_is_left_out_with_a_warning(write: Write) -> None:
    write("alpha.example", name="Alpha", founded_yaer=2015, hq={"city": "Berlin", "land": "DE"})

    answer = claimed(open_source())

    assert {claim.field for claim in answer.claims} == {"name", "hq"}
    assert len(answer.warnings) == 2
    assert all("alpha.example.json" in warning for warning in answer.warnings)
    assert any("Did you mean founded_year?" in warning for warning in answer.warnings)
    assert any("hq.land" in warning for warning in answer.warnings)


@cases(
    ("content", "message"),
    [
        (b'{"name": "Alpha",}', "not valid JSON: trailing comma at line 1 column 18"),
        (b'{\n "name": "Alpha"\n "tagline": null}', "line 3 column 2"),
        (b"", "not valid JSON"),
        (b"\xff\xfe{", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b'{"funding_data": [{"money_raised": NaN}]}', "not valid JSON"),
        (b"[1, 2]", "must hold an object"),
        (b'"Alpha"', "must hold an object"),
        (b'{"founded_year": "2015"}', "founded_year should be a valid integer"),
        (b'{"hq": {"city": 7}}', "hq.city should be a valid string"),
        (b'{"company_size": [51]}', "company_size List should have at least 2 items"),
        (b'{"locations": [{}, {"is_hq": 1}]}', "locations.1.is_hq should be a valid boolean"),
        (b'{"extra": {"funding_db_rank": 1.5}}', "extra.funding_db_rank"),
        (b'{"funding_data": [{"money_raised": "much"}]}', "funding_data.0.money_raised should be a valid number"),
        (b'{"funding_data": [{"money_raised": 1e999}]}', "funding_data.0.money_raised should be a finite number"),
        (b'{"last_updated": "soon"}', "last_updated must be an ISO 8601 time"),
        (b'{"name": "a\\ud800b"}', ""),
    ],
)
def test_a_file_that_is_no_profile_is_named_with_the_place(facts: Path, content: bytes, message: str) -> None:
    (facts / "alpha.example.json").write_bytes(content)

    with pytest.raises(SourceFailed, match=r"facts file alpha\.example\.json") as failed:
        open_source().facts("alpha.example")

    assert message in failed.value.message
    assert str(facts) not in failed.value.message


def test_a_long_list_of_mistakes_is_cut(write: Write) -> None:
    write("alpha.example", **dict.fromkeys(("name", "website", "industry", "tagline", "social_url", "search_id"), 7))

    with pytest.raises(SourceFailed, match="; and 1 more"):
        open_source().facts("alpha.example")


def test_the_words_of_a_wrong_value_are_not_repeated(write: Write) -> None:
    write("alpha.example", founded_year="hunter2")

    with pytest.raises(SourceFailed) as failed:
        open_source().facts("alpha.example")

    assert "hunter2" not in str(failed.value)


def test_a_folder_in_a_files_place_is_an_error(facts: Path) -> None:
    (facts / "alpha.example.json").mkdir()

    with pytest.raises(SourceFailed, match=r"alpha\.example\.json is not a file"):
        open_source().facts("alpha.example")


def test_a_pipe_in_a_files_place_does_not_hang(facts: Path) -> None:
    os.mkfifo(facts / "alpha.example.json")

    with pytest.raises(SourceFailed, match=r"alpha\.example\.json is not a file"):
        open_source().facts("alpha.example")


def test_a_bad_file_does_not_hide_the_names_of_the_others(
    facts: Path, write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    (facts / "a.example.json").write_text("{", encoding="utf-8")
    write("b.example", name="Beta GmbH")
    write("not a domain", name="Beta GmbH")
    write("c.example", name="Beta AG")

    with caplog.at_level(logging.WARNING):
        assert open_source().domains("beta gmbh") == ["b.example"]
        assert open_source().domains("Beta") == ["b.example", "c.example"]

    assert "a.example.json" in caplog.text


def test_a_named_folder_that_is_missing_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match="DILIGENCE_FACTS"):
        FileSource(tmp_path / "gone").facts("alpha.example")


def test_the_default_folder_may_be_missing(facts: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DILIGENCE_FACTS")
    monkeypatch.chdir(tmp_path)
    facts.rmdir()

    assert open_source().facts("alpha.example") is None
    assert open_source().domains("Alpha") == []


def test_a_batch_file_names_its_own_folder(tmp_path: Path, write: Write) -> None:
    write("alpha.example", name="Of the environment")
    batch = tmp_path / "batch"
    batch.mkdir()
    (batch / "alpha.example.json").write_text('{"name": "Of the batch"}', encoding="utf-8")

    with override_settings({"facts": str(batch), "fact_sources": "files"}):
        answer = claimed(open_source())

    assert answer.claims[0].value == "Of the batch"
