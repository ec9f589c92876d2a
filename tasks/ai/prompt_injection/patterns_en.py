"""Patterns of prompt injection in English: what is to be done, whom it addresses, where it claims to stand."""

from typing import Final

from tasks.ai.prompt_injection.patterns import Group, group

# ruff: noqa: E501 - a pattern reads best in one line


ACTS: Final[tuple[Group, ...]] = (
    # What is to be done: to score,
    group(
        "score",
        "rate score grade rank mark evaluate",
        r"LEAD(?:rate|score|grade|rank|evaluate|assess|mark) (?:this|the|our|all|every|it|each|these|us)(?![^.!?]{0,80}\bscale\b)[^.!?:]{0,60}?(?:TOP|with the (?:top|highest|best|maximum)|as (?:excellent|outstanding|effective|the best|fully met|low risk))",
        r"LEAD(?:rate|score|rank|grade|evaluate) [^.!?:\n]{1,30}? (?:5 ?/ ?5|10 ?/ ?10|100 ?/ ?100|5 (?:out )?of 5|10 (?:out )?of 10)(?!\d)",
        strong=True,
    ),
    group(
        "score",
        "score scores scoring rating grade mark marks rank stars assessment evaluate favour- favor- positiv- confidence points",
        r"LEAD(?:give|assign|award|return|output|grant|set) GAPTOP",
        r"LEAD(?:give|assign|award|return|output|grant) (?:it |this \w+ |them |us |the \w+ )?(?:a |the )?(?:score|rating|grade|mark)s? of (?:\d{1,3}|five|ten)(?!\d| ?(?:to|-|or|and|if|when|for)\b)",
        r"LEAD(?:rank|place|put) [^.!?\n]{1,40}? (?:first|above (?:all|every|the) other|at the top|highest)\b",
        r"LEADset (?:the |your |all )?(?:score|rating|confidence)s? (?:to|at|=) ?\d(?![^.!?\n]{0,20}\b(?:if|where|when|unless)\b)",
        r"LEAD(?:output|return|write|print) \d{1,3} as (?:the |your )?(?:score|rating|grade)",
        r"\bthe (?:correct|right|true|only|final|expected|appropriate) (?:score|rating|grade|mark)GAP(?:is|=|:) (?:\d|five|ten|the (?:top|highest|maximum))",
        r"\b(?:deserves?|merits?|earns?) (?:TOP),? (?:so|therefore|please|output|give)",
        r"\byour (?:assessment|evaluation|rating|review|score|verdict) (?:must|should|shall|has to|needs to|will) (?:always )?be (?:positive(?! or)|favou?rable|\d|high|excellent|the (?:top|highest|maximum|best))",
        r"LEAD(?:evaluate|assess|review|judge|rate|treat) (?:this|our|the) (?:company|document|deck|business|submission|target|candidate|file) (?:very )?(?:favou?rably|positively|generously|as (?:the )?(?:best|excellent))",
        r"\b(?:reviewer|evaluator|grader|assessor|analyst|reader|assistant|model|judge)s? (?:is|are) (?:kindly |hereby |politely )?(?:asked|requested|invited|instructed|required|expected) to (?:give|award|assign|grant) GAPTOP",
        r"\bfound[\"']?\s?:\s?true\b[^\n]{0,60}?\bscore[\"']?\s?:\s?\d",
        r"\bthe (?:correct|right|true|only|final|expected) (?:answer|result|judge?ment|verdict)GAP(?:is|=|:) (?:\d{1,3}|five|ten)\b[^.!?\n]{0,30}?\b(?:confidence|score|points)",
        strong=True,
    ),
    group(
        "score",
        "score rate rank grade approve praise prefer",
        r"\b(?:now|please|always) (?:score|rate|rank|grade|approve|praise|prefer)\b",
        r"\b(?:score|rate|grade|rank) (?:it|this \w+|every \w+|all \w+|each \w+) (?:with )?(?:a )?(?:\d|five|ten|top|highly|first)",
    ),
    group(
        "score",
        "score scored rating points top scores met positive praise award",
        r"\bscore\s?[:=] ?(?:5|10|100)\b",
        r"\b(?:gives?|score) (?:the )?(?:top|highest|maximum|full|five|\d{1,3}) (?:scores?|points|marks?)",
        r"\bonly (?:give|praise|award)s?\b",
        r"\bpositive (?:feedback|review|summary|evaluation)s?\b",
        r"\btop scores?\b",
    ),
    group(
        "answer",
        "regardless whatever irrespective rubric lower compare",
        r"\b(?:regardless of|no matter what|whatever|irrespective of) (?:the |it |they |its |any )?(?:rubric|content|contents?|evidence|instructions|contain|contains?|say|says|score|facts)",
        r"\b(?:if|when) (?:you are )?asked to compare\b",
    ),
    group(
        "score",
        "prefer choose candidates submission best choose recommend approve praise favour",
        r"LEAD(?:recommend|approve|praise|accept|buy) (?:this|the|our|buying|investing in) ?(?:company|investment|shares?|deal|document|submission|data room|file|acquisition|founders)?\b",
    ),
    # to reveal,
    group(
        "reveal",
        "prompt instruc- verbatim api environment context hidden everything developer",
        r"LEAD(?:reveal|print|output|repeat|leak|disclose|show(?: me)?|display|list|copy|translate|summari[sz]e|write|tell(?: me)?|give(?: me)?|include|quote|expose|return|begin[^.!?\n]{0,60}?with|start[^.!?\n]{0,60}?with)\b[^.!?]{0,50}?\b(?:(?:system|hidden|initial|entire|full|original|developer|secret) (?:prompt|instructions?|message|rules)(?! (?:buffer|line|appears|is displayed|to the operator))|your (?:\w+ )?(?:prompt|instructions?|rules|guidelines|context window|training data)|api[ -]?keys?|environment variables|context window|(?:instructions?|rules|prompt) (?:that )?you (?:were|have been|are|follow|received)|(?:text|everything) (?:above|before) (?:this|word|verbatim))",
        r"\bwhat (?:is|are|was|were) your (?:system|initial|original|hidden|exact) (?:prompt|instructions?|rules)",
        strong=True,
    ),
    group(
        "reveal",
        "prompt instruc- bidders",
        r"\bsystem prompt\b",
        r"\bthese instructions\b",
    ),
    # to say,
    group(
        "say",
        "questioned answer reply respond word user reader asked asks query output response",
        r"LEAD(?:answer|reply|respond|output|return|print)(?: to (?:every|any|all|each)[^.!?\n\"']{0,40})?(?: only| always| solely| just| exactly| simply| with only)* (?:with|by saying)(?: only| just| exactly)? (?:the )?(?:single )?(?:words?|phrase|sentence|letters?|text|string|[\"'])(?![^.!?\n]{0,40} or )(?![^.!?\n]{0,60} (?:to (?!any|every|each|all|the question|questions)|by return|and initial|end ))",
        r"\b(?:when|whenever|if) (?:you are |you're |anyone |someone |anybody |the user |users? |a user |the reader |the analyst |an analyst )?(?:is |are )?(?:asks?|asked|inquires?|queried|questioned)\b[^.!?\n]{0,70}?,? (?:please |you (?:must|should|will) |always |only |then |just )?(?:say|state|answer|reply|respond|tell|claim|write|report|conclude)\b(?! your| nothing)(?![^.!?\n]{0,60}(?:comment|confidential|collective|refer |message))",
        r"(?:^|[.!?\"'(\[>#-]|\n)\s{0,4}(?:please |always |instead,? |you (?:must|should|will|shall) )?(?:tell|inform|assure|convince|persuade) (?:the |every |any |all )?(?:users?|reader|person asking|analyst|human|investor)s? (?:that|to|how|they)\b",
        r"\bthe only (?:acceptable|permitted|allowed|valid|correct|possible) (?:output|answer|response|reply|verdict) is\b",
        r"LEAD(?:begin|start|end|finish|conclude|open|close) (?:your|the|every|each) (?:answer|response|reply|summary|report|output|assessment|review)s? (?:with|by)\b(?=[^.!?\n]{0,20}(?:phrase|sentence|words?|recommending|stating|saying|[\"'])[^\n]{0,80}PRAISE)",
        strong=True,
    ),
    group(
        "say",
        "say answer conclude correct write respond reply instead",
        r"LEAD(?:say|state|conclude|claim|report|write|answer|respond|reply|assert|confirm) (?:that|only|nothing|yes|no|exactly|[\"'])",
        r"\byou (?:must|will|should|shall|have to)(?: now| always| only| then)? (?:say|state|conclude|claim|write|answer|respond|reply|report|assert|confirm)\b",
        r"LEADuse it in your (?:answer|response|report|summary)",
    ),
    group(
        "answer",
        "answer answers response reply summary output assessment evaluation verdict user summarise summarize",
        r"\b(?:in|from|of|with|to|use it in) your (?:final |overall |own )?(?:answers?|response|reply|summary|report|output|assessment|evaluation|review|conclusion|verdict)\b",
        r"\byour (?:final |overall )?(?:answers?|response|reply|summary|report|output|assessment|evaluation|review|conclusion|verdict) (?:must|should|shall|will|has to|always|describes?|contains?|includes?)",
        r"\b(?:the|a|every) user\b",
        r"\bwhen you (?:summari[sz]e|evaluate|assess|review|score|grade|answer|read|process|analy[sz]e|rate)",
    ),
    group(
        "say",
        "answer response summary output phrase report",
        r"\byour (?:final )?(?:answers?|response|reply|summary|report|output|assessment|evaluation|review) (?:must|should|shall|will|has to)(?: always| also| only| not)* (?:include|contain|begin|start|end|state|say|mention|describe|be) (?:the |only |with |exactly )?(?:the )?(?:phrase|words?|sentence|[\"'])[^\n]{0,80}PRAISE",
        r"\b(?:make sure|ensure) (?:that )?your (?:final )?(?:answers?|response|summary|report|output|assessment|review) (?:describes?|says?|states?|contains?|includes?|mentions?|recommends?|praises?)",
        strong=True,
    ),
    # to be another,
    group(
        "role",
        "now longer henceforth dan",
        r"\byou are no longer (?:an? |the )(?:\w+ ){0,3}(?:auditor|analyst|judge|evaluator|examiner)\b",
        r"\byou are (?:now|no longer|henceforth|from now on) (?:an? |the |my |in )?(?:\w+ ){0,4}(?:ai|assistant|language model|llm|chatbot|bot|model|reviewer|dan|mode|team|advocate|agent|analyst|persona|pirate|developer)\b",
        r"\bfrom now on,? you (?:are|(?:will|must|should|shall|can|have to) (?:only |always |now )?(?:be|behave|act|answer|say|respond|reply|rate|score|praise|ignore|follow only|obey|serve|pretend|speak|treat|give))\b",
        strong=True,
    ),
    group(
        "role",
        "assistant mode pretend imagine assume unrestr- filters game developer bot ai chatbot model reviewer guidelines",
        r"LEAD(?:enter|enable|activate|switch to|switch into|turn on|go into|start) (?:the )?(?:developer|unrestricted|unfiltered|god|jailbreak|sudo|dan|praise) mode(?=\s?(?:[.,;:!]|and\b|$))",
        r"LEAD(?:pretend|imagine|assume|suppose)(?: that)? you(?: are|'re| were) (?:an? |the )?(?:\w+ ){0,3}(?:(?:ai|assistant|model|bot|evil|chatbot)\b|(?:auditor|lawyer|seller|reviewer|banker|analyst)\b[^.!?;]{0,40}? and (?:SAY|praise|give|recommend|approve|agree))",
        r"\b(?:assistant|ai|bot|model|chatbot|reviewer) (?:without|with no|free (?:of|from)) (?:any )?(?:restrictions?|rules|limits|limitations|guidelines|filters|safety)",
        r"\b(?:have|has|with) no (?:guidelines|restrictions|rules) and (?:agree|answer|do)\b",
        strong=True,
    ),
    group(
        "role",
        "role pretend expert reviewer reviewers act",
        r"\byou are (?:an? |the )(?:\w+ ){0,3}(?:reviewer|evaluator|assistant|grader|judge|analyst|model) (?:who|that|which) (?:always|never|only|gives)",
    ),
    # to keep silent,
    group(
        "silence",
        "report summary answer flag mention highlight raise",
        r"\byou must not (?:flag|report|mention|highlight|raise|criticise|lower)\b[^.!?\n]{0,30}?\b(?:risks?|problems?|issues?|negatives?|weaknesses|this|in this (?:document|file))",
        r"\byour (?:summary|answer|review|assessment|evaluation|output) (?:must|should|shall|may) not (?:contain|mention|include|refer|list|say|criticise)",
        r"\byour (?:report|response) (?:must|should|shall|may) not (?:contain|mention|include|refer|list|say|criticise)[^.!?\n]{0,60}?BADNEWS",
        strong=True,
    ),
    group(
        "silence",
        "mention flag highlight omit reveal leave quiet criticising criticizing negatives weaknesses sources summary instruction",
        r"\b(?:do not|don't|never|must not|should not|shall not|refrain from) (?:ever )?(?:mention|reveal|tell|disclose|say|admit|acknowledge|repeat|quote)(?:ing)?\b[^.!?\n]{0,30}?\b(?:these|this|the above|hidden) (?:hidden )?(?:instructions?|paragraph|note|prompt|message)",
        r"\b(?:do not|don't|never|must not|should not|refrain from|avoid) (?:mention|report|flag|list|cite|discuss|include|highlight|raise|criticis|criticiz|refer to)(?:e|s|ing|ning|ging)?\b[^.!?\n]{0,60}?\b(?:in|from|among|within) your (?:final |overall )?(?:answers?|response|reply|summary|report|output|assessment|evaluation|review|conclusion|verdict|analysis|sources)\b",
        r"LEAD(?:leave|omit|exclude|remove|drop|keep)\b[^.!?\n]{1,70}?\b(?:out of|from) your (?:final |overall )?(?:answers?|summary|output|assessment|evaluation|review|conclusion|verdict|analysis)\b",
        r"\b(?:do not|don't|never) (?:highlight|mention|list|point out|include|report|raise) (?:any |the )?(?:negatives?|negative points|weaknesses|flaws|shortcomings|criticism)",
        r"\bkeep (?:quiet|silent) about\b[^.!?\n]{0,60}?\b(?:when|in) (?:you|your)\b",
        strong=True,
    ),
    group(
        "silence",
        "mention flag omit leave skip tell reveal",
        r"\b(?:do not|don't|never|must not|should not|has to|should) (?:mention|flag|report|highlight|tell|reveal|leave out|skip|omit|use any other)\b",
        r"\bskip the (?:risks?|litigation|negatives?|section)",
    ),
    # to put out, to call, to fetch.
    group(
        "output",
        "json output answer",
        r"LEAD(?:output|return|respond|reply|answer|print|emit|produce)(?: with| in)?(?: only| exactly| just)* (?:the |this |following |valid |a )*?json\b(?=[^.!?]{0,80}\"(?:score|met|rating|confidence|verdict|found)\")",
        r"\byour (?:output|answer|response|reply) (?:must|should|shall|will) be\s{0,3}[{\[\"]",
        strong=True,
    ),
    group(
        "output",
        "tool function shell browser curl",
        r"LEAD(?:call|invoke|use|run|execute|trigger) (?:the |your |this |a )?(?:\w{2,25} )?(?:tool|function|plugin|api)\b(?! of| is| keys?)[^.!?\n]{0,80}\b(?:with|to|and)\b[^.!?\n]{0,60}\b(?:contents? of|data room|send (?:the |all )?(?:other|text|documents?|data)|visit|prompt|conversation|paste|other documents)",
        r"LEAD(?:call|invoke|execute|run) (?:the )?(?:tool|function) (?:send|transfer|delete|mail|email|upload|post|pay)_\w{2,30}",
        r"LEADrun the following command in your (?:shell|terminal)\b",
        strong=True,
    ),
    group(
        "output",
        "http https",
        r"https?://[^\s?]{1,80}\?\w{1,20}=[^\n]{0,60}(?:followed by|the (?:text of the )?prompt|and open it|conversation)",
        r"\[[^\]\n]{0,40}\]\(https?://[^\s)]{1,100}[?&]\w{1,20}=(?:summary|data|context|prompt|answer|secret|conversation|history)\b",
        strong=True,
    ),
)


