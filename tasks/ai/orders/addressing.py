"""Orders to a model in English by whom they address and what they claim: to override, to be the system."""

# ruff: noqa: E501 - a pattern reads best in one line

from typing import Final

from tasks.ai.orders.signals import Group, group

AI_WORDS: Final = (
    "ai ais llm llms gpt chatgpt claude gemini copilot language chatbot- assistant assistants artif- automated machine"
)

ADDRESSING: Final[tuple[Group, ...]] = (
    # To override what it was told.
    group(
        "override",
        "ignor- disreg- forget overri- overlo- bypass discard skip neglect attention drop",
        r"LEADIGNORE (?:about )?FILL(?:(?:all|any|previous|prior|above|earlier|preceding|your|system|other|original|initial|existing|these|every) )"
        r"(?:(?:of|the|your|previous|prior|system|safety|earlier|given) ){0,3}(?:instructions?|prompts?|directives?|programming|guardrails?)\b",
        r"LEADIGNORE FILL(?:(?:previous|prior|above|earlier|preceding|your|system|all other|original|initial) )(?:(?:safety|content|own|system) ){0,2}ORDERS\b",
        r"LEADIGNORE (?:the |your |all )?(?:\w{2,15} )?(?:instructions?|prompts?|directives?|guidelines|rules) (?:above|before|you (?:were|have been|received|follow)|given to you|from (?:the )?(?:system|user|developer))",
        r"LEADIGNORE (?:all |everything )?(?:of )?(?:the )?(?:above|previous|before|earlier),? (?:text |content |context )?(?:and|but|;|then) (?:then |instead |just |only )?(?:SAY|give|rate|score|output|print|do|follow)",
        r"LEADIGNORE everything (?:you|above|before|that (?:was|came|you)|else you|written above)",
        r"LEADIGNORE FILL(?:earlier|previous|other) (?:documents|files|sources|context|data|text)\b(?: and|;|,|\.) (?:SAY|give|rate|score|output)",
        r"LEADIGNORE (?:all |any |the )?instructions?(?:,? and|;|:|\.)(?: just| instead| only| then)? (?:SAY|give|rate|score|output|print|do|follow)\b",
        r"LEADIGNORE (?:all |everything |the rest )(?:of |in )?(?:this |the |these )?(?:data|document|text|file|page|negative \w{4,12})s?(?: \w{1,12}){0,3},? (?:and|but|then) (?:SAY|give|rate|score|output|print|just|instead)\b",
        strong=True,
    ),
    group(
        "override",
        "instruc- prompt directive directives guidelines obey programming",
        r"(?:stop|do not|don't|never|no longer|must not|cease) (?:follow(?:ing)?|obey(?:ing)?|adher(?:e|ing) to|comply(?:ing)? with) (?:the |any |all |your )?(?:of )?(?:system |previous |prior |earlier |original |other )*?(?:prompt|(?:(?:system|previous|prior|earlier|original) )(?:instructions?|rules|guidelines|directives?)|instructions? you (?:were|have|are|received)|your (?:instructions?|rules|guidelines))",
        r"\b(?:your|system) (?:(?:previous|prior|earlier|original|initial) )?(?:instructions?|prompt|directives?|guidelines|programming)(?: above)? (?:no longer appl|(?:are|is) (?:now |hereby )?(?:void|cancel|obsolete|supersed|invalid|suspend|overrid|outdated)|ha(?:ve|s) been (?:cancel|replac|supersed|revok|overrid|updat|chang))",
        r"\binstructions? (?:above|before this|so far|you (?:were|have been) given)GAP(?:no longer appl|void|cancelled|obsolete|superseded|invalid|wrong|test)",
        r"(?:supersedes?|overrides?|replaces?|takes? precedence over|prevails? over) (?:all |any |your )?(?:other |previous |prior |earlier |existing |system |original )*?(?:instructions?|prompts?|directives?|rules)(?: that)? (?:you|given to you)",
        r"(?:supersedes?|overrides?|replaces?|takes? precedence over) (?:your|the system) (?:\w+ )?(?:instructions?|prompts?|programming|guidelines)",
        r"\b(?:new|updated|revised|real|actual) (?:system )?instructions?(?: for you)? ?:\s{0,4}(?:you |SAY|give|rate|score|output|ignore|rank|always|never|do |praise|recommend)",
        r"\b(?:new|updated) system (?:prompt|message|instructions?)\b",
        strong=True,
    ),
    group(
        "override",
        "instruc- orders task directive",
        r"\b(?:follow|obey|execute|apply) (?:only |these |the )*?(?:instructions?|orders|directives?) (?:below|in this|written here|instead|that follow)",
        r"\bfollow these instead\b",
        r"\byour (?:previous|prior|earlier|old) (?:orders|tasks?|goals?|role|job) (?:have|has|are|is|no)",
        r"\b(?:your|the reviewer's|the assistant's|the model's) (?:new|real|actual|only|true) (?:task|job|goal|role|objective|purpose|instructions?)\b",
        r"\bnew (?:task|instructions?|directive|orders)\s?:",
        r"\b(?:directive|instructions?) supersedes? all",
    ),
    group(
        "override",
        "discard everything",
        r"\beverything (?:before|above) (?:this|that)?GAP(?:was|is) (?:a test|void|wrong|fake)",
        r"LEADdiscard it\b",
    ),
    # To whom.
    group(
        "address",
        AI_WORDS,
        r"\b(?:if|when|since|because|as|in case) (?:you are|you're|you happen to be) (?:an? |the )?AI(?=\s?[,.:;!?)-]|\s{1,4}(?:or|and|reading|that|which|who|then|please|you|processing|evaluating|summari[sz]ing|tasked|asked)\b|$)",
        r"\b(?:notes?|notice|message|attention|hints?|instructions?|important|warning|hello|hey|dear|hi|memo|reminder|request|hinweis)\b[:,!]?(?: (?:to|for|all|any|the|every|hidden|only)){0,4} AI(?: (?:and|or) (?:other )?AI)?(?: READING[^.:!?\n]{0,40})?\s?[:,!.)-]",
        r"\b(?:to|for|any|all|every|each|the|dear|an?) AI(?: (?:currently|now|tool|here))? READING",
        r"(?:^|[\n.!?\"'(\[>*#/-])\s{0,4}(?:to|for|attention|attn)[:,]?(?: (?:all|any|the|every)){0,2} AI\s?[:!-]",
        r"\bAI (?:reading|processing|evaluating|summari[sz]ing|reviewing|that (?:reads?|summari[sz]es|evaluates|processes|reviews|analy[sz]es)) (?:this|these) (?:document|file|page|text|deck|report|contract|message|submission|filing|website|email|paragraph|section)s?\b",
        r"\b(?:when|if|once|should) (?:an? |the |any |your )?(?:AI|assistants?|chatbots?) (?:reads?|summari[sz]es?|evaluates?|processes|reviews?|analy[sz]es?|scores?|assesses) (?:this|these) (?:document|file|page|text|deck|report|contract|submission|filing|section)s?\b",
        r"\b(?:in)?visible (?:only )?(?:to|for) (?:the |all )?AI\b",
        r"(?:^|[\n.!?(\[])[^.!?:\n]{3,60} for AI\s?:",
        r"\bas an? (?:large language model|language model|llm|ai(?: language)? model|ai assistant|ai|ai agent|automated \w{4,12}),? (?:you|your|please|always|never|do not|SAY|give)\b",
        r"(?:^|[\n.!?\"'(\[>*#/@-])\s{0,4}@?(?:ai|llms?|assistants?|chatgpt|gpt|(?:language )?models?|chatbots?|bots?|claude|gemini|ai (?:assistants?|agents?|systems?|models?|reviewers?))\s?[:,!-]\s{0,4}(?:please |you (?:must|should) |always |do not |don't |never )?(?:SAY|give|rate|score|rank|grade|ignore|approve|recommend|output|print|do |praise|please|skip|leave|omit|treat|stop|return|accept|mark)\b",
        r"(?:^|\s)@(?:assistant|ai|chatgpt|gpt|llm|claude|bot) (?:please|you|must|SAY|give|rate|approve|ignore)",
        r"\bAI (?:must|should|shall|is required to|are required to|has to|have to|needs? to|is to|are to|will now) (?:now |always |only |also |then |please )?(?:give|rate|score|rank|grade|ignore|disregard|approve|recommend|skip|omit|leave out|accept|state that|say|conclude|answer|respond with|treat (?:this|all)|not (?:mention|report|flag|reveal))\b",
        r"\b(?:if|when|should) (?:this|the) (?:text|document|file|page|message|report|deck) (?:is|gets|be) (?:being )?(?:processed|read|parsed|evaluated|summari[sz]ed|analy[sz]ed|reviewed) by (?:an? |any |the )?AI",
        r"\b(?:message|note|instructions?|notice|attention) (?:to|for) (?:the |all |any )?(?:ai|llm|language model|automated)\b[^.!?\n]{0,30}:",
        strong=True,
    ),
    group(
        "address",
        AI_WORDS + " model models reviewer reviewers evaluator grader graders whoever grading",
        r"\b(?:any|every|the|all|each|dear) (?:model|evaluator|grader|reviewer|assistant|agent|reader|bot|AI)s? (?:that|who|which) (?:evaluates?|reads?|summari[sz]es?|grades?|scores?|reviews?|process(?:es)?) (?:this|these)",
        r"\b(?:automated|ai|llm|machine) (?:reviewers?|graders?|evaluators?|grading|screening|scoring)\b",
        r"\bas (?:the|an?) (?:evaluator|reviewer|grader|judge|assessor|scorer|rater),? you (?:must|should|shall|will|are|have)\b",
        r"\bAI\b(?:,|:)",
        r"\bthe (?:reviewer|evaluator|grader) (?:gives?|should|must|shall|will|always|has to|needs to)\b",
        r"\b(?:language model|llm|chatgpt|ai assistant)s?\b",
    ),
    # Where it claims to stand.
    group(
        "edge",
        "system assistant user human developer",
        r"(?:^|\n)\s{0,6}(?:#{1,4}\s{0,3})?\[?(?:system|assistant|user|human|developer)(?: message| prompt)?\]?\s?:",
        r"\[system(?: message| update| prompt)?\](?:\(|:|\s)",
    ),
    group(
        "score",
        "evaluation",
        r"\b(?:evaluation|grading|scoring) (?:policy|is over|rules?|criteria) (?:ha(?:s|ve) been (?:updated|changed)|and the result)",
    ),
    group(
        "edge",
        "<!-- /* [//]: </ <instru <system> <prompt> hidden white display",
        r"<!--|(?:^|\s)/\*|\[//\]: ?#",
        r"</?(?:system|instructions?|prompt|context|documents?|user|assistant)(?: [^>\n]{0,60})?>",
        r"<[a-z]{1,8}[^>\n]{0,60}?\b(?:hidden|display: ?none|color: ?white|font-size: ?0)",
    ),
)
