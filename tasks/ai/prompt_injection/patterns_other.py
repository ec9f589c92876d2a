"""Patterns of prompt injection in other languages of data rooms: to ignore, to address a model, to score, to reveal.

Texts are normalised, so the patterns have no accents. Chinese, Japanese and Russian have no spaces between words, or
another alphabet.
"""

# ruff: noqa: E501 - a pattern reads best in one line

import re
from collections.abc import Iterator
from typing import Final

from tasks.ai.prompt_injection.patterns import Pattern, patterns

_TOP: Final = r"(?:\d{1,3} ?(?:/|von|sur|de|su|van|av|ud af|na|em|i) ?\d{1,3})"


def _override(verbs: str, earlier: str, instructions: str) -> tuple[Pattern, ...]:
    """To ignore earlier instructions; the adjective may stand before or after them."""
    near = rf"\b(?:{verbs})\b[^.!?]{{0,40}}?"
    return patterns(
        rf"{near}\b(?:{earlier}) (?:\w{{1,14}} )?(?:{instructions})",
        rf"{near}\b(?:{instructions}) (?:\w{{1,9}} )?(?:{earlier})\b",
    )


LANGUAGES: Final[tuple[Pattern, ...]] = (
    # German
    *_override(
        "ignorier(?:e|en|t)?|vergiss|vergessen sie|missachten?|beachten? (?:sie )?(?:nicht )?|verwirf|ubergehen?",
        "vorherigen?|bisherigen?|vorangegangenen?|vorangehenden?|fruheren?|obigen?|obenstehenden|vorigen|deine[nr]?|saemtliche|samtliche|alle anderen|ursprunglichen?|vorstehenden",
        "anweisung|instruktion|vorgabe|befehl|regeln|prompt|systemprompt",
    ),
    *patterns(
        r"\b(?:wenn|falls|sofern|da) (?:du|sie) (?:eine? )?(?:grosses )?(?:ki|llm|sprachmodell|chatbot|kunstliche intelligenz|ki-\w{3,12}) (?:bist|sind|diese|dies)",
        r"\bals (?:ki(?:-\w{3,12})?|sprachmodell|chatbot),? (?:musst|sollst|solltest|mussen|sollen|sollten|bewerte|antworte)",
        r"(?:^|[.!?:\n]|\bund) ?(?:bitte )?(?:vergib|vergeben sie|gib|geben sie|erteile) [^.!?]{0,90}?\b(?:hochstnote|bestnote|hochste[nr]? (?:punktzahl|bewertung|wertung|note)|volle punktzahl(?! nur)|beste[nr]? (?:bewertung|note))",
        r"(?:^|[.!?:\n]|\bund) ?(?:bitte )?(?:bewerte|bewerten sie) (?:dies|das|unser|uns|alle|jede)[^.!?]{0,40}?\bmit (?:der (?:hochst|best)|"
        + _TOP
        + ")",
        r"\b(?:gib|geben sie|zeige?|zeigen sie|nenne?|nennen sie|verrate|offenbare|wiederhole)\b[^.!?]{0,30}?\b(?:dein|ihr|den|das)e?n? (?:gesamten |vollstandigen )?system-?prompt",
        r"\b(?:erwahnen?|verschweigen?)(?: sie)?\b[^.!?]{0,20}? (?:in (?:deiner|ihrer) (?:zusammenfassung|antwort|bewertung)|in deinem bericht)\b",
    ),
    # French
    *_override(
        "ignore[zr]?|oublie[zr]?|ne (?:tenez|tiens) (?:pas|aucun) compte des?",
        "precedentes?|anterieure?s?|ci-dessus|tes|vos|initiales?|de depart|recues",
        "instructions?|consignes?|directives?|regles|ordres|prompts?",
    ),
    *patterns(
        r"\b(?:si|puisque) (?:vous etes|tu es) (?:une? )?(?:ia|intelligence artificielle|modele de langage|llm|assistant ia|chatbot)\b",
        r"\b(?:note|message|avis|attention|instructions?|remarque)\b[^.!?:\n]{0,25}?\b(?:ia|llms?|modeles? de langage|intelligences? artificielles?)\b[^.!?:\n]{0,20}:",
        r"\b(?:tu es|vous etes) (?:desormais|maintenant|a present) une? (?:\w+ ){0,2}(?:assistant|ia|modele|chatbot)\b",
    ),
    # Spanish and Portuguese
    *_override(
        r"ignor(?:a|e|en|ar|em)|olvid(?:a|e|en|ar)|(?:haz|haga|hagan) caso omiso de|desatiend[ae]|esque[cç]a|desconsidere|desconsidera",
        "anteriores|previas?|previos?|precedentes|tus|sus|suas|tuas|de arriba|acima|recibidas|recebidas|originales|originais",
        "instrucciones|instrucoes|ordenes|ordens|directrices|diretrizes|indicaciones|reglas|regras|comandos|prompt",
    ),
    *patterns(
        r"\b(?:si|se) (?:eres|usted es|es|voce e|e) (?:uma? |una? )?(?:ia|inteligencia artificial|modelo de (?:lenguaje|linguagem)|llm|asistente de ia)\b(?! (?:en|de|em)\b)",
        r"\b(?:nota|mensaje|mensagem|aviso|atencion|atencao|instrucciones|instrucoes)\b[^.!?:\n]{0,25}?\b(?:ias?|llms?|modelos? de (?:lenguaje|linguagem)|inteligencias? artificia\w{1,4})\b[^.!?:\n]{0,20}:",
        r"\b(?:a partir de ahora|ahora|a partir de agora|agora) (?:eres|usted es|voce e) u[nm]a? (?:\w+ ){0,2}(?:asistente|assistente|ia|modelo)\b",
    ),
    # Italian
    *_override(
        "ignora(?:re|te)?|dimentica(?:re|te)?|trascura(?:re|te)?|non (?:tenere|tenga) conto delle",
        "precedenti|ricevute|tue|vostre|sopra|iniziali|di cui sopra",
        "istruzioni|direttive|regole|indicazioni|ordini|prompt",
    ),
    *patterns(
        r"\bse (?:sei|lei e|siete) (?:una? |un')?(?:ia|ai|intelligenza artificiale|modello (?:linguistico|di linguaggio)|llm)\b",
    ),
    # Dutch
    *_override(
        "negeer|negeren|vergeet",
        "eerdere|vorige|voorgaande|bovenstaande|je|uw|jouw|vroegere",
        "instructies|opdrachten|aanwijzingen|regels|prompts?",
    ),
    *patterns(
        r"\b(?:als|indien) (?:je|jij|u) (?:een )?(?:ai(?:-\w{3,12})?|taalmodel|llm|chatbot) (?:bent|dit|leest)",
        r"\b(?:bericht|opmerking|let op|instructies?|aan)\b[^.!?:\n]{0,15}?\b(?:ai(?:-\w{3,12})?|taalmodellen|llms?)\b[^.!?:\n]{0,15}:",
    ),
    # Polish
    *_override(
        "zignoruj(?:cie)?|ignoruj(?:cie)?|zapomnij(?:cie)?(?: o)?|pomin(?:cie)?",
        r"poprzedni\w{1,3}|wczesniejsz\w{1,3}|powyzsz\w{1,3}|swoi\w{1,3}|dotychczasow\w{1,3}",
        "instrukcj|polece|wytyczn|zasad|prompt",
    ),
    *patterns(
        r"\bjes(?:li|teli) (?:jestes|jestescie) (?:modelem jezykowym|ai|si|sztuczna inteligencja|llm)\b",
        r"\b(?:uwaga|wiadomosc|informacja|instrukcj[ae]|notatka)\b[^.!?:\n]{0,15}?\b(?:ai|si|llm|modeli? jezykowych|sztucznej inteligencji)\b[^.!?:\n]{0,15}:",
    ),
    # Swedish, Norwegian, Danish
    *_override(
        "ignorer(?:a)?|glom|glem|bortse fran|se bort fra",
        "tidigare|tidligere|foregaende|foregaaende|forrige|dina|dine|ovanstaende|ovenstaende|ovenfor|ovan",
        "instruktion|instruks|anvisning|regler|prompt",
    ),
    *patterns(
        r"\b(?:om|hvis) du (?:er|ar) (?:en |ett |et )?(?:ai|ki|sprakmodell|sprogmodel|llm|chatbot|kunstig intelligens)\b",
        r"\b(?:bemaerkning|merknad|meddelande|notat|melding|besked|obs|anmarkning)\b[^.!?:\n]{0,15}?\b(?:ai|ki|llm|sprakmodell\w{0,3}|sprogmodell\w{0,3})(?:-\w{3,12})?\s?:",
    ),
)

