"""How much of a question a sentence speaks to: what is asked for counts, whose it is hardly; the year has to fit."""

from tasks.ranking.coverage import LEAST, asks_count, asks_number, gives_number, measure_coverage
from tests.cases import cases


@cases(
    ("question", "sentence"),
    [
        ("How is the licence fee paid?", "The licence fee is due in May."),
        ("Wie hoch ist die vereinbarte Miete?", "Die Miete beträgt 900 EUR."),
        ("Welche Kündigungsfrist gilt?", "Die Kündigungsfristen betragen drei Monate."),
        ("What was revenue in 2022?", "Revenue was EUR 5 million in FY22."),
        ("What was revenue from 2020 to 2022?", "Revenue was EUR 5 million in 2022."),
        ("Who is the auditor of the company?", "The auditor is Beta LLP."),
        ("How many employees does the company have?", "We have 300 employees."),
        ("What are the 12,500 shares worth?", "The 12500 shares are worth EUR 3 each."),
        ("Who founded Oka Labs?", "Oka Labs was founded by Ann Lee."),
        ("How must the fee be invoiced?", "The fee is due in May."),
        ("Who is the gérant?", "The gerant is Ann Lee."),
        ("What are the closing terms?", "The closing terms are met."),
        ("What is plan B?", "The plan is ready."),
        ("What does the lease cost?", "All leases cost EUR 5."),
        ("What is it?", "Nothing is asked for."),
    ],
)
def test_what_speaks_to_a_question_covers_it(question: str, sentence: str) -> None:
    assert measure_coverage(question, [sentence])[0] > LEAST + 0.05


@cases(
    ("question", "sentence"),
    [
        ("When must the licence fee be paid?", "Rent is paid in May."),
        ("Wie hoch ist die vereinbarte Miete?", "Es gilt die vereinbarte Frist."),
        ("What was revenue in 2022?", "Revenue was EUR 5 million in 2023."),
        ("Who is the chief executive?", "The customer's chief executive is Ann Lee."),
        ("How many employees does the company have?", "Our supplier has 300 employees."),
        ("Who owns the IP of Oka Labs?", "Oka Labs is a laboratory in Ghent."),
        ("Who owns the IP of Oka Labs?", "The IP belongs to the founders."),
        ("Does Acme pay a dividend?", "Acme paid rent."),
        ("What does the lease cost?", "That is the least of it."),
        ("Wie muss die Miete gezahlt werden?", "Gezahlt wird im Mai."),
    ],
)
def test_what_speaks_of_something_else_covers_little_of_a_question(question: str, sentence: str) -> None:
    assert measure_coverage(question, [sentence])[0] < LEAST - 0.05


def test_a_sentence_is_read_with_those_beside_it_and_the_companys_name_need_not_be_there() -> None:
    far, near, last = measure_coverage("Who audits the rent of Acme?", ["Filler.", "Beta audits it.", "Rent."], "Acme")
    assert (far, near, last) == (far, 1.0, 1.0)
    assert far < 1
    assert measure_coverage("Who audits Acme?", ["Beta audits the accounts."], "Acme") == [1.0]


def test_a_question_of_more_words_than_one_sentence_can_have_is_a_task() -> None:
    task = " ".join(f"word{'abcdefghij'[at % 10]}{'klmn'[at // 10]}" for at in range(31))
    assert measure_coverage(task, ["Nothing of that."]) == [1.0]
    assert measure_coverage(task[: task.rindex(" ")], ["Nothing of that."]) == [0.0]


def test_what_documents_call_a_thing_counts_where_it_is_likeliest() -> None:
    said = ["A merger or consolidation needs the consent of the bank."]
    assert measure_coverage("Is there a change of control clause?", said)[0] < LEAST / 2
    assert measure_coverage("Is there a change of control clause?", said, likeliest=[0])[0] > LEAST
    assert measure_coverage("Is there a zeal clause?", said, likeliest=[0]) == [0.0]


@cases(
    ("question", "is_counted", "is_measured"),
    [
        ("How many people work here?", True, True),
        ("How much notice is needed?", False, False),
        ("How long is the term?", False, True),
        ("Who is the auditor?", False, False),
    ],
)
def test_some_questions_ask_for_a_number(question: str, is_counted: bool, is_measured: bool) -> None:
    assert (asks_count(question), asks_number(question)) == (is_counted, is_measured)


@cases(
    ("sentence", "question", "is_given"),
    [
        ("There are 40 employees.", "How many employees are there?", True),
        ("Forty employees work here.", "How many employees are there?", True),
        ("Several floors are let.", "How many employees are there?", False),
        ("There are employees.", "How many employees are there?", False),
        ("There is no pension plan.", "How many pension plans are there?", True),
        ("The rent is $5.", "How much is the rent?", True),
        ("The rent is high.", "How much is the rent?", False),
        ("2. The rent is high.", "How much is the rent?", False),
        ("In 2022 there were employees.", "How many employees were there in 2022?", False),
    ],
)
def test_a_number_of_its_own_answers_how_many(sentence: str, question: str, is_given: bool) -> None:
    assert gives_number([sentence], question) is is_given
