"""Files that users write: every mistake with its file, line and field, and nothing that a file can do to us."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from tasks.errors import BadRequest
from tasks.user_file import Line, Mistakes, UserFile, nearest, read_user_text, yaml_value
from tests.cases import cases


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: Line
    weight: float = Field(1, gt=0, le=10, allow_inf_nan=False)
    parts: list[str] = []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "batch.yaml"


def read(path: Path, text: str | bytes) -> UserFile:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return UserFile(path, "batch file")


def mistake_of(path: Path, text: str | bytes) -> str:
    with pytest.raises(BadRequest) as caught:
        read(path, text)
    return caught.value.message


# --- what values mean


@cases(
    ("written", "value"),
    [
        ("NO", "NO"),
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("true", True),
        ("False", False),
        ("2024-01-31", "2024-01-31"),
        ("1:30", "1:30"),
        ("010", "010"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("1,000", "1,000"),
        ("-3", -3),
        ("2018", 2018),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("-2.5E-1", -0.25),
        (".nan", ".nan"),
        ("=", "="),
        ("~", None),
        ("", None),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_values_are_those_of_json(path: Path, written: str, value: object) -> None:
    assert read(path, f"value: {written}\n").content == {"value": value}


def test_a_value_may_be_read_as_text() -> None:
    assert yaml_value("[DE, NO, 1e3]") == ["DE", "NO", 1000.0]
    assert yaml_value("[DE, NO, 1e3]", as_text=True) == ["DE", "NO", "1e3"]


@cases("written", ["[a", "{", "!!python/name:os.system x", "[" * 3000])
def test_what_is_no_value_is_a_value_error(written: str) -> None:
    with pytest.raises(ValueError, match="is no value"):
        yaml_value(written)


def test_merge_keys_and_anchors_work(path: Path) -> None:
    file = read(path, "base: &b {x: 1}\nother:\n  <<: *b\n  y: 2\n")
    assert file.content["other"] == {"x": 1, "y": 2}


def test_a_byte_order_mark_and_windows_line_ends_are_no_matter(path: Path) -> None:
    file = read(path, b"\xef\xbb\xbfname: Alpha\r\nweight: x\r\n")
    assert file.content == {"name": "Alpha", "weight": "x"}
    assert file.line(("weight",)) == 2


# --- files that are none


def test_a_missing_file_is_named_without_its_folder(tmp_path: Path) -> None:
    with pytest.raises(BadRequest) as caught:
        UserFile(tmp_path / "none.yaml", "batch file")
    assert caught.value.message.startswith("none.yaml: the batch file cannot be opened (No such file")
    assert str(tmp_path) not in caught.value.message


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"is a folder\. Give the path of the batch file\."):
        UserFile(tmp_path, "batch file")


def test_a_name_with_a_nul_is_no_file() -> None:
    with pytest.raises(BadRequest, match="cannot be opened"):
        read_user_text(Path("a\0b"), "batch file")


@pytest.mark.parametrize("content", ["Name: Müller".encode("latin-1"), "name: x".encode("utf-16")])
def test_another_encoding_is_told(path: Path, content: bytes) -> None:
    assert mistake_of(path, content) == "batch.yaml: the batch file is not UTF-8 text. Save it as UTF-8."


def test_a_control_character_is_told_with_its_line(path: Path) -> None:
    assert "batch.yaml, line 2: the batch file holds a control character" in mistake_of(path, "a: 1\nb: \0\n")
    assert "batch.yaml, line 2: it holds a character that YAML does not allow" in mistake_of(path, "a: 1\nb: \ufffe\n")


@pytest.mark.parametrize("escape", ["\\0", "\\ud800", "\\x1b"])
def test_a_character_that_cannot_be_stored_is_told_with_its_field(path: Path, escape: str) -> None:
    told = "batch.yaml, line 2, b.0: it holds a character that no text may hold."
    assert mistake_of(path, f'a: 1\nb: ["x{escape}"]\n') == told


def test_an_empty_file_holds_no_fields(path: Path) -> None:
    file = read(path, "# nothing yet\n")
    assert file.fit(Shape, file.content) is None
    with pytest.raises(BadRequest, match=r"^batch\.yaml, line 1, name: it is missing\.$"):
        file.mistakes.check()


@cases(
    ("text", "told"),
    [
        ("a:\n\tb: 1\n", "line 2: the line begins with a tab. Indent with spaces."),
        ("a: 1\nrule: >= 50\n", "line 2: this is not valid YAML"),
        (
            "ask: Is it: so?\n",
            "line 1: this is not valid YAML: mapping values are not allowed here. Put text that contains",
        ),
        ("a: 1\nrule: != x\n", "line 2: this is not valid YAML"),
        ("a: 1\n---\nb: 2\n", "line 2: this is not valid YAML"),
        ("a: @x\n", "line 1: this is not valid YAML"),
        ("? [a]\n: 1\n", "line 1: this is not valid YAML"),
        ("a: !!python/object/apply:os.system [x]\n", "line 1: this is not valid YAML"),
        ("a: !!int x\n", "Leave tags out"),
        ("a: 1\nb: {c: 1,\n  c: 2}\na: 3\n", "line 3, b.c: it stands twice.\nbatch.yaml, line 4, a: it stands twice."),
    ],
)
def test_what_is_no_yaml_is_told_with_its_line(path: Path, text: str, told: str) -> None:
    message = mistake_of(path, text)
    assert message.startswith("batch.yaml")
    assert told in message


# --- files that are too much


def test_aliases_that_unfold_without_end_are_refused_at_once(path: Path) -> None:
    lines = ["a: &a [" + ",".join(["x"] * 9) + "]"]
    lines += [f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]" for n in range(9)]
    assert "more than 200000 values" in mistake_of(path, "\n".join(lines))  # of 387 million


def test_an_alias_of_itself_is_refused(path: Path) -> None:
    assert "nests too deeply" in mistake_of(path, "a: &x [*x]\n")


def test_deep_nesting_is_refused(path: Path) -> None:
    assert "nests too deeply" in mistake_of(path, "[" * 20_000)


def test_a_large_file_is_refused_unread(path: Path) -> None:
    assert mistake_of(path, b"a" * (1024 * 1024 + 1)) == "batch.yaml: the batch file is larger than 1 MB. Split it."


@pytest.mark.slow
def test_ten_thousand_entries_are_no_matter(path: Path) -> None:
    listed = "".join(f"  - {{name: Company {n}, domain: c{n}.example, folder: r/{n}}}\n" for n in range(10_000))
    file = read(path, "companies:\n" + listed)
    assert len(file.content["companies"]) == 10_000
    assert file.line(("companies", 9_999, "domain")) == 10_001


# --- mistakes in fields


def told(path: Path, text: str) -> list[str]:
    file = read(path, text)
    assert file.fit(Shape, file.content) is None
    with pytest.raises(BadRequest) as caught:
        file.mistakes.check()
    return caught.value.message.splitlines()


@cases(
    ("text", "mistake"),
    [
        ("name: 7\n", "line 1, name: must be text; put it in quotes."),
        ("name: true\n", "line 1, name: must be text; put it in quotes."),
        ("name: ''\n", "line 1, name: must not be empty."),
        ('name: "a\\nb"\n', "line 1, name: must stand on one line."),
        (f"name: {'x' * 501}\n", "line 1, name: must have at most 500 characters."),
        ("name: a\nweight: 0\n", "line 2, weight: must be above 0."),
        ("name: a\nweight: -1\n", "line 2, weight: must be above 0."),
        ("name: a\nweight: 11\n", "line 2, weight: must be at most 10."),
        ("name: a\nweight: .nan\n", "line 2, weight: must be a number."),
        ("name: a\nweight: 1e999\n", "line 2, weight: must be a number."),
        ("name: a\nweight: true\n", "line 2, weight: must be a number."),
        ("name: a\nweight: '3'\n", "line 2, weight: must be a number."),
        ("name: a\nparts: x\n", "line 2, parts: must be a list."),
        ("name: a\nparts:\n  - x\n  - 2\n", "line 4, parts.1: must be text; put it in quotes."),
        ("- a\n", "line 1, the file: must be a mapping of fields."),
        ("name: a\n3: x\n", "line 2, 3: the name of a field must be text."),
        (
            "name: a\nwieght: 3\n",
            "line 2, wieght: there is no such field; did you mean weight? (allowed: name, weight, parts).",
        ),
    ],
)
def test_a_mistake_names_line_and_field_and_what_is_allowed(path: Path, text: str, mistake: str) -> None:
    assert told(path, text) == [f"batch.yaml, {mistake}"]


def test_all_mistakes_are_told_in_the_order_of_the_lines(path: Path) -> None:
    assert [line.split(":")[0] for line in told(path, "parts: x\nweight: 0\nnmae: 3\n")] == [
        "batch.yaml, line 1, name",
        "batch.yaml, line 1, parts",
        "batch.yaml, line 2, weight",
        "batch.yaml, line 3, nmae",
    ]


def test_fields_are_told_apart_for_programs(path: Path) -> None:
    file = read(path, "name: 3\nweight: 0\n")
    file.fit(Shape, file.content)
    with pytest.raises(BadRequest) as caught:
        file.mistakes.check()
    assert caught.value.fields == {"name": "must be text; put it in quotes", "weight": "must be above 0"}


def test_without_mistakes_nothing_is_raised() -> None:
    Mistakes("x").check()


def test_only_a_near_name_is_suggested() -> None:
    assert nearest("wieght", ["weight", "id"]) == "; did you mean weight? (allowed: weight, id)"
    assert nearest("zzz", ["weight", "id"]) == " (allowed: weight, id)"


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet=st.sampled_from("ab:-[]{}&*!|>'\"#%@`, \n\t<?~0.=é\0\ufffe"), max_size=40))
def test_any_text_is_content_or_a_mistake_of_the_user(path: Path, text: str) -> None:
    try:
        file = read(path, text)
        fitted = file.fit(Shape, file.content)
        file.mistakes.check()
    except BadRequest as error:
        said = error.message
    else:
        said = "batch.yaml" if isinstance(fitted, Shape) else "neither"
    assert said.startswith("batch.yaml")
