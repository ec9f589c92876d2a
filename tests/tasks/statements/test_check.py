"""What a source says of a statement: supported, contradicted, or not found. By kinds of change."""

import pytest

from tasks.statements.check import Finding, check
from tests.cases import cases

SOURCE = """\
Net sales decreased 8% to $4.2 billion in fiscal 2023, primarily due to lower volumes in North America.
On May 4, 2021, the Company acquired Brightwell Systems, Inc. from Norvik AS for $310 million in cash.
No customer accounted for more than 10% of our revenue in 2023. The plant is expected to open in 2026.
Most customers renewed their contracts, except those in Germany. EBITDA was -€3.2 million in the first quarter of 2024.
Operating income was $1.2 million and $3.4 million for the years ended December 31, 2024 and 2023, respectively.
The Tenant shall pay the Landlord at least 30 days in advance unless the lease has been terminated.
Our largest customer, Meridian Foods, represented 23% of revenue, and our second-largest customer, Oakline, held 11%.
The auditor issued an unqualified opinion. The company denied that it had misled investors.
Gross margin improved by 150 basis points to 42.5%. The company no longer operates stores in Canada.
The rent is $5,000 per month.
The tenant shall pay a charge of Twenty-Four and 99/100 dollars. The notice period is sixty (60 days).
The Tenant shall pay a deposit of $900; provided further that the lease is longer than a year.
The Tenant shall pay a rebate of $80; provided, however, that the lease is longer than a year.
The Tenant shall pay a fee of $70 when it gives notice. The Agent charges the Landlord a commission of 3%.
Income is recognised when the goods are delivered. The option lapses on 31 March 2029, when the lease ends.
The company closed 14 branches when two rivals merged.
Inventory increased to $81.3 million from $74.9 million, while accounts payable decreased to $30.2 million.

(in millions of euros)
\t2024\t2023
Revenue\t12,400\t11,150
Operating profit\t(310)\t1,020
"""


@cases(
    "statement",
    [
        "Net sales fell by 8% to $4.2 billion in 2023.",
        "Net sales declined 8 percent in fiscal 2023, mainly because of lower volumes in North America.",
        "The company acquired Brightwell Systems from Norvik AS for $310m in cash in May 2021.",
        "No client represented more than 10 % of revenue in 2023.",
        "EBITDA was minus €3.2 million in Q1 2024.",
        "The tenant must pay the landlord at least thirty days in advance, unless the lease has been terminated.",
        "The second-largest customer, Oakline, held 11%.",
        "The company does not operate stores in Canada.",
        "The rent is $5,000 monthly.",
        "The notice period is 60 days.",
        "The income is recognised when goods are delivered.",
        "The option lapses on 31 March 2029.",
        "The company closed 14 branches.",
        "Gross margin rose by 1.5 percentage points to 42.5 percent.",
        "Inventory rose from $74.9 million to $81.3 million.",
        "Revenue was EUR 12.4 billion in 2024.",
        "Revenue was €11,150 million in 2023 and €12,400 million in 2024.",
        "The operating profit was EUR -310 million in 2024.",
    ],
)
def test_what_a_sentence_or_a_row_says_is_supported(statement: str) -> None:
    assert check(statement, [SOURCE]).verdict is Finding.SUPPORTED


@cases("statement", ["Revenue was EUR 12.4 billion in 2024.", "Revenue was £10.6 billion in 2024."])
def test_a_column_with_a_currency_of_its_own_has_the_tables_scale(statement: str) -> None:
    table = "(in millions)\n\t2024 (€)\t2024 (£)\nRevenue\t12,400\t10,600\n"
    assert check(statement, [table]).verdict is Finding.SUPPORTED


def test_a_hyphen_makes_no_other_words() -> None:
    source = "*Note: Founders together hold 49.54% of fully-diluted shares; no single holder controls a majority."
    assert (
        check("The founders together hold 49.54% of the fully diluted shares.", [source]).verdict is Finding.SUPPORTED
    )
    assert check("The founders together hold 49.54% of the shares.", [source]).verdict is not Finding.SUPPORTED
    for first in ("half-yearly", "post-closing", "half-million", "monthly-settled"):
        told, said = (f"The {words} fee is EUR 5,000." for words in (first, first.partition("-")[2]))
        assert check(said, [told]).verdict is not Finding.SUPPORTED


