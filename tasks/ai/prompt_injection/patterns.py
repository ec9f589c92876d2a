"""Patterns of prompt injection, in English and in other languages of data rooms, and the notation they are written in.

Patterns match normalised text: plain small letters. In a pattern, a space is any white space, a word in capitals stands
for what `_PARTS` says, and `LEAD` marks an imperative. Alternatives stand in brackets. No pattern repeats what repeats,
and every gap has an end: time grows with the text alone. Texts are normalised, so the patterns have no accents.
Chinese, Japanese and Russian have no spaces between words, or another alphabet.
"""

# ruff: noqa: E501 - a pattern reads best in one line

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """What an order looks like. `imperative`: it begins with a verb that must be one; `scores`: it asks for a score."""

    words: re.Pattern[str]
    imperative: bool
    scores: bool


def patterns(*written: str, scores: bool = False) -> tuple[Pattern, ...]:
    """The patterns in this notation."""
    return tuple(Pattern(_compile(each.replace("LEAD", r"\b", 1)), each.startswith("LEAD"), scores) for each in written)


def make_scoring_patterns(*written: str) -> tuple[Pattern, ...]:
    """Patterns that ask for a score."""
    return patterns(*written, scores=True)


LEADS: Final = re.compile(
    r"""(?:^|[.!?:;,"'(\[>*#/|-]|(?<!\bmay)(?<!\bnot)(?<!\bto)(?<!shall)(?<!will)(?<!\bor)(?<!can)(?<!could)(?<!would)"""
    r"""(?<!must)(?<!should)\n)\s{0,4}(?:(?:please|kindly|now|and|then|just|simply|so|also|instead,?)\s{1,4}){0,2}(?:always\s{1,4})?$"""
    r"""|\b(?:please|kindly|now|just|then|and|simply|instead|immediately|always|(?:you|models?|assistants?|reviewers?|ais?|llms?)"""
    r"""\s{1,4}(?:must|should|shall|will|have\sto|has\sto|need\sto|are\sto|is\sto|may|can))"""
    r"""(?:\s{1,4}(?:now|always|also|then|only|just|not))?\s{1,4}$"""
)
"""What stands before an imperative: the start of a sentence, line or quotation, or words such as `please`."""
LEAD_LENGTH: Final = 48
"""Characters before a verb in which `LEADS` is searched."""

