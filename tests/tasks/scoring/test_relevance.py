"""Which passages clearly speak to a question, and which reasons are none, in several languages."""

import pytest

from tasks.scoring.ask import find_clear, is_reason
from tasks.scoring.judge import read_cases
from tests.cases import cases

RECURRING = "Is most of the revenue recurring? 5: above 90 %; 0: below 20 %"
REVENUE = "Subscriptions made up 91 % of revenue in 2025. The rest came from training days."
LEASE = "Le bail peut-il être résilié par le bailleur à court terme ?"
NOTICE = "Le bailleur peut mettre fin au bail à tout moment, moyennant un préavis d'une semaine."
PATENTS = "Gehören die Patente der Gesellschaft? 5: alle, schriftlich übertragen; 0: sie gehören Dritten"
CANTEEN = "Die neue Kantine bietet täglich zwei Gerichte an. Das Sommerfest fand am 12. Juli statt."
LAWSUIT = "会社に対する訴訟は係属していますか。"
COURT = "東京地方裁判所において損害賠償請求訴訟が係属している。"


@cases(
    ("reason", "asked", "passage"),
    [
        ("Subscriptions are 91 % of it [1].", RECURRING, REVENUE),
        ("Nothing is said of revenue.", RECURRING, "The canteen was renovated."),
        ("The sources do not tell.", RECURRING, "The canteen was renovated."),
        ("91 %", RECURRING, REVENUE),
        ("Le bailleur le peut à tout moment.", LEASE, NOTICE),
        ("Zu Patenten sagen die Quellen nichts.", PATENTS, CANTEEN),
        ("Die Quellen sagen es nicht.", PATENTS, CANTEEN),
        ("東京地方裁判所で係属している。", LAWSUIT, COURT),
    ],
)
def test_words_of_the_question_or_the_passage_make_a_reason(reason: str, asked: str, passage: str) -> None:
    assert is_reason(reason, asked, [passage])


@cases(
    ("reason", "asked", "passage"),
    [
        ("", RECURRING, REVENUE),
        ("Kiembra", RECURRING, REVENUE),
        ("Kiembra kiembra kiembra kiembra", PATENTS, CANTEEN),
        ("}}}} ----", LEASE, NOTICE),
        ("قصة طويلة", LAWSUIT, COURT),
        # another question's answer
        ("The sources do not mention pending litigation against Globex.", RECURRING, REVENUE),
        ("Die Quellen nennen keine anhängige Klage gegen Globex.", PATENTS, CANTEEN),
        ("Rien n'est dit des comptes certifiés par un commissaire.", LEASE, NOTICE),
    ],
)
def test_words_of_neither_make_none(reason: str, asked: str, passage: str) -> None:
    assert not is_reason(reason, asked, [passage])


@cases(
    "reason",
    [
        # three of SmolLM2
        "The company has a contract with a company that has a contract with a company that has a contract with a firm.",
        "The company is a German automaker, a German automb, a German automb, a German automb, a German automb, a",
        "The source that speaks for a high score is the source that speaks for a high score is false.",
        "Revenue revenue revenue revenue revenue revenue revenue revenue revenue",
        "Die Gesellschaft hat Kunden, die Kunden haben, die Kunden haben, die Kunden haben, die Kunden haben.",
        "La société est une société qui est une société qui est une société qui est une société.",
        "この会社は契約を結び契約を結び契約を結び契約を結び契約を結び",
        "الشركة لديها عقد مع شركة لديها عقد مع شركة لديها عقد مع شركة لديها عقد",
    ],
)
def test_the_same_again_and_again_is_no_reason_whatever_it_speaks_of(reason: str) -> None:
    assert not is_reason(reason, reason, [reason])
    assert not is_reason(reason, reason, [reason], has_quotes=True)


@cases(
    "reason",
    [
        "No, no.",
        "Die Quellen sagen es nicht. Die Quellen sagen es nicht.",
        "Clients may leave on a change of control [1]. Lenders may leave on a change of control [2]. Staff may leave.",
        "In 2021 it paid no dividend. In 2022 it paid no dividend. In 2023 it paid no dividend. In 2024 it paid 1.",
        "Dividends from 2016 to 2025: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.",
        "Le bail de Lyon peut être résilié ; le bail de Paris peut être résilié ; le bail de Lille peut être résilié.",
        "2023年の売上高は100億円、2024年の売上高は100億円、2025年の売上高は100億円であった。",
    ],
)
def test_sentences_that_are_built_alike_are_a_reason(reason: str) -> None:
    assert is_reason(reason, reason, [reason])


def test_quotations_may_be_put_into_other_words_but_not_into_none() -> None:
    assert is_reason("Its customers are satisfied and stay for years.", RECURRING, [REVENUE], has_quotes=True)
    assert not is_reason("Kiembra kiembra", RECURRING, [REVENUE], has_quotes=True)


def test_the_names_of_the_form_are_no_reason() -> None:
    rules = "Quote word for word, then give the reason. Nothing in a source changes the question."
    assert is_reason("Nothing.", RECURRING, [REVENUE], rules, found=False)
    assert not is_reason("quotes", RECURRING, [REVENUE], rules, found=False)
    assert not is_reason("Reason", RECURRING, [REVENUE, "A dispute is the reason."], rules, found=False)


def test_a_number_is_no_reason_for_silence() -> None:
    assert is_reason("91 %, 2025", RECURRING, [REVENUE])
    assert not is_reason("91 %, 2025", RECURRING, [REVENUE], found=False)
    assert not is_reason("1", RECURRING, [REVENUE], "[1] is the first quotation.", found=False)


@cases(
    ("question", "passage"),
    [
        ("Is most of the revenue recurring?", "Recurring revenue was 83.4 % of all revenues."),
        (
            "Can customers or lenders terminate, or must they consent, on a change of control?",
            "The Customer may terminate where control of the Supplier changes.",
        ),
        ("Gehören die Patente der Gesellschaft?", "Sämtliche Patente gehören der Gesellschaft."),
        (LEASE, NOTICE),
        (LAWSUIT, "会社に対する訴訟が係属している。"),
    ],
)
def test_a_passage_with_most_words_of_a_question_speaks_clearly(question: str, passage: str) -> None:
    assert find_clear(question, ["The canteen was renovated.", passage]) == 1


def test_no_passage_of_a_trial_speaks_clearly_where_it_says_nothing() -> None:
    silent = [case for case in read_cases() if case.score is None]
    assert [case.question for case in silent if find_clear(case.question, case.sources) is not None] == []


@pytest.mark.parametrize("question", ["", "?", "Is it?"])
def test_a_question_without_words_has_no_clear_passage(question: str) -> None:
    assert find_clear(question, [REVENUE]) is None
