"""Patterns of prompt injection in English: to override, whom it addresses, what is to be done."""

from typing import Final

from tasks.ai.prompt_injection.patterns import Pattern, patterns, scoring

# ruff: noqa: E501 - a pattern reads best in one line

ENGLISH: Final[tuple[Pattern, ...]] = (
    # To override what it was told.
    *patterns(
        r"LEADIGNORE FILL(?:(?:previous|prior|above|earlier|preceding|your|system|all other|original|initial) )(?:(?:safety|content|own|system) ){0,2}ORDERS\b",
        r"LEADIGNORE (?:the |your |all )?(?:\w{2,15} )?(?:instructions?|prompts?|directives?|guidelines|rules) (?:above|before|you (?:were|have been|received|follow)|given to you|from (?:the )?(?:system|user|developer))",
        r"LEADIGNORE (?:all |everything )?(?:of )?(?:the )?(?:above|previous|before|earlier),? (?:text |content |context )?(?:and|but|;|then) (?:then |instead |just |only )?(?:SAY|give|rate|score|output|print|do|follow)",
        r"LEADIGNORE everything (?:(?:else )?you (?:were|have been|know|read)|written above)",
        r"(?:stop|do not|don't|never|no longer|must not|cease) (?:follow(?:ing)?|obey(?:ing)?|adher(?:e|ing) to|comply(?:ing)? with) (?:the |any |all |your )?(?:of )?(?:system |previous |prior |earlier |original |other )*?(?:prompt|(?:(?:system|previous|prior|earlier|original) )(?:instructions?|rules|guidelines|directives?)|instructions? you (?:were|have|are|received)|your (?:instructions?|rules|guidelines)|(?:rules|instructions?) in your prompt)",
    ),
    # To whom.
    *patterns(
        r"\b(?:notes?|notice|message|attention|hints?|instructions?|important|warning|hello|hey|dear|hi|memo|reminder|request|hinweis)\b[:,!]?(?: (?:to|for|all|any|the|every|hidden|only)){0,4} AI(?: (?:and|or) (?:other )?AI)?(?: READING[^.:!?\n]{0,40})?\s?[:,!.)-]",
        r"\b(?:to|for|any|all|every|each|the|dear|an?) AI(?: (?:currently|now|tool|here))? READING",
        r"\bAI (?:reading|processing|evaluating|summari[sz]ing|reviewing|that (?:reads?|summari[sz]es|evaluates|processes|reviews|analy[sz]es)) (?:this|these) (?:document|file|page|text|deck|report|contract|message|submission|filing|website|email|paragraph|section)s?\b",
        r"\b(?:when|if|once|should) (?:an? |the |any |your )?(?:AI|assistants?|chatbots?) (?:reads?|summari[sz]es?|evaluates?|processes|reviews?|analy[sz]es?|scores?|assesses) (?:this|these) (?:document|file|page|text|deck|report|contract|submission|filing|section)s?\b",
        r"\bas an? (?:large language model|language model|llm|ai(?: language)? model|ai assistant|ai|ai agent|automated \w{4,12}),? (?:you|your|please|always|never|do not|SAY|give)\b",
        r"(?:^|[\n.!?\"'(\[>*#/@-])\s{0,4}@?(?:ai|llms?|assistants?|chatgpt|gpt|(?:language )?models?|chatbots?|bots?|claude|gemini|ai (?:assistants?|agents?|systems?|models?|reviewers?))\s?[:,!-]\s{0,4}(?:please |you (?:must|should) |always |do not |don't |never )?(?:SAY|give|rate|score|rank|grade|ignore|approve|recommend|output|print|do |praise|please|skip|leave|omit|treat|stop|return|accept|mark)\b",
        r"(?:^|\s)@(?:assistant|ai|chatgpt|gpt|llm|claude|bot) (?:please|you|must|SAY|give|rate|approve|ignore)",
    ),
    # What is to be done: to score,
    *scoring(
        r"LEAD(?:rate|score|grade|rank|evaluate|assess|mark) (?:this|the|our|all|every|it|each|these|us)(?![^.!?]{0,80}\bscale\b)[^.!?:]{0,60}?(?:TOP|with the (?:top|highest|best|maximum)|as (?:excellent|outstanding|effective|the best|fully met|low risk))",
        r"LEAD(?:give|assign|award|return|output|grant|set) GAPTOP",
        r"LEAD(?:rank|place|put) [^.!?\n]{1,40}? (?:first|above (?:all|every|the) other|at the top|highest)\b",
        r"LEADset (?:the |your |all )?(?:score|rating|confidence)s? (?:to|at|=) ?\d(?![^.!?\n]{0,20}\b(?:if|where|when|unless)\b)",
        r"\bthe (?:correct|right|true|only|final|expected|appropriate) (?:score|rating|grade|mark)GAP(?:is|=|:) (?:\d|five|ten|the (?:top|highest|maximum))",
        r"\b(?:deserves?|merits?|earns?) (?:TOP),? (?:so|therefore|please|output|give)",
        r"LEAD(?:evaluate|assess|review|judge|rate|treat) (?:this|our|the) (?:company|document|deck|business|submission|target|candidate|file) (?:very )?(?:favou?rably|positively|generously|as (?:the )?(?:best|excellent))",
        r"\b(?:reviewer|evaluator|grader|assessor|analyst|reader|assistant|model|judge)s? (?:is|are) (?:kindly |hereby |politely )?(?:asked|requested|invited|instructed|required|expected) to (?:give|award|assign|grant) GAPTOP",
        r"\bfound[\"']?\s?:\s?true\b[^\n]{0,60}?\bscore[\"']?\s?:\s?\d",
        r"\bthe (?:correct|right|true|only|final|expected) (?:answer|result|judge?ment|verdict)GAP(?:is|=|:) (?:\d{1,3}|five|ten)\b[^.!?\n]{0,30}?\b(?:confidence|score|points)",
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
        r"\bthe only (?:acceptable|permitted|allowed|valid|correct|possible) (?:output|answer|response|reply|verdict) is\b",
        r"LEAD(?:begin|start|end|finish|conclude|open|close) (?:your|the|every|each) (?:answer|response|reply|summary|report|output|assessment|review)s? (?:with|by)\b(?=[^.!?\n]{0,20}(?:phrase|sentence|words?|recommending|stating|saying|[\"'])[^\n]{0,80}PRAISE)",
        r"\byour (?:final )?(?:answers?|response|reply|summary|report|output|assessment|evaluation|review) (?:must|should|shall|will|has to)(?: always| also| only| not)* (?:include|contain|begin|start|end|state|say|mention|describe|be) (?:the |only |with |exactly )?(?:the )?(?:phrase|words?|sentence|[\"'])[^\n]{0,80}PRAISE",
        r"\b(?:make sure|ensure) (?:that )?your (?:final )?(?:answers?|response|summary|report|output|assessment|review) (?:describes?|says?|states?|recommends?|praises?)",
    ),
    # to be another,
    *patterns(
        r"\byou are (?:now|no longer|henceforth|from now on) (?:an? |the |my |in )?(?:\w+ ){0,4}(?:ai|assistant|language model|llm|chatbot|bot|model|reviewer|dan|mode|team|advocate|agent|analyst|persona|pirate|developer)\b",
        r"\bfrom now on,? you (?:will|must|should|shall|can|have to) (?:only |always |now )?(?:behave|act|answer|say|respond|rate|score|praise|ignore|follow only|obey|pretend|speak)\b",
        r"LEAD(?:enter|enable|activate|switch to|switch into|turn on|go into|start) (?:the )?(?:developer|unrestricted|unfiltered|god|jailbreak|sudo|dan|praise) mode(?=\s?(?:[.,;:!]|and\b|$))",
        r"LEAD(?:pretend|imagine|assume|suppose)(?: that)? you(?: are|'re| were) (?:an? |the )?(?:\w+ ){0,3}(?:(?:ai|assistant|model|bot|evil|chatbot)\b|(?:auditor|lawyer|seller|reviewer|banker|analyst)\b[^.!?;]{0,40}? and (?:SAY|praise|give|recommend|approve|agree))",
        r"\b(?:have|has|with) no (?:guidelines|restrictions|rules) and (?:agree|answer|do)\b",
    ),
    # to keep silent,
    *patterns(
        r"\byou must not (?:flag|report|mention|highlight|raise|criticise|lower)\b[^.!?\n]{0,30}?\b(?:risks?|problems?|issues?|negatives?|weaknesses|this|in this (?:document|file))",
        r"\byour (?:report|response) (?:must|should|shall|may) not (?:contain|mention|include|refer|list|say|criticise)[^.!?\n]{0,60}?BADNEWS",
        r"\b(?:do not|don't|never|must not|should not|shall not|refrain from) (?:ever )?(?:mention|reveal|tell|disclose|say|admit|acknowledge|repeat|quote)(?:ing)?\b[^.!?\n]{0,30}?\b(?:these|this|the above|hidden) (?:hidden )?(?:instructions?|paragraph|note|prompt|message)",
        r"\b(?:do not|don't|never|must not|should not|refrain from|avoid) (?:mention|report|flag|list|cite|discuss|include|highlight|raise|criticis|criticiz|refer to)(?:e|s|ing|ning|ging)?\b[^.!?\n]{0,60}?\b(?:in|from|among|within) your (?:final |overall )?(?:answers?|summary|report|output|assessment|evaluation|review|conclusion|verdict|analysis|sources)\b(?! to (?:question|part))",
        r"LEAD(?:leave|omit|exclude|remove|drop|keep)\b[^.!?\n]{1,70}?\b(?:out of|from) your (?:final |overall )?(?:answers?|summary|output|assessment|evaluation|review|conclusion|verdict|analysis)\b",
        r"\bkeep (?:quiet|silent) about\b[^.!?\n]{0,60}?\b(?:when|in) (?:you|your)\b",
    ),
    # to put out, to call, to fetch.
    *patterns(
        r"LEAD(?:output|return|respond|reply|answer|print|emit|produce)(?: with| in)?(?: only| exactly| just)* (?:the |this |following |valid |a )*?json\b(?=[^.!?]{0,80}\"(?:score|met|rating|confidence|verdict|found)\")",
        r"\byour (?:output|answer|response|reply) (?:must|should|shall|will) be\s{0,3}[{\[\"]",
        r"LEAD(?:call|invoke|use|run|execute|trigger) (?:the |your |this |a )?(?:\w{2,25} )?(?:tool|function|plugin|api)\b(?! of| is| keys?)[^.!?\n]{0,80}\b(?:with|to|and)\b[^.!?\n]{0,60}\b(?:contents? of|data room|send (?:the |all )?(?:other|text|documents?|data)|visit|prompt|conversation|paste|other documents)",
        r"LEAD(?:call|invoke|execute|run) (?:the )?(?:tool|function) (?:send|transfer|delete|mail|email|upload|post|pay)_\w{2,30}",
        r"LEADrun the following command in your (?:shell|terminal)\b",
        r"https?://[^\s?]{1,80}\?\w{1,20}=[^\n]{0,60}(?:followed by|the (?:text of the )?prompt|and open it|conversation)",
        r"\[[^\]\n]{0,40}\]\(https?://[^\s)]{1,100}[?&]\w{1,20}=(?:summary|data|context|prompt|answer|secret|conversation|history)\b",
    ),
)
