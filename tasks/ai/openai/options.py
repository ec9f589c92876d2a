"""Parts of a request that not every server takes. Each is sent until a server refuses it, and then left out there.

What servers say of one that they do not take:

- OpenAI's reasoning models: "Unsupported parameter: 'temperature' is not supported with this model", "Unsupported
  value: 'temperature' does not support 0 with this model" (https://platform.openai.com/docs/guides/reasoning), and for
  accounts that are not verified "Your organization must be verified to stream this model".
- Mistral: 422 with `extra_forbidden` and the name of the field, such as `seed`
  (https://docs.mistral.ai/api: the field is `random_seed`).
- Prompt templates without a system role, as Gemma's (https://huggingface.co/google/gemma-2-2b-it): "System role not
  supported", passed on by vLLM with 400 and by llama.cpp with 500.
- OpenAI's strict schemas: "In context=(…), 'maxLength' is not permitted"
  (https://platform.openai.com/docs/guides/structured-outputs).
"""

import re
from enum import Enum

_REFUSED = (
    r"(?:unsupported|unknown|unrecogni[sz]ed|unexpected|extra|not (?:permitted|allowed|supported|implemented|a valid)"
    r"|not support|invalid|verified)"
)


def _about(name: str) -> re.Pattern[str]:
    return re.compile(rf"{_REFUSED}.{{0,200}}\b{name}|\b{name}\b.{{0,200}}{_REFUSED}", re.DOTALL)


class Option(Enum):
    """A part of a request that can be left out. The values are what an error about it says, in lower case."""

    COMPLETION_LIMIT = _about("max_(?:completion_|output_)?tokens")
    """The limit on an answer under the newer of its two names in chats; without it, `max_tokens`."""
    LIMIT = re.compile(r"(?!)")  # refused where the older name is refused too
    """Any limit on an answer's length."""
    SYSTEM_ROLE = re.compile(r"system (?:role|messages?)|role.{0,20}\bsystem\b|roles must alternate")
    """Instructions in a message of their own; without it they stand in the user's message."""
    STREAM_USAGE = _about("(?:stream_options|include_usage)")
    """Counts of tokens at the end of a stream."""
    STREAM = _about("stream(?:ing)?")
    """An answer that comes piece by piece."""
    SEED = _about("seed")
    TEMPERATURE = _about("temperature")
    BOUNDS = _about("(?:maxlength|maxitems|repetitions?)")
    """The most characters and items that the schema of an answer allows."""


class RefusedOption(Exception):
    """The server does not take that part of the request."""

    def __init__(self, option: Option) -> None:
        super().__init__(option.name)
        self.option = option


def find_refused(message: str) -> Option | None:
    """The part of a request that a server's error speaks against, its words in lower case; None for none of them."""
    return next((option for option in Option if option.value.search(message)), None)
