"""The SEC's servers: submissions and XBRL facts by CIK, in the shapes that data.sec.gov has, filings, and refusals.

What the facts look like: "EDGAR Application Programming Interfaces",
https://www.sec.gov/search-filings/edgar-application-programming-interfaces, `/api/xbrl/companyfacts/`.

with LoopbackServer(sec(submission("320193", "Apple Inc.", tickers=["AAPL"]))) as server: ...
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tests.web.behaviours import json_reply
from tests.web.server import Asked, Reply

CUPERTINO: Final[Mapping[str, Any]] = {
    "street1": "ONE APPLE PARK WAY",
    "street2": None,
    "city": "CUPERTINO",
    "stateOrCountry": "CA",
    "zipCode": "95014",
    "stateOrCountryDescription": "CA",
    "isForeignLocation": 0,
    "foreignStateTerritory": None,
    "country": None,
    "countryCode": None,
}
LONDON: Final[Mapping[str, Any]] = {
    "street1": "SHELL CENTRE",
    "street2": "YORK ROAD",
    "city": "LONDON",
    "stateOrCountry": None,
    "zipCode": "SE1 7NA",
    "stateOrCountryDescription": None,
    "isForeignLocation": 1,
    "foreignStateTerritory": "DC",
    "country": "United Kingdom",
    "countryCode": "X0",
}


def submission(
    cik: str,
    name: str,
    *,
    tickers: Sequence[str] = (),
    filed: Sequence[str] = ("2026-10-30", "2026-08-01", "2025-10-31"),
    forms: Sequence[str] = (),
    business: Mapping[str, Any] = CUPERTINO,
    **more: Any,
) -> dict[str, Any]:
    """What the SEC says of a company, the newest filing first; those beyond `forms` are annual reports."""
    forms = [*forms, *["10-K"] * len(filed)][: len(filed)]
    return {
        "cik": cik.zfill(10),
        "entityType": "operating",
        "sic": "3571",
        "sicDescription": "Electronic Computers",
        "ownerOrg": "06 Technology",
        "insiderTransactionForOwnerExists": 0,
        "insiderTransactionForIssuerExists": 1,
        "name": name,
        "tickers": list(tickers),
        "exchanges": ["Nasdaq"] * len(tickers),
        "ein": "942404110",
        "lei": "HWUPKR0MPOU8FGXBT394",
        "description": "",
        "website": "",
        "investorWebsite": "",
        "category": "Large accelerated filer",
        "fiscalYearEnd": "0926",
        "stateOfIncorporation": "CA",
        "stateOfIncorporationDescription": "CA",
        "addresses": {"mailing": dict(CUPERTINO), "business": dict(business)},
        "phone": "(408) 996-1010",
        "flags": "",
        "formerNames": [{"name": "APPLE COMPUTER INC", "from": "1994-01-26T00:00:00.000Z", "to": "2007-01-04"}],
        "filings": {
            "recent": {
                "accessionNumber": [f"0000320193-{day[2:4]}-00{day[5:7]}{day[8:]}" for day in filed],
                "filingDate": list(filed),
                "reportDate": list(filed),
                "acceptanceDateTime": [f"{day}T06:01:36.000Z" for day in filed],
                "act": ["34"] * len(filed),
                "form": forms,
                "size": [9_392_337] * len(filed),
                "isXBRL": [1] * len(filed),
                "isInlineXBRL": [1] * len(filed),
                "primaryDocument": [_document(form, day) for form, day in zip(forms, filed, strict=True)],
                "primaryDocDescription": forms,
            },
            "files": [],
        },
        **more,
    }


def _document(form: str, day: str) -> str:
    """What the main document of a filing is called; of a form of insiders it lies in a folder of its own."""
    return f"xslF345X05/wk-form{form}_{day}.xml" if form in {"3", "4", "5"} else f"a{day.replace('-', '')}.htm"


def filing_path(cik: str, day: str) -> str:
    """Where the filing of that day lies."""
    return f"/Archives/edgar/data/{cik}/0000320193{day[2:4]}00{day[5:7]}{day[8:]}/a{day.replace('-', '')}.htm"


def filing(*paragraphs: str, rows: Sequence[Sequence[str]] = ()) -> Reply:
    """A report in inline XBRL, as filing agents write it: a hidden header, text in spans, numbers in cells of cells."""
    hidden = '<ix:nonNumeric contextRef="c-1" name="dei:AmendmentFlag">hidden-false</ix:nonNumeric>'
    style = "style=\"color:#000000;font-family:'Helvetica',sans-serif;font-size:9pt\""
    cells = "".join(
        "<tr>" + "".join(f'<td colspan="3"><span {style}>{cell}</span></td><td></td>' for cell in row) + "</tr>"
        for row in rows
    )
    texts = "".join(f'<div style="margin-top:9pt"><span {style}>{text}</span></div>' for text in paragraphs)
    return Reply(
        f"""<?xml version='1.0' encoding='ASCII'?><!--XBRL Document Created with the Workiva Platform-->
        <html xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/2013/inlineXBRL" xml:lang="en-US">
        <head><title>alpha-20251231</title></head><body><div style="display:none"><ix:header><ix:hidden>{hidden}
        </ix:hidden></ix:header></div>{texts}<div><table style="width:100%">{cells}</table></div></body></html>
        """.encode(),
        headers={"Content-Type": "text/html"},
    )


def fact(
    value: object, end: str, start: str | None = None, *, filed: str = "2026-02-20", form: str = "10-K", fp: str = "FY"
) -> dict[str, Any]:
    """A fact as a filing gave it; `fy` and `fp` are those of the filing, whatever year the fact is of."""
    period = {"start": start, "end": end} if start else {"end": end}
    more = {"accn": f"0000320193-{filed[2:4]}-000010", "fy": int(filed[:4]) - 1, "fp": fp, "form": form, "filed": filed}
    return {**period, "val": value, **more}


def company_facts(cik: str, units: Mapping[str, Sequence[Mapping[str, Any]]], **tags: Any) -> dict[str, Any]:
    """All facts of a company: `units` are those of us-gaap's Revenues, `tags` of others by `taxonomy_Tag`."""
    facts: dict[str, Any] = {}
    for name, by_unit in {"us-gaap_Revenues": units, **tags}.items():
        taxonomy, _, tag = name.partition("_")
        content = {"label": tag, "description": None, "units": {unit: list(rows) for unit, rows in by_unit.items()}}
        facts.setdefault(taxonomy, {})[tag] = content
    return {"cik": int(cik), "entityName": "ALPHA INC", "facts": facts}


def sec(
    *submissions: Mapping[str, Any],
    filings: Mapping[str, Reply] | None = None,
    facts: Sequence[Mapping[str, Any]] = (),
) -> Callable[[Asked], Reply]:
    """A server that knows these companies, and filings by their paths; it refuses whoever gives no contact."""
    known = {f"/submissions/CIK{company['cik']}.json": company for company in submissions}
    known |= {f"/api/xbrl/companyfacts/CIK{company['cik']:010}.json": company for company in facts}

    def answer(asked: Asked) -> Reply:
        if "(+" not in asked.headers.get("user-agent", ""):
            return Reply(b"<html><title>SEC.gov | Request Rate Threshold Exceeded</title></html>", 403)
        if asked.path in (filings or {}):
            return (filings or {})[asked.path]
        if asked.path not in known:
            return Reply(b"<Error><Code>NoSuchKey</Code></Error>", 404, {"Content-Type": "application/xml"})
        return json_reply(known[asked.path])

    return answer
