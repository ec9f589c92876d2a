"""Terms of contracts that a memo states, held against what the room's contracts state."""

from pathlib import Path

import pytest

from storage import database, texts
from storage.texts import NewText, Outcome
from tasks.figures.ledger import LedgerText
from tasks.memo.check import MemoVerdict, check_memo
from tasks.memo.claims import MemoTexts

SUPPLY = """SUPPLY AGREEMENT

This Supply Agreement is made on 3 March 2023 between Alder Steel GmbH ("Supplier") and Birch Motors plc ("Customer").

1. This Agreement shall continue until 31 December 2026.

2. Supplier may terminate this Agreement at any time by giving Customer six months' written notice.

3. This Agreement is governed by English law.
"""
LEASE = """OFFICE LEASE AGREEMENT

This Office Lease Agreement is entered into as of October 1, 2024, by and between APEX REALTY LLC ("Landlord") and NEXUS
DIGITAL INC. ("Tenant").

1. The initial term is thirty-six (36) months commencing November 1, 2024.

2. Tenant shall pay base monthly rent of $12,500.00. Tenant shall not assign or transfer this Lease.
"""

STATED = {
    MemoVerdict.SUPPORTED: (
        "The contract with Alder Steel is governed by the laws of England.",
        "The supplier may terminate the supply agreement on six months' notice.",
        "The lease was signed on 1 October 2024.",
        "The lease expires on 31 October 2027.",
        "The initial term of the lease is three years.",
        "The monthly rent is $12,500.",
        "The tenant may not assign the lease.",
        "The office lease agreement remains in force for three years.",
        "The contract with Alder Steel is governed by the law of the Kingdom of England.",
    ),
    MemoVerdict.CONTRADICTED: (
        "The office lease agreement remains in effect for five years.",
        "The contract with Alder Steel is governed by German law.",
        "The contract with Alder Steel is not governed by English law.",
        "The supplier may terminate the supply agreement on three months' notice.",
        "The lease expires on 31 October 2029.",
        "The monthly rent is $15,200.",
    ),
    MemoVerdict.NOT_FOUND: (
        "The lease was signed on 1 October 2023.",
        "The contract with Alder Steel is governed by the laws of the United Kingdom.",
        "The licence agreement is governed by German law.",
        "The customer may terminate the supply agreement on six months' notice.",
        "The amendment was signed on 3 May 2023.",
        "The annual rent is $12,500.",
        "The base rent is $150,000.",
        "The supplier may terminate the supply agreement on 90 days' notice.",
        "The landlord may not assign the lease.",
        "The office lease agreement remains in effect for at least one year.",
        "The office lease agreement continues for 12 months after notice of termination.",
        "The confidentiality under the office lease agreement lasts for five years.",
    ),
}


def test_a_term_is_held_against_the_one_contract_that_a_statement_can_mean(home: Path) -> None:
    listed = []
    with database.writing() as session:
        for name, text in (("Supply.txt", SUPPLY), ("Lease.txt", LEASE)):
            new = NewText(content_hash=name, reader="test", outcome=Outcome.READ, text=text, characters=len(text))
            listed.append(LedgerText(texts.save_text(session, new).id, name, name))
    room = MemoTexts(listed, "Acme")
    for verdict, statements in STATED.items():
        checked = check_memo("\n\n".join(statements), [], "memo.txt", room)
        assert {one.statement.text: one.verdict for one in checked} == dict.fromkeys(statements, verdict)


