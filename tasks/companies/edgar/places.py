"""Places as the SEC's EDGAR writes them: its own codes for states and countries, which are not ISO's.

The codes are those of the SEC's page "EDGAR state and country codes". `CA` is California and `A6` Ontario;
no foreign code is made of two letters, so neither is taken for the other.
"""

from collections.abc import Mapping
from typing import Any, Final

from tasks.companies.claiming import one_text

_STATES: Final = frozenset(
    "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK "  # noqa: SIM905 - a list of codes reads best as words
    "OR PA RI SC SD TN TX UT VT VA WA WV WI WY AS GU MP PR VI".split()
)
"""States and territories of the US, by their postal codes."""
_PROVINCES: Final = {
    each[:2]: each[2:]
    for each in "A0AB A1BC A2MB A3NB A4NL A5NS A6ON A7PE A8QC A9SK B0YT".split()  # noqa: SIM905 - as above
}
"""EDGAR's code of a Canadian province, and its postal code."""
_COUNTRY_CODES: Final = (
    "X1US Z4CA B2AF B3AL B4DZ B6AD B7AO 1AAI B8AQ B9AG C1AR 1BAM 1CAW C3AU C4AT 1DAZ C5BS C6BH C7BD C8BB 1FBY C9BE "
    "D1BZ G6BJ D0BM D2BT D3BO 1EBA B1BW D4BV D5BR D6IO D9BN E0BG X2BF E2BI E3KH E4CM E8CV E9KY F0CF F2TD F3CL F4CN "
    "F6CX F7CC F8CO F9KM G0CG Y3CD G1CK G2CR L7CI 1MHR G3CU G4CY 2NCZ G7DK 1GDJ G9DM G8DO H1EC H2EG H3SV H4GQ 1JER "
    "1HEE H5ET H7FK H6FO H8FJ H9FI I0FR I3GF I4PF 2CTF I5GA I6GM 2QGE 2MDE J0GH J1GI J3GR J4GL J5GD J6GP J8GT Y7GG "
    "J9GN S0GW K0GY K1HT K4HM X4VA K2HN K3HK K5HU K6IS K7IN K8ID K9IR L0IQ L2IE Y8IM L3IL L6IT L8JM M0JP Y9JE M2JO "
    "1PKZ M3KE J2KI M4KP M5KR M6KW 1NKG M7LA 1RLV M8LB M9LS N0LR N1LY N2LI 1QLT N4LU N5MO 1UMK N6MG N7MW N8MY N9MV "
    "O0ML O1MT 1TMH O2MQ O3MR O4MU 2PYT O5MX 1KFM 1SMD O9MC P0MN Z5ME P1MS P2MA P3MZ E1MM T6NA P5NR P6NP P7NL 1WNC "
    "Q2NZ Q3NI Q4NE Q5NG Q6NU Q7NF Q8NO P4OM R0PK 1YPW 1XPS R1PA R2PG R4PY R5PE R6PH R8PN R9PL S1PT S3QA S4RE S5RO "
    "1ZRU S6RW Z0BL U8SH U7KN U9LC Z1MF V0PM V1VC Y0WS S8SM S9ST T0SA T1SN Z2RS T2SC T8SL U0SG 2BSK 2ASI D7SB U1SO "
    "T3ZA 1LGS U3ES F1LK V2SD V3SR L9SJ V6SZ V7SE V8CH V9SY F5TW 2DTJ W0TZ W1TH Z3TL W2TG W3TK W4TO W5TT W6TN W8TR "
    "2ETM W7TC 2GTV W9UG 2HUA C0AE X0GB 2JUM X3UY 2KUZ 2LVU X5VE Q1VN D8VG X8WF U5EH T7YE Y4ZM Y5ZW"
)
_COUNTRIES: Final = {each[:2]: each[2:] for each in _COUNTRY_CODES.split()}
"""EDGAR's code of a country, and ISO 3166's."""


def headquarters(address: Any) -> dict[str, Any] | None:
    """The profile's `hq` of a business address of the submissions API; None where it says nothing.

    Foreign addresses have `countryCode` and `country` and no `stateOrCountry`; older ones have the country's code in
    `stateOrCountry`. A code that is not known gives no country.
    """
    if not isinstance(address, Mapping):
        return None
    given = {key: one_text(value) for key, value in address.items()}
    country, state = _place(given, foreign=bool(address.get("isForeignLocation")))
    place = {
        "country": country,
        "city": given.get("city"),
        "postal_code": given.get("zipCode"),
        "line_1": ", ".join(filter(None, (given.get("street1"), given.get("street2")))) or None,
        "state": state,
    }
    return {**place, "is_hq": True} if any(place.values()) else None


def _place(given: Mapping[str, str | None], *, foreign: bool) -> tuple[str | None, str | None]:
    """The country and, where it has one, the state or province."""
    abroad, at_home = ((given.get(key) or "").upper() for key in ("countryCode", "stateOrCountry"))
    code = (abroad or at_home) if foreign else (at_home or abroad)
    territory = given.get("foreignStateTerritory") or ""
    # A foreign address may carry a state's code that is left over from an older one (Shell's, in London, has "DC").
    region = territory if len(territory) > 2 else None
    if code in _PROVINCES:
        return "CA", _PROVINCES[code]
    if code in _COUNTRIES:
        return _COUNTRIES[code], region
    if code == abroad:  # an ISO code, should the SEC come to send those
        return (code if len(code) == 2 and code.isalpha() and code != "XX" else None), region
    return ("US", code) if code in _STATES and not foreign else (None, None)
