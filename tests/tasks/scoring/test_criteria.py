"""Criteria files: four kinds on one scale, every mistake named before anything runs; each library on two rooms."""

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tasks.documents.kinds.document import document_kind, parse_asked_kind
from tasks.documents.kinds.signs import read_signs
from tasks.errors import BadRequest
from tasks.ranking import WordIndex
from tasks.scoring import rules
from tasks.scoring.criteria import (
    STAGES,
    Criteria,
    Criterion,
    DocumentCheck,
    FactRule,
    FigureRule,
    Judged,
    library_names,
    library_purpose,
    read_criteria,
    read_library,
)
from tasks.scoring.rules import ALLOWED, parse_condition, score_bands
from tests.cases import cases

WHOLE = """\
scale: [0, 5]
criteria:
  - {id: recurring, ask: "Is most of the revenue recurring?", weight: 3, guide: "5: above 90 %; 0: below 20 %"}
  - {id: established, fact: founded_year, rule: "<= 2018"}
  - id: audited
    document: audited financial statements
    weight: 0.5
"""

RULE_OR_BANDS = "needs a rule, such as '>= 20', or bands, such as {5: '>= 50', 3: '>= 20'}, not both."
SEVERITY = "must be high, medium or low, or the highest score of each, the graver the lower: {high: 1, medium: 2}."
KIND = "must have exactly one of ask (judged), fact or figure (with a rule), or document"

FIELDS = "(allowed: id, weight, title, severity, recommend, must, missing, document)."


def read(tmp_path: Path, text: str) -> Criteria:
    path = tmp_path / "criteria.yaml"
    path.write_text(text, encoding="utf-8")
    return read_criteria(path)