@cases(
    ("statement", "change"),
    [
        ("Net sales did not decrease in fiscal 2023.", "negation"),
        ("A customer accounted for more than 10% of our revenue in 2023.", "negation taken out"),
        ("The company operates stores in Canada.", "no longer"),
        ("The company misled investors.", "denied"),
        ("Net sales rose 8% to $4.2 billion in fiscal 2023.", "opposite"),
        ("The auditor issued a qualified opinion.", "opposite by its beginning"),
        ("Net sales decreased 9% to $4.2 billion in fiscal 2023.", "figure"),
        ("Operating income was $3.4 million and $1.2 million in 2024 and 2023, respectively.", "figures swapped"),
        ("Inventory increased from $81.3 million to $74.9 million.", "from and to swapped"),
        ("Inventory increased to $30.2 million.", "figure of another thing"),
        ("Net sales decreased 8% to $4.2 million in fiscal 2023.", "scale"),
        (
            "The tenant shall pay the landlord at least 30 months in advance unless the lease has been terminated.",
            "unit",
        ),
        ("EBITDA was €3.2 million in the first quarter of 2024.", "sign"),
        ("The operating profit was EUR 310 million in 2024.", "sign in a table"),
        ("Operating income was $3.4 million in 2024.", "period"),
        ("Revenue was EUR 12,400 million in 2023.", "period in a table"),
        ("EBITDA was -€3.2 million in the second quarter of 2024.", "quarter"),
        ("On May 14, 2021, the Company acquired Brightwell Systems.", "date"),
        ("Brightwell Systems acquired the Company for $310 million in cash.", "roles"),
        ("The Company acquired Norvik AS from Brightwell Systems for $310 million.", "roles of two names"),
        ("The landlord shall pay the tenant 30 days in advance unless the lease has been terminated.", "roles"),
        ("Gross profit decreased 8% to $4.2 billion in fiscal 2023.", "subject"),
        ("Oakline, the largest customer, represented 23% of revenue.", "name"),
        ("The plant opened in 2026.", "modality"),
        ("The tenant may pay the landlord at least 30 days in advance unless the lease has been terminated.", "may"),
        ("All customers renewed their contracts.", "quantifier"),
        ("Customers renewed their contracts, except those in Germany.", "quantifier left out"),
        ("The tenant shall pay the landlord at most 30 days in advance unless the lease has been terminated.", "limit"),
        ("Oakline, the largest customer, held 11%.", "order"),
        ("The tenant shall pay the landlord at least 30 days in advance.", "condition left out"),
        ("Most customers renewed their contracts.", "exception left out"),
        ("The tenant shall pay a deposit of $900.", "proviso left out"),
        ("The tenant shall pay a rebate of $80.", "another proviso left out"),
        ("The tenant shall pay a fee of $70.", "occasion left out"),
        ("The tenant shall pay a charge of $24.", "cents left out"),
        ("The agent pays the landlord a commission of 3%.", "charging for paying"),
        ("The company acquired Brightwell Systems for €310 million in cash.", "currency"),
        ("Gross margin improved by 150% to 42.5%.", "percent for points"),
        ("Net sales decreased 8 percentage points to $4.2 billion.", "points for percent"),
        ("Gross margin improved to 150 basis points.", "by and to"),
        ("The rent is $5,000 per year.", "another time that it is paid for"),
    ],
)
def test_what_is_changed_in_one_place_is_not_supported(statement: str, change: str) -> None:
    assert check(statement, [SOURCE]).verdict is not Finding.SUPPORTED, change


