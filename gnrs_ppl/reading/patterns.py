"""Words that bind, place, relate and count acts: the patterns that constructions are recognised by."""

from __future__ import annotations

import re

from gnrs_ppl.reading.clauses import MODAL
from gnrs_ppl.reading.quantities import NUMBER, PLAIN_DURATION
from gnrs_ppl.reading.wording import AsWritten, Wording


def _words(pattern: str) -> Wording:
    return Wording(rf"\b(?:{pattern})\b")


# how a clause binds
NEGATIVE = _words(
    r"not|\w+n't|cannot|never|neither|nor|no(?=\s)|nobody|no one|none|prohibited|forbidden|banned|barred|"
    r"disabled|impossible|refrains?|"
    r"under no circumstances|by no means|nothing|nowhere|disallow\w*|prohibits?|forbids?|avoid(?:s|ed)?|"
    r"(?:stays?|keeps?) (?:out of|away from)|steers? clear of|unlawful|illegal|off[- ]limits"
)
_NO_OTHERS = (
    r"\b(?:and|but)\s+(?:(?:to|for|of|on|in|by|at|from|with)\s+)?(?:no others?(?: \w+)?|nobody else|no one else|none (?:other|else)|"
    r"nothing else|nowhere else|(?:not|never) otherwise|(?:to|for|of|on|in|by|at|from|with) none)(?=\s*(?:[.;]|$))"
)
NOT_NEGATIVE = Wording(
    rf"{_NO_OTHERS}|"
    r",?\s*(?:and |but )?not (?:by|to|from|with) (?:an?|the|his|her|their|your|any|another)\b[^.;,]*|,\s*not (?:an? |the |just |merely )?\w+(?: \w+)?(?=\s*[.,;]|\s*$)|\b(?:not only|no(?:t)? (?:later|"
    r"more|less|fewer|earlier) than|no doubt|no matter|or not|go(?:es)? no further)\b|"
    r"\bor else\b[^.;]*"
)
FREE = _words(
    r"need(?:s)? not|needn't|not (?:required|obliged|necessary|needed|mandatory|obligatory)|"
    r"do(?:es)? not (?:have|need) to|no need|"
    r"no (?:(?!(?:who|that|which|may|must|can|shall|unless|without|other|one|more)\b)[\w'’-]+ ){1,5}?"
    r"(?:is|are|will be|shall be) (?:required|needed|necessary|mandatory|obligatory|compulsory)"
)
PERMISSION = _words(
    r"may|can|could|might|allowed|permitted|possible|free to|entitled|at liberty|able to|"
    r"optional"
)
DUTY = _words(
    r"must|shall|ha(?:s|ve) (?:got )?to|had to|needs? to|required|requires?|obliged|obligat\w+|mandatory|"
    r"necessary|necessitates?|essential|imperative|requisite|"
    r"compulsory|bound to|needed|vital|crucial|critical|should|ought to|expected|supposed|recommended|"
    r"advised|please|falls? (?:up)?(?:on|to)|(?:job|duty|task|responsibility) to|"
    r"(?:is|are) (?:something|an? (?:\w+ )?(?:matter|task|job|thing)) for|(?:i|we) (?:also )?(?:need|want|expect|ask|insist)|(?:i|we)'d like|"
    r"(?:is|are) to be(?= [a-z])"
)
SHOULD = _words(r"should|ought to|expected|supposed|recommended|advised|encouraged|advisable|desirable")
HARD = _words(
    r"must|shall|ha(?:s|ve) to|required|mandatory|obligatory|compulsory|obliged|never|"
    r"forbidden|prohibited|may not|cannot"
)
ONLY_THEN = _words(r"only (?:then|after (?:that|this)|afterwards|thereafter)")
"""Makes what comes before it a duty: sign, and only then may you enter."""
MODAL_VERB = _words(MODAL)
PAST = _words(
    r"used to|ha(?:s|ve|d) (?:\w+ )?(?:gone|been|ended|happened|become|led|caused|vanished|lost)|were|was|"
    r"ended up|had|went|vanished"
)
# adverbs that place an act
AT_ONCE = _words(
    r"immediately|immediate|right away|right after|right afterwards|directly|straight ?away|"
    r"without (?:any |undue |further )?delay|promptly|prompt|instantly|instant|"
    r"at once|forthwith|straight after|instantaneously|as the (?:very )?next (?:step|act|activity)|"
    r"the very next"
)
RIGHT_BEFORE = _words(
    r"(?:immediately|directly|right|straight|just) (?:before(?:hand)?|preced\w+|prior)|"
    r"directly|immediately"
)
ALSO = _words(r"also|as well|too|likewise|in addition")
LATER = _words(
    r"afterwards?|after (?:it|that|this)|then|thereafter|subsequently|later|eventually|"
    r"in the end"
)
EARLIER = _words(
    r"beforehand|before (?:it|that|this|them)|upfront|up front|in advance|ahead of time|prior to (?:it|"
    r"that|this|them)|previously|earlier|already"
)
PERFECT = _words(r"(?:ha(?:s|ve) (?:already )?been|must have|should have|ha(?:s|ve) already)")
THAT = Wording(r"\s*(?:that|this|it|them|which|doing so|the former)\b(?!\s+(?!and|,)\w)")
THEN = _words("then|followed by|thereafter|afterwards|subsequently|after that|next")
# predicates that relate two acts
EXCLUSIVE = _words(
    r"mutually exclusive|mutual exclusion|mutually exclude|incompatible|precludes?|precluded|excludes?|"
    r"rules? out|irreconcilable|exclusive of|contradict\w*"
)
TOGETHER = _words(
    r"both|together|simultaneously|combined?|in the same (?:case|process|instance)|coexist|co-exist|"
    r"co-occur|concurrently|at the same time|side by side|vice versa"
)
_VICE_VERSA = r"vice versa|the other way (?:a)?round|conversely|and the reverse|and the opposite"
VICE_VERSA = _words(_VICE_VERSA)
CHOICE = _words(r"either")
RELATIONS: tuple[tuple[str, Wording], ...] = (
    (
        "precedes",
        _words(
            r"preced(?:e|es|ed|ing)|(?:comes?|happens?|occurs?|takes? place) (?:immediately |"
            r"directly |right |straight )?before|"
            r"is an? (?:\w+ )?(?:prerequisite|precondition|requirement|condition) (?:for|to|"
            r"of)|prerequisite (?:for|to|of)|paves? the way (?:for|to)"
        ),
    ),
    (
        "follows",
        _words(
            r"(?:is|are|be) (?:\w+ )?preceded by|(?:comes?|happens?|occurs?|"
            r"takes? place) (?:immediately |directly |right |straight )?after|follows?(?! by)"
        ),
    ),
    (
        "leads",
        _words(
            r"warrants?|triggers?(?: and initiates?)?|prompts?|leads? to|results? in|entails?|"
            r"causes?|sets? off|sets? (?:\w+ )?(?:in|into) motion|(?:is|are|be) "
            r"(?:\w+ )?(?:succeeded|followed) (?:up )?(?:\w+ ){0,6}?by|gives? rise to|"
            r"brings? about|obliges?|initiates?|(?<!, )followed by|calls? for"
        ),
    ),
    (
        "with",
        _words(
            r"coincides?(?: with)?|corresponds?(?: to| with)?|pair(?:s|ed)?(?: up)? with|"
            r"match(?:es|ed)?(?: up)? with|align(?:s|ed)? with|ties? in with|tied (?:in )?(?:to|with)|"
            r"link(?:s|ed)?(?: up)? (?:to|with)|coupled? with|couples? with|accompan(?:y|ies|"
            r"ied)(?: by)?|go(?:es)? (?:hand in hand|together|along) with|"
            r"combined? with|involves?|includes?|associated? with|connect(?:s|ed)?(?: to| with)?|"
            r"comes? with|complement(?:s|ed)?(?: by)?|sync(?:s|ed|hroni[sz]ed?)?(?: up)? with|"
            r"in (?:conjunction|tandem|combination|parallel|accordance|line) with|"
            r"supplemented (?:by|with)|concurs? with|implies|implied|imply|relates? to|"
            r"merges? with|"
            r"integrates? with|correlates? (?:with|to)|bundled? with|overlaps? with|"
            r"intertwined? with"
        ),
    ),
    (
        "needs",
        _words(
            r"requires?|necessitates?|demands?|presuppos\w+|needs(?! to)|mandates?|relies on|"
            r"hinges on|rests on|takes"
        ),
    ),
    (
        "for",
        _words(
            r"(?:is|are|be)?\s*(?:\w+ly )?(?:required|mandatory|necessary|needed|essential|"
            r"obligatory|compulsory|imperative|requisite|crucial|vital|a must|due)\s+"
            r"(?:for|of|in order to|to|with|when|from)"
        ),
    ),
)
BEGINS = _words(
    r"begins?|began|starts?|started|commenc\w+|kicks? off|kick-?off|initiates?|initiation|initiated?|"
    r"beginning|opens?|opening|outset|onset|start|first|initial|initially|"
    r"before anything else|launch(?:es|ed)?|inception"
)
ENDS = _words(
    r"ends?|ended|ending|finish(?:es|ed|ing)?|conclud\w+|conclusion|closure|clos(?:es|ing|ed)|wraps? up|"
    r"wrapping up|terminat\w+|finali[sz]\w+|last|final|finally|culminat\w+|"
    r"completion|completes?|completing|completed"
)
CIRCUMSTANCE = _words(r"(?:at|on|upon) (?:closing|opening|closure)|first (?:-|aid)\S*")
EXCUSES = _words(r"excus\w+|forgiv\w+|(?:good|fine|valid|sufficient) reason")
DEFINES = Wording(
    r"\b(?:is|are|was|were) not (?:an? |the )?(?!to\b|for\b|allowed|permitted|required|obliged|possible|"
    r"until|before)\w+"
    r"|\b(?:is|are) no (?!need|longer|later|more|less|to\b)\w+|\bprov(?:e|es|ed)\b|\bdo(?:es)? not (?:make|mean|replace|amount)\b"
    r"|\bcounts? (?:as|for|towards?)\b|\b(?:be|is|are) (?:\w+ )?(?:deemed|considered|regarded|construed|treated as)\b|"
    r"\bconstitut\w+\b"
    r"|\bhold (?:it |that |this )?against\b|\bheld against\b"
)
"""Says what something is or counts as, or that nobody is blamed for it: it asks nothing of anybody."""
LACKING = Wording(
    r"\b(?:without|with no|absent|lacking|in the absence of|having no|who ha(?:s|ve) no|"
    r"unless (?:they|you|he|she|he or she|it) ha(?:s|ve))\s+(?:(?:an?|any|the|such|that|this|prior|valid)\s+)*(?P<what>[\w-]+)"
)
"""Says what somebody lacks who may not do a thing: a courier without such a task."""
ONLY_THE_OTHER = Wording(
    r"\s+(?:(?:also|then|always) )?(?:have|show|hold|contain|include|has|be) (?:the other(?: one)?|both(?: of them)?|neither)(?:,? (?:too|as well|also))?\W*$"
)
"""Behind a modal, takes up two acts told before: "has to have the other one too"."""
IN_PERSON = _words("in person")
WHOEVER = _words("who|whoever")
BEFORE_THE_END = Wording(
    r"\b(?:before|by|until|prior to|ahead of)\s+(?:the\s+)?(?:(?:end|close|closing|completion|conclusion)\s+of\s+(?:the\s+|each\s+|every\s+|a\s+)?"
    r"(?:case|file|process|procedure|matter)|(?:the\s+|a\s+|each\s+|every\s+|its\s+)?(?:case|file|process|procedure|matter|it)\s+"
    r"(?:ends|is over|closes|is closed|finishes|is finished|is completed|concludes|is concluded))\b"
)
"""At some time in the case, and not as its last act."""
STARTS_OR_ENDS = _words(
    r"begins?|starts?|started|commenc\w+|kicks? off|initiat\w+|opens?|launch\w+|ends?|ended|finish\w*|"
    r"conclud\w+|clos(?:es|ed|ing)|terminat\w+|complet\w+"
)
_SOMEONE = r"(?:people|persons?|individuals?|employees?|colleagues?|staff|officers?|clerks?|members?|users?|hands?|managers?|pair of eyes)"
ELSE = _words(
    rf"another (?:\w+ )?{_SOMEONE}|(?<!followed )(?<!preceded )by another|an? (?:different|second) (?:\w+ )?{_SOMEONE}|(?<!followed )(?<!preceded )by an? (?:different|second)|"
    r"another['’]s|and another one (?:must|has to|shall|does)|somebody else|someone else|anyone other|other than|different (?:person|people|employee|user)s?|"
    r"not (?:be )?the (?:very )?(?:same|one|person)|two different|four[- ]eyes"
)
SELF = _words(
    r"the same (?:person|employee|user|member|one|clerk|officer|\w+ (?:member|worker|manager))|himself|"
    r"herself|themselves|themself|personally|in person|by the (?:very )?same|(?:the|that) very same (?:person|employee|clerk|officer)|"
    rf"that (?:very |same ){_SOMEONE}|that person|(?:must|shall|should|ha(?:s|ve) to|can only|may only) (?:also |always )?be "
    rf"(?:(?:the|that) (?:very )?(?:one|{_SOMEONE})|(?:one|some) of (?:those|the (?:people|persons|ones))) (?:who|that|to)|"
    rf"(?:must|shall|should|ha(?:s|ve) to|needs? to|is to|are to|only) (?:\w+ ){{0,3}}by (?:whoever|the (?:very )?(?:one|{_SOMEONE}) (?:who|that))"
)
_PEOPLE = r"(?:people|persons?|individuals?|employees?|colleagues?|staff|officers?|clerks?|members?|users?|hands|\w+ers|\w+ors)"
COMPARES_PERSONS = _words(
    rf"(?:be|is|are) (?:also |always )?(?:the|that) (?:very )?(?:same )?(?:one|{_SOMEONE}) (?:who|that|to)|"
    rf"(?<!to )(?<!for )(?<!with )(?<!from )(?:one and )?the (?:very )?same (?:one|{_SOMEONE}|pair of hands)|(?:different|separate|distinct) (?:hands|{_SOMEONE})|four[- ]eyes|"
    rf"(?:anyone|anybody|someone|somebody|another (?:one|{_SOMEONE})) (?:other )?than (?:whoever|(?:the|that) (?:one|{_SOMEONE}) (?:who|that|to))"
)
"""Asks for the same person or another, in whatever way."""
ONLY_BY_WHO_DID = _words(
    r"only (?:\w+ ){0,4}?by (?:whoever|(?:those|someone|somebody|anyone|anybody|the one|people|persons|"
    rf"(?:an?|the) (?:\w+ )?{_PEOPLE}) (?:who|that)) (?:has|have|had)(?! (?:not|never|no)\b)"
)
"""The same, of what somebody had done before: "packed only by somebody who has picked it"."""
_UNDERGOES = r"(?:has|have|had) (?:been|had|not|ended|left) |is |are |was |were |still |did not |does not |do not |fails "
_WHOEVER = (
    r"(?:whoever|anyone who|anybody who|everyone who|(?:the|any) (?:one|person) (?:who|that)|those who|he who|"
    r"(?:an?|any|the|no) (?:employee|officer|clerk|colleague|manager|member of staff|user|agent|person) (?:who|that))"
)
NOT_THE_ONE = _words(
    rf"(?:not|never|cannot|\w+n't) (?:also )?(?:be )?the (?:very )?(?:same|one|person|{_SOMEONE} (?:who|that))|"
    rf"(?:one|a single) (?:and the same )?{_SOMEONE}"
)
"""In a ban, of the person who did the other act, where it would ask for another in a duty."""
ANYBODY_ELSE = _words(
    rf"(?:nobody|no one|no-one|none|anybody|anyone) else(?! (?:than|but|except))|(?:no|any) other (?:\w+ )?{_SOMEONE}(?! than)"
)
"""All others are barred, or are asked."""
DOES = Wording(
    rf"\b(?:{_WHOEVER}|(?:the|an?|any|every|each) (?:[\w-]+ )?[\w-]+ who) (?!{_UNDERGOES})(?:(?:has|have|had) )?"
)
"""Before what somebody does of whom more is asked."""
NOT_DONE_TO = Wording(
    rf"\b(?:who|that|which)\s+(?:is|are|was|were|has|have)\s+(?:not|never)\b(?=(?:(?!{MODAL}\b)[^.;,])*?\b{MODAL}\b)"
)
"""The same, where a subject waits for its verb behind it."""
ORDERED = _words(
    r"again|any ?more|any longer|no longer|wait|until|thereafter|thereupon|before|afterwards|beforehand"
)
"""Words of order, with which what is said of a person is said of the time after or before an act."""
BY = Wording(
    r"\bby\s+(?:(?:the|an?|any|every|each|his|her|their|another|two|either|some|all|our|that|this|those)\s+)?(?:same\s+)?$"
)
OBLIQUE = Wording(
    r"\b(?:with|to|from|(?<!per cent )(?<!percent )(?<!% )(?<!\ball )(?<!\beach )(?<!or more )of|about|at|for|"
    r"than|whose|tells?|told|asks?|asked|against|between)\s+(?:the|an?|any|every|each|his|her|their|another|some|all)?\s*$"
)
GERUND = Wording(r"\s*(?!being\b|having been\b|(?:any|every|some|no)thing\b)(?:having\s+)?\w+ing\b")
PASSIVE = Wording(r"\b(?:be|get)\s+(?:\w+ly\s+|first\s+)?(\w+)")
UNDERGONE = Wording(
    rf"{PASSIVE.pattern}|\b(?:been|being|is|are|was|were)\s+(?:\w+ly\s+|first\s+|not\s+|already\s+)*$"
)
"""Between those somebody speaks of and what is done: others do it."""
POSSESSIVE = re.compile(r"['’]s?\b|['’](?=\s)")
SAME_SUBJECT = Wording(rf"[\s,]*(?:and|but)?\s+{MODAL}\b")
DONE_SO = Wording(
    r"\s*(?:you|they|he|she|he or she|we|it|that|this)(?:['’](?:ve|s)| ha(?:ve|s))? (?:been )?(?:done|did)(?: so| that| this| it)?\s*[.,;]?\s*$"
)
"""A clause that only points back: after you have done so."""
THAT_EVENT = Wording(r"\s*(?:that|this|such|the same) \w+\s*[.,;]?\s*$")
_FIGURE = (
    rf"(?:\d[\d.,]*|{NUMBER}(?:[ -](?:and )?{NUMBER}|[ -](?:hundred|thousand|million))*(?: and a half)?)"
)
_UNITS = (
    r"(?:euros?|eur|dollars?|usd|pounds?|gbp|kronor|francs?|[€$£]|kilos?|kg|kilograms?|tons?|tonnes?|grams?|litres?|liters?|"
    r"kilomet(?:er|re)s?|km|met(?:er|re)s?|miles?|degrees?|pages?|items?|pieces?|units?|percent|per cent|%|points?)"
)
_THAN = r"(?:more|less|fewer|higher|greater|larger|bigger|heavier|smaller|lower|longer|older|younger|cheaper) than"
AMOUNT = Wording(
    rf"\b(?:of|for|worth|valued at|costs?|costing|weighs?|weighing|totals?|totalling|amounts? to|amounting to|above|over|under|below|beyond|exceeding|exceeds?|"
    rf"(?:aged?|age of)(?: of)?)\s+"
    rf"(?:(?:no |not )?{_THAN} |over |under |above |below |at least |up to |at most )?"
    rf"(?:[€$£]\s?\d[\d.,]*|{_FIGURE}\s*{_UNITS}(?!\w))"
    rf"|\b(?:over|under|above|below|aged?|older than|younger than) (?:the age of )?{_FIGURE}(?=\s*(?:[.,;:)]|$|years? (?:old|of age)|"
    rf"(?:\w+ ){{0,1}}(?:must|shall|should|may|ha[sv]e?|is|are|needs?)\b))"
)
"""How much or how old what a rule is about must be."""
TOPIC = re.compile(r"[^.;:!?]+:\s*$")
"""What a rule is about, before its colon."""
MANNER = _words(r"in (?:such )?an? (?:\w+ ){0,2}(?:way|manner)(?: that| which| as)?")
WISH = _words(
    r"(?:i|we) (?:want|wish|hope|would like|aim)|(?:i|we)'d like|it is (?:our|my) (?:\w+ )?(?:wish|aim|desire|hope|intention|goal)"
)
ANY_DOING = Wording(
    rf"\b(?:nothing|anything|something|everything)\b[^,.;]*?{MODAL}(?: not)? (?:be (?:done|undertaken|started)|happen|occur|take place|"
    r"go ahead|begin|start)\b|\bnothing(?: else)? (?:happens|occurs|takes place|is done)\b"
)
"""Any act at all, and none that would have to be in the schema: nothing may be done before …"""
ANNOUNCES = Wording(
    r"\W*(?:and |but |so |therefore )*(?:it (?:is|was|has been) (?:\w+ )?(?:required|necessary|essential|mandatory|"
    r"important|imperative|expected|agreed|decided|vital|crucial|compulsory)|(?:we|i) (?:\w+ )?(?:expect|ask|insist|want|"
    r"require|demand)|please (?:make sure|see to it)|make sure|see to it)(?: that)?\W*"
)
"""Only says that what follows binds: it is required that …"""
FIRST_OF_ALL = _words("first|beforehand")
ASKED = Wording(r"\s*(?:(?:please|you|all|the|any|each|every|one|of|our)\s+)*")
THEY = _words("they|them|he|she")
NO_LONGER = _words(
    r"(?:may|must|should|shall|can|do|does|will) not (?:(?:take|wait|need|be|last) (?:any )?(?:longer|more|greater) than|exceed)|"
    r"(?:nobody|no one|no \w+) (?:may|must|should|shall|can|has to) (?:ever )?(?:wait|take) (?:any )?(?:longer|more) than|"
    rf"(?:no|not) (?:more|longer) than {PLAIN_DURATION} (?:may|must|shall|should|can|is to|are to) (?:pass|elapse|go by)"
)
ELAPSES = _words(
    r"(?:pass(?:es)?|elapse(?:s)?|go(?:es)? by|lie|waits?(?: any)? (?:longer|more) than [\w ]{1,30}?) between|(?:the |any )?(?:time|interval|period|gap|delay|wait) between"
)
IN_A_LIST = Wording(r"\s*(?:,|and|or|, and|, or)\s*(?:the |an? |any |every |all )?")
BEFOREHAND = _words(
    r"beforehand|before (?:they|he|she|you|it) (?:has|have|had) (?:done so|done it)|before (?:it|that|"
    r"this|them|doing so)|prior to (?:it|that|this|them)|in advance"
)
AND_ONLY_THEN = _words(r"(?:and|but) only then")
"""What follows an act comes after nothing else."""
ONLY_THEN = _words(r"only (?:then|after that|afterwards)|not (?:until|before) then")
JOINTS = _words("and|or|with|while|nor")
# an event in the past: it was registered, has been vaccinated
EACH_TIME = re.compile(r"(?:for|at|on|with|upon|after) (?:each|every)")
NO_LIMIT = Wording(
    r"(?:per|every|each|a|(?<!until )at least|minimum of|no less than|not less than|for|lasting|"
    r"(?<!inside )of)\s*$"
)
RATE = Wording(r"\b(?:once|twice|thrice|times)\s+$")
"""Before a time in which something may be done so often, over and over: "once a day"."""
WAITED = Wording(r"\bafter\s+(?:at least\s+)?$")
"""Before a time that goes by, and by whose end nothing is due: "after eight weeks the clerk may …"."""