def mistakes(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(BadRequest) as caught:
        read(tmp_path, text)
    return [line.removeprefix("criteria.yaml, ") for line in caught.value.message.splitlines()]


def one(tmp_path: Path, criterion: str) -> list[str]:
    """The mistakes of a file with this criterion alone, in line 2."""
    return mistakes(tmp_path, f"criteria:\n  - {criterion}\n")


def test_the_three_kinds_are_read_in_order(tmp_path: Path) -> None:
    criteria = read(tmp_path, WHOLE)
    assert criteria.scale == (0, 5)
    assert criteria.criteria == [
        Judged(id="recurring", ask="Is most of the revenue recurring?", weight=3, guide="5: above 90 %; 0: below 20 %"),
        FactRule(id="established", fact="founded_year", rule="<= 2018"),
        DocumentCheck(id="audited", document="audited financial statements", weight=0.5),
    ]


def test_scale_and_weight_have_defaults(tmp_path: Path) -> None:
    criteria = read(tmp_path, "criteria:\n  - {id: a, document: cap table}\n")
    assert criteria.scale == (0, 5)
    assert criteria.criteria[0].weight == 1


def test_what_a_run_keeps_gives_the_criteria_back(tmp_path: Path) -> None:
    criteria = read(tmp_path, WHOLE)
    stored = criteria.as_json()
    assert [row["kind"] for row in stored["criteria"]] == ["judged", "fact", "document"]
    assert [row["label"] for row in stored["criteria"]][1:] == [
        "founded_year <= 2018",
        "In the data room: audited financial statements",
    ]
    assert Criteria.from_json(stored) == criteria


def test_the_fingerprint_changes_with_what_is_asked(tmp_path: Path) -> None:
    same = read(tmp_path, WHOLE).fingerprint()
    assert read(tmp_path, WHOLE + "# a remark\n").fingerprint() == same
    for before, after in [("0.5", "0.6"), ("[0, 5]", "[0, 6]"), ("2018", "2019"), ("most of", "some of")]:
        assert read(tmp_path, WHOLE.replace(before, after)).fingerprint() != same


@cases(
    "scale",
    [
        "[5, 0]",
        "[1, 1]",
        "[0]",
        "[0, 5, 9]",
        "5",
        "[a, b]",
        "[0, .inf]",
        "[false, true]",
        "[0, 1e9]",
        "[0, 1e-300]",
        "",
    ],
)
def test_a_scale_goes_from_a_lower_number_to_a_higher_one(tmp_path: Path, scale: str) -> None:
    assert mistakes(tmp_path, f"scale: {scale}\ncriteria:\n  - {{id: a, document: cap table}}\n") == [
        "line 1, scale: must be two numbers, the lowest score and the highest one, such as [0, 5]."
    ]


@pytest.mark.parametrize("scale", ["[0, 5]", "[-1, 1]", "[1, 10]", "[0.5, 1.5]"])
def test_any_rising_scale_is_allowed(tmp_path: Path, scale: str) -> None:
    low, high = read(tmp_path, f"scale: {scale}\ncriteria:\n  - {{id: a, document: cap table}}\n").scale
    assert low < high


@cases(
    ("criterion", "mistake"),
    [
        ("{id: a, document: cap table, weight: 0}", "line 2, criteria.0.weight: must be above 0."),
        ("{id: a, document: cap table, weight: -2}", "line 2, criteria.0.weight: must be above 0."),
        ("{id: a, document: cap table, weight: .nan}", "line 2, criteria.0.weight: must be a number."),
        ("{id: a, document: cap table, weight: 1e300}", "line 2, criteria.0.weight: must be at most 1e+06."),
        ("{id: a, document: cap table, weight: !!float .inf}", "line 2, criteria.0.weight: must be a number."),
        ("{id: a, document: cap table, weight: '3'}", "line 2, criteria.0.weight: must be a number."),
        ("{id: a, document: cap table, weight: true}", "line 2, criteria.0.weight: must be a number."),
        ("{id: a, document: cap table, weight: 1e-300}", "line 2, criteria.0.weight: must be at least 0.000001."),
        ("{id: a, document: cap table, document: plan}", "line 2, criteria.0.document: it stands twice."),
        (f"{{id: {'x' * 65}, document: cap table}}", "line 2, criteria.0.id: must have at most 64 characters."),
        ("{id: a, ask: '  '}", "line 2, criteria.0.ask: must not be empty."),
        ("{id: a, ask: '🚀'}", "line 2, criteria.0.ask: contains no word to search for."),
        ("{id: a, document: cap table, weight: high}", "line 2, criteria.0.weight: must be a number."),
        ("{document: cap table}", "line 2, criteria.0.id: it is missing."),
        ("{id: 2024, document: cap table}", "line 2, criteria.0.id: must be text; put it in quotes."),
        ("{id: a, document: }", "line 2, criteria.0.document: must be text; put it in quotes."),
        ("{id: a, document: true}", "line 2, criteria.0.document: must be text; put it in quotes."),
        ("{id: a, ask: '?!'}", "line 2, criteria.0.ask: contains no word to search for."),
        ("{id: a, document: the}", "line 2, criteria.0.document: contains no word to search for."),
        ("{id: a, fact: founded_year}", f"line 2, criteria.0: {RULE_OR_BANDS}"),
        ("{id: a, fact: founded_year, rule: '> 1', bands: {5: '> 1'}}", f"line 2, criteria.0: {RULE_OR_BANDS}"),
        (
            "{id: a, fact: founded_year, bands: {7: '> 2000'}}",
            "line 2, criteria.0.bands.7: must be a score of the scale, 0 to 5.",
        ),
        (
            "{id: a, fact: founded_year, bands: {5: recently}}",
            f"line 2, criteria.0.bands.5: 'recently' is not a rule: {ALLOWED}.",
        ),
        (
            "{id: a, fact: founded_year, bands: {best: '> 2000'}}",
            "line 2, criteria.0.bands.best: must be a number.",
        ),
        ("{id: a, document: cap table, severity: grave}", f"line 2, criteria.0.severity: {SEVERITY}"),
        ("{id: a, document: cap table, severity: {grave: 1}}", f"line 2, criteria.0.severity: {SEVERITY}"),
        ("{id: a, document: cap table, severity: {high: 2, medium: 1}}", f"line 2, criteria.0.severity: {SEVERITY}"),
        (
            "{id: a, document: cap table, guide: x}",
            "line 2, criteria.0.guide: there is no such field " + FIELDS,
        ),
        (
            "{id: a, document: cap table, wieght: 2}",
            "line 2, criteria.0.wieght: there is no such field; did you mean weight? " + FIELDS,
        ),
        (
            "{id: a, document: cap table, ask: 'Is it?'}",
            f"line 2, criteria.0: {KIND}; it has ask and document.",
        ),
        (
            "{id: a, weight: 2}",
            f"line 2, criteria.0: {KIND}; it has none of them.",
        ),
        (
            "cap table",
            "line 2, criteria.0: must be a mapping of fields, such as {id: audited, document: audited accounts}.",
        ),
        (
            "{id: a, fact: foundet_year, rule: '<= 2018'}",
            "line 2, criteria.0.fact: The company profile has no field 'foundet_year'. Did you mean founded_year?",
        ),
        (
            "{id: a, fact: hq.country, rule: '>= 3'}",
            "line 2, criteria.0.rule: hq.country is text: `>=` works with numbers and times only.",
        ),
        (
            "{id: a, fact: founded_year, rule: before 2018}",
            f"line 2, criteria.0.rule: 'before 2018' is not a rule: {ALLOWED}.",
        ),
    ],
)
def test_a_mistake_is_reported_with_line_and_field(tmp_path: Path, criterion: str, mistake: str) -> None:
    assert one(tmp_path, criterion) == [mistake]


def test_bands_and_severities_are_read_and_stored(tmp_path: Path) -> None:
    criteria = read(
        tmp_path,
        "criteria:\n  - {id: a, fact: company_size.0, bands: {3: '>= 20', 5: '>= 50'},"
        " severity: {high: 0, medium: 3}}\n",
    )
    (criterion,) = criteria.criteria
    assert isinstance(criterion, FactRule)
    assert criterion.bands == {3: ">= 20", 5: ">= 50"}
    assert criterion.severity == {"high": 0, "medium": 3}
    assert criterion.label == "company_size.0 >= 50: 5; >= 20: 3"
    assert Criteria.from_json(json.loads(json.dumps(criteria.as_json()))) == criteria


def test_a_misspelt_kind_is_named_with_the_one_that_was_meant(tmp_path: Path) -> None:
    kind, misspelt = one(tmp_path, "{id: a, aks: 'Is it?'}")
    assert "it has none of them" in kind
    assert "criteria.0.aks: there is no such field; did you mean ask?" in misspelt


def test_two_criteria_with_one_id_are_reported_with_both_lines(tmp_path: Path) -> None:
    text = (
        "criteria:\n  - {id: a, document: cap table}\n  - {id: b, document: x1}\n  - {id: ' a', ask: 'Is it good?'}\n"
    )
    assert mistakes(tmp_path, text) == ["line 4, criteria.2.id: 'a' is already the id of the criterion in line 2."]


def test_two_ids_that_look_the_same_are_the_same(tmp_path: Path) -> None:
    text = "criteria:\n  - {id: caf\u00e9, document: cap table}\n  - {id: cafe\u0301, document: plan}\n"
    (mistake,) = mistakes(tmp_path, text)
    assert mistake.endswith("is already the id of the criterion in line 2.")


@cases("runs", ["0", "10", "-1", "x", "'3'", "3.0", "true", "", "[3]"])
def test_runs_is_a_small_whole_number(tmp_path: Path, runs: str) -> None:
    assert mistakes(tmp_path, f"runs: {runs}\ncriteria:\n  - {{id: a, document: cap table}}\n") == [
        "line 1, runs: must be a whole number from 1 to 9: how many times each judgement is made."
    ]


def test_runs_goes_with_what_a_run_keeps_and_changes_its_fingerprint(tmp_path: Path) -> None:
    once, thrice = read(tmp_path, WHOLE), read(tmp_path, f"runs: 3\n{WHOLE}")
    assert (once.runs, thrice.runs) == (1, 3)
    assert Criteria.from_json(thrice.as_json()) == thrice
    assert thrice.fingerprint() != once.fingerprint()


def test_a_file_without_runs_keeps_the_form_and_the_fingerprint_that_it_had_before_there_were_any(
    tmp_path: Path,
) -> None:
    criteria = read(tmp_path, "criteria:\n  - {id: a, document: cap table}\n")
    assert set(criteria.as_json()) == {"scale", "criteria"}
    assert criteria.fingerprint() == "880ac357915b0b6d8f2d07d8e95ebaa7676b1af9f3f707e6b010d8268d6b78bf"
    assert read(tmp_path, "runs: 1\ncriteria:\n  - {id: a, document: cap table}\n") == criteria


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        (f"criteria:\n  - {{id: a, ask: {'why ' * 300_000}}}\n", "is larger than 1 MB"),
        (
            "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 30)),
            "holds more than 200000 values",
        ),
        ("criteria: &a\n  - *a\n", "nests too deeply"),
        ("criteria:\n\t- {id: a}\n", "line 2: the line begins with a tab"),
        ("criteria: []\n---\ncriteria: []\n", "line 2: this is not valid YAML"),
    ],
)
def test_a_file_that_is_none_or_a_bomb_is_refused_in_words(tmp_path: Path, text: str, mistake: str) -> None:
    with pytest.raises(BadRequest, match=mistake):
        read(tmp_path, text)


