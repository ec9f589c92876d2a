"""Telephone numbers as the sources write them, in the form that can be called from abroad."""

from typing import Any

from tasks.companies.claiming import one_text


def international(phone: Any, country: str | None) -> str | None:
    """A telephone number with its country's prefix where that is known: `(408) 996-1010` is `+1 408-996-1010`."""
    text = one_text(phone)
    if text is None:
        return None
    digits = "".join(each for each in text if each.isdigit())
    if text.startswith("+") or len(digits) < 7 or len(digits) > 18:
        return text if len(digits) >= 7 else None
    if digits.startswith("011"):  # how an international call is begun in the US
        return f"+{digits[3:]}"
    national = digits[1:] if len(digits) == 11 and digits.startswith("1") else digits
    if country in {"US", "CA"} and len(national) == 10:
        return f"+1 {national[:3]}-{national[3:6]}-{national[6:]}"
    return text
