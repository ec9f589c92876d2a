"""The commercial provider of company profiles: a domain's profile address, the profile, and its refusals.

with LoopbackServer(ProfileApi({"alpha.example": profile("Alpha GmbH")})) as server: ...
"""

from collections.abc import Mapping
from typing import Any, Final

from tests.web.behaviours import json_reply
from tests.web.server import Asked, Reply

KEY: Final = "key-of-the-tests"
NEW, OLD = "/api/v2/company", "/proxycurl/api/linkedin/company"
_ASKED_FOR: Final = {"categories", "funding_data", "extra", "exit_data", "acquisitions"}
"""What is left out of a profile unless it is asked for."""


class ProfileApi:
    """A provider that knows these profiles by domain, and speaks at one path. `credits` may be set to 0 at any time."""

    def __init__(self, profiles: Mapping[str, Mapping[str, Any]], *, path: str = NEW, key: str = KEY) -> None:
        self.credits = 1_000
        self._known = {address(domain): (domain, profile) for domain, profile in profiles.items()}
        self._path = path
        self._key = key

    def __call__(self, asked: Asked) -> Reply:
        if asked.path not in {self._path, f"{self._path}/resolve"}:
            return Reply(b"<html><title>404 Not Found</title></html>", 404, {"Content-Type": "text/html"})
        if asked.headers.get("authorization") != f"Bearer {self._key}":
            return _refusal(401, "Invalid API Key")
        if self.credits < 1:
            return _refusal(403, "You have run out of credits.")
        query = asked.query
        url = query.get("url") or address(query.get("company_domain", ""))
        if url not in self._known:
            return _refusal(404, "Company not found")
        self.credits -= 1
        domain, known = self._known[url]
        parts = {key: known[key] for key in known if key not in _ASKED_FOR or query.get(key) == "include"}
        if "url" in query:
            return json_reply(parts)
        partial = parts if query.get("enrich_profile") == "enrich" else None
        return json_reply({"url": address(domain), "profile": partial, "last_updated": "2026-10-26T11:33:24Z"})


def address(domain: str) -> str:
    """The address of a company's profile on the network."""
    return f"https://www.linkedin.com/company/{domain.partition('.')[0]}"


def profile(name: str, **more: Any) -> dict[str, Any]:
    """A profile with all its parts, under the provider's own names."""
    return {
        "linkedin_internal_id": "1441",
        "description": "Makes things.\n\nFor everyone.",
        "website": "https://www.alpha.example",
        "industry": "Manufacturing",
        "company_size": [10001, None],
        "company_size_on_linkedin": 12345,
        "hq": _location("Berlin", True),
        "company_type": "PRIVATELY_HELD",
        "founded_year": 2015,
        "specialities": ["things", "more things"],
        "locations": [_location("Berlin", True), _location("Hamburg", False)],
        "name": name,
        "tagline": None,
        "universal_name_id": "alpha",
        "profile_pic_url": "https://media.example/alpha.png",
        "background_cover_image_url": "https://media.example/cover.png",
        "search_id": "1441",
        "similar_companies": [
            {
                "name": "Beta",
                "link": "https://www.linkedin.com/company/beta",
                "industry": "Manufacturing",
                "location": None,
            }
        ],
        "affiliated_companies": [],
        "updates": [
            {
                "article_link": "https://alpha.example/news",
                "image": None,
                "posted_on": {"day": 30, "month": 9, "year": 2026},
                "text": "We have news.",
                "total_likes": 73,
                "total_comments": 4,
            }
        ],
        "follower_count": 5678,
        "acquisitions": {
            "acquired": [
                {
                    "linkedin_profile_url": "https://www.linkedin.com/company/gamma",
                    "crunchbase_profile_url": "https://www.crunchbase.com/organization/gamma",
                    "announced_date": {"day": 1, "month": 4, "year": 2025},
                    "price": 300000000,
                }
            ],
            "acquired_by": None,
        },
        "exit_data": [
            {
                "linkedin_profile_url": "https://www.linkedin.com/company/delta",
                "crunchbase_profile_url": "https://www.crunchbase.com/organization/delta",
                "name": "Delta",
            }
        ],
        "extra": {
            "crunchbase_profile_url": "https://www.crunchbase.com/organization/alpha",
            "ipo_status": "Private",
            "crunchbase_rank": 82,
            "founding_date": {"day": 1, "month": 1, "year": 2015},
            "operating_status": "Active",
            "company_type": "For Profit",
            "contact_email": "info@alpha.example",
            "phone_number": "+49 30 1234567",
            "facebook_id": "alphafb",
            "twitter_id": "alphatw",
            "number_of_funding_rounds": 2,
            "total_funding_amount": 15000000,
            "stock_symbol": None,
            "ipo_date": None,
            "number_of_lead_investors": 1,
            "number_of_investors": 3,
            "total_fund_raised": None,
            "number_of_investments": 0,
            "number_of_lead_investments": 0,
            "number_of_exits": 1,
            "number_of_acquisitions": 1,
        },
        "funding_data": [
            {
                "funding_type": "Series A",
                "money_raised": 10000000,
                "announced_date": {"day": 5, "month": 6, "year": 2020},
                "number_of_investor": 2,
                "investor_list": [{"linkedin_profile_url": None, "name": "Epsilon Capital", "type": "organization"}],
            }
        ],
        "categories": ["manufacturing"],
        "customer_list": None,
        **more,
    }


def _location(city: str, is_hq: bool) -> dict[str, Any]:
    place = {"country": "DE", "city": city, "postal_code": "10115", "line_1": "Straße 1", "state": None}
    return {**place, "is_hq": is_hq}


def _refusal(status: int, description: str) -> Reply:
    return json_reply({"code": status, "description": description, "name": "Refused"}, status)
