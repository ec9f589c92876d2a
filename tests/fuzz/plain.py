"""Mutations of bytes, whatever they mean: flips, cuts, copies, and words that formats know."""

import random
from collections.abc import Callable
from typing import Final

_WORDS: Final = (
    b"\x00", b"\xff" * 4, b"\x00" * 512, b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x07",
    b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff", b"\x1b$B", b"\x1b(B",
    b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x8f\xbf\xbf", b"\r", b"\r\n", b"\x0b\x0c\x1c\x1d\x85", b"\xe2\x80\xa8",
    b"\xe2\x80\xae", b"\x7f", b"\x1a", b"endobj", b"endstream", b"stream\r\n", b"startxref", b"trailer", b"%%EOF",
    b"<<", b">>", b"</w:t>", b"&#0;", b"-1", b"4294967295", b"99999999999999999999",
    b"{", b"}", b"{\\*\\", b"\\bin99999 ", b"\\u-10179?", b"\\'", b"\\cell\\row", b"\\nestrow", b"\\trowd", b"\\uc9 ",
    b"<table><tr><td rowspan=9>", b"</td>", b"</table>", b"<style>", b"<!--", b"<![CDATA[", b"&#x110000;", b"```", b"|",
    b'"', b"\t", b";",
)  # fmt: skip


def mutate(rng: random.Random, data: bytes) -> bytes:
    """The bytes with one change."""
    return rng.choice(_ALL)(rng, data)


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    """Where a piece begins and ends; mostly a short one."""
    start = rng.randrange(len(data) + 1)
    longest = rng.choice((4, 64, 1024, max(1, len(data) // 2)))
    return start, min(len(data), start + rng.randint(1, longest))


def _flip(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 64)) if changed else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _overwrite(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + rng.randbytes(end - start) + data[end:]


def _cut_out(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + data[end:]


def _truncate(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _behead(rng: random.Random, data: bytes) -> bytes:
    return data[rng.randrange(min(len(data), 4096) + 1) :]


def _copy(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[start:end] + data[at:]


def _overwrite_with_copy(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    at = rng.randrange(len(data) + 1)
    return (data[:at] + data[start:end] + data[at + end - start :])[: len(data)]


def _insert(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(_WORDS) * rng.choice((1, 1, 1, 10)) + data[at:]


_ALL: Final[tuple[Callable[[random.Random, bytes], bytes], ...]] = (
    _flip, _flip, _overwrite, _cut_out, _truncate, _behead, _copy, _overwrite_with_copy, _insert, _insert,
)  # fmt: skip
