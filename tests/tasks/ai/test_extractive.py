"""The answer without a model: the sources' own sentences, each with where it stands."""

import pytest

from tasks.ai.answerer import Source
from tasks.ai.extractive import OPENING, SHOWN, ExtractiveAnswerer, best_sentences, quote_sentences
from tests.cases import cases

SOURCES = [
    Source(
        1,
        "lease.docx",
        "heading “Term”",
        "Term\nThe lease of the Leeds office ends in March 2027. Rent is paid monthly.",
    ),
    Source(2, "accounts.xlsx", "sheet P&L, A1:B2", "Year\tRevenue\n2023\t12,300"),
    Source(3, "minutes.txt", None, "The board noted that the lease is not renewed."),
]


def answer(question: str, sources: list[Source]) -> str:
    return ExtractiveAnswerer().answer(question, sources).text


def test_each_sentence_is_shown_with_its_source_and_place() -> None:
    assert answer("When does the Leeds lease end?", SOURCES) == (
        f"{OPENING} These sentences address the question, word for word:\n\n"
        "1. The lease of the Leeds office ends in March 2027.\n   — lease.docx, heading “Term”\n\n"
        "2. The board noted that the lease is not renewed.\n   — minutes.txt"
    )


def test_a_row_of_a_table_is_found_by_its_figures() -> None:
    assert "2023\t12,300\n   — accounts.xlsx, sheet P&L, A1:B2" in answer("What was the 2023 figure, 12300?", SOURCES)


def test_a_wide_row_is_quoted_by_its_name_and_its_first_cells() -> None:
    wide = "\t".join(["Subscriptions", *map(str, range(101, 185))])
    assert "1. Subscriptions\t101\t102\t103\t104\t105\t106\t107\n" in answer(
        "Subscriptions?", [Source(1, "a", None, wide)]
    )


def test_no_match_is_said() -> None:
    assert answer("Any aircraft?", SOURCES) == (
        f"{OPENING} No sentence of the text given addresses the question, so there is nothing to answer from."
    )


def test_no_source_is_said() -> None:
    assert "nothing to answer from" in answer("When?", [])
    assert "nothing to answer from" in answer("When?", [Source(1, "scan.pdf", None, "")])


def test_a_sentence_said_twice_is_shown_once() -> None:
    twice = [Source(1, "a.txt", None, "The lease ends soon."), Source(2, "b.txt", None, "The lease ends soon.")]
    assert answer("When does the lease end?", twice).count("The lease ends soon.") == 1
    items = [Source(1, "a.md", None, "- The lease ends soon."), Source(2, "a.pdf", None, "• The lease ends soon.")]
    assert answer("When does the lease end?", items).count("The lease ends soon.") == 1


def test_a_heading_does_not_crowd_out_what_it_announces() -> None:
    text = "Lease\nThe lease of the office in Leeds ends in March 2027 at the latest."
    assert "1. The lease of the office" in answer("lease", [Source(1, "a.txt", None, text)])


def test_a_heading_is_shown_where_nothing_else_speaks() -> None:
    assert "1. Alpha lease" in answer("lease", [Source(1, "a.txt", None, "Alpha lease")])


def test_an_answer_stays_short() -> None:
    long = " ".join(f"The lease number {number} ends soon." for number in range(100))
    assert answer("lease", [Source(1, "a.txt", None, long)]).count("— a.txt") == SHOWN


@pytest.mark.parametrize(
    ("question", "text", "sentence"),
    [
        (
            "Wann endet der Mietvertrag in Köln?",
            "Der Vorstand tagte im Mai. Der Mietvertrag für das Büro in Köln endet am 31. März 2027.",
            "Der Mietvertrag für das Büro in Köln endet am 31. März 2027.",
        ),
        (
            "大阪の賃貸借契約はいつ終了しますか。",
            "取締役会は五月に開催された。大阪事務所の賃貸借契約は2027年3月に終了する。",
            "大阪事務所の賃貸借契約は2027年3月に終了する。",
        ),
    ],
    ids=["German", "Japanese"],
)
def test_another_language_is_answered_in_its_own_words(question: str, text: str, sentence: str) -> None:
    shown = answer(question, [Source(1, "a.txt", None, text)])
    assert shown.startswith(OPENING)
    assert f"1. {sentence}\n   — a.txt" in shown


DEED = (
    "Shi Farms sells 30,000 lbs. of hemp to Gridiron at $5.00 per pound. Shi Farms delivers where Gridiron wants. "
    "The laws of Colorado govern this deed. Tim Orr signed for Gridiron in 2020. Notices go to Shi Farms, Pueblo."
)
BESCHLUSS = (
    "Die Gesellschafterversammlung schloss um 14:47 Uhr. Das Protokoll führte Cornelia Schwing. "
    "Der Beschluss wurde mit 68 gegen 32 Stimmen gefasst. Die Kündigungsfrist beträgt vier Wochen."
)