@cases(
    ("statement", "sentence"),
    [
        (
            "EBITDA was -€3.3 million in the first quarter of 2024.",
            "EBITDA was -€3.2 million in the first quarter of 2024.",
        ),
        (
            "EBITDA was -€3.3 million in the first quarter of 2024, a fall of a tenth.",
            "EBITDA was -€3.2 million in the first quarter of 2024.",
        ),
        (
            "The option lapses on 30 April 2029, when the lease ends.",
            "The option lapses on 31 March 2029, when the lease ends.",
        ),
        ("The auditor did not issue an unqualified opinion.", "The auditor issued an unqualified opinion."),
        ("The auditor issued a qualified opinion.", "The auditor issued an unqualified opinion."),
    ],
)
def test_another_figure_or_the_other_sense_is_contradicted_by_its_sentence(statement: str, sentence: str) -> None:
    result = check(statement, [SOURCE])
    assert (result.verdict, result.sentence) == (Finding.CONTRADICTED, sentence)


@cases(
    ("statement", "why"),
    [
        (
            "The ultimate parent is Northfell Holdings Ltd.",
            "The source names “Fell Holdings LLC”, the statement “Northfell Holdings Ltd”.",
        ),
        ("In all, EBITDA went up.", "The nearest sentence of the source does not say “went up”."),
        ("Sales have risen by 5 per cent.", "The nearest sentence of the source does not say “risen”."),
    ],
)
def test_a_reason_quotes_names_and_phrases_as_they_are_written(statement: str, why: str) -> None:
    source = (
        "As at the year end, the ultimate parent was Fell Holdings LLC. In all, EBITDA was £2 million. Sales were flat."
    )
    assert check(statement, [source]).why == why


def test_a_figure_of_something_else_is_told_as_such() -> None:
    result = check("Inventory increased from $81.3 million to $74.9 million.", [SOURCE])
    assert result.why == "The source gives “$74.9 million” for something else."


def test_what_nobody_speaks_of_is_not_found_and_nothing_is_shown_for_it() -> None:
    result = check("The founder was convicted of fraud in Panama.", [SOURCE])
    assert result.verdict is Finding.NOT_FOUND
    assert not result.is_worth_showing


def test_a_name_may_stand_for_we_but_not_for_another_name() -> None:
    texts = ["We employ 1,200 people. Beta was founded in 1999."]
    assert check("Alpha employs 1,200 people.", texts, "Alpha alpha.example").verdict is Finding.SUPPORTED
    assert check("Alpha was founded in 1999.", texts, "Alpha alpha.example").verdict is not Finding.SUPPORTED


def test_the_text_is_counted_in_which_the_sentence_stands() -> None:
    assert check("The plant closed in 2020.", ["Nothing.", "The plant was closed in 2020."]).text == 1


CLINIC = """\
Peter Ames will step down in January and will be succeeded by Noor Siddiqui, who joins from Greencore.
The insurer has accepted the claim but has not yet agreed an amount. The plant is due to be finished in 2026.
Orders fell, helped by a contract with Waitrose that began in March 2024. The court was asked to set aside the licence.
Orbital Grip was bought for $12.5 million in cash and 400,000 shares. Two of the six directors are independent.
Vantor sold 70% of its output under contracts with Norsk and the rest on the spot market.
Costs were 6% below budget. Nordent supplies implants under an agreement that ends in 2025.
The trial drug was licensed from the University of Graz, to which it owes a royalty of 4%.
The Supplier warrants that the Goods will be free from defects for 18 months from delivery.
The Supplier may raise its prices once a year, in line with the index, by giving three months' notice.
"""


@cases(
    ("statement", "taken_for"),
    [
        ("Peter Ames joins from Greencore.", "the thing before a relative clause"),
        ("Peter Ames stepped down.", "what will be"),
        ("The insurer has agreed an amount.", "a denied repeat"),
        ("The plant was finished in 2026.", "what is due"),
        ("The contract with Waitrose ended in March 2024.", "another turn"),
        ("The court has set aside the licence.", "what was asked for"),
        ("Orbital Grip was bought for $12.5 million in shares.", "another complement"),
        ("The six directors are independent.", "some of them"),
        ("Vantor sold 70% of its output on the spot market.", "the rest"),
        ("Costs were 6% of budget.", "another preposition"),
        ("Nordent has ended the agreement.", "what ends as agreed"),
        ("The University of Graz owes a royalty of 4%.", "whom a pronoun names"),
        ("The Supplier warrants that the Goods will be free from defects.", "a duty without its time"),
        ("The Supplier may raise its prices by giving three months' notice.", "a right without its bound"),
    ],
)
def test_what_is_said_of_another_or_of_another_time_proves_nothing(statement: str, taken_for: str) -> None:
    assert check(statement, [CLINIC]).verdict is not Finding.SUPPORTED, taken_for