@cases("ask", ["Wie hoch ist der Umsatz?", "売上高はいくらですか？", "利", "รายได้เท่าไร", "ما هي الإيرادات؟"])
def test_a_question_may_be_asked_in_any_language(tmp_path: Path, ask: str) -> None:
    criteria = read(tmp_path, f"criteria:\n  - {{id: a, ask: '{ask}'}}\n")
    assert criteria.criteria == [Judged(id="a", ask=ask)]


@pytest.mark.parametrize("text", ["", "# nothing\n", "scale: [0, 5]\n"])
def test_a_file_without_criteria_says_what_is_missing(tmp_path: Path, text: str) -> None:
    assert mistakes(tmp_path, text) == [
        "line 1, criteria: it is missing: list criteria, or include libraries of criteria."
    ]


def test_an_empty_list_says_what_to_write(tmp_path: Path) -> None:
    mistake = "it is empty: list at least one criterion, with an id and ask, fact, document or figure."
    assert mistakes(tmp_path, "criteria: []\n") == [f"line 1, criteria: {mistake}"]


def test_a_value_that_is_no_list_is_reported(tmp_path: Path) -> None:
    assert mistakes(tmp_path, "criteria: none\n") == ["line 1, criteria: must be a list."]
    assert mistakes(tmp_path, "- a\n- b\n")[0] == "line 1, the file: must be a mapping of fields."


