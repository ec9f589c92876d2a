"""Facts that contracts state by one value, and a memo in other words."""

from pathlib import Path

import pytest

from storage import database, texts
from storage.texts import NewText, Outcome
from tasks.figures.ledger import LedgerText
from tasks.memo.check import MemoVerdict, check_memo
from tasks.memo.claims import MemoTexts

SERVICES = """SERVICES AGREEMENT

This Services Agreement is entered into as of March 1, 2024, by and between Oakfield Ltd ("Provider") and Marlin plc
("Customer").

1. Customer shall pay each invoice within 30 days of receipt. Provider shall pay its subcontractors within 14 days of
their invoices.

2. Provider's aggregate liability shall not exceed EUR 500,000. Customer's aggregate liability shall not exceed EUR
250,000.

3. Provider shall notify Customer of any personal data breach within twenty-four (24) hours. Provider gives a warranty
of 12 months on the deliverables. The warranty on hardware is 24 months.

4. The parties discussed a royalty of 7% of net sales, but no royalty is payable.
"""
SUPPLY = """# Supply Agreement

This Agreement is entered into by and between:

- **Birchwood GmbH**, a company registered in Germany, hereinafter referred to as **"Supplier"**.
- **Marlin plc**, a company registered in England, hereinafter referred to as **"Buyer"**.

1. Buyer shall pay all invoices within 60 days of the invoice date. Overdue amounts bear interest at 8% per annum.

2. Buyer shall pay Supplier a royalty of 4% of net sales. Buyer pays Supplier a monthly storage fee of EUR 2,500.

3. The liability of Supplier shall not exceed EUR 1,000,000, unless it acted with gross negligence.
"""
STATED = {
    MemoVerdict.SUPPORTED: (
        "Marlin must pay Birchwood's invoices within 60 days.",
        "Under the supply agreement late payments carry interest of 8% a year.",
        "Marlin owes Birchwood a royalty of four percent of net sales.",
        "Birchwood receives a monthly storage fee of EUR 2,500.",
        "Oakfield has to tell Marlin of a data breach within 24 hours.",
    ),
    MemoVerdict.CONTRADICTED: (
        "Marlin must pay Birchwood's invoices within 90 days.",
        "Marlin owes Birchwood a royalty of five percent of net sales.",
        "Oakfield has to tell Marlin of a data breach within 48 hours.",
    ),
    MemoVerdict.NOT_FOUND: (
        "Birchwood must pay Marlin's invoices within 60 days.",
        "Marlin must pay Birchwood's invoices within 60 business days.",
        "Marlin expects to pay Birchwood's invoices within 60 days.",
        "Most of Birchwood's invoices are payable within 60 days.",
        "Oakfield must pay Marlin's invoices within 14 days.",
        "Invoices are payable within 45 days.",
        "Under the supply agreement late payments carry interest of 8% a month.",
        "Birchwood pays Marlin a royalty of 4% of net sales.",
        "Marlin receives a royalty of 4% of net sales.",
        "Marlin pays Oakfield a royalty of 7% of net sales.",
        "Marlin pays Birchwood a monthly transport fee of EUR 2,500.",
        "Birchwood's liability is capped at EUR 1,000,000.",
        "Marlin's liability under the services agreement is capped at EUR 500,000.",
        "Marlin has to tell Oakfield of a data breach within 24 hours.",
        "Oakfield has to tell Marlin of a data breach within 24 days.",
        "Oakfield gives a warranty of 24 months on the deliverables.",
    ),
}


@pytest.mark.parametrize("verdict", STATED)
def test_one_value_of_a_contract_may_be_told_in_other_words(home: Path, verdict: MemoVerdict) -> None:
    room = []
    with database.writing() as session:
        for name, text in (("Services", SERVICES), ("Supply", SUPPLY)):
            new = NewText(content_hash=name, reader="test", outcome=Outcome.READ, text=text, characters=len(text))
            room.append(LedgerText(texts.save_text(session, new).id, name, f"{name}.txt"))
    checked = check_memo("\n\n".join(STATED[verdict]), [], "memo.txt", MemoTexts(room, "Acme"))
    assert {one.statement.text: one.verdict for one in checked} == dict.fromkeys(STATED[verdict], verdict)