SUPPLIES = """SUPPLY AGREEMENT

This Supply Agreement (this "Agreement") is made on 9 June 2022 between Cedar Rubber SA ("Supplier") and Birch Motors
plc ("Customer").

1. This Agreement shall continue for an initial term of two (2) years.

2. Customer shall pay Supplier a monthly fee of EUR 12,000. Customer may not terminate this Agreement for convenience.

3. Except for breach of confidentiality, Supplier's total liability shall not exceed EUR 2,000,000.

4. EACH PARTY SHALL INSURE ITS OWN TOOLS AGAINST FIRE AND THEFT.
"""
LOAN = """LOAN AGREEMENT

This Loan Agreement is dated 5 May 2023 between Ivy Bank AG (the "Lender") and Juniper Energy GmbH (the "Borrower").

1. The Borrower shall indemnify the Lender against claims of third parties. This Agreement is governed by Swiss law.
"""
RESELLER = """RESELLER AGREEMENT

This Agreement is made on 1 May 2023 between Gum Software Inc. ("Vendor") and Hazel Systems LLC ("Reseller").

1. This Agreement shall continue for an initial term of two (2) years. Vendor shall pay Reseller a commission of 12%.
"""
SERVICES = """SERVICES AGREEMENT

This Agreement is made on 1 May 2023 between Palm Labs Inc. ("Provider") and Elm Stores LLC ("Client").

1. This Agreement is governed by English law. Provider may terminate this Agreement on 30 days' notice.
"""
EMPLOYMENT = """EMPLOYMENT CONTRACT

This Employment Contract is made on 2 May 2023 between Gum Software Inc. ("Company") and Jane Hall ("Employee").

1. The Company shall pay the Employee an annual base salary of EUR 185,000. This Contract is governed by Dutch law.
"""
AMENDMENT = """FIRST AMENDMENT TO RESELLER AGREEMENT

This Amendment is made on 2 April 2024 between Gum Software Inc. ("Vendor") and Hazel Systems LLC ("Reseller").

1. The initial term of the Reseller Agreement is five (5) years.
"""
PURCHASE = """PURCHASE AGREEMENT

This Agreement is made on 1 May 2023 between Maple Gas Inc. ("Supplier") and Lily Shops LLC ("Buyer").

1. Buyer may terminate this Agreement for convenience on 15 days' notice.
"""
RETOLD = {
    MemoVerdict.SUPPORTED: (
        "Birch Motors pays Cedar Rubber a monthly fee of EUR 12,000.",
        "Jane Hall receives an annual base salary of EUR 185,000.",
        "Under the agreement with Cedar Rubber each party must insure its own tools against fire and theft.",
        "Juniper Energy must indemnify Ivy Bank against claims of third parties.",
        "The supplier may terminate the agreement with Alder Steel on six months' notice.",
        "Lily Shops may terminate the Maple Gas agreement on 15 days' notice.",
    ),
    MemoVerdict.CONTRADICTED: (
        "Birch Motors pays Cedar Rubber a monthly fee of EUR 21,000.",
        "The supply agreement with Cedar Rubber has an initial term of three years.",
    ),
    MemoVerdict.NOT_FOUND: (
        "Birch Motors pays Alder Steel a monthly fee of EUR 12,000.",
        "Elm Stores may terminate the services agreement on 30 days' notice.",
        "Lily Shops must terminate the Maple Gas agreement on 15 days' notice.",
        "Lily Shops may terminate the Maple Gas agreement on 15 days' written notice.",
        "Cedar Rubber pays Birch Motors a monthly fee of EUR 12,000.",
        "Ivy Bank must indemnify Juniper Energy against claims of third parties.",
        "Birch Motors may terminate the Cedar Rubber agreement for convenience.",
        "The lease is governed by Swiss law.",
        "Jane Hall pays an annual base salary of EUR 185,000.",
        "Cedar Rubber's total liability shall not exceed EUR 2,000,000.",
        "The supply agreement has an initial term of two years.",
        "The supply agreement with Oak Glass is governed by English law.",
        "The agreement is governed by English law.",
        "The reseller agreement has an initial term of two years.",
        "The reseller agreement was made on 1 May 2023.",
        "The reseller agreement has an initial term of five years.",
        "The loan agreement with Juniper Energy is governed by Swiss and German law.",
    ),
}


def test_a_statement_is_held_against_the_contract_that_it_names_in_that_contract_s_own_words(home: Path) -> None:
    room = []
    contracts = {"Alder": SUPPLY, "Cedar": SUPPLIES, "Loan": LOAN, "Jane": EMPLOYMENT}
    contracts |= {"Reseller": RESELLER, "Amendment": AMENDMENT, "Services": SERVICES, "Gas": PURCHASE}
    with database.writing() as session:
        for name, text in contracts.items():
            new = NewText(content_hash=name, reader="test", outcome=Outcome.READ, text=text, characters=len(text))
            room.append(LedgerText(texts.save_text(session, new).id, name, f"{name}.txt"))
    for verdict, statements in RETOLD.items():
        checked = check_memo("\n\n".join(statements), [], "memo.txt", MemoTexts(room, "Acme"))
        assert {one.statement.text: one.verdict for one in checked} == dict.fromkeys(statements, verdict)
        assert all("No sentence of the room says it" not in one.why for one in checked)