REPORT = """\
For the Full Year of Fiscal 2024
Sales increased 18.3% to $10.2 billion compared to $8.6 billion in fiscal 2023, due to an initial public offering.
We acquired all of the shares of Brook Ltd. in 2022. It was spun off from Marlowe Industries in 2003.
Brook became our subsidiary. The company maintains its quarterly dividend of $1.19 per share.
Suppliers with annual deliveries below £50,000 may provide a self-assessment. We kept our streak of 0 fines.
The customer may terminate only after the first 18 months. Management denied a report that the plant was closed.
Pump sales rose 64% due to a new plant, a 21% increase in valve sales followed. Sales growth of 7.0% - 8.0% is expected.
The language of the proceedings shall be English and the fee shall not exceed $5 million.
The fund, which owns 6.4%, left.

€ million\t2024\t2023
Revenue\t2,643\t2,310
Result\t(17)\t12
"""


@pytest.mark.parametrize(
    "statement",
    [
        "The language of the proceedings is English.",
        "The fee is capped at $5 million.",
    ],
)
def test_what_an_answer_makes_of_a_sentence_is_supported(statement: str) -> None:
    assert check(statement, [REPORT], "Acme").verdict is Finding.SUPPORTED


@cases(
    "statement",
    [
        "Sales increased 18.3% to $10.2 billion in fiscal 2023.",
        "Revenue fell from €2,643 million in 2024 to €2,310 million in 2023.",
        "Revenue grew 15% to €2,643 million in 2024.",
        "The loss was €12 million in 2023.",
        "Valve sales increased 64%.",
        "Brook acquired all of the shares of Acme in 2022.",
        "Acme became a subsidiary of Brook.",
        "Marlowe Industries was spun off from Acme in 2003.",
        "Acme owns 6.4% of the fund.",
        "The company maintains its annual dividend of $1.19 per share.",
        "Suppliers may provide a self-assessment.",
        "We have fines.",
        "The customer may terminate.",
        "The plant was closed.",
        "Sales grew 7.0% to 8.0%.",
    ],
)
def test_what_an_answer_makes_too_much_of_is_not_supported(statement: str) -> None:
    assert check(statement, [REPORT], "Acme").verdict is not Finding.SUPPORTED


def test_a_company_is_no_place_it_is_not_said_to_be_in() -> None:
    texts = ["Halden Pumps has its head office in Moss."]
    assert check("Halden Pumps is headquartered in Moss.", texts, "Halden Pumps").verdict is Finding.SUPPORTED
    assert check("Halden Pumps is headquartered in Halden.", texts, "Halden Pumps").verdict is not Finding.SUPPORTED


LICENCE = (
    "At its sole cost, Brandt shall be responsible for all surveys of the harbour.\n\n"
    "This agreement is between Halden Pumps, Inc., a Delaware corporation with offices in Deer Park, Illinois, and "
    "Brandt Surveys, Inc., a Delaware corporation with offices in New Jersey.\n\n"
    "Halden Pumps Incorporated makes pumps.\n"
)


@cases(
    ("statement", "is_said"),
    [
        ("Brandt shall be responsible for all surveys of the harbour at its sole cost.", True),
        ("Halden shall be responsible at its sole cost for all surveys of the harbour.", False),
        ("Brandt Surveys is an Illinois corporation.", False),
        ("The company is incorporated in Halden.", False),
    ],
)
def test_what_a_contract_says_of_one_party_is_not_said_of_the_other(statement: str, *, is_said: bool) -> None:
    verdict = check(statement, [LICENCE], "Halden").verdict
    assert (verdict is Finding.SUPPORTED) == is_said


