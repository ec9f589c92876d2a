"""The vocabulary of contracts: what people ask for finds the clause, though the clause says it in other words.

The files of the vocabulary, and what they may hold.
"""

import re
import tomllib
from collections import Counter
from importlib import resources

import pytest

from tasks.language.words import tokens
from tasks.ranking import rank
from tasks.ranking.query import FIELDS, entries, parse, phrase, shares
from tests.cases import cases

FILE = resources.files("tasks.ranking") / "vocabulary" / "contracts.toml"
ENTRIES = parse(FILE.read_text("utf-8"), "contracts")

# Of one contract each clause that it might have, none of them with its heading.
CLAUSES = {
    "law": "The validity and performance hereof shall be governed by and construed in accordance with the laws of "
    "the State of Delaware, without regard to its conflicts of law principles.",
    "courts": "Each of the undersigned irrevocably submits to the courts sitting in the Borough of Manhattan and "
    "waives any objection that such a forum is inconvenient.",
    "arbitrators": "Any controversy shall be finally settled under the rules of the International Chamber of "
    "Commerce by a panel of three, and judgment upon the award may be entered anywhere.",
    "price": "Should Supplier sell the Goods to any other customer at a lower price, Buyer shall have the benefit of "
    "such more favorable terms from that day on.",
    "rivals": "For two years neither Founder shall, directly or indirectly, own, manage, operate or be engaged in "
    "any business that competes with the Business within the Restricted Territory.",
    "staff": "During the Term and for twelve months thereafter, Recipient shall not recruit, or offer employment to, "
    "any person employed by Discloser, or induce such person to leave.",
    "merger": "If more than fifty percent of the voting stock of Licensee is acquired, or Licensee sells all or "
    "substantially all of its assets, Licensor may end this licence within ninety days.",
    "transfer": "Neither party may assign, delegate or otherwise dispose of its rights hereunder without the prior "
    "written consent of the other, and any purported assignment shall be null and void.",
    "books": "Licensee shall keep complete books, and an independent certified public accountant may examine them "
    "during normal business hours upon ten days' notice.",
    "source": "Vendor shall deposit the source code with the Escrow Agent, who shall release the deposit materials "
    "to Customer should Vendor cease to support the Software.",
    "ceiling": "In no event shall the aggregate liability of Provider exceed the amounts paid to it in the twelve "
    "months before the claim, and neither party is liable for indirect or consequential damages.",
    "no promise": "The Deliverables come as they are, and Provider makes no warranties, express or implied, of "
    "merchantability or fitness for a particular purpose.",
    "free end": "Customer may end this arrangement at any time, for any reason or no reason, upon sixty days' prior "
    "written notice.",
    "evergreen": "Thereafter it shall be automatically extended for successive periods of one year, unless either "
    "party says otherwise at least ninety days before the end of the then current period.",
    "make": "All writings, code and designs that Contractor conceives shall be works made for hire, and Contractor "
    "hereby assigns to Company all right, title and interest in them.",
    "floor": "In each Contract Year Distributor shall purchase a minimum of 5,000 Units, and shall pay for any "
    "shortfall.",
    "share": "Publisher shall pay to Author ten percent of net receipts from each copy sold, within thirty days "
    "after each quarter.",
    "storm": "No party answers for delay caused by acts of God, strikes, fire, flood, war or any event beyond its "
    "reasonable control.",
    "cover": "Contractor shall carry commercial general liability coverage of at least 2,000,000 USD for each "
    "occurrence and name Owner as an additional insured.",
    "papers": "At the request of Discloser, Recipient shall promptly destroy or give back all materials and certify "
    "in writing that no copies are kept.",
    "subpoena": "Where a court or an authority compels Recipient to disclose, it shall give prompt notice so that "
    "Discloser may seek a protective order.",
    "reputation": "Executive shall make no defamatory or derogatory statements about the Company or its officers.",
    "harmless": "Seller shall defend, indemnify and hold Buyer harmless from and against all losses, claims and "
    "expenses that arise out of a breach.",
    "fixed sum": "For each day of delay Builder shall pay 1,000 USD, which the parties agree is a reasonable "
    "estimate of the loss and not a penalty.",
    "first": "Before a Shareholder accepts a bona fide offer from a third party, it shall offer the Shares to the "
    "others on the same terms and conditions.",
}

