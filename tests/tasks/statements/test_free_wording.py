"""Statements in other words than their sentence: what is kept, and what conflicts, by kinds."""

from tasks.statements.check import Finding, check
from tests.cases import cases

SOURCE = """\
Terms of Supply

Harlan Freight booked a restructuring charge of €4.2 million for the closure of its depot in Ghent.
Fees are invoiced monthly. The contractor shall give the customer 30 days' notice before it changes the fees.
The regulator examined the complaint. Nobody has objected to the new timetable.
Traffic grew on all routes except those to Norway. The island has 26 000 inhabitants.
In the first half the group carried 3.1 million tonnes, and in the second half 2.9 million tonnes.
Auditors inform the committee about the accounts. The harbour office suspended the licence.
The board focused on costs rather than on growth. The ferry is expected to be repaired in 2026.

Members may not:

* Upload viruses to the network.
"""


@cases(
    ("statement", "form"),
    [
        ("Harlan Freight took a restructuring charge of €4.2 million for the closure of its depot in Ghent.", "verb"),
        ("The watchdog investigated the complaint.", "near words"),
        ("The island has 26,000 residents.", "thousands parted by a space"),
    ],
)
def test_a_statement_in_other_words_is_supported(statement: str, form: str) -> None:
    assert check(statement, [SOURCE], "Harlan Freight").verdict is Finding.SUPPORTED, form


@cases(
    ("statement", "change"),
    [
        ("Harlan Freight recorded a €4.4 million charge for closing its Ghent depot.", "figure"),
        ("Harlan Freight recorded a €4.2 million charge for closing its Antwerp depot.", "name"),
        ("Harlan Freight recorded a €4.2 million charge for opening its Ghent depot.", "opposite"),
        ("Harlan Freight did not record a €4.2 million charge for closing its Ghent depot.", "negation"),
        ("Harlan Freight may record a €4.2 million charge for closing its Ghent depot.", "modality"),
        ("The watchdog investigated the merger.", "another thing in its place"),
        ("The watchdog dismissed the complaint.", "another verb in its place"),
        ("The committee informs auditors about the accounts.", "roles"),
        ("The board concentrated on growth rather than on costs.", "what is said instead of what"),
        ("The ferry was fixed in 2026.", "expected, and said as done"),
        ("The group moved 2.9 million tonnes in the first half.", "period"),
        ("The island has 26,000 residents a year, and 27,000 tourists.", "more than is said"),
        ("Members may upload viruses to the network.", "an item without what denies it"),
        ("Fees are billed weekly.", "frequency"),
        ("Traffic increased on every route.", "exception left out"),
    ],
)
def test_a_statement_in_other_words_that_says_something_else_is_not_supported(statement: str, change: str) -> None:
    assert check(statement, [SOURCE], "Harlan Freight").verdict is not Finding.SUPPORTED, change