def test_the_head_over_a_change_stands_over_its_percentage_too() -> None:
    table = "Six months ended June 30,\t2024\t2023\tInc/(Dec)\nEarnings per share\t$5.60\t$3.08\t$2.52\t82 %\n"
    assert check("Earnings per share were $5.60 in 2024.", [table]).verdict is Finding.SUPPORTED
    assert check("Earnings per share were $3.08 in 2024.", [table]).verdict is not Finding.SUPPORTED


HARBOUR_RESULTS = """\
Marlow Ferries Announces Second Quarter 2024 Results
Results for the quarter ended June 30, 2024 were good. Bookings of $75.7 billion were handled by all lines together.
\tQuarter Ended June 30,\t\tYear to Date June 30,\t
\t2023\t2024\t2023\t2024
Revenue\t$41,512\t$44,871\t$80,100\t$86,020
By line:\t\t\t\t
Island line\t12,400\t11,950\t24,000\t23,100
Ferry total\t$41,512\t$44,871\t$80,100\t$86,020

Debt of the group (in millions)
As of December 31, As of June 30,
2023 2024
Bonds\t$310\t$295
Bank loans\t1,121\t1,204
Total\t$1,431\t$1,499

Nora Falk will take over the newly made post of harbour director on August 1. In her new post, Nora will report to
Tomas Brandt, the chief executive. The engineers are appointed by the council. There are no family ties between Falk and
any director. The employment agreement provides that Falk will receive a base salary of $90,000. The system enables
captains to plan their trips.
"""


@cases(
    ("statement", "change"),
    [
        ("Revenue was $44,871 in the first quarter of 2024.", "another quarter"),
        ("Revenue was $44,871 in the second quarter of 2023.", "another year"),
        ("Revenue was $86,020 in the quarter ended June 30, 2024.", "another column"),
        ("Revenue was $44,871 billion in the quarter ended June 30, 2024.", "the scale of a figure over the table"),
        ("Bonds were $295 million on December 31, 2023.", "another day"),
        ("Revenue rose from $41,512 to $86,020.", "columns of two kinds"),
        ("Bank loans fell from $1,204 million to $1,121 million.", "the other direction"),
        ("Tomas Brandt will report to Falk.", "roles"),
        ("The council is appointed by the engineers.", "by whom"),
        ("There are family ties between Falk and a director.", "what nobody has"),
        ("Falk is related to a director.", "what nobody has, in other words"),
    ],
)
def test_a_report_does_not_support_what_it_does_not_say(statement: str, change: str) -> None:
    assert check(statement, [HARBOUR_RESULTS], "Marlow Ferries").verdict is not Finding.SUPPORTED, change


@cases(
    ("source", "statement", "is_said"),
    [
        ("The wage base is $106,800 for 2011.", "In 2011 the wage base is $106,800.", True),
        ("In the opinion of the board, the mole is safe.", "The mole is safe in the opinion of the board.", True),
        ("The mole, which was built in 1912, is safe.", "The mole is safe.", True),
        ("The mole is long; the quay was built in 1912.", "The quay was built in 1912.", True),
        ("The harbour master, Ruth Oka, owns 3 % of the quay.", "Ruth Oka owns 3 % of the quay.", True),
        ("The mole was built in 1912 and was repaired in 1950.", "The mole was repaired in 1950.", True),
        (
            "The plan was praised by the council which has a harbour group.",
            "The harbour group praised the council.",
            False,
        ),
        ("Ferry Two is the next version of Ferry One.", "The next version of Ferry Two is Ferry One.", False),
        ("He will be succeeded by Ruth Oka.", "Ruth Oka will be succeeded by him.", False),
        ("All lamps come with a five-year warranty.", "The harbour has recalled all lamps.", False),
    ],
)
def test_words_in_another_order_say_the_same_where_one_block_moves(
    source: str, statement: str, *, is_said: bool
) -> None:
    assert (check(statement, [source], "Harbour").verdict is Finding.SUPPORTED) == is_said