@cases(
    ("question", "text", "sentence"),
    [
        ("How much does a pound of hemp cost?", DEED, "$5.00"),
        ("Which state's law governs?", DEED, "Colorado"),
        ("Where are notices to Shi Farms sent?", DEED, "Pueblo"),
        ("What was signed in 2020?", DEED, "Tim Orr"),
        ("What was signed in 2017?", DEED, None),
        ("How many employees does Shi Farms have?", DEED, None),
        ("What insurance must Shi Farms carry?", DEED, None),
        ("Which patents does Gridiron hold?", DEED, None),
        ("Were 30000 lbs sold?", DEED, "30,000"),
        ("What is the salary?", "The salary is EUR 90,000. The rent is due in May.", "90,000"),
        ("How many shares are fully diluted?", "Fully diluted: 8,500,000. The rent is due in May.", "8,500,000"),
        ("Hoeveel leden heeft het bestuur?", "Het bestuur telt vijf leden. De huur is betaald.", "vijf"),
        ("Quantos sócios tem a sociedade?", "O número de sócios é 12. A renda é paga em maio.", "12"),
        ("Is the building insured?", "Is the building insured?\nYes, by Alder AG.\nThe rent is due in May.", "Alder"),
        ("Who are the directors?", "The directors are:\n----\nJane Poe, John Roe\n----\nThe rent is due.", "Jane Poe"),
        ("Who owns the IP?", "All IP belongs to the client. The rent is due in May.", "IP"),
        ("Wie hoch war der Umsatz 2024?", "Umsatz per 31.12.24: 4,2 Mio. Euro. Die Miete ist fest.", "4,2 Mio."),
        ("Wer hat das Protokoll geführt?", BESCHLUSS, "Schwing"),
        ("Wann schloss die Versammlung?", BESCHLUSS, "14:47"),
        ("Wie hoch ist der Kaufpreis?", BESCHLUSS, None),
        ("Welche Dividende wurde beschlossen?", BESCHLUSS, None),
        ("Which patents does the company own?", "The company shall own its property. It rains in May.", None),
        ("When does the lease end?", "At least two end-users were asked. The data is collected in the field.", None),
        ("When does the lease end?", "The lease ends on 4 May 2030. The data is collected in the field.", "2030"),
        ("How many employees does IronForge have?", "IronForge sits in 5 Mill Lane. It was founded in 1999.", None),
        ("How much does Acme claim?", "The claimant (Acme) claims $1.2M for lost revenue. It rains.", "1.2M"),
        ("Welches Zimmer hat Frau Kurz?", "Frau Kurz: Zimmer 214. Die Miete ist fest.", "214"),
        (
            "Quel loyer est payé ?",
            "Le montant de la cotisation est fixé par le bureau. Le siège est à Lyon.",
            None,
        ),
        ("Où se trouve le siège ?", "Le montant de la cotisation est fixé par le bureau. Le siège est à Lyon.", "Lyon"),
    ],
)
def test_a_question_of_which_the_text_says_nothing_is_not_answered(
    question: str, text: str, sentence: str | None
) -> None:
    shown = answer(question, [Source(1, "a.txt", None, text)])
    assert ("No sentence of the text given" in shown) is (sentence is None)
    assert sentence is None or sentence in shown


def test_a_question_leads_to_the_line_behind_it_and_to_no_other_question() -> None:
    source = Source(
        1, "a.txt", None, "Is the company insured?\nIs there a pension scheme?\nYes.\nThe rent is due in May."
    )
    shown = [sentence for sentence, _ in best_sentences("Is the company insured?", [source]) or ()]
    assert "Is the company insured?" in shown
    assert "Is there a pension scheme?" not in shown


def test_words_that_only_look_like_the_questions_answer_nothing() -> None:
    tellers = "".join(f" The head teller counts cash in vault {number} each day." for number in range(40))
    text = f"Overdrafts of officers. They are paid back at once. {tellers}"
    shown = answer("What rent is paid for the head office?", [Source(1, "a.txt", None, text)])
    assert "No sentence of the text given" in shown


RENT = (
    "# Monthly rent of the office\nMonthly rent of the office: [to be agreed]\n\n"
    "Monthly rent rises by notice of the owner.\nMonthly rent of the office is due in advance.\n"
    "Monthly rent: EUR 5,500\nContract value:\nEUR 66,000\n"
    "The board has two members. The network has many members. The network has two members. "
    "The board has a sole director.\n"
    "On 31 December 2023, employees knew. At 31 December 2023, there were 23 employees.\n"
    "The price is indexed. The price is EUR 50.\nThe landlord is Beta GmbH [hereinafter: the Lessor].\n"
    "The company does not hold any patents. The 24seven staff work in shifts."
)


