"""Which sentences of an answer stand: what a source says, a quotation of it, and that sources do not say a thing."""

from tasks.statements.answers import CheckedStatement, Ground, prove
from tasks.statements.check import Finding
from tests.cases import cases

LEASE = Ground(1, None, "lease.txt", "The tenant pays a rent of EUR 5,000. The lease ends in May 2024.")


def only_statement(answer: str) -> CheckedStatement:
    (statement,) = prove(answer, "What is the rent?", "Acme", [LEASE]).statements
    return statement


@cases(
    ("answer", "numbers"),
    [
        ("The tenant pays a rent of EUR 5,000 [1].", (1,)),
        ("The lease ends in May 2024.", (1,)),
        ("The sources do not say who the landlord is [1].", ()),
        ("The text does not give the landlord.", ()),
    ],
)
def test_what_a_source_says_or_none_says_stands(answer: str, numbers: tuple[int, ...]) -> None:
    statement = only_statement(answer)
    assert (statement.stands, statement.is_quotation, statement.numbers) == (True, False, numbers)


@cases(
    "answer",
    [
        "The tenant pays EUR 6,000 [1].",
        "The lease ends in June 2024 [1].",
        "The sources do not say that 7 mills closed in 2023.",
        "In summary, 7 mills closed.",
    ],
)
def test_what_no_source_says_does_not_stand(answer: str) -> None:
    assert not only_statement(answer).stands


@cases("around", ["Low rent: {}", "The two key terms are: {}", "Tenant: {}"])
def test_a_quotation_stands_without_the_words_around_it(around: str) -> None:
    statement = only_statement(around.format("“The tenant pays a rent of EUR 5,000.”"))
    assert (statement.verdict, statement.is_quotation, statement.numbers) == (Finding.SUPPORTED, True, (1,))