@cases(
    ("source", "statement", "verdict"),
    [
        (
            "\tJan 28, 2024\nStock ($ in millions)\t4,871\n",
            "Stock was $4.87 billion on Jan 28, 2024.",
            Finding.SUPPORTED,
        ),
        ("Oka Ventures, L.P.\tSAFE\t$4,000\t$9,000", "Oka Ventures put in $4,000 through a SAFE.", Finding.SUPPORTED),
        ("Oka Ventures, L.P.\tSAFE\t$4,000\t$9,000", "Oka Ventures put in $9,000 through a SAFE.", Finding.NOT_FOUND),
        (
            "The move cost $9 million, of which $4 million was severance.",
            "Severance was $4 million.",
            Finding.SUPPORTED,
        ),
        (
            "The tax rate for 2025 and 2024 was 19% and 13%, respectively.",
            "The tax rate was 13% in 2024.",
            Finding.SUPPORTED,
        ),
        (
            "The tax rate for 2025 and 2024 was 19% and 13%, respectively.",
            "The tax rate was 19% in 2024.",
            Finding.CONTRADICTED,
        ),
        (
            "Its parent company is Oka Holdings, a firm in Rome.",
            "Its parent is Ruth Holdings, a firm.",
            Finding.CONTRADICTED,
        ),
        ("The Berlin plant burned down in June 2023.", "The Berlin plant burned down in May.", Finding.NOT_FOUND),
        ("Alpha sold 20 units in March.", "Alpha sold 20 units in April.", Finding.NOT_FOUND),
        ("The margin improved from 10 % to 12 %.", "The margin improved to 12 %.", Finding.SUPPORTED),
        ("It has 20 people.[1] The firm was founded in 1998.[2]", "The firm was founded in 1998.", Finding.SUPPORTED),
        (
            "(in millions of USD)\n\t2024 (tonnes)\t2023 (tonnes)\nOutput\t391\t383",
            "Output was $391 million in 2024.",
            Finding.NOT_FOUND,
        ),
        (
            "| | 2024 | 2023 |\n|---|---|\n| Revenue | $5,387 | $4,100 |",
            "Revenue was $5,387 in 2024.",
            Finding.SUPPORTED,
        ),
        (
            "| | 2024 | 2023 |\n|---|---|\n| Revenue | $5,387 | $4,100 |",
            "Revenue was $5,387 in 2023.",
            Finding.NOT_FOUND,
        ),
        ("The bank won't extend the loan.", "The bank will extend the loan.", Finding.CONTRADICTED),
        ("The plant doesn't make pumps.", "The plant does not make pumps.", Finding.SUPPORTED),
        ("Margin rose by fifty basis points.", "Margin rose by 0.5 percentage points.", Finding.SUPPORTED),
        ("The balance - 5 million euros - was kept.", "The balance was 5 million euros.", Finding.SUPPORTED),
    ],
)
def test_rows_and_parts_of_sentences_prove_what_they_say(source: str, statement: str, verdict: Finding) -> None:
    assert check(statement, [source]).verdict is verdict


@cases(
    ("source", "statement", "is_supported"),
    [
        ("The Ministry has renewed the licence for ten years.", "The licence has been renewed for ten years.", True),
        ("We may change our prices once a year.", "Prices may be changed once a year.", True),
        ("The directors do not recommend the payment of a final dividend.", "No final dividend is proposed.", True),
        ("The directors recommend a final dividend.", "No final dividend is proposed.", False),
        ("The Ministry will renew the licence in May.", "The licence was renewed in May.", False),
        ("The Ministry asked Oka to renew the licence.", "The licence was renewed.", False),
        ("The court dismissed Oka's claim against Ruth.", "Ruth's claim against Oka was dismissed.", False),
        ("The seller paid the agent.", "The seller was paid.", False),
        ("The company sold Oka the plant.", "Oka was sold.", False),
        ("The board of Oka met, and the board of Ruth approved the accounts.", "Oka's accounts were approved.", False),
    ],
)
def test_what_was_done_may_be_said_without_who_did_it(source: str, statement: str, is_supported: bool) -> None:
    assert (check(statement, [source]).verdict is Finding.SUPPORTED) is is_supported