_PARTS: Final = {
    "AI": r"(?:(?:large |generative )?language[ -]models?|llms?|a\.?i\.?|ais|gpt(?:-\w{1,3})?|chatgpt|claude|gemini|copilot"
    r"|chat ?bots?|artificial intelligences?|(?:virtual|digital) assistants?|machine readers?"
    r"|automated (?:reviewers?|graders?|evaluators?|readers?|screeners?|(?:grading|screening|review|scoring|evaluation) (?:systems?|tools?|agents?)))"
    r"(?:[ -](?:based|powered|driven))?(?: (?:systems?|models?|assistants?|agents?|reviewers?|tools?|bots?|readers?|graders?|evaluators?|judges?"
    r"|screeners?|crawlers?|(?:screening|grading|review|scoring|evaluation) (?:systems?|tools?|agents?)))?",
    "READING": r"(?:reading|processing|parsing|summari[sz]ing|evaluating|analy[sz]ing|reviewing|assessing|scoring|grading|scanning"
    r"|(?:that|which|who) (?:reads?|process(?:es)?|parses?|summari[sz]es?|evaluates?|analy[sz]es?|reviews?|assess(?:es)?|scores?|grades?))"
    r" (?:this|these|the (?:present|following))",
    "IGNORE": r"(?:ignore|disregard|forget|override|overlook|bypass|discard|neglect|skip|drop|pay no attention to)",
    "EARLIER": r"(?:previous(?:ly)?|prior|above|earlier|preceding|former|foregoing|existing|original|initial|system|your|hidden|given|other)",
    "FILL": r"(?:(?:all|any|every|each|of|the|my|your|these|those|this|such|and|or|other|safety|content|received|current|past|entire|own|previous|prior"
    r"|above|earlier|preceding|system|existing|original) ){0,6}",
    "ORDERS": r"(?:instructions?|prompts?|directives?|directions|guidelines?|guidance|rules?|commands?|orders?|programming|training|constraints?|guardrails?|restrictions)",
    "TOP": r"(?:(?:the |a |an? )?(?:absolute )?(?:highest|maximum|max|full|top|best|perfect|excellent|outstanding|highest possible|maximum possible|best possible)"
    r"(?: possible)? (?:scores?|ratings?|marks?|grades?|points|rank(?:ing)?|evaluation|assessment)|(?:5|five|10|ten|100)(?:\.0)? ?"
    r"(?:/|out of|of) ?(?:5|five|10|ten|100)(?!\d)|\b(?:five|5) stars)",
    "SAY": r"(?:say|state|answer|reply|respond|report|write|claim|conclude|tell|assert|declare|confirm|call|mention|inform|use|describe)",
    "YOURS": r"\b(?:your|the) (?:final |overall |own )?(?:answers?|response|reply|summary|report|output|assessment|evaluation|review|conclusion|verdict|analysis|rating)",
    "PRAISE": r"\b(?:best|buy|excellent|outstanding|exceptional|flawless|perfect|strong|recommend\w*|approved?|no (?:risks?|issues?|findings?|debt|liabilit\w+|concerns?|litigation)|clean|sound|contacts?)\b",
    "BADNEWS": r"\b(?:risks?|breach\w*|litigation|lawsuits?|disputes?|debts?|loss(?:es)?|negative\w*|weakness\w*|fines?|recalls?|investigations?|covenants?|insolven\w+|impairments?|claims?|problems?|issues?|concerns?|shortcomings?|defaults?)\b",
    "GAP": r"[^.!?]{0,60}?",
}


def _compile(pattern: str) -> re.Pattern[str]:
    """Compile the pattern: words in capitals are replaced by their parts, and a space matches any white space."""
    pattern = re.sub("|".join(_PARTS), lambda name: _PARTS[name.group()], pattern)
    return re.compile(pattern.replace("[ -]", r"[\s-]").replace(" ?", r"\s?").replace(" ", r"\s{1,6}"))


