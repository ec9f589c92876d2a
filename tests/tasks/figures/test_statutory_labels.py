"""Labels that laws prescribe: known with and without their enumerators, and none taken for another concept."""

import re
import tomllib
from pathlib import Path
from typing import Final

import pytest

from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import Figure, plain_label, read_taxonomy, spellings, taxonomy
from tasks.figures.table_labels import label_reader
from tests.cases import cases

_LAWS: Final = tomllib.loads(Path(__file__).with_name("statutory_labels.toml").read_text("utf-8"))
_ENUMERATOR: Final = re.compile(r"\A(?:[*]+|\(?[A-Za-z0-9]{1,4}[.)]|[A-Z][.-]\w+[.)]+|[IV]+ -)+ ")


def _figures(text: str) -> list[Figure]:
    return find_figures(LedgerDocument(text, [], "accounts.csv"), taxonomy()).figures


@cases("law", _LAWS)
def test_the_labels_of_a_law_mean_what_they_say(law: str) -> None:
    read = label_reader(taxonomy()).read
    wrong = []
    for label, concept in _LAWS[law].items():
        for written in {label, _ENUMERATOR.sub("", label, count=1)}:
            meaning = read(written).meaning
            if concept and (meaning.concept.id if meaning else "") != concept:
                wrong.append(written)
            elif not concept:
                assert meaning is None, written
    assert not wrong


def test_no_label_means_two_concepts_nor_is_sure_and_unsure_at_once() -> None:
    meanings: dict[str, set[tuple[str, str]]] = {}
    for concept in read_taxonomy(None).concepts.values():
        for labels, how in ((concept.labels, "sure"), (concept.weak, "weak")):
            for spelling in {spelling for label in labels for spelling in spellings(label)} - {""}:
                meanings.setdefault(plain_label(spelling), set()).add((concept.id, how))
    doubtful = {label for label, of in meanings.items() if len(of) > 1}
    assert doubtful == {"bank loans", "borrowings", "interest bearing loans and borrowings"}  # told by where they stand


def test_an_enumerator_in_a_cell_of_its_own_is_passed_by() -> None:
    figures = _figures("EUR\t\t31.12.2024\nA.\tEigenkapital\t140.900,00\nI.\tVorräte\t12.000,00\n")
    assert [(figure.concept, int(figure.value)) for figure in figures] == [("equity", 140900), ("inventories", 12000)]


def test_the_codes_of_a_chart_of_accounts_are_passed_by() -> None:
    text = (
        "(Reais Mil)\n"
        "Código da Conta\tDescrição da Conta\tÚltimo Exercício 31/12/2025\tPenúltimo Exercício 31/12/2024\n"
        "1\tAtivo Total\t1.223.389\t1.124.797\n1.01.01\tCaixa e Equivalentes de Caixa\t35.608\t20.254\n"
    )
    assert [(each.concept, int(each.value), each.period) for each in _figures(text)] == [
        ("total_assets", 1223389000, "2025-12-31"), ("total_assets", 1124797000, "2024-12-31"),
        ("cash", 35608000, "2025-12-31"), ("cash", 20254000, "2024-12-31"),
    ]  # fmt: skip


def test_the_codes_of_a_french_tax_form_say_what_its_sums_are() -> None:
    text = (
        "Bilan passif de l'exercice clos le 31/12/2024, en euros\n\t\t31/12/2024\t31/12/2023\n"
        "RÉSULTAT DE L'EXERCICE (bénéfice ou perte)\tDI\t-96 675\t-64 377\nTOTAL (I)\tDL\t-61 052\t35 623\n"
        "TOTAL (II)\tDO\t1 000\t2 000\nTOTAL GÉNÉRAL (I à V)\tEE\t213 913\t227 001\n"
    )
    assert [(figure.concept, int(figure.value)) for figure in _figures(text)] == [
        ("net_income", -96675), ("net_income", -64377), ("equity", -61052), ("equity", 35623),
        ("total_assets", 213913), ("total_assets", 227001),
    ]  # fmt: skip


def test_a_code_that_is_a_number_is_none() -> None:
    text = "Jaarrekening boekjaar 2024 in euro, winst en omzet\n\tCodes\t2024\n"
    text += "Winst (Verlies) van het boekjaar\t9904\t9.334.861\n"
    assert [figure.value for figure in _figures(text)] == [9334861]


@pytest.mark.parametrize("name", ["", "Total"])
def test_a_sum_is_what_the_line_over_its_table_says(name: str) -> None:
    rows = f"Players\t31\t30\nMatchday\t212\t105\n{name}\t243\t135\n"
    text = f"Notes\nThe average number of employees during the year was as follows:\n\t2025\t2024\n{rows}"
    assert [(figure.concept, int(figure.value)) for figure in _figures(text)] == [
        ("headcount", 243),
        ("headcount", 135),
    ]
    assert _figures(text.replace("243", "244")) == []


@cases(
    ("loss", "either"),
    [
        ("Prejuízo líquido do exercício", "Lucro/prejuízo do período"),
        ("Perdita dell'esercizio", "Utile (perdita) dell'esercizio"),
        ("Årets förlust", "Årets resultat"),
        ("Årsunderskudd", "Årsoverskudd/årsunderskudd"),
        ("Tilikauden tappio", "Tilikauden voitto/tappio"),
    ],
)
def test_what_a_law_calls_a_loss_alone_is_below_zero(loss: str, either: str) -> None:
    for label, value in ((loss, -300000), (either, 300000)):
        assert [int(figure.value) for figure in _figures(f"EUR\t2024\n{label}\t300000\n")] == [value]
