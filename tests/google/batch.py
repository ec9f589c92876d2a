"""The batch endpoint: many calls in one `multipart/mixed` request, 100 at most, each with its own answer."""

import secrets
from collections.abc import Callable
from email.message import Message
from email.parser import BytesParser, Parser
from http import HTTPStatus
from urllib.parse import parse_qsl, urlsplit

from tests.google.answers import Answer, Call
from tests.google.parameters import Parameters
from tests.google.refusals import Refused

MOST_PARTS = 100


def answer_batch(call: Call, one: Callable[[Call], Answer]) -> Answer:
    """Each part answered by `one`, in the same order, named `<response-…>` after the part.

    Raises:
        Refused: 400 for a body that is no batch, or too many parts.
    """
    head = f"Content-Type: {call.headers.get('content-type', '')}\r\n\r\n".encode()
    message = BytesParser().parsebytes(head + call.body)
    if not message.is_multipart():
        raise Refused(400, "badRequest", "Failed to parse batch request, error: no multipart/mixed boundary.")
    payload = message.get_payload()
    assert isinstance(payload, list)
    parts = [part for part in payload if isinstance(part, Message)]
    if len(parts) > MOST_PARTS:
        raise Refused(400, "badRequest", f"The batch request has more than {MOST_PARTS} calls.")
    boundary = "batch_" + secrets.token_urlsafe(16)
    out = bytearray()
    for part in parts:
        out += _part(boundary, part, one(_inner(part, call)))
    out += f"--{boundary}--\r\n".encode()
    return Answer(200, bytes(out), {"content-type": f"multipart/mixed; boundary={boundary}"}, len(out))


def _inner(part: Message, outer: Call) -> Call:
    """The call within a part; it is the outer one's user where it names none."""
    payload = part.get_payload(decode=True)
    text = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    line, _, rest = text.lstrip().partition("\n")
    words = line.split()
    if part.get_content_type() != "application/http" or len(words) < 2:
        raise Refused(400, "badRequest", "Failed to parse batch request, error: a part is no HTTP request.")
    request = Parser().parsestr(rest)
    headers = {name.lower(): value for name, value in request.items()}
    for name in ("authorization", "x-goog-drive-resource-keys"):
        if name in outer.headers:
            headers.setdefault(name, outer.headers[name])
    place = urlsplit(words[1])
    parameters = Parameters(dict(parse_qsl(place.query, keep_blank_values=True)))
    return Call(words[0], place.path, parameters, headers, str(request.get_payload()).encode())


def _part(boundary: str, part: Message, answer: Answer) -> bytes:
    body = answer.body if isinstance(answer.body, bytes) else b"".join(answer.body)
    name = (part.get("Content-ID") or "").strip()
    ours = f"Content-ID: <response-{name.lstrip('<')}\r\n" if name else ""
    headers = {**answer.headers, "content-length": str(len(body))}
    lines = "".join(f"{field.title()}: {value}\r\n" for field, value in headers.items())
    status = f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}\r\n"
    head = f"--{boundary}\r\nContent-Type: application/http\r\n{ours}\r\n{status}{lines}\r\n"
    return head.encode() + body + b"\r\n"