ENGLISH: Final[tuple[Pattern, ...]] = (
    # To override what it was told.
    *patterns(
        r"LEADIGNORE FILL(?:(?:previous|prior|above|earlier|preceding|your|system|all other|original|initial) )(?:(?:safety|content|own|system) ){0,2}ORDERS\b",
        r"LEADIGNORE (?:the |your |all )?(?:\w{2,15} )?(?:instructions?|prompts?|directives?|guidelines|rules) (?:above|before|you (?:were|have been|received|follow)|given to you|from (?:the )?(?:system|user|developer))",
        r"(?:stop|do not|don't|never|no longer|must not|cease) (?:follow(?:ing)?|obey(?:ing)?|adher(?:e|ing) to|comply(?:ing)? with) (?:the |any |all |your )?(?:of )?(?:system |previous |prior |earlier |original |other )*?(?:prompt|(?:(?:system|previous|prior|earlier|original) )(?:instructions?|rules|guidelines|directives?)|instructions? you (?:were|have|are|received)|your (?:instructions?|rules|guidelines)|(?:rules|instructions?) in your prompt)",
    ),
    # To whom.
    *patterns(
        r"\b(?:notes?|notice|message|attention|hints?|instructions?|important|warning|hello|hey|dear|hi|memo|reminder|request|hinweis)\b[:,!]?(?: (?:to|for|all|any|the|every|hidden|only)){0,4} AI(?: (?:and|or) (?:other )?AI)?(?: READING[^.:!?\n]{0,40})?\s?[:,!.)-]",
        r"\b(?:to|for|any|all|every|each|the|dear|an?) AI(?: (?:currently|now|tool|here))? READING",
        r"\b(?:when|if|once|should) (?:an? |the |any |your )?(?:AI|assistants?|chatbots?) (?:reads?|summari[sz]es?|evaluates?|processes|reviews?|analy[sz]es?|scores?|assesses) (?:this|these) (?:document|file|page|text|deck|report|contract|submission|filing|section)s?\b",
        r"\bas an? (?:large language model|language model|llm|ai(?: language)? model|ai assistant|ai|ai agent|automated \w{4,12}),? (?:you|your|please|always|never|do not|SAY|give)\b",
        r"(?:^|[\n.!?\"'(\[>*#/@-])\s{0,4}@?(?:ai|llms?|assistants?|chatgpt|gpt|(?:language )?models?|chatbots?|bots?|claude|gemini|ai (?:assistants?|agents?|systems?|models?|reviewers?))\s?[:,!-]\s{0,4}(?:please |you (?:must|should) |always |do not |don't |never )?(?:SAY|give|rate|score|rank|grade|ignore|approve|recommend|output|print|do |praise|please|skip|leave|omit|treat|stop|return|accept|mark)\b",
        r"(?:^|\s)@(?:assistant|ai|chatgpt|gpt|llm|claude|bot) (?:please|you|must|SAY|give|rate|approve|ignore)",
    ),
    # What is to be done: to score,
    *make_scoring_patterns(
        r"LEAD(?:rate|score|grade|rank|evaluate|assess|mark) (?:this|the|our|all|every|it|each|these|us)(?![^.!?]{0,80}\bscale\b)[^.!?:]{0,60}?(?:TOP|with the (?:top|highest|best|maximum)|as (?:excellent|outstanding|effective|the best|fully met|low risk))",
        r"LEAD(?:give|assign|award|return|output|grant|set) GAPTOP",
        r"LEAD(?:rank|place|put) [^.!?\n]{1,40}? (?:first|above (?:all|every|the) other|at the top|highest)\b",
        r"LEADset (?:the |your |all )?(?:score|rating|confidence)s? (?:to|at|=) ?\d(?![^.!?\n]{0,20}\b(?:if|where|when|unless)\b)",
        r"\bthe (?:correct|right|true|only|final|expected|appropriate) (?:score|rating|grade|mark)GAP(?:is|=|:) (?:\d|five|ten|the (?:top|highest|maximum))",
        r"LEAD(?:evaluate|assess|review|judge|rate|treat) (?:this|our|the) (?:company|document|deck|business|submission|target|candidate|file) (?:very )?(?:favou?rably|positively|generously|as (?:the )?(?:best|excellent))",
        r"\b(?:reviewer|evaluator|grader|assessor|analyst|reader|assistant|model|judge)s? (?:is|are) (?:kindly |hereby |politely )?(?:asked|requested|invited|instructed|required|expected) to (?:give|award|assign|grant) GAPTOP",
        r"\bfound[\"']?\s?:\s?true\b[^\n]{0,60}?\bscore[\"']?\s?:\s?\d",
    ),
    # to reveal,
    *patterns(
        r"LEAD(?:reveal|print|output|repeat|leak|disclose|show(?: me)?|display|list|copy|translate|summari[sz]e|write|tell(?: me)?|give(?: me)?|include|quote|expose|return|begin[^.!?\n]{0,60}?with|start[^.!?\n]{0,60}?with)\b[^.!?]{0,50}?\b(?:(?:system|hidden|initial|entire|full|original|developer|secret) (?:prompt|instructions?|message|rules)(?! (?:buffer|line|appears|is displayed|to the operator))|your (?:\w+ )?(?:prompt|instructions?|rules|guidelines|context window|training data)|api[ -]?keys?|environment variables|context window|(?:instructions?|rules|prompt) (?:that )?you (?:were|have been|are|follow|received)|(?:text|everything) (?:above|before) (?:this|word|verbatim))",
        r"\bwhat (?:is|are|was|were) your (?:system|initial|original|hidden|exact) (?:prompt|instructions?|rules)",
    ),
    # to say,
    *patterns(
        r"LEAD(?:answer|reply|respond|output|return|print)(?: to (?:every|any|all|each)[^.!?\n\"']{0,40})?(?: only| always| solely| just| exactly| simply| with only)* (?:with|by saying)(?: only| just| exactly)? (?:the )?(?:single )?(?:words?|phrase|sentence|letters?|text|string|[\"'])(?![^.!?\n]{0,40} or )(?![^.!?\n]{0,60} (?:to (?!any|every|each|all|the question|questions)|by return|and initial|end ))",
        r"\b(?:when|whenever|if) (?:you are |you're |anyone |someone |anybody |the user |users? |a user |the reader |the analyst |an analyst )?(?:is |are )?(?:asks?|asked|inquires?|queried|questioned)\b[^.!?\n]{0,70}?,? (?:please |you (?:must|should|will) |always |only |then |just )?(?:say|state|answer|reply|respond|tell|claim|write|report|conclude)\b(?! your| nothing)(?![^.!?\n]{0,60}(?:comment|confidential|collective|refer |message))",
        r"(?:^|[.!?\"'(\[>#-]|\n)\s{0,4}(?:please |always |instead,? |you (?:must|should|will|shall) )?(?:tell|inform|assure|convince|persuade) (?:the |every |any )?(?:user|reader|person asking|analyst|human|investor) (?:that|to|they)\b",
        r"\byour (?:final )?(?:answers?|response|reply|summary|report|output|assessment|evaluation|review) (?:must|should|shall|will|has to)(?: always| also| only| not)* (?:include|contain|begin|start|end|state|say|mention|describe|be) (?:the |only |with |exactly )?(?:the )?(?:phrase|words?|sentence|[\"'])[^\n]{0,80}PRAISE",
        r"\b(?:make sure|ensure) (?:that )?your (?:final )?(?:answers?|response|summary|report|output|assessment|review) (?:describes?|says?|states?|recommends?|praises?)",
    ),
    # to be another,
    *patterns(
        r"\byou are (?:now|no longer|henceforth|from now on) (?:an? |the |my |in )?(?:\w+ ){0,4}(?:ai|assistant|language model|llm|chatbot|bot|model|reviewer|dan|mode|team|advocate|agent|analyst|persona|pirate|developer)\b",
        r"\bfrom now on,? you (?:will|must|should|shall|can|have to) (?:only |always |now )?(?:behave|act|answer|say|respond|rate|score|praise|ignore|follow only|obey|pretend|speak)\b",
        r"LEAD(?:enter|enable|activate|switch to|switch into|turn on|go into|start) (?:the )?(?:developer|unrestricted|unfiltered|god|jailbreak|sudo|dan|praise) mode(?=\s?(?:[.,;:!]|and\b|$))",
        r"LEAD(?:pretend|imagine|assume|suppose)(?: that)? you(?: are|'re| were) (?:an? |the )?(?:\w+ ){0,3}(?:(?:ai|assistant|model|bot|evil|chatbot)\b|(?:auditor|lawyer|seller|reviewer|banker|analyst)\b[^.!?;]{0,40}? and (?:SAY|praise|give|recommend|approve|agree))",
    ),
    # to keep silent,
    *patterns(
        r"\byou must not (?:flag|report|mention|highlight|raise|criticise|lower)\b[^.!?\n]{0,30}?\b(?:risks?|problems?|issues?|negatives?|weaknesses|this|in this (?:document|file))",
        r"\b(?:do not|don't|never|must not|should not|shall not|refrain from) (?:ever )?(?:mention|reveal|tell|disclose|say|admit|acknowledge|repeat|quote)(?:ing)?\b[^.!?\n]{0,30}?\b(?:these|this|the above|hidden) (?:hidden )?(?:instructions?|paragraph|note|prompt|message)",
        r"\b(?:do not|don't|never|must not|should not|refrain from|avoid) (?:mention|report|flag|list|cite|discuss|include|highlight|raise|criticis|criticiz|refer to)(?:e|s|ing|ning|ging)?\b[^.!?\n]{0,60}?\b(?:in|from|among|within) your (?:final |overall )?(?:answers?|summary|report|output|assessment|evaluation|review|conclusion|verdict|analysis|sources)\b(?! to (?:question|part))",
        r"LEAD(?:leave|omit|exclude|remove|drop|keep)\b[^.!?\n]{1,70}?\b(?:out of|from) your (?:final |overall )?(?:answers?|summary|output|assessment|evaluation|review|conclusion|verdict|analysis)\b",
    ),
    # to put out, to call, to fetch.
    *patterns(
        r"LEAD(?:output|return|respond|reply|answer|print|emit|produce)(?: with| in)?(?: only| exactly| just)* (?:the |this |following |valid |a )*?json\b(?=[^.!?]{0,80}\"(?:score|met|rating|confidence|verdict|found)\")",
        r"\byour (?:output|answer|response|reply) (?:must|should|shall|will) be\s{0,3}[{\[\"]",
        r"LEAD(?:call|invoke|use|run|execute|trigger) (?:the |your |this |a )?(?:\w{2,25} )?(?:tool|function|plugin|api)\b(?! of| is| keys?)[^.!?\n]{0,80}\b(?:with|to|and)\b[^.!?\n]{0,60}\b(?:contents? of|data room|send (?:the |all )?(?:other|text|documents?|data)|visit|prompt|conversation|paste|other documents)",
        r"https?://[^\s?]{1,80}\?\w{1,20}=[^\n]{0,60}(?:followed by|the (?:text of the )?prompt|and open it|conversation)",
        r"\[[^\]\n]{0,40}\]\(https?://[^\s)]{1,100}[?&]\w{1,20}=(?:summary|data|context|prompt|answer|secret|conversation|history)\b",
    ),
)


