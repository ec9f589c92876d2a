"""The SEC's data server: submissions by CIK, in the shape that data.sec.gov has, and its refusals.

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
    business: Mapping[str, Any] = CUPERTINO,
    **more: Any,
) -> dict[str, Any]:
    """What the SEC says of a company, the newest filing first."""
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
                "accessionNumber": [f"0000320193-{day[2:4]}-000001" for day in filed],
                "filingDate": list(filed),
                "reportDate": list(filed),
                "form": ["10-K"] * len(filed),
            },
            "files": [],
        },
        **more,
    }


def sec(*submissions: Mapping[str, Any]) -> Callable[[Asked], Reply]:
    """A server that knows these companies, and refuses whoever gives no contact."""
    known = {f"/submissions/CIK{each['cik']}.json": each for each in submissions}

    def answer(asked: Asked) -> Reply:
        if "(+" not in asked.headers.get("user-agent", ""):
            return Reply(b"<html><title>SEC.gov | Request Rate Threshold Exceeded</title></html>", 403)
        if asked.path not in known:
            return Reply(b"<Error><Code>NoSuchKey</Code></Error>", 404, {"Content-Type": "application/xml"})
        return json_reply(known[asked.path])

    return answer