_EASTERN: Final = re.compile(
    # Chinese
    r"(?:忽略|无视|忘记|忘掉|不要理会|不要遵[循守])[^。!?\n]{0,12}(?:指令|指示|提示|命令|规则|要求)"
    r"|(?:致|给|请)?(?:所有)?(?:人工智能|ai|大?语言模型|大模型)(?:评审|助手|模型|系统|读者|评估)?[^。.!?\n]{0,4}[::,,][^。!?\n]{0,12}(?:请|给|必须|不要|忽略)"
    r"|如果[你您]是[^。!?\n]{0,6}(?:人工智能|ai|语言模型|大模型|机器人)"
    r"|[你您](?:现在|从现在起)是[^。!?\n]{0,12}(?:助手|模型|ai|机器人)"
    r"|(?:输出|显示|透露|泄露|打印|重复)[^。!?\n]{0,8}(?:系统提示|提示词|系统指令)"
    r"|(?:给出|打|评为|给(?!予))[^。!?\n]{0,10}(?:最高分|满分|最高评分)"
    # Japanese
    r"|(?:指示|命令|指令|ルール|フロンフト|プロンプト)[^。!?\n]{0,8}(?:無視|忘れ)"
    r"|(?:ai|人工知能|言語モテル|言語モデル|llm)(?:システム|アシスタント|の査読者)?(?:へ|への指示|へのお願い|宛)[^。!?\n]{0,6}[::]"
    r"|あなたか?が?[^。!?\n]{0,6}(?:言語モテル|言語モデル|ai|人工知能)[^。!?\n]{0,4}(?:なら|場合)"
    r"|システム(?:フロンフト|プロンプト)[^。!?\n]{0,6}(?:表示|出力|開示|教え)"
    r"|(?:最高点|満点)を(?:付け|つけ|与え)て"
    # Russian
    r"|(?:игнорир(?:уй|уйте)|проигнорируй(?:те)?|забудь(?:те)?|не следуй(?:те)?)[^.!?\n]{0,30}(?:инструкц|указани|команд|правил|промпт)"
    r"|если (?:вы|ты)[\s-]{1,3}(?:больш\w{2,3} )?(?:языковая модель|ии|искусственныи интеллект|чат-?бот)"
    r"|(?:внимание|сообщение|примечание|инструкция)[^.!?:\n]{0,10}(?:ии|языков\w{2,4} модел\w{1,3}|искусственн\w{2,4} интеллект\w{0,2}|llm)\s?:"
    r"|(?:покажи|раскрои|выведи|покажите|раскроите)[^.!?\n]{0,20}системн\w{2,4} промпт"
    r"|(?:поставь|поставьте|дай|даите|присвои)[^.!?\n]{0,20}(?:высш\w{2,3}|максимальн\w{2,3}) (?:оценк|балл)"
)
_EASTERN_LINE: Final = re.compile(r"[\u0430-\u044f\u3040-\u30ff\u4e00-\u9fff]{2}[^\n]{0,400}")
"""Where one of the patterns above may stand; it may begin some characters before."""
_NOT_EASTERN: Final = bytes({*range(256)} - {0xD0, 0xD1, *range(0xE3, 0xEA)})
"""All bytes but those that begin such a letter in UTF-8."""


def eastern(text: str) -> Iterator[tuple[int, int]]:
    """The spans of injections in Chinese, Japanese and Russian in a normalised text."""
    if text.isascii() or not text.encode(errors="surrogatepass").translate(None, _NOT_EASTERN):
        return
    for line in _EASTERN_LINE.finditer(text):
        for match in _EASTERN.finditer(text, max(line.start() - 40, 0), line.end()):
            yield match.span()