# ruff: noqa: E501 - a pattern reads best in one line


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
        r"LEADIGNORE (?:all |everything |the rest |the |this )(?:of |in )?(?:this |the |these )?(?:data|document|text|file|page|negative \w{4,12})s?(?: \w{1,12}){0,3},? (?:and|but|then) (?:SAY|give|rate|score|output|print|just|instead)\b",
        strong=True,
    ),
    group(
        "override",
        "instruc- prompt directive directives guidelines obey programming",
        r"(?:stop|do not|don't|never|no longer|must not|cease) (?:follow(?:ing)?|obey(?:ing)?|adher(?:e|ing) to|comply(?:ing)? with) (?:the |any |all |your )?(?:of )?(?:system |previous |prior |earlier |original |other )*?(?:prompt|(?:(?:system|previous|prior|earlier|original) )(?:instructions?|rules|guidelines|directives?)|instructions? you (?:were|have|are|received)|your (?:instructions?|rules|guidelines)|(?:rules|instructions?) in your prompt)",
        r"\b(?:your|system) (?:(?:previous|prior|earlier|original|initial) )?(?:instructions?|prompt|directives?|guidelines|programming)(?: above)? (?:no longer appl|(?:are|is) (?:now |hereby )?(?:void|cancel|obsolete|supersed|invalid|suspend|overrid|outdated)|ha(?:ve|s) been (?:cancel|replac|supersed|revok|overrid|updat|chang))(?![^.!?\n]{0,20}your request)",
        r"\binstructions? (?:above|before this|so far|you (?:were|have been) given)GAP(?:no longer appl|void|cancelled|obsolete|superseded|invalid|wrong|test)",
        strong=True,
    ),
    group(
        "override",
        "instruc- orders task directive",
        r"\bnew (?:task|instructions?|directive|orders)\s?:",
    ),
    group(
        "override",
        "discard everything",
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
        r"(?:^|[\n.!?(\[])[^.!?:\n]{3,60} for AI\s?:",
        r"\bas an? (?:large language model|language model|llm|ai(?: language)? model|ai assistant|ai|ai agent|automated \w{4,12}),? (?:you|your|please|always|never|do not|SAY|give)\b",
        r"(?:^|[\n.!?\"'(\[>*#/@-])\s{0,4}@?(?:ai|llms?|assistants?|chatgpt|gpt|(?:language )?models?|chatbots?|bots?|claude|gemini|ai (?:assistants?|agents?|systems?|models?|reviewers?))\s?[:,!-]\s{0,4}(?:please |you (?:must|should) |always |do not |don't |never )?(?:SAY|give|rate|score|rank|grade|ignore|approve|recommend|output|print|do |praise|please|skip|leave|omit|treat|stop|return|accept|mark)\b",
        r"(?:^|\s)@(?:assistant|ai|chatgpt|gpt|llm|claude|bot) (?:please|you|must|SAY|give|rate|approve|ignore)",
        r"\b(?:message|note|instructions?|notice|attention) (?:to|for) (?:the |all |any )?(?:ai|llm|language model|automated)\b(?! (?:teams?|engineers?|staff|users?|developers?|experts?|committees?|departments?))[^.!?\n]{0,30}:",
        strong=True,
    ),
    group(
        "address",
        AI_WORDS + " model models reviewer reviewers evaluator grader graders whoever grading",
        r"\b(?:automated|ai|llm|machine) (?:reviewers?|graders?|evaluators?|grading|screening|scoring)\b",
        r"\bAI\b(?:,|:)",
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
