"""What a call cost where the server does not tell, or tells what cannot be right."""

from tasks.ai.answerer import Usage
from tasks.ai.tokens import about, at_most

_TEMPLATE = 2_000  # tokens that a server may add to a prompt


def tells(usage: Usage, prompt: str) -> bool:
    """Whether the tokens read are a number that can be right: no vocabulary has a token below a byte."""
    return 0 < usage.input_tokens <= len(prompt.encode()) + _TEMPLATE


def counted(usage: Usage, prompt: str, answer: str | None, limit: int | None) -> Usage:
    """The cost as told, and where it is not told as the texts say.

    With a cap (`limit`, tokens of an answer) that is the most it can have been. `answer` is None where what was
    said is not known.
    """
    estimate = at_most if limit is not None else about
    read, written = usage.input_tokens, usage.output_tokens
    if not tells(usage, prompt):
        read = estimate(prompt)
    if not written:
        written = (limit or 0) if answer is None else estimate(answer)
    return Usage(usage.calls, read, written)