@cases(
    ("question", "first"),
    [
        ("What is the monthly rent of the office?", "Monthly rent: EUR 5,500"),
        ("What is the contract value?", "Contract value:\n   — a.txt\n\n2. EUR 66,000"),
        ("Is the price indexed?", "The price is indexed."),
        ("Who is the landlord?", "The landlord is Beta GmbH [hereinafter: the Lessor]."),
        ("How many members does the board have?", "The board has two members."),
        ("How many members does the network have?", "The network has two members."),
        ("How many employees were there at 31 December 2023?", "At 31 December 2023, there were 23 employees."),
        ("How many directors does the board have?", "The board has a sole director."),
        ("How many patents does the company hold?", "The company does not hold any patents."),
        ("How many staff work at 24seven?", None),
    ],
)
def test_what_only_a_number_answers_is_answered_by_one_first(question: str, first: str | None) -> None:
    shown = answer(question, [Source(1, "a.txt", None, RENT)])
    assert f"1. {first}" in shown if first else "No sentence of the text given" in shown
    assert "# Monthly" not in shown
    assert "[to be agreed]" not in shown


def test_a_long_task_is_shown_what_is_nearest() -> None:
    task = "Score the company: " + ", ".join(f"criterion number {number} on topic{number}x" for number in range(40))
    assert "1. Topic7x is said" in answer(task, [Source(1, "a.txt", None, "Topic7x is said to go well this year.")])


def test_the_company_that_is_asked_about_need_not_be_named() -> None:
    source = [Source(1, "a.txt", None, "The company was founded in 1999. It has offices in Leeds.")]
    assert quote_sentences("When was Acme founded?", source, "Acme").startswith("These sentences")


@pytest.mark.slow
def test_a_sentence_is_found_among_very_many() -> None:
    rows = "\n".join(f"Row {number} tells about the weather on day {number * 7}." for number in range(11_000))
    text = f"{rows}\nThe tenancy of the Leeds office runs out in March 2027.\n{rows.replace('Row', 'Line')}"
    assert "1. The tenancy of the Leeds office" in answer("Leeds office?", [Source(1, "a.txt", None, text)])
    assert "No sentence of the text given" in answer("Any aircraft?", [Source(1, "a.txt", None, text)])


def test_years_of_bounds_and_numbers_like_years_need_not_be_there() -> None:
    rest = " The rent is due in May. Notices go to the office in Leeds. The board met twice. Costs rose a little."
    for question, text in (
        ("Were 2000 shares issued?", "The board issued 2,000 ordinary shares to Ann."),
        ("What was revenue in the year 2023/24?", "Revenue in the year to 31 March 2024 was EUR 5 million."),
        ("Which contracts expire before 2030?", "The supply contract expires in 2026."),
    ):
        shown = best_sentences(question, [Source(1, "a.pdf", None, text + rest)]) or []
        assert [sentence for sentence, _ in shown] == [text]
    told = "Revenue in 2024 was EUR 5 million, at 3.20 the share." + rest
    assert not best_sentences("What was revenue in 2020?", [Source(1, "a.pdf", None, told)])


@cases(
    ("question", "text", "is_answered"),
    [
        ("Who are the directors?", "The supplier's directors are Jane Poe and John Roe. It delivers steel.", False),
        ("Who are the supplier's directors?", "The supplier's directors are Jane Poe and John Roe.", True),
        ("Who are the directors?", "Our directors are Jane Poe and John Roe. The supplier delivers steel.", True),
        ("How many people does the company employ?", "The customer employs 3,000 people in Texas.", False),
        ("Wer ist der Geschäftsführer?", "Der Geschäftsführer des Lieferanten ist Herr Kurz.", False),
        ("Où se trouve le siège social ?", "Le siège social du bailleur est situé à Lyon.", False),
        ("Who is the owner of the building?", "The landlord is the owner of the building at 4 High Street.", True),
        ("Where is the headquarters?", "Headquarters\tColumbus, Ohio", True),
        ("Tell me about Project Falcon", "Project Falcon is a merger of two banks.", True),
        ("How much did Alder pay for Birch?", "Alder paid EUR 5 million for Birch in 2022.", True),
        ("Who runs Alder?", "Alder is run by Jane Berg.", True),
        ("What was total revenue?", "Customer contracts generated total revenue of EUR 5 million.", True),
        ("What is the revenue?", "Strong customer demand lifted revenue to EUR 5 million.", True),
        ("What is the revenue?", "Revenue of the customer segment was EUR 5 million.", True),
        ("How many employees are there?", "Customer support and sales employees number 120.", True),
        ("Who are the directors?", "The directors of the Bank are Jane Poe and John Roe.", True),
        ("Who are the directors?", "The directors of Acme's supplier Beta are Jane Poe and John Roe.", False),
        ("When was the company founded?", "Our customer Acme was founded in 1921.", False),
        ("How many employees are there?", "The number of employees of the buyer's subsidiary is 50.", False),
    ],
)
def test_what_is_said_of_a_supplier_is_not_said_of_the_company(question: str, text: str, is_answered: bool) -> None:
    shown = best_sentences(question, [Source(1, "contract.txt", None, text)])
    assert bool(shown) == is_answered