@cases(
    ("source", "statement"),
    [
        ("The costs of Oka for Ruth were £3 million.", "The costs of Ruth for Oka were £3 million."),
        ("The agent of the tenant left.", "The tenant of the agent left."),
        ("Oka is a customer of the largest supplier.", "Oka is the largest customer of a supplier."),
        ("They moved 20% of the bonds into shares.", "They moved 20% of the shares into bonds."),
        ("Costs rose to £4 million and sales to £9 million.", "Sales rose to £4 million."),
    ],
)
def test_the_words_of_a_phrase_keep_their_order(source: str, statement: str) -> None:
    assert check(statement, [source]).verdict is not Finding.SUPPORTED


@cases(
    ("statement", "costs", "is_supported"),
    [
        ("The Q2 charge included £8 million for severance.", "staff severance", True),
        ("The Q2 charge included £8 million for severance.", "avoided severance", False),
        ("The Q2 charge included £9 million for severance.", "staff severance", False),
        ("The Q2 charge included £8 million for impairment.", "staff severance", False),
    ],
)
def test_a_defined_term_is_what_its_clause_speaks_of(statement: str, costs: str, is_supported: bool) -> None:
    source = f"We took a $12 million charge (“Q2 charge”), which included {costs} expenses of £8 million."
    assert (check(statement, [source]).verdict is Finding.SUPPORTED) is is_supported


@pytest.mark.parametrize(
    "statement", ["Dr. Kessler alone reaches the majority.", "Dr. Kessler alone does reach the majority."]
)
def test_a_denial_that_only_words_without_weight_show_is_heard(statement: str) -> None:
    assert check(statement, ["Dr. Kessler alone does not reach the majority."]).verdict is Finding.CONTRADICTED


@cases(
    ("source", "statement"),
    [
        ("It is denied that the supplier breached the contract.", "The supplier breached the contract."),
        ("It is alleged that the supplier breached the contract.", "The supplier breached the contract."),
        ("It is expected that revenue rose to EUR 5 million.", "Revenue rose to EUR 5 million."),
        ("\t2024\nProfit before tax\t(5)", "Profit before tax was 5 in 2024."),
        ("Half of the shares were sold.", "The shares were sold."),
        ("Smith was the chief executive in 2010.", "Smith is now the chief executive."),
        ("The company had 40 employees in 2010.", "The company has 40 employees today."),
        ("First National Bank (the “Bank”) and Alpha GmbH. The Bank pays the fee.", "First the fee is paid."),
    ],
)
def test_what_is_only_reported_partly_so_or_past_is_not_so(source: str, statement: str) -> None:
    assert check(statement, [source]).verdict is not Finding.SUPPORTED


@cases(
    ("source", "statement", "is_so"),
    [
        ("The Supplier shall pay each invoice within 30 days.", "The Supplier pays each invoice within 30 days.", True),
        ("The merger shall be completed.", "The merger is completed.", False),
        ("The cameras will be checked monthly.", "The cameras are checked monthly.", False),
        ("The office in Leeds will open in 2031.", "The office in Leeds opens.", False),
    ],
)
def test_what_is_ordered_is_done_as_a_rule_and_what_is_planned_is_not(source: str, statement: str, is_so: bool) -> None:
    assert (check(statement, [source]).verdict is Finding.SUPPORTED) is is_so


def test_a_mark_of_markdown_behind_an_abbreviation_ends_no_sentence() -> None:
    text = "Unless agreed otherwise (see Sec.* 5) the tenant pays EUR 5."
    assert check("The tenant pays EUR 5.", [text]).verdict is Finding.NOT_FOUND


@cases(
    ("statement", "verdict"),
    [
        ("Any tenant pays the rent.", Finding.NOT_FOUND),
        ("The tenant pays the rent.", Finding.SUPPORTED),
        ("Disputes are settled by arbitration in Stockholm.", Finding.SUPPORTED),
        ("Net debt was EUR 41.2 million at 30 June 2024.", Finding.SUPPORTED),
        ("Net debt was EUR 42.1 million at 30 June 2024.", Finding.CONTRADICTED),
    ],
)
def test_what_is_said_of_one_is_not_said_of_any_and_the_group_is_the_company(statement: str, verdict: Finding) -> None:
    source = "The tenant pays the rent. Any dispute is settled by arbitration in Stockholm. "
    source += "The Group's net debt was EUR 41.2 million at 30 June 2024."
    assert check(statement, [source]).verdict is verdict