ASKED = {
    "Which country's or state's legislation is the applicable law?": "law",
    "Forum and venue for litigation": "courts",
    "Is there an arbitration clause?": "arbitrators",
    "Most favoured nation": "price",
    "Are there any non-compete covenants?": "rivals",
    "No-solicit of employees": "staff",
    "What happens upon a change of control?": "merger",
    "Anti-assignment": "transfer",
    "Does anyone have audit rights?": "books",
    "Source code escrow": "source",
    "Is there a liability cap?": "ceiling",
    "Can it be terminated for convenience, that is termination without cause?": "free end",
    '"as-is" clause': "no promise",
    "Renewal term, in particular automatic renewal": "evergreen",
    "Who gets ownership of intellectual property?": "make",
    "Minimum commitment": "floor",
    "Revenue or profit sharing": "share",
    "Force majeure": "storm",
    "Insurance requirements": "cover",
    "Return of confidential information": "papers",
    "Compelled disclosure": "subpoena",
    "Non-disparagement": "reputation",
    "Indemnification": "harmless",
    "Liquidated damages": "fixed sum",
    "ROFR / ROFO / ROFN": "first",
}


def test_the_file_holds_many_clauses_each_with_several_wordings() -> None:
    assert len(ENTRIES) > 150
    assert not [entry.name for entry in ENTRIES if not entry.asks or len(entry.says) < 2]


def test_no_two_entries_are_named_by_the_same_question_alone() -> None:
    shared = Counter(phrase for entry in ENTRIES for phrase in entry.asks)
    assert not [phrase for phrase, often in shared.items() if often > 2]


def test_no_phrase_is_written_twice_in_an_entry() -> None:
    written = tomllib.loads(FILE.read_text("utf-8"))
    for name, table in written.items():
        for key in ("asks", "says"):
            assert len(set(table[key])) == len(table[key]), f"{name}: {key}"


def test_no_wording_is_one_common_word() -> None:
    known = shares()
    common = {
        (entry.name, phrase[0])
        for entry in ENTRIES
        for phrase in entry.says
        if len(phrase) == 1 and known.get(phrase[0], 0) > 0.05
    }
    assert not common


@cases(("question", "clause"), ASKED.items())
def test_a_question_finds_its_clause(question: str, clause: str) -> None:
    names = list(CLAUSES)
    ranked = rank(list(CLAUSES.values()), question, len(CLAUSES))
    assert ranked, question
    assert names[ranked[0][0]] == clause


@cases(("question", "clause"), ASKED.items())
def test_a_contract_without_the_clause_scores_lower(question: str, clause: str) -> None:
    ((_, whole),) = rank(list(CLAUSES.values()), question, 1)
    without = rank([text for name, text in CLAUSES.items() if name != clause], question, 1)
    assert not without or without[0][1] < whole


def test_the_clause_seldom_says_what_the_question_says() -> None:
    """Else the questions above would be answered without a vocabulary."""
    alike = [clause for question, clause in ASKED.items() if set(tokens(question)) & set(tokens(CLAUSES[clause]))]
    assert len(alike) < len(ASKED) / 2


def test_the_vocabulary_is_broad() -> None:
    assert sum(entry.field == "finance" for entry in entries()) >= 150
    assert {entry.field for entry in entries()} == set(FIELDS)


def test_an_entry_is_read() -> None:
    (entry,) = parse(
        '[capex]\nasks = ["capex"]\nsays = ["purchases of property"]\nstands = "cash flow"\nweight = 0.5', "finance"
    )
    assert (entry.name, entry.field, entry.stands, entry.weight) == ("capex", "finance", "cash flow", 0.5)
    assert entry.asks == (("capex",),)
    assert entry.says == (tuple(tokens("purchases property")),)


def test_any_number_can_be_part_of_a_phrase() -> None:
    assert phrase("# full-time employees") == ("#", *tokens("full-time employees"))


@cases(
    "text",
    [
        '[a]\nasks = ["x"]',
        '[a]\nasks = ["x"]\nsays = ["y"]\nother = 1',
        '[a]\nasks = ["the of"]\nsays = ["y"]',
        '[a]\nasks = ["x"]\nsays = ["y"]\nstands = "moon"',
        '[a]\nasks = ["x"]\nsays = ["y"]\nweight = 0',
        '[a]\nasks = ["x"]\nsays = ["y"]\nweight = "much"',
        "a = 1",
        '[a]\nasks = ["x"]\nsays = ["y"]\n[a]\nasks = ["x"]\nsays = ["y"]',
    ],
)
def test_what_is_no_vocabulary_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"vocabulary|declare"):
        parse(text, "finance")


def test_no_entry_on_finance_holds_a_year() -> None:
    text = (resources.files("tasks.ranking") / "vocabulary" / "finance.toml").read_text("utf-8")
    assert not re.search(r'"[^"]*\b(?:19|20)\d\d\b[^"]*"', text)


def test_shares_are_shares() -> None:
    assert len(shares()) > 1000
    assert all(0 < share <= 1 for share in shares().values())
    assert shares()["agreement"] > shares()["patent"]
