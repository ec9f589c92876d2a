"""Conversations and fences that a text imitates, so that what stands behind seems to come from elsewhere."""

import re
from typing import Final

_CHAT: Final = (
    r"<\|[a-z_]{2,30}\|>|\[/inst\]|\[inst\]|<</?sys>>|<(?:start|end)_of_turn>|<system-reminder>"
    r"|(?:^|\n)#{2,4}\s{0,3}(?:instruction|response|system|user input)s?\s?:"
    r"|[\"']role[\"']\s{0,3}:\s{0,3}[\"'](?:system|assistant|developer)[\"']"
    r"|(?:^|\n)\s{0,4}(?:human|user)\s?:[^\n]{1,200}\n{1,2}\s{0,4}(?:assistant|ai|model)\s?:"
    r"|(?:^|\n)\s{0,4}(?:assistant|ai|model)\s?:[^\n]{1,200}\n{1,2}\s{0,4}(?:human|user)\s?:"
    r"|\[system\]\(#"
)
_FENCE: Final = (
    r"</?(?:material|source)-[0-9a-f]{4,64}|</(?:material|untrusted\w{0,20}|user_input|retrieved\w{0,20}|documents?>\s{0,3}</context)>"
    r"|\[(?:end|start) of (?:context|input|prompt|instructions?|untrusted \w{2,12}|system \w{2,12})\]"
    r"|=+ (?:end|start) of (?:untrusted |user |retrieved )?(?:text|data|input|context|content|prompt)\s{0,3}=+"
    r"|\bend of (?:input|untrusted \w{2,10}|context|prompt)\b[. ]{1,3}(?:new |now |instructions?|the )"
)
MARKERS: Final = {
    "<": (
        "<|",
        "sys>>",
        "_of_turn>",
        "<system-",
        "</material",
        "</user_",
        "</untr",
        "</retr",
        "</doc",
        "-source-",
        "/source-",
        "<source-",
        "material-",
    ),
    "[": ("inst]", "[end of", "[start of", "](#"),
    "{": ('role"', "role'"),
    "#": ("##",),
    ":": ("assistant:", "ai:", "model:"),
    "end of ": (
        "end of untrusted",
        "end of input",
        "end of user",
        "end of context",
        "end of prompt",
        "= end of",
        "= start of",
    ),
}
"""Of these one stands in the text where a conversation or its fences are imitated."""
IMITATED: Final = re.compile(f"{_CHAT}|{_FENCE.replace(' ', chr(92) + 's{1,3}')}")