def test_all_mistakes_of_a_file_are_reported_together(tmp_path: Path) -> None:
    text = """\
scale: [5, 0]
criterias: []
criteria:
  - {id: a, document: cap table, weight: 0}
  - {id: a, fact: foundet_year, rule: "<= 2018"}
  - {id: c, fact: founded_year, rule: "<= soon"}
"""
    assert [mistake.split(":")[0] for mistake in mistakes(tmp_path, text)] == [
        "line 1, scale",
        "line 2, criterias",
        "line 4, criteria.0.weight",
        "line 5, criteria.1.fact",
        "line 5, criteria.1.id",
        "line 6, criteria.2.rule",
    ]


def test_a_rule_on_figures_is_read_and_kept(tmp_path: Path) -> None:
    criteria = read(tmp_path, "criteria:\n  - {id: a, figure: cash / monthly burn, rule: '>= 12', period: 2024}\n")
    assert criteria.criteria == [FigureRule(id="a", figure="cash / monthly burn", rule=">= 12", period="2024")]
    stored = criteria.as_json()
    assert (stored["criteria"][0]["kind"], stored["criteria"][0]["label"]) == (
        "figure",
        "cash / monthly burn: >= 12 (2024)",
    )
    assert Criteria.from_json(stored) == criteria


@cases(
    ("fields", "mistake"),
    [
        ("figure: revenu, rule: '> 1'", "figure: there is no figure 'revenu'; did you mean revenue? (allowed: revenue"),
        ("figure: cash / debt / equity, rule: '> 1'", "figure: must be one figure, or two with / or - between them"),
        ("figure: cash - customers, rule: '> 1'", "figure: cash and customers are not measured in the same unit"),
        ("figure: runway, rule: 'growth > 1'", "rule: growth needs one figure that documents state"),
        (
            "figure: revenue, rule: '>= 20 %'",
            "rule: revenue is money, so '>= 20 %' cannot be used; for its growth",
        ),
        ("figure: churn, rule: '<= EUR 5'", "rule: churn is a percentage, so '<= EUR 5' cannot be used"),
        ("figure: revenue, rule: '> large'", "rule: 'large' is not a number: a rule on a figure is one of"),
        (
            "figure: equity / total assets, rule: 'from 10 % (0) to 40 % (5)'",
            "rule: '10 % (0)' is not a number: a rule on a figure is one of",
        ),
        ("figure: revenue, rule: 'in [1, 2]'", "rule: 'in [1, 2]' is not a rule: a rule on a figure is one of"),
        ("figure: revenue, rule: '> 1', period: soon", "period: must be latest, a year (2024), a quarter"),
        ("figure: revenue, rule: '> 1', perod: latest", "perod: there is no such field; did you mean period?"),
        ("figure: revenue, bands: {7: '> 1'}", "bands.7: must be a score of the scale, 0 to 5"),
        ("figure: revenue, bands: {5: '> 1', 3: 'growth > 2'}", "bands: must ask for the same in each band"),
        ("figure: revenue", "needs a rule, such as '>= 20 %', or bands"),
        ("figure: revenue, bands: ['> 1', '> 2']", "bands: must give each score its rule, such as {5: '>= 80 %'"),
        ("figure: revenue, bands: '> 1'", "bands: must give each score its rule"),
        ("figure: revenue + debt, rule: '> 1'", "a sum or a product is not computed"),
        ("figure: revenue, rule: 'between 3 and 1 million'", "must name the lower number first"),
        ("figure: revenue, rule: 'between EUR 1 m and USD 2 m'", "has two units"),
        ("figure: revenue, rule: '> 1', period: 2024-H3", "period: must be latest, a year"),
    ],
)
def test_mistakes_in_rules_on_figures_are_named(tmp_path: Path, fields: str, mistake: str) -> None:
    (found,) = one(tmp_path, f"{{id: a, {fields}}}")
    assert mistake in found
    assert found.startswith("line 2, criteria.0")