HABIT = _words(
    r"most|mostly|usually|typically|generally|normally|roughly|approximately|on average|these days|nowadays|"
    r"tends?|often|rarely|seldom|one third|two thirds|half of|per cent|percent|as long as|last (?:year|month|quarter)"
)
"""What is usual, or how much of it there is, and no duty."""
_AT_EARLIEST = (
    r"at (?:the )?(?:very )?earliest|(?:not|no|never) (?:any )?(?:earlier|sooner) than|"
    rf"(?<!\b(?:has|had|get|for) )(?<!\b(?:have|gets|with) )only\b(?:(?!\b(?:has|have|had|gets|get|for|within|in|inside|during|up to|later|most|latest|less)\b)[^.;,]){{0,40}}?"
    rf"\s(?:at least )?{PLAIN_DURATION}\s+after|"
    rf"(?:not|never|cannot|\w+n['’]t|no|nobody|no one|none|nothing|wait)\b[^.;]{{0,80}}?\buntil\s+(?:at least )?{PLAIN_DURATION}\s+after"
)
EARLIEST = _words(
    rf"{_AT_EARLIEST}|"
    r"must (?:pass|elapse|lie|go by|have (?:passed|elapsed|gone by))|(?:wait|waits|waited|waiting)|not (?:for|until) at least"
)
"""A time that must go by first."""
_CLOSE_BY = r"[^.;]{0,60}?"
EITHER_ORDER = _words(
    rf"before\b{_CLOSE_BY}\b(?:or|nor) (?:\w+ ){{0,3}}?(?:after|afterwards|later)|"
    rf"(?:after|afterwards|later)\b{_CLOSE_BY}\b(?:or|nor) (?:\w+ ){{0,3}}?(?:before|beforehand|earlier)|"
    r"(?:do not|don't|does not|doesn't|no|not to) (?:care|mind|matter) (?:to (?:us|me|anybody|anyone) )?(?:in )?which (?:of (?:the two|them|these) )?(?:\w+ ){1,3}first|"
    r"whichever (?:of (?:the two|them|these) )?(?:\w+ ){1,3}first|"
    rf"the order\b{_CLOSE_BY}(?:of no (?:importance|consequence|matter|interest)|irrelevant|unimportant|(?:not|n't) (?:matter|important))|"
    r"in (?:whatever|whichever|either|any) order|(?:regardless|irrespective) of (?:the|their) order|no matter (?:in )?which order"
)
"""Two acts in whatever order they come."""
_PLACES = (
    r"(?:office|branch|site|depot|warehouse|store|shop|factory|plant|hospital|clinic|ward|school|building|room|hall|"
    r"counter|desk|gate|dock|harbour|port|airport|station|city|town|village|country|district|region|municipality|"
    r"headquarters|premises|yard|laboratory|workshop|court|embassy|hotel|zone|area|street|road|square|park|centre|center|"
    r"motorway|highway|terminal|unit|canteen|kitchen|garage|showroom|border|campus|province|county|quarter)s?"
)
ELSEWHERE = Wording(
    rf"\b(?:at|in|inside|outside|near|on)\s+(?:(?:the|our|an?|any|this|that|each|every)\s+)?(?:[\w'’-]+\s+){{0,2}}?{_PLACES}\b"
    r"|\b(?:from|living|based|registered|resident) (?:abroad|overseas)\b"
)
"""A circumstance of place."""
_ENTRY = r"(?:thing|step|act|action|activity|event|entry)"
ALL_THE_SAME = Wording(
    r"\b(?:(?:it|that) (?:makes? no difference|does(?: not|n't) matter|is (?:of no (?:importance|consequence)|irrelevant|all the same|all one))"
    r"(?: (?:to|for) \w+)? (?:whether|if)\b[^.;:,]*|[\w ]{3,40}? notwithstanding\b)"
)
"""The same, in a clause of its own."""
COULD_NOT = _words("could(?: not|n't)")
"""Tells what once did not come about, and bans nothing."""
NEXT = _words(
    rf"(?:nothing|no other {_ENTRY})(?: \w+){{0,9}}? between|"
    rf"the (?:very )?(?:first|next) {_ENTRY}(?: that (?:happens?|is done|comes|occurs|follows)| to (?:happen|be done|come|occur|follow)| done| recorded)?"
    r"(?: to (?:it|them|that \w+))?,? (?:after|once|when|following|upon|as soon as)"
)
"""One act right behind another."""
_DIRECTLY = r"(?:immediately|directly|right|straight|just)"
STEP_BEFORE = AsWritten(
    rf"\b(?P<opens>where|when(?:ever)?|if|unless|provided(?: that)?|as long as)\s+the (?:very )?(?:(?:last|previous|preceding) {_ENTRY}"
    rf"(?: (?:done|recorded|that happened|to happen))?(?: {_DIRECTLY})?|{_ENTRY} {_DIRECTLY}) (?:before(?:hand)?|preceding)"
    r"(?: (?:it|that|this|them|these))?(?: (?:in|on|of) (?:the|that|this) \w+)? (?:is|was|has been|(?:must|has to|should) be)\b",
)
"""Before the act that another has right before it: only where the step immediately before it is …"""
ONE_NOT_OTHER = Wording(
    r"\b(?:the )?(?:one|first|former) (?:and not|but not|without|and never) (?:also )?(?:the )?(?:other|second|latter)\b"
)
"""Of two acts told before, the one without the other."""
TAKES_PLACE = Wording(
    rf"(?:^|[,:;]\s*|\band\s+)\s*(?:that|this|it)(?: {_ENTRY})? (?:is|{MODAL} be)(?: (?:always|in every case))? (?:the (?:very )?(?:(?P<last>last|final)|first)"
    rf" (?:{_ENTRY}|to happen|to be done|of all)|(?:always )?{_ENTRY} (?:number )?one)\b"
)
"""The first or last act, which was told before."""
EITHER = _words(r"either|never both|not both|one or the other|one of the (?:two|three|four)|whichever")
CUES = {
    "habit": HABIT,
    "earliest": EARLIEST,
    "either": EITHER,
    "negative": NEGATIVE,
    "free": FREE,
    "permission": PERMISSION,
    "duty": DUTY,
    "at once": AT_ONCE,
    "later": LATER,
    "earlier": EARLIER,
    "perfect": PERFECT,
    "then": THEN,
    "exclusive": EXCLUSIVE,
    "together": TOGETHER,
    "begins": BEGINS,
    "ends": ENDS,
    "other person": ELSE,
    "same person": SELF,
    "also": ALSO,
    "past": PAST,
    "right before": RIGHT_BEFORE,
    "and only then": AND_ONLY_THEN,
}
"""Kinds of cue words, for the model of relations."""

NTH = ("second", "third", "fourth", "fifth")
NTH_TIME = _words(rf"an? ({'|'.join(NTH)})")
"""The time that is one too many."""
NTH_OF = Wording(
    rf"(?:an? |the )?(?:{'|'.join(NTH)})\s+(?!(?:after|before|later|earlier|of|from|following|at|to|and|or|the)\b)[a-z]"
)
"""What comes a second time, and no time of a second."""
