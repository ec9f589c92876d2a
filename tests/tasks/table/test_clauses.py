"""What contracts state in ordinary form, and that silence stays silence."""
# ruff: noqa: E501 - a case is a line

from tasks.table.clauses import FINDERS
from tasks.table.columns import Contract
from tests.cases import cases

OPENING = (
    'THIS SERVICES AGREEMENT (the "Agreement") is made as of March 1, 2024 (the "Effective Date") by and between\n'
    'Brightwell Ltd., an English company with offices in Leeds ("Supplier"), and Koskinen Oy ("Customer").\n\n'
)
LONG = ", be it in writing, in person, by telephone, by electronic means" * 4
GERMAN = "Dieser Vertrag ist am 1. April 2024 geschlossen. "


GERMAN = """Der Arbeitnehmer wird als Leiter der Abteilung eingestellt und ist dem Vorstand unterstellt.
Das Bruttojahresgehalt beträgt 78.000 EUR und wird in zwölf Teilen am Ende des Monats gezahlt."""


HEAD = """Master Services Agreement
 Between: TechFusion Solutions Pvt. Ltd. ("Service Provider")
 And: GreenTech Pte. Ltd. ("Client")
 Effective Date: January 1, 2024
 Total contract value: ₹1,75,00,000 (inclusive of tax)
"""


