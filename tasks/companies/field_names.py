"""What readers call the fields of a company profile."""

from typing import Final

_NAMES: Final = {
    "founded_year": "founding year",
    "company_size": "employees",
    "company_size.0": "smallest number of employees",
    "company_size.1": "largest number of employees",
    "hq": "headquarters",
    "hq.country": "country of the headquarters",
    "hq.city": "city of the headquarters",
    "hq.is_hq": "seat is the headquarters",
    "profile_pic_url": "logo",
    "extra.ipo_status": "listed or private",
}


def field_name(path: str) -> str:
    """The field at this dotted path in words: `extra.operating_status` is the operating status."""
    if path in _NAMES:
        return _NAMES[path]
    steps = [step for step in path.split(".") if not step.isdigit() and step not in {"extra", "profile"}]
    return (steps[-1] if steps else path).replace("_", " ")
