"""Mails of Outlook's for tests ([MS-OXMSG])."""

import struct
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from tests.tasks.reading.ooxml.compounds import Streams, compound

Value = str | bytes | int | datetime


def msg(
    properties: Mapping[int, Value],
    recipients: Sequence[Mapping[int, Value]] = (),
    attachments: Sequence[Mapping[int, "Value | Streams"]] = (),
) -> bytes:
    """A .msg of these properties, by their numbers."""
    return compound(message(properties, recipients, attachments, 32))


def message(
    properties: Mapping[int, Value],
    recipients: Sequence[Mapping[int, Value]] = (),
    attachments: Sequence[Mapping[int, "Value | Streams"]] = (),
    header: int = 24,
) -> Streams:
    """The folder of a mail; with a header of 24 bytes one inside another mail."""
    folder = dict(_storage(properties, header))
    for number, recipient in enumerate(recipients):
        folder[f"__recip_version1.0_#{number:08X}"] = _storage(recipient, 8)
    for number, attachment in enumerate(attachments):
        folder[f"__attach_version1.0_#{number:08X}"] = _storage(attachment, 8)
    return folder


def _storage(properties: Mapping[int, "Value | Streams"], header: int) -> dict[str, "bytes | Streams"]:
    listed = bytes(header)
    streams: dict[str, bytes | Streams] = {}
    for number, value in properties.items():
        if isinstance(value, str):
            kind, data = 0x1F, value.encode("utf-16-le")
        elif isinstance(value, bytes):
            kind, data = 0x102, value
        elif isinstance(value, datetime):
            ticks = int((value - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10_000_000
            listed += struct.pack("<HHIQ", 0x40, number, 6, ticks)
            continue
        elif isinstance(value, int):
            listed += struct.pack("<HHIIxxxx", 3, number, 6, value)
            continue
        else:
            streams[f"__substg1.0_{number:04X}000D"] = value
            continue
        listed += struct.pack("<HHIIxxxx", kind, number, 6, len(data))
        streams[f"__substg1.0_{number:04X}{kind:04X}"] = data
    return {"__properties_version1.0": listed, **streams}
