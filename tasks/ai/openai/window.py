"""A model's context window: how many tokens it takes at once, and whether a server cut a prompt to fit.

Some servers (Ollama with its default of 4,096 tokens, for one) shorten a long prompt without an error. Their token
counts show it: no vocabulary in use spends fewer tokens on a text than the text has words, numbers and marks, because
none has a token that reaches from one word into the next. Measured with cl100k and o200k over 34 texts of filings,
tables, code and other scripts: 0.94 tokens and more for each such piece (median 1.13). Bytes show far less: prose has
5.8 of them in a token, rows of spaces 80. Half as many tokens as pieces is far below either.
"""

import re

_PIECE = re.compile(r"[^\s!-@\[-`{-~]+|[0-9]{1,3}|[!-/:-@\[-`{-~]+")
_UNSPACED = re.compile(  # scripts that write without spaces; a token holds 1 to 3 of their letters
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)
_FEWEST_TOKENS = 0.5  # tokens for each piece, with a margin: some servers count roughly, as words
_MOST_BYTES = 8  # in a token; a count that gives a token no more than these is not far too small
_SHORT, _LONG = 2_000, 40_000  # bytes of a prompt: none is cut below the first, any may be cut above the second
_USUAL = (2_048, 4_096, 8_192, 16_384, 32_768)  # tokens; windows that servers have by default
_NEARLY = 0.01  # of these: a server that cuts there counts little more or less
_NEVER = 0.9  # tokens for each piece; no vocabulary measured needs fewer
_SMALLEST_CUT = 1_500  # tokens; no server's window is smaller, so that a smaller count of a middling prompt is an error

_NAMED = (
    # OpenAI, vLLM: "maximum context length is 4096 tokens"; llama.cpp: "available context size (4096 tokens)";
    # Gemini: "maximum number of tokens allowed (1048576)"; LM Studio: "context length of only 4096 tokens"
    re.compile(
        r"(?:maximum|max|available|allowed|only|limit|context (?:length|window|size))(?:(?! by\b)[a-z _'\"]){0,60}?"
        r"(?:\bis|\bof|:|=|<=)?[\s(\"]*+(\d[\d,]{1,9}\d)\b"
    ),
    re.compile(r"n_ctx\W{1,6}(\d{3,9})\b"),  # llama.cpp
    re.compile(r"must (?:be <=|have less than)\s*(\d{3,9})\b"),  # Text Generation Inference
    re.compile(r">\s*(\d{3,9}) maximum"),  # Anthropic
    re.compile(r"(\d[\d,]{2,9}\d) (?:token )?maximum context"),  # Mistral
)
_ALL_MODELS = 20_000_000  # tokens; what is above is no window


def was_cut(prompt: str, counted: int, *, window: int | None = None) -> bool:
    """Whether a server that counted so many tokens cannot have read all of `prompt`.

    `window` is the length, in tokens, to which the server is known to cut.
    """
    size = len(prompt.encode(errors="replace"))
    if size < _SHORT or counted <= 0:
        return False
    if window is not None and counted >= 0.98 * window and size / 2.3 > window:
        return True
    if any(abs(counted - usual) <= _NEARLY * usual for usual in _USUAL) and counted < _NEVER * pieces(prompt):
        return True
    if counted < _SMALLEST_CUT and size < _LONG:
        return False
    return counted * _MOST_BYTES < size and counted < fewest(prompt)


def named_window(message: str) -> int | None:
    """The most tokens that a prompt may have, as a server's error about a long prompt (in lower case) names it."""
    numbers = [int(number.replace(",", "")) for pattern in _NAMED for number in pattern.findall(message)]
    return min((number for number in numbers if 256 <= number <= _ALL_MODELS), default=None)


def fewest(text: str) -> int:
    """Fewer tokens than `text` can be."""
    return int(pieces(text) * _FEWEST_TOKENS)


def pieces(text: str) -> int:
    """Its words, figures and marks, to which its tokens are nearly in proportion."""
    return sum(1 for _ in _PIECE.finditer(text)) + len(_UNSPACED.findall(text)) // 4