def test_what_decides_among_figures_can_be_ordered(tmp_path: Path) -> None:
    text = "criteria:\n  - {id: a, document: cap table}\n"
    criteria = read(tmp_path, f"figure_rule: [newer, basis]\n{text}")
    assert criteria.figure_rule == ("newer", "basis")
    assert Criteria.from_json(criteria.as_json()) == criteria
    assert "figure_rule" not in read(tmp_path, text).as_json()


@cases("rule", ["newer", "[]", "[newest]", "[basis, basis]", "[basis, 3]"])
def test_a_wrong_order_among_figures_is_named(tmp_path: Path, rule: str) -> None:
    assert mistakes(tmp_path, f"figure_rule: {rule}\ncriteria:\n  - {{id: a, document: cap table}}\n") == [
        "line 1, figure_rule: must list some or all of basis, authority, newer, what decides first before the rest."
    ]


def test_isolate_says_for_which_criteria_passages_are_read_alone(tmp_path: Path) -> None:
    text = 'criteria:\n  - {id: a, ask: "Is it audited?"}\n'
    assert read(tmp_path, text).isolate == "high"
    assert "isolate" not in read(tmp_path, text).as_json()
    for written in ("all", "off", '"off"'):
        criteria = read(tmp_path, f"isolate: {written}\n{text}")
        assert criteria.isolate == written.strip('"')
        assert Criteria.from_json(criteria.as_json()) == criteria
    assert mistakes(tmp_path, f"isolate: low\n{text}") == [
        "line 1, isolate: must be all or high or off: for which criteria documents are read alone."
    ]


@pytest.mark.parametrize(
    "guide",
    ["5: none; 3: small; 0: many", "5 = none, 3 = small, 0 = many", "none (5), small (3.5), many above 1,000 (0)"],
)
def test_passages_are_searched_by_the_words_of_a_guide_and_not_by_its_marks(guide: str) -> None:
    searched = Judged(id="a", ask="Are there 2 lawsuits?", guide=guide).searched
    assert searched.startswith("Are there 2 lawsuits?")
    assert not set("013459") & set(searched)
    assert {"none", "small", "many"} <= set(searched.translate(str.maketrans(":;=,()", "      ")).split())


SCALE = (0.0, 5.0)
FIGURES = tomllib.loads((Path(__file__).parent / "library_rooms.toml").read_text(encoding="utf-8"))


@cache
def criteria() -> list[Criterion]:
    path = Path(__file__).parent / "all_libraries.yaml"
    return read_criteria(path).criteria


def of_kind(kind: str) -> list[Any]:
    return [one for one in criteria() if one.kind == kind]


