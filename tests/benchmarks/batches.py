"""A batch of rooms on the disk, for benchmarks of whole runs."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent


def room_of(folder: Path, number: int) -> Path:
    """The folder of a company's data room, which is made."""
    room = folder / "rooms" / f"c{number}"
    room.mkdir(parents=True)
    return room


def write_batch(folder: Path, name: str, companies: int, criteria: Sequence[str]) -> Path:
    """Write the file of a batch of so many companies, and its criteria; gives the batch's file.

    `criteria` are the fields of each, as YAML between braces.
    """
    asked = [f"  - {{{criterion}}}" for criterion in criteria]
    (folder / "criteria.yaml").write_text("\n".join(["scale: [0, 5]", "criteria:", *asked, ""]))
    rows = [
        f"  - {{name: C{number}, domain: c{number}.example, folder: rooms/c{number}}}" for number in range(companies)
    ]
    head = dedent(f"""
        name: {name}
        criteria: criteria.yaml
        fact_sources: [files]
        drive_root: .
        companies:
    """)
    (folder / "batch.yaml").write_text("\n".join([head.strip(), *rows, ""]))
    return folder / "batch.yaml"
