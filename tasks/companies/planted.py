"""Words in a public page that are meant for a model and not for people: such paragraphs are left out.

The prompt tells a model to obey nothing that a source says, and its answer is checked (`proof.py`). This is the
first of three fences, and the cheapest: what is never shown cannot be obeyed.
"""

import re
from collections.abc import Iterable
from typing import Final

_ADDRESSING: Final = re.compile(
    r"""
      \b(?:ignore|disregard|forget|override|bypass|overlook)\b[^.!?\n]{0,60}
        \b(?:instructions?|prompts?|rules?|guidelines?
        |(?:previous|prior|above|other)\s+(?:text|context|sources?|data))\b
    | \b(?:ignorier\w*|vergiss|missacht\w*)\b[^.!?\n]{0,60}\b(?:anweisung|vorgabe|regel|prompt)\w*
    | \b(?:ignor\w+|oubli\w+|olvid\w+|dimentic\w+)\b[^.!?\n]{0,60}\b(?:instruc\w+|consignes|istruzioni|r[èeé]gl\w+)
    | \b(?:new|updated|important|special|system|hidden|secret)\s+(?:instructions?|prompts?|directives?)\b
    | \b(?:system|developer)\s+(?:prompt|message)\b
    | \byou\s+are\s+(?:now\s+)?(?:an?\s+|the\s+)?(?:\w+\s+){0,3}(?:ai|assistant|language\s+model|llm|chatbot|bot)\b
    | \bas\s+an?\s+(?:ai|language\s+model|llm)\b
    | \b(?:note|notice|message|attention|hint|instructions?|important|warning|hello|hey|dear|to|for)\b[:,\s]{1,3}
        (?:(?:to|for|all|any|the|every)\s+){0,3}
        (?:ai|llms?|gpt|chatgpt|language\s+models?|chatbots?|assistants?|ai[ -]\w{1,20})\b
        (?:\s\w{1,20}){0,2}\s?[:,!.\u2013\u2014-]
    | \b(?:if|when|since)\s+you\s+are\s+(?:an?\s+)?(?:ai|llm|language|assistant|model|bot|chatbot|crawler|agent)\b
    | \b(?:any|all|every|dear)\s+(?:ai|llm|language[ -]model|assistant)s?\b[^.!?\n]{0,40}
        \b(?:must|should|shall|please|reading|who|that)\b
    | \b(?:ai|llm|language[ -]models?|assistants?)(?:\s\w{1,20}){0,2}\s?,\s?(?:please\s+)?
        (?:say|state|answer|ignore|give|rate|score|reply|respond|report|do)\b
    | (?:^|[.!?]\s+)(?:ai|llms?|gpt|chatgpt|language[ -]models?|chatbots?)\b(?:\s+\w+){0,2}\s*[:\u2013\u2014]
    | \b(?:reveal|print|output|repeat|leak|disclose|show)\b[^.!?\n]{0,40}
        \b(?:prompt|instructions|api[ -]?keys?|secrets?|passwords?|credentials)\b
    | \b(?:answer|reply|respond)\s+(?:only\s+|always\s+|solely\s+|just\s+)*(?:with|that|by|as\s+follows)\b
    | (?:^|[.!?:]\s+|\byou\s+(?:must|should|shall)\s+|\bplease\s+|\binstead,?\s+)(?:always\s+|only\s+|now\s+)?
        (?:say|state|answer|tell|reply|respond|claim|conclude|report|output|write|assert)\s+
        (?:that\b|only\b|the\s+(?:user|reader)\b|exactly\b|["'“‘«])
    | \b(?:give|assign|award|rate|score|grade|rank)\b[^.!?\n]{0,60}
        \b(?:(?:highest|maximum|full|top|best|perfect)\s+(?:possible\s+)?(?:score|rating|marks?|grade)
        |\d+\s*(?:/|out\s+of)\s*\d+)
    | \binject(?:ed)?\s+prompt\b | \bprompt\s+injection\b | \bjailbreak\b
    | <\|[a-z_]+\|> | \[/?INST\] | <</?SYS>> | ^[ \t]*\#{2,}\s*(?:instruction|system|response)
    | ^[ \t]*(?:system|assistant|user|developer)\s*: | </?(?:source|material|system|instructions?)[\s>-]
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)


def addresses_a_model(text: str) -> bool:
    """Whether the text gives orders to whoever answers from it: to ignore, to reveal, to score, to say a thing.

    It errs on the side of yes: what a page loses is one paragraph.
    """
    return _ADDRESSING.search(text) is not None


def for_people(paragraphs: Iterable[str]) -> list[str]:
    """The paragraphs that address no model."""
    return [each for each in paragraphs if not addresses_a_model(each)]