def test_ids_differ_and_half_need_no_model() -> None:
    ids = [one.id for one in criteria()]
    assert len(ids) == len(set(ids)) >= 130
    assert sum(one.kind != "judged" for one in criteria()) >= len(ids) / 2
    assert all(one.title and one.severity for one in criteria())
    assert all(library_purpose(name) for name in library_names())


@cases("criterion", of_kind("document"))
def test_document_criteria(criterion: Any) -> None:
    """The document's kind is one of the catalogue, or found by its words, and other documents are not it."""
    kind, _ = parse_asked_kind(criterion.document)
    text = f"{criterion.document.upper()}\nof Brightwell Ltd.\n"
    met = document_kind(f"{criterion.document}.pdf", "", read_signs(text, []))
    unmet = document_kind("Canteen menu.pdf", "", read_signs("This week: soup and pasta.", []))
    assert kind is None or met.holds(kind.id) is not None
    assert kind is None or unmet.holds(kind.id) is None


@cases("criterion", of_kind("figure"))
def test_figure_criteria(criterion: Any) -> None:
    """A value that meets the best band has the best score, one that does not the worst."""
    written = criterion.bands or {SCALE[1]: criterion.rule}
    bands = {score: parse_condition(criterion.figure, rule) for score, rule in written.items()}
    best = max(bands)
    edge = bands[best].value
    step = 1 if bands[best].sign in {">", ">="} else -1
    assert score_bands(bands, edge + step, SCALE[0])[0] == best
    assert score_bands(bands, edge - 1000 * step, SCALE[0])[0] < best


@cases("criterion", of_kind("fact"))
def test_fact_criteria(criterion: Any) -> None:
    met, unmet = {
        "founded_year": (2010, 2026),
        "company_size.0": (50, 2),
        "extra.operating_status": ("Active", "Closed"),
    }[criterion.fact]
    rule = rules.parse(criterion.fact, criterion.rule)
    assert rule.holds(met)
    assert not rule.holds(unmet)


def test_judged_criteria_find_the_passages_that_speak_to_them() -> None:
    """Among the passages of all rooms those that speak to a criterion come up for it."""
    asked = {one.id: one for one in criteria() if one.kind == "judged"}
    passages = [FIGURES[name][which] for name in FIGURES for which in ("meets", "fails")]
    index = WordIndex(passages)
    for name, room in FIGURES.items():
        places = {position for position, _ in index.rank(asked[name].searched, 10)}
        assert places & {passages.index(room["meets"]), passages.index(room["fails"])}, name


def test_scores_go_with_the_scale_and_stages_choose() -> None:
    entry = next(entry for entry in read_library("commercial", (1, 11)) if entry["id"] == "commercial_churn")
    assert set(entry["bands"]) == {11.0, 7.0, 1.0}
    guide = next(entry for entry in read_library("ip", (0, 10)) if entry["id"] == "ip_ownership")["guide"]
    assert guide.startswith("10: the company owns all")
    counts = {stage: len(read_library("environment", SCALE, stage)) for stage in STAGES}
    assert counts["venture"] < counts["buyout"]


@cases(
    ("written", "message"),
    [
        ("include: [comercial]\n", "line 1, include.0: there is no library 'comercial'; did you mean commercial?"),
        ("include: x\n", "line 1, include: must be a list of libraries"),
        ("stage: seed\ninclude: [ip]\n", "line 1, stage: must be one of venture, growth, buyout, vendor, listed"),
        ("scale: [0, 5]\n", "criteria: it is missing: list criteria, or include libraries of criteria"),
        (
            "table: contrcts\ninclude: [ip]\n",
            "line 1, table: must be one of contracts, leases, employment, or a column file",
        ),
    ],
)
def test_mistakes(tmp_path: Path, written: str, message: str) -> None:
    (tmp_path / "criteria.yaml").write_text(written)
    with pytest.raises(BadRequest) as error:
        read_criteria(tmp_path / "criteria.yaml")
    assert message in error.value.message


def test_a_files_own_criterion_takes_the_place_of_a_librarys(tmp_path: Path) -> None:
    (tmp_path / "criteria.yaml").write_text("include: [ip]\ncriteria:\n  - {id: ip_patents, document: patent list}\n")
    read = read_criteria(tmp_path / "criteria.yaml").criteria
    assert read[0].label == "In the data room: patent list"
    assert [one.id for one in read].count("ip_patents") == 1
