"""Statements that a source says in another form: with a pronoun, in a clause of a sentence, from the other side."""

from tasks.statements.check import Finding, check
from tests.cases import cases

NEWS = """\
Arden Mills to Acquire Pell Flour

Arden Mills has entered into an agreement to acquire Pell Flour from Corvin Capital for $80 million. Pell, which is
based in Ghent, had sales of €41 million in 2023 and employs 120 people. It was founded by two brothers.

Arden Mills lent $5 million to Oster Foods in May. Its finance chief, Jonas Reuter, will retire on June 30. He will be
succeeded by Clara Boone, head of the Bakery division. She joined the company in 2015.

Bread grew 6.0% to $188 million, and Flour 1.4% to $113 million. Arden Mills bought all of the outstanding shares of
Hale Oats in 2022. The board met in March. It rejected the proposal to sell the mill.
"""
POLICY = """\
If you pay for a year in advance, we'll give you a full refund of the first month. We will warn you a week before we
close your account. You own the files that you upload. If you ask in time and you have paid, we close the account.
"""
LEASE = """\
This lease is made between Harbour Estates plc (the "Landlord") and Dunmore Logistics Limited (the "Tenant"). The Tenant
shall keep the interior in good repair. The Landlord shall maintain the roof. Its frames are made in Leeds; the assembly
takes place in York. The Landlord has repaired one gate; all 40 lamps were replaced.
"""


@cases(
    ("source", "statement"),
    [
        (NEWS, "Arden Mills has agreed to buy Pell Flour from Corvin Capital for $80 million."),
        (NEWS, "Jonas Reuter is retiring on June 30."),
        (NEWS, "Arden Mills bought Hale Oats in 2022."),
        (LEASE, "Harbour Estates must maintain the roof."),
        ("Beta Co., the tenant, sold the mill.", "Beta Co. sold the mill."),
        ("The plant of that tenant was not sold in May.", "The plant of the tenant was not sold in May."),
        ("Beta rose and was sold.", "Beta was sold."),
        ("Beta may pay and is selling mills.", "Beta is selling mills."),
        ("We renewed the lease.", "The lease was renewed."),
    ],
)
def test_another_form_proves_a_statement(source: str, statement: str) -> None:
    assert check(statement, [source]).verdict is Finding.SUPPORTED


@cases(
    ("source", "statement"),
    [
        (NEWS, "Corvin Capital has agreed to buy Pell Flour from Arden Mills for $80 million."),
        (NEWS, "Arden Mills borrowed $5 million from Oster Foods in May."),
        (NEWS, "Arden Mills is headquartered in Ghent."),
        (NEWS, "Corvin Capital employs 120 people."),
        (NEWS, "Jonas Reuter joined the company in 2015."),
        (NEWS, "Flour grew 6.0% to $188 million."),
        (POLICY, "Customers receive a full refund of the first month."),
        (POLICY, "Customers warn us a week before they close their account."),
        (POLICY, "If you ask in time, we close the account."),
        (LEASE, "Dunmore Logistics shall maintain the roof."),
        (LEASE, "Its frames are made in York."),
        (LEASE, "The Landlord has repaired all gates."),
        ("Arden may pay $5 million in May and $6 million in June as agreed.", "$6 million in June agreed."),
        ("Arden may not sell 3 mills and 4 plants named in the lease.", "4 plants named in the lease."),
        ("Rents and mills sold the lease.", "The lease was sold."),
        ("Beta does not know that Gamma pays rent.", "Gamma pays rent."),
    ],
)
def test_another_form_proves_nothing_else(source: str, statement: str) -> None:
    assert check(statement, [source], "Arden Mills").verdict is not Finding.SUPPORTED


@cases(
    ("statement", "sentence", "verdict"),
    [
        ("Beta was founded in 2019.", "Beta was founded in 2018.", Finding.CONTRADICTED),
        ("Arden bought the mill from Beta.", "Arden bought the mill from Gamma.", Finding.CONTRADICTED),
        ("Arden bought the mill from Beta.", "Arden bought the mill from the lender.", Finding.NOT_FOUND),
        ("They sold the mill in Oka for $5 million.", "They sold the mill in Oka for $6 million.", Finding.NOT_FOUND),
        ("Sales were $5.2 million in May.", "Sales were $5.28 million in May.", Finding.CONTRADICTED),
        ("Sales were $5.2 million in May.", "Sales were $5.25 million in May.", Finding.NOT_FOUND),
        ("Sales were $5 million in May.", "Sales were $5.2 million in May.", Finding.NOT_FOUND),
        ("Sales were 5 % in May.", "Sales were $5 million in May.", Finding.NOT_FOUND),
        ("The lease ends on 4 May 2024.", "The lease ends on 5 May 2024.", Finding.CONTRADICTED),
        ("The lease ends on 4 May.", "The lease ends on 5 May 2024.", Finding.NOT_FOUND),
        ("The tenant stepped down in May.", "The tenant shall step down in May.", Finding.NOT_FOUND),
        ("In 2024 rents rose.", "In 2024 rents of mills rose.", Finding.NOT_FOUND),
        ("Revenue of 2023 was 5.", "Revenue: 5 (2023), 6 (2022)", Finding.SUPPORTED),
    ],
)
def test_only_what_cannot_be_so_beside_a_sentence_is_contradicted(
    statement: str, sentence: str, verdict: Finding
) -> None:
    assert check(statement, [sentence]).verdict is verdict