@cases(
    ("finder", "text", "value"),
    [
        ("parties", OPENING, ["Brightwell Ltd.", "Koskinen Oy"]),
        ("parties", 'between Oak GmbH ("Oak") and Fir plc ("Fir").\n\n- Services by Elm Bank\n- Yew Center, the place of delivery\n', ["Oak GmbH", "Fir plc"]),
        ("parties", "zwischen Oak GmbH, Kiel,\n- Vermieter -\n\nund\n\nFir GmbH, Hull\n- Mieter -\n", ["Oak GmbH", "Fir GmbH"]),
        ("parties", 'This is between **Elm Cloud** ("Associate") and **Yew Hospital** ("Covered Entity").', ["Elm Cloud", "Yew Hospital"]),
        ("parties", "between Oak GmbH, 12 High Street - London, and Fir plc, of Hull.", ["Oak GmbH", "Fir plc"]),
        ("parties", "**Licensor:** Oak Ltd., a company of Kiel.\n**Licensee:** Fir Industries, a company of Hull.\n", ["Oak Ltd.", "Fir Industries"]),
        ("parties", "- Customer: Provides access to its systems\n- Supplier: Delivers the goods\n", None),
        ("parties", "Customer: the person who buys, as described\nSupplier: Beta Ltd, of Hull\nCompany: see above\n", None),
        *(("parties", f"BETWEEN:\n\nALPHA LIMITED\n\n- {word} -\n\nBETA LIMITED\n", ["ALPHA LIMITED", "BETA LIMITED"]) for word in ("and", "AND")),
        *(
            ("parties", f"between Alpha GmbH, {behind}, and Beta GmbH, of Kiel", ["Alpha GmbH", "Beta GmbH"])
            for behind in ("vertreten durch Herrn Müller, geb. Meier", "acting by its gen. Partner Gamma LP", "at Suite five. New York")
        ),
        ("parties", "The parties agree to cooperate between themselves and others.", None),
        ("agreement_date", OPENING, "2024-03-01"),
        ("agreement_date", "This Lease is entered into this 21st day of June, 1999, by the parties.", "1999-06-21"),
        ("agreement_date", "This Agreement is entered into as of this 20t h day of December 2018 by and between", "2018-12-20"),
        ("agreement_date", "THIS AGREEMENT is made THE 19  DAY OF MAY , 2010 between", "2010-05-19"),
        ("agreement_date", "This Agreement is made as of the first day of July, 2017.", "2017-07-01"),
        ("agreement_date", "This Agreement is made this twenty-first day of July, 2017.", "2017-07-21"),
        ("agreement_date", "This Agreement is made the twenty second day of May, 2018.", "2018-05-22"),
        ("agreement_date", "Lease\nBetween Alpha Ltd and Beta Ltd\n3 May 2024\n", "2024-05-03"),
        ("agreement_date", "Register of Deeds\nRecorded\nClerk: 0.00 11/18/2003 at 9:22 am\nFIFTH AMENDMENT", None),
        ("agreement_date", "03/25/2002 15:08 FAX\nLease", None),
        ("agreement_date", "Lease\nBetween Alpha Ltd and Beta Ltd\n3 May 2024 at 10:00", "2024-05-03"),
        ("agreement_date", "Vertrag\n3.5.2024, 10:00 Uhr\nzwischen", "2024-05-03"),
        ("agreement_date", "WHEREAS, the parties made that certain License Agreement dated May 5, 2001,", None),
        ("agreement_date", "Original Agreement Date: May 5, 2001\nAmendment No. 1 Effective Date: June 2, 2003", "2003-06-02"),
        ("agreement_date", "All terms of the Supply Agreement dated May 5, 2001 remain in force.", None),
        ("agreement_date", "This is the Services Agreement dated May 4, 2020 between A and B.", "2020-05-04"),
        ("agreement_date", "This is the second part of the Lease dated May 4, 2020.", None),
        ("agreement_date", "The undersigned hereby execute this agreement as of May 5, 2001.", "2001-05-05"),
        ("effective_date", OPENING, "2024-03-01"),
        ("parties", HEAD, ["TechFusion Solutions Pvt. Ltd.", "GreenTech Pte. Ltd."]),
        ("effective_date", HEAD, "2024-01-01"),
        ("effective_date", "The parties amend the licence of Alpha Ltd.\nIts Effective Date: January 1, 2020.\n", None),
        ("effective_date", "Lease" + "\nWords." * 1000 + "\nExhibit C: Privacy policy\nEffective Date: January 1, 2024", None),
        ("effective_date", "Amendment\nBetween A Ltd and B Ltd\nOriginal agreement\nEffective Date: May 1, 2020\n", None),
        ("effective_date", "Order\n" + HEAD.replace("Client", "the Client"), None),
        ("effective_date", HEAD.replace(" Effective", " under the Supply Agreement\n Effective"), None),
        ("effective_date", HEAD.replace("Master ", "").replace("1, 2024", "1, 2024 (Master Agreement)"), None),
        ("effective_date", "Confidentiality Policy\nEffective Date: 1 March 2020", None),
        ("price", "The total contract value is not EUR 5,000.", None),
        ("price", "Total contract value: between EUR 1,000 and EUR 2,000", None),
        ("price", "Total contract value: EUR 10 per unit", None),
        ("price", "Total contract value: EUR 1,000 to EUR 2,000", None),
        ("price", "Total contract value: EUR 5,000 (budget)", None),
        ("price", "The fee set out below is EUR 700 per year.", {"value": "700", "unit": "EUR"}),
        ("price", "Contracts with a total contract value of EUR 100,000 or more need approval.", None),
        ("price", HEAD, {"value": "17500000", "unit": "INR"}),
        ("price", "Where the total contract value is above EUR 5,000 the board approves.", None),
        ("effective_date", "This Agreement shall become effective on 15 July 2023.", "2023-07-15"),
        ("expiry", OPENING + "This Agreement shall continue in force until December 31, 2026.", "2026-12-31"),
        ("expiry", OPENING + "The term of this Agreement shall commence on the Effective Date and continue for two (2) years.", "2026-03-01"),
        ("expiry", OPENING + "This Agreement shall continue for a term of three (3) years expiring May 31, 2026.", "2026-05-31"),
        ("expiry", OPENING + "The term of this Agreement shall be two years from May 1, 2024 to April 30, 2026.", "2026-04-30"),
        ("expiry", OPENING + "Customer may end this Agreement on or after the second anniversary of the Effective Date.", None),
        ("expiry", OPENING + "This Agreement survives for up to six (6) months from the effective date of termination.", None),
        ("expiry", "4.1 The agreement runs to 30 September 2027 and renews for two years at a time.", "2027-09-30"),
        ("expiry", OPENING + "This Agreement shall remain in effect until terminated by either party.", "perpetual"),
        ("expiry", OPENING + "Each party shall keep records during the term and for a period of three years thereafter.", None),
        ("expiry", OPENING + "This Agreement ends on the later of two years from the date hereof and completion.", None),
        ("liability_cap", "In no event shall this indemnity exceed the liability insurance that it carries.", None),
        ("renewal", "It shall automatically renew for successive one (1) year terms.", "P1Y"),
        ("renewal", "This Agreement shall not be automatically renewed for one year.", None),
        ("renewal", "The term may be extended for one (1) year upon the mutual written agreement of the parties.", None),
        ("governing_law", "This Agreement is governed by the laws of the United States and the State of Florida.", "Florida"),
        ("governing_law", "This Note is governed by the laws of the State of [Delaware / California, confirm].", None),
        ("governing_law", "This Agreement is governed by the laws of the State of ________.", None),
        ("governing_law", "Der Vertrag mit Alpha unterliegt dem Recht von Texas.", "Texas"),
        ("governing_law", "Es gilt das Recht des Bundesstaates New York.", "New York"),
        ("governing_law", "Es gilt das Recht der Schweiz.", "Switzerland"),
        (
            "governing_law",
            "Der Hauptvertrag unterliegt dem Recht der Schweiz. Dieser Vertrag unterliegt österreichischem Recht.",
            "Austria",
        ),
        ("governing_law", "Es gilt das Recht von Gläubigern auf Auskunft.", None),
        ("governing_law", "Es gilt das Recht der Vereinigten Arabischen Emirate.", None),
        ("governing_law", "Für die Lizenz gilt das Recht der Schweiz.", None),
        ("governing_law", "Für die Garantie gilt französisches Recht. Im Übrigen gilt deutsches Recht.", "Germany"),
        ("governing_law", "Wenn der Käufer in Wien sitzt, gilt österreichisches Recht.", None),
        ("governing_law", "Der Vertrag unterliegt deutschem Recht nicht.", None),
        ("term", "Die Laufzeit dieses Vertrags beträgt 12 Monate.", "P12M"),
        ("term", "Die Laufzeit des Darlehensvertrages beträgt 5 Jahre.", None),
        ("term", "Die Laufzeit beträgt nicht mehr als 3 Jahre.", None),
        ("governing_law", "Alpha is a corporation subject to the laws of the United States of America.", None),
        ("renewal", "It automatically renews for one (1) year terms unless ended by mutual written agreement.", "P1Y"),
        ("renewal", "It shall renew for one (1) year at fees that the parties negotiate in good faith.", "P1Y"),
        ("expiry", OPENING + "This Agreement runs from March 1 to March 31, 2024 as a trial and thereafter indefinitely.", "perpetual"),
        ("effective_date", "Payments of rent will begin on July 1, 2025.", None),
        *(
            ("governing_law", f"This Agreement is governed by the laws of the United States of America, and {behind}.", value)
            for behind, value in (
                ("the parties submit to the courts sitting in the State of New York", "United States of America"),
                ("any dispute shall be heard by the courts of the State of Delaware", "United States of America"),
                ("by the internal laws of the State of Ohio", "Ohio"),
            )
        ),
        ("parties", "by and between ALPHA LIMITED (“Alpha”) and ______________ (“Distributor”)", None),
        ("parties", "between **Alpha, Inc.**, an Ohio corporation (the “Company”), and **[CONTRACTOR_NAME]** (“Contractor”)", None),
        ("parties", "between **Alpha, Inc.** (the “Company”), and **Beta LLC** (“Contractor”)", ["Alpha, Inc.", "Beta LLC"]),
        ("notice", "It renews unless either party gives sixty (60) days prior written notice of non-renewal.", "P60D"),
        ("notice", "Either party may terminate this Agreement at any time upon 3 months' written notice.", "P3M"),
        ("notice", "In the event that either party wishes to terminate this Agreement, it gives 10 days' written notice.", "P10D"),
        ("notice", "It may be terminated by either party upon thirty (30) days written notice.", "P30D"),
        ("agreement_date", "THIS AGREEMENT, signed this 21st day of August, 2006, to be effective as of January 1, 2006, by", "2006-08-21"),
        ("agreement_date", "Exhibit 10\n\n3 December 2010\n\nDear Steve,\nYou join us on 5 May 2011.", "2010-12-03"),
        ("expiry", OPENING + "The term of this Agreement shall be five (5) years, six (6) weeks from the Effective Date.", None),
        ("renewal", "For each year thereafter the Licensee may renew such technical support on an annual basis.", None),
        ("liability_cap", "Supplier indemnifies Customer from liabilities, including, but not limited to, legal fees.", None),
        ("change_of_control", "Your Change in Control Agreement applies to the termination of your employment.", None),
        ("parties", 'by and between ALPHA LIMITED, a Dutch company ("ALPHA"), BETA, INC., a Delaware corporation ("BETA"), and GAMMA LLC ("GAMMA")',
         ["ALPHA LIMITED", "BETA, INC.", "GAMMA LLC"]),
        ("parties", 'by and between ALPHA B.V., a Dutch corporation ("ALPHA"), and L. WILLEM DE VRIES (the "EXECUTIVE")', ["ALPHA B.V.", "L. WILLEM DE VRIES"]),
        *(
            ("parties", f'by and between Alpha Inc. ("Seller"), {behind}, and Beta Inc. ("Buyer")', ["Alpha Inc.", "Beta Inc."])
            for behind in ("Delaware corporation", "New York", "Amtsgericht Berlin HRB 12")
        ),
        ("parties", 'between Alpha Corp. ("Client"), a firm, and Beta LLC ("Provider"), a firm under law. This is made with Latham & Watkins LLP.', ["Alpha Corp.", "Beta LLC"]),
        ("parties", 'between Alpha Inc. ("Seller"), of 5 Main St. Springfield, and Beta Inc. ("Buyer")', ["Alpha Inc.", "Beta Inc."]),
        ("notice", "This Agreement may be cancelled by either party upon ninety (90) days advance written notice.", "P90D"),
        ("notice", "Orders under this Agreement may be cancelled by either party on 5 days notice. This Agreement may be terminated by either party on 90 days written notice.", "P90D"),
        ("notice", "The insurance shall not be cancelled by either party without thirty (30) days prior notice.", None),
        ("parties", 'by and between 7-Eleven, Inc. ("Seller") and 3M Company ("Project Company")', ["7-Eleven, Inc.", "3M Company"]),
        ("parties", 'by and between 1-800-Flowers.com, Inc. ("Plan Sponsor") and Beta Inc. ("Merger Sub")', ["1-800-Flowers.com, Inc.", "Beta Inc."]),
        ("parties", 'by and between Alpha Inc. and Beta Inc. (the "Merger Agreement")', None),
        ("expiry", OPENING + "The term of this Agreement shall be three (3) years, 30 days before the end of which the parties meet.", "2027-03-01"),
        ("renewal", "This maintenance agreement shall automatically renew for successive one (1) year terms.", "P1Y"),
        ("renewal", "This Agreement includes maintenance and shall automatically renew for successive one (1) year terms.", "P1Y"),
        ("change_of_control", "Unless this Agreement has been terminated, a change of control of Supplier requires the consent of Customer.", True),
        ("change_of_control", "A change of control after which your employment is deemed to have been terminated is one of Supplier.", None),
        *(
            ("non_compete", f"The Supplier {words.format(LONG)}.", value)
            for words, value in (
                ("shall not disclose any information{}, and it may provide the same services to any person who may compete with the Customer", None),
                ("agrees to not withhold payment{}, and the Supplier is free to work for competitors of the Customer", None),
                ("shall not{} take part in a business that may compete with the Customer", True),
            )
        ),
        ("notice", "I solicit no customer served at any time within one year prior to the termination of my employment.", None),
        ("notice", "Either party may end it by notice within 30 days prior to the end of the term, at any time.", "P30D"),
        ("notice", "A party may terminate if a breach is not cured within thirty (30) days after notice.", None),
        ("governing_law", "This Agreement is governed by the laws of the State of New York, without regard to conflicts.", "New York"),
        ("governing_law", "THIS AGREEMENT SHALL BE GOVERNED BY THE LAWS OF THE STATE OF DELAWARE.", "Delaware"),
        ("governing_law", "This Agreement is governed by English law.", "England"),
        ("governing_law", "It shall be governed by and interpreted under Colorado and Federal Law.", "Colorado"),
        ("governing_law", "It is governed by Local and Federal Law.", None),
        ("governing_law", "The parties comply with the export laws of the United States.", None),
        ("assignment", "Neither party may assign this Agreement without the prior written consent of the other.", "consent"),
        ("assignment", "Neither Party may assign without prior written consent.", "consent"),
        ("assignment", "Under this Agreement A grants B a non-exclusive, non-assignable right to use it.", None),
        ("assignment", "Subcontractor shall not assign this Subcontract without prior written consent.", "consent"),
        ("assignment", "Neither party may assign staff to a third party without prior written consent.", None),
        *(
            ("assignment", text, None)
            for text in (
                "Neither Party may assign without notice to the other; with such notice assignment is free.",
                "Neither party may assign without cause its key personnel to other projects.",
                "Neither party may assign without the other's consent work items to subcontractors.",
                "The Contractor may not assign the Subcontract Administrator to other works.",
            )
        ),
        ("assignment", "This Agreement may not be assigned by the Tenant.", "forbidden"),
        ("assignment", "Either party may freely assign this Agreement.", "free"),
        ("assignment", "We may assign the rights under this Agreement to any other party.", None),
        ("assignment", "We may refuse a Transfer not made in accordance with this Agreement.", None),
        ("change_of_control", "Customer may terminate this Agreement upon a change of control of Supplier.", True),
        ("change_of_control", '"Change of Control" means the sale of all shares.', None),
        *(
            ("change_of_control", text, None)
            for text in (
                "A change of control of Supplier shall not give rise to any right of Customer to terminate this Agreement.",
                "A change of control shall not, by itself, give a party any right to terminate. Upon a change of control it may assign with consent.",
                "The Company may assign this Agreement, including in connection with a merger or sale of assets, without Employee's consent.",
                "Ein Kontrollwechsel berechtigt den Kunden nicht zur Kündigung.",
            )
        ),
        ("assignment", "The Company may assign this Agreement to any successor, without Employee's consent.", None),
        ("assignment", "The Processor shall not transfer EU Personal Data to others, save under the Standard Contractual Clauses.", None),
        *(
            ("notice", f"{text}. It renews for one year unless a party gives sixty (60) days' notice of non-renewal.", "P60D")
            for text in (
                "Each invoice is issued not less than thirty (30) days prior to each annual renewal date",
                "It shall renew for one (1) year only upon an agreement of the parties executed thirty (30) days prior to the expiration date",
                "Supplier may increase the fees for a renewal term by thirty (30) days' prior written notice",
            )
        ),
        ("governing_law", "This DPA is governed by the law of Belgium insofar as it relates to compliance.", None),
        ("price", "The purchase price is DKK 3,334 each.", None),
        ("price", "For the compensation, each founder receives a salary of DKK 27,000 per month.", None),
        ("parties", 'between\n\n- **Alpha N.V.**, a Belgian company (the "**Customer**"); and\n\n- **Beta, Inc.**, an Ohio corporation (the "**Provider**").', ["Alpha N.V.", "Beta, Inc."]),
        ("governing_law", "This Agreement is governed by the laws of the **State of Delaware**, without regard to conflicts.", "Delaware"),
        ("liability_cap", "In no event shall the aggregate liability of a party exceed the fees paid.", True),
        ("liability_cap", "The insurance policy limits liability to more than one case per occurrence.", None),
        ("price", "The annual fee is EUR 120,000 per year.", {"value": "120000", "unit": "EUR"}),
        ("price", "The fee shall not exceed EUR 5,000.", None),
        ("expiry", "Le bail est conclu pour une durée de neuf années à compter du 1er avril 2024.", "2033-04-01"),
        ("agreement_date", "Le présent bail est conclu le 3 mars 2024.", "2024-03-03"),
        ("expiry", "The premises are let for a term of five years from 1 April 2024.", "2029-04-01"),
        ("expiry", "Made on 12 March 2024. The Tenant may renew this Lease for a further term of three years.", None),
        ("expiry", "Das Arbeitsverhältnis wird auf unbestimmte Zeit geschlossen.", "perpetual"),
        ("notice", "The Tenant may renew this Lease for three years by notice of six months.", "P6M"),
        ("agreement_date", "Das Arbeitsverhältnis beginnt am 1. Mai 2023.", None),
        ("effective_date", "Das Arbeitsverhältnis beginnt am 1. Mai 2023.", "2023-05-01"),
        ("parties", 'zwischen der Alpha GmbH, München, (nachfolgend "Arbeitgeber") und Frau Anna Schmidt (nachfolgend "Sie")',
         ["Alpha GmbH", "Anna Schmidt"]),
        ("parties", "LEASE\n\nLandlord: Nord Ltd\nTenant: Alpha GmbH\n", ["Nord Ltd", "Alpha GmbH"]),
        ("rent", "The annual rent shall be GBP 84,000, payable quarterly in advance.", {"value": "84000", "unit": "GBP"}),
        ("rent", "Die Nettokaltmiete beträgt 4.200,00 EUR monatlich.", {"value": "4200", "unit": "EUR"}),
        ("rent", "Le loyer annuel est fixé à 36 000 euros hors taxes.", {"value": "36000", "unit": "EUR"}),
        ("rent", "The Tenant shall insure the rent for a sum of EUR 50,000.", None),
        ("deposit", "The Tenant pays a security deposit of USD 12,500 on signing.", {"value": "12500", "unit": "USD"}),
        ("deposit", "Der Mieter leistet eine Kaution in Höhe von 12.600,00 EUR.", {"value": "12600", "unit": "EUR"}),
        ("deposit", "The notice is deemed given three days after its deposit in the mail for USD 5.", None),
        ("term", "The premises are let for a term of ten (10) years from 1 May 2024.", "P10Y"),
        ("term", "Das Mietverhältnis ist befristet auf 5 Jahre.", "P5Y"),
        ("term", "The Tenant may renew this Lease for a term of five years.", None),
        ("break_option", "The Tenant may terminate this Lease on the fifth anniversary by six months' notice.", True),
        ("break_option", "The Tenant may terminate this Lease if the Premises are destroyed by fire.", None),
        ("break_option", "The Tenant has no right to terminate this Lease early; no break option is granted.", False),
        ("indexation", "The rent is adjusted each year to the Consumer Price Index.", True),
        ("indexation", "Die Miete ändert sich mit dem Verbraucherpreisindex.", True),
        ("indexation", "An index of exhibits stands at the end.", None),
        ("salary", "The Employee receives an annual base salary of CHF 140,000.", {"value": "140000", "unit": "CHF"}),
        ("salary", GERMAN, {"value": "78000", "unit": "EUR"}),
        ("salary", "The salary is reviewed yearly; a bonus of EUR 5,000 is possible.", None),
        ("probation", "The first six months are a probationary period.", "P6M"),
        ("probation", "Die Probezeit beträgt sechs Monate.", "P6M"),
        ("probation", "During the probationary period either party may terminate by one week's notice.", None),
        ("non_compete", "The Employee shall not engage in any business that is competitive with the Company.", True),
        ("non_compete", "Für die Dauer eines Jahres gilt ein nachvertragliches Wettbewerbsverbot.", True),
        ("non_compete", "There is no post-contractual non-compete.", False),
        ("ip_assignment", "The Employee hereby assigns to the Company all inventions made at work.", True),
        ("ip_assignment", "Work product shall be the sole and exclusive property of the Company.", True),
        ("ip_assignment", "The Employee assigns his claim for wages to nobody.", None),
    ],
)  # fmt: skip
def test_values(finder: str, text: str, value: object) -> None:
    found = FINDERS[finder](Contract(text, FINDERS))
    assert (found.value if found else None) == value
    if found:
        assert all(text[span.start : span.end].strip() for span in found.spans)