HOSTING = """MASTER SERVICES AGREEMENT

This Master Services Agreement is entered into as of March 1, 2024 (the "Effective Date") by and between
Elder Cloud Inc. (**"Elder"**, the **"Provider"**, together with the "Customer" the "Parties"), and Tulip Retail LLC
("Customer").

1. This Agreement shall continue in effect until February 28, 2027, unless earlier terminated.

2. Customer may terminate this Agreement for convenience, without cause, upon sixty (60) days' prior written notice to
Provider. Provider may terminate this Agreement upon one hundred twenty (120) days' prior written notice.

3. This Agreement is governed by the laws of the State of Delaware. Customer has its seat in Ohio. During the term of
this Agreement, Provider shall insure the servers. Customer hereby waives its deposit.
"""
HIRING = """MIETVERTRAG

zwischen Nelke Immobilien GmbH – nachfolgend „Vermieter“ genannt –
und Tulpe Handel GmbH – nachfolgend „Mieter“ genannt –

1. Es gilt ausschließlich das Recht der Bundesrepublik Deutschland.

2. Die Laufzeit beträgt 3 Jahre. Die Laufzeit der Garantie beträgt 2 Jahre. Der Mieter kauft eine Küche.

3. Der Mieter kann den Vertrag mit einer Frist von 3 Monaten kündigen. Der Vertrag verlängert sich um ein Jahr.
"""
NAMED = {
    MemoVerdict.SUPPORTED: (
        "The MSA with Elder Cloud runs from 1 March 2024 to 28 February 2027.",
        "Tulip Retail may terminate the MSA on 60 days' notice.",
        "Tulip Retail may terminate the MSA on 60 days' prior written notice.",
        "The MSA may be terminated by Elder Cloud on 120 days' notice.",
        "Elder Cloud must insure the servers.",
        "Tulip Retail hereby waives its deposit.",
        "The Elder Cloud MSA is governed by Delaware law and ends on 28 February 2027.",
        "Der Mietvertrag mit Tulpe Handel unterliegt deutschem Recht.",
        "Die Laufzeit des Mietvertrags beträgt 3 Jahre.",
    ),
    MemoVerdict.CONTRADICTED: (
        "The Elder Cloud MSA runs until 28 March 2027.",
        "The Elder Cloud MSA is governed by Ohio law.",
        "The Elder Cloud MSA is governed by Delaware law and ends on 28 January 2027.",
        "Der Mietvertrag mit Tulpe Handel unterliegt dem Recht von Texas.",
    ),
    MemoVerdict.NOT_FOUND: (
        "The MSA may be terminated by Elder Cloud on 60 days' notice.",
        "Tulip Retail may not terminate the MSA.",
        "The warranty under the Elder Cloud MSA runs until 28 February 2027.",
        "The Elder Cloud MSA's warranty is limited and runs until 28 February 2027.",
        "The renewal term of the Elder Cloud MSA ends on 28 February 2027.",
        "The price of the Elder Cloud MSA remains in effect until 28 February 2027.",
        "The notice period of the Elder Cloud MSA ends on 28 February 2027.",
        "The notice under the Elder Cloud MSA ends on 28 February 2027.",
        "The last date to terminate the Elder Cloud MSA is given until 28 February 2027.",
        "The Elder Cloud MSA may end on 28 February 2027.",
        "Der Vermieter kann den Mietvertrag mit einer Frist von 3 Monaten kündigen.",
        "Nelke Immobilien kann den Mietvertrag mit einer Frist von 3 Monaten kündigen.",
        "Die Laufzeit des Mietvertrags beträgt 2 Jahre.",
        "Die Laufzeit des Darlehens beträgt 2 Jahre.",
    ),
}


@pytest.mark.parametrize("verdict", NAMED)
def test_a_contract_is_known_by_its_initials_its_parties_and_in_german(home: Path, verdict: MemoVerdict) -> None:
    room = []
    with database.writing() as session:
        for name, text in (("Hosting", HOSTING), ("Miete", HIRING)):
            new = NewText(content_hash=name, reader="test", outcome=Outcome.READ, text=text, characters=len(text))
            room.append(LedgerText(texts.save_text(session, new).id, name, f"{name}.txt"))
    checked = check_memo("\n\n".join(NAMED[verdict]), [], "memo.txt", MemoTexts(room, "Acme"))
    assert {one.statement.text: one.verdict for one in checked} == dict.fromkeys(NAMED[verdict], verdict)


@pytest.mark.parametrize(
    ("option", "verdict"),
    [
        ("", MemoVerdict.CONTRADICTED),
        (" The Tenant has an option to extend it by two years.", MemoVerdict.NOT_FOUND),
    ],
)
def test_a_term_that_may_be_extended_may_be_longer(home: Path, option: str, verdict: MemoVerdict) -> None:
    text = LEASE.replace("2024.\n\n2.", f"2024.{option}\n\n2.")
    with database.writing() as session:
        new = NewText(content_hash="a", reader="test", outcome=Outcome.READ, text=text, characters=len(text))
        room = MemoTexts([LedgerText(texts.save_text(session, new).id, "a", "Lease.txt")], "Acme")
    statements = (
        "The office lease agreement remains in effect for five years.",
        "The initial term of the lease is five years.",
    )
    held = [one.verdict for one in check_memo("\n\n".join(statements), [], "memo.txt", room)]
    assert held == [verdict, MemoVerdict.CONTRADICTED]