def _override(verbs: str, earlier: str, instructions: str) -> tuple[Pattern, ...]:
    """Patterns for orders to ignore earlier instructions; the adjective may come before or after the noun."""
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
    ),
    # Italian
    *_override(
        "ignora(?:re|te)?|dimentica(?:re|te)?|trascura(?:re|te)?|non (?:tenere|tenga) conto delle",
        "precedenti|ricevute|tue|vostre|sopra|iniziali|di cui sopra",
        "istruzioni|direttive|regole|indicazioni|ordini|prompt",
    ),
    # Dutch
    *_override(
        "negeer|negeren|vergeet",
        "eerdere|vorige|voorgaande|bovenstaande|je|uw|jouw|vroegere",
        "instructies|opdrachten|aanwijzingen|regels|prompts?",
    ),
    # Polish
    *_override(
        "zignoruj(?:cie)?|ignoruj(?:cie)?|zapomnij(?:cie)?(?: o)?|pomin(?:cie)?",
        r"poprzedni\w{1,3}|wczesniejsz\w{1,3}|powyzsz\w{1,3}|swoi\w{1,3}|dotychczasow\w{1,3}",
        "instrukcj|polece|wytyczn|zasad|prompt",
    ),
    *patterns(
        r"\bjes(?:li|teli) (?:jestes|jestescie) (?:modelem jezykowym|ai|si|sztuczna inteligencja|llm)\b",
    ),
    # Swedish, Norwegian, Danish
    *_override(
        "ignorer(?:a)?|glom|glem|bortse fran|se bort fra",
        "tidigare|tidligere|foregaende|foregaaende|forrige|dina|dine|ovanstaende|ovenstaende|ovenfor|ovan",
        "instruktion|instruks|anvisning|regler|prompt",
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


def group_patterns(patterns: Sequence[Pattern]) -> list[re.Pattern[str]]:
    """Expressions of which one matches in a text if any of these patterns does.

    Tried together at the beginnings of words, patterns take a sixth of the time that they take one by one.
    """
    words = [pattern.words for pattern in patterns]
    at_words = "|".join(f"(?:{each.pattern[2:]})" for each in words if each.pattern.startswith(r"\b"))
    return [re.compile(rf"\b(?:{at_words})"), *(each for each in words if not each.pattern.startswith(r"\b"))]


def eastern(text: str) -> Iterator[tuple[int, int]]:
    """The spans of injections in Chinese, Japanese and Russian in a normalised text."""
    for line in _EASTERN_LINE.finditer(text):
        for match in _EASTERN.finditer(text, max(line.start() - 40, 0), line.end()):
            yield match.span()
