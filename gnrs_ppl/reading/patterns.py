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
FORBIDS = Wording(
    r"\b(?:(?:may|must|shall|should|can|is to|are to) (?:not|never)|cannot|(?:mustn|can)['’]t)\s+(?:\w+\s+)?$"
)
"""Before what a clause forbids."""
_NO_OTHERS = (
    r"\b(?:and|but)\s+(?:(?:to|for|of|on|in|by|at|from|with)\s+)?(?:no others?(?: \w+)?|nobody else|no one else|none (?:other|else)|"
    r"nothing else|nowhere else|(?:not|never) otherwise|(?:to|for|of|on|in|by|at|from|with) none)(?=\s*(?:[.;]|$))"
)
NO_OTHERS = Wording(_NO_OTHERS)
"""At the end of what is allowed, says that it is allowed of nothing else."""
NOT_NEGATIVE = Wording(
    rf"{_NO_OTHERS}|"
    r",?\s*(?:and |but )?not (?:by|to|from|with) (?:an?|the|his|her|their|your|any|another)\b[^.;,]*|,\s*not (?:an? |the |just |merely )?\w+(?: \w+)?(?=\s*[.,;]|\s*$)|\b(?:not only|no(?:t)? (?:later|"
    r"more|less|fewer|earlier) than|no doubt|no matter|or not|go(?:es)? no further)\b|"
    r"\bor else\b[^.;]*"
)
BEFELL = _words(
    r"(?:ha(?:s|ve|d)|having|was|were|is|are|been|being|already|gets?|got)(?: (?:not|never|been|already|now|just|since|then|yet))* [a-z]+|"
    r"\w+ed|\w+n't (?:been )?[a-z]+|once [a-z]+(?:ed|id|ent)"
)
"""Says what was done, or is the case."""
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
LIMITED = Wording(r"\s+(?:not|only|never|under no|at no)\b")
"""Behind a permission: it limits after all."""
VAGUE = _words(
    r"(?:in|of|with) (?:an? )?(?:good|high|great|big|best|proper|due|full|adequate|sufficient) (?:\w+ )?(?:quality|order|attention|diligence|standard|effort|precision)|"
    r"in (?:all )?(?:good|the best) (?:faith|conscience|spirit)|in an? (?:\w+ ){1,3}(?:way|manner|fashion)|in a way (?:that|which)|with (?:\w+ )?(?:care|respect|courtesy|dignity|kindness|fairness|tact|patience|sensitivity|integrity|empathy|a sense of)|"
    r"fairly|politely|kindly|nicely|decently|gently|respectfully|courteously|professionally|responsibly|reasonably|"
    r"carefully|diligently|honestly|sensibly|considerately"
)
BEARING = Wording(
    r"\s*(?:to\s+)?(?:(?:\w+ly|always|also|then)\s+)*(?:(?:be made to )?feel\b|come away\b|(?:stay|remain|look|seem|be)\s+(?:\w+ly\s+)?(?P<how>[a-z]+)|"
    r"(?:act|behave|proceed|do (?:so|it|this|that)|go about (?:it|this|that))\s+(?:with|like|as if|as though|in good)\b)"
)
"""Behind a modal, how somebody is to bear himself or to feel: "do so with", "stay calm"."""
MODAL_VERB = _words(MODAL)
PAST = _words(
    r"used to|ha(?:s|ve|d) (?:\w+ )?(?:gone|been|ended|happened|become|led|caused|vanished|lost)|were|was|"
    r"ended up|had|went|vanished"
)
_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
NARRATES = _words(
    rf"yesterday|the other (?:day|week|night|evening)|last (?:time|night|week|month|year|summer|winter|spring|autumn|{_DAYS})|"
    r"not long ago|(?:a (?:few|couple of) )?(?:days|weeks|months|years) ago|(?:more than )?once already|"
    rf"on {_DAYS} (?=[\w ]*\b(?:was|were|had|\w+ed)\b)|(?:was|were|had)\b[^.]* on {_DAYS}|remember (?:the|how|when|that)|"
    r"in the old days|we once"
)
"""Says when something happened that a text is written for."""
HAD_TO = _words(r"had to|could|never (?:saw|came|had|got|was|were|did)|used to|would")
"""Binds nobody, in what happened."""
REASON = Wording(r"because|due to|owing to|thanks to|on account of|as a result of")
"""Opens why something is due, which asks nothing itself."""
FOR_A_REASON = Wording(r"\b(?:because|since|as) (?:he|she|they|it|we|i|you|the|an?)\b[^,.;:]*")
"""Why something happened, which binds nobody either."""
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
PRECEDED = _words(
    r"(?:must|shall|should|has to|have to|is|are|is to|are to) (?:\w+ )?(?:be )?(?:\w+ )?preceded"
)
FOLLOWED = _words(
    r"(?:and|,) (?:(?:it )?(?:must|shall|should|has to|have to|is|are|is to|are to) )?(?:\w+ )?(?:be )?(?:\w+ )?(?:followed|succeeded)"
)
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
AND_VICE_VERSA = Wording(rf"\b(?:{_VICE_VERSA})\W*$")
"""At the end of what it turns round, and not before what says in which order."""
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
WHILE_PENDING = Wording(
    r"\b(?:while|(?:as|so) long as)\b[^.,;]*?\b(?P<state>pending|unresolved|open|outstanding|running|under way)\b"
)
"""A wait of which nothing says what ends it."""
SEVERAL_PEOPLE = _words(
    r"(?:two|three|four|several) (?:(?:different|separate|independent|other) )?(?:people|persons|colleagues|employees|clerks|officers|managers)"
)
"""So many of whom each must act."""
MEANWHILE = _words(
    r"while|(?:as|so) long as|in the meantime|in the meanwhile|meanwhile|in between|(?:within|in|during) that (?:time|period)"
)
"""Between what opens a duty and when it is due."""
NEITHER = _words(r"neither\b[^.;]*\bnor|(?:not|never|nobody|no one|nothing)\b[^.;]*\b(?:or|nor)")
"""Each of two acts is banned."""
DEFINES = Wording(
    r"\b(?:is|are|was|were) not (?:an? |the )?(?!to\b|for\b|allowed|permitted|required|obliged|possible|"
    r"until|before)\w+"
    r"|\b(?:is|are) no (?!need|longer|later|more|less|to\b)\w+|\bprov(?:e|es|ed)\b|\bdo(?:es)? not (?:make|mean|replace|amount)\b"
    r"|\bcounts? (?:as|for|towards?)\b|\b(?:be|is|are) (?:\w+ )?(?:deemed|considered|regarded|construed|treated as)\b|"
    r"\bconstitut\w+\b"
    r"|\bhold (?:it |that |this )?against\b|\bheld against\b"
)
"""Says what something is or counts as, or that nobody is blamed for it: it asks nothing of anybody."""
NO_SUCH_THING = AsWritten(
    r"\b(?:(?:do|does|did|will|would|can|could|shall|must|should|may|is|are)(?: not|n['’]t)|cannot|won['’]t|never) (?:in itself |by itself |alone |yet |also |itself )?"
    r"(?:counts? (?:as|for|towards?)|amounts? to|makes? (?:anyone|anybody|somebody|him|her|it|them|you|an?)|means?|replaces?|constitutes?(?! (?:the|an?) (?:\w+ ){0,2}(?:step|act|activity|event)\b)|"
    r"qualif(?:y|ies) as|(?:is |are |be )?(?:to be )?(?:deemed|considered|regarded as|treated as|taken (?:as|for)|held to be|counted as|equated (?:with|to)|"
    r"construed as|mistaken for|understood as)(?! (?:\w+ )?(?:before|until|unless|without|by)\b)|turns? (?:\w+ ){1,3}into|stands? in for|equals?|serves? as|substitutes? for)\b|"
    r"\b(?:is|are|was|were)(?: not|n['’]t)(?: yet| itself| by itself)? (?:one\b(?! (?:of|to)\b)|the same(?: thing)? as\b|an? (?!(?:\w+ ){0,2}(?:who|that|to|until|before|as)\b)[a-z-]+(?: \w+){0,2}?(?=\s*[.,;]|\s*$| and never))|"
    r"(?<!there )\b(?:is|are) no (?!need|longer|later|more|less|one|\w+ (?:may|must|shall|can|should)\b)[a-z-]+(?=\s*[.,;]|\s*$)",
)
"""Says what something is not, and bans nothing: that it "does not count as" something else, or "isn't one"."""
SUPPOSES = Wording(r"(?:if|when|where|once|whenever|wherever|in case|as soon as)\b")
SUPPOSITION = Wording(r"(?:if|where|(?:in|for) (?:any |every |each |the )?(?:case|event)s?)\b")
"""Opens the circumstances in which something is due, and no event after which it is."""
NOT_DONE = _words(r"not|un\w+(?:ed|id|en|nt)|\w+n't|nobody|no one|never|no|without")
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
MUTUAL_END = _words(r"ends?|begins?|starts?|closes?|opens?|last|first")
"""A list of what begins or ends a case."""
ENDS_WITH = Wording(
    r"\b(?:must|shall|should|ha(?:s|ve) to|needs? to|is to|are to) (?:always )?"
    r"(?:(?P<end>end|close|conclude|finish|terminate)|begin|start|open) (?:in|with|by|on)\b"
)
"""Before the acts by which a case ends, or begins."""
EACH_ENDS_WITH = Wording(
    r"(?:^|(?<=\W))(?:(?<=every )|(?<=each )|(?<=any ))\w+ (?:always )?(?P<verb>(?:(?P<end>ends|closes|concludes|finishes|terminates)|begins|starts|opens) (?:in|with|by|on)\b)"
)
"""The same, of every case and without a word that binds."""
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
BE_THE_ONE = _words(
    rf"(?:must|shall|should|ha(?:s|ve) to) (?:also |always )?be (?:the|that) (?:very )?(?:same )?(?:one|{_SOMEONE}) (?:who|that|to)"
)
"""One person does both, where "not the one" would keep the two apart."""
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
_EARLIER = r"(?:previously|earlier|already|beforehand|before(?=\s*[.,;]|\s*$))"
DONE_BEFORE = _words(
    rf"who(?:ever)? (?:ha(?:s|ve|d) )?(?:previously|earlier|already)|"
    rf"(?:by whom|who (?:has|have|had|\w+ed))\b[^.;,]{{0,60}}?\b{_EARLIER}"
)
"""Says of an act that somebody had done it before the other."""
_UNDERGOES = r"(?:has|have|had) (?:been|had|not|ended|left) |is |are |was |were |still |did not |does not |do not |fails "
_WHOEVER = (
    r"(?:whoever|anyone who|anybody who|everyone who|(?:the|any) (?:one|person) (?:who|that)|those who|he who|"
    r"(?:an?|any|the|no) (?:employee|officer|clerk|colleague|manager|member of staff|user|agent|person) (?:who|that))"
)
_THEMSELVES = r"(?:himself|herself|themselves|themself|oneself|him- or herself)"
FOUR_EYES = _words(
    rf"(?:two|(?<!\ba )(?:separate|different|distinct)) (?:\w+ )?{_PEOPLE} (?:must|should|shall|have to|are to|do|does)|"
    rf"(?:must|should|shall|have to|has to|are to|is to|to) (?:always |both )?be (?:\w+ ){{1,4}}by (?:two |two different |separate |different |distinct )"
    rf"(?:\w+ )?{_PEOPLE}|"
    rf"(?:not|never) (?:also )?be the (?:same )?(?:one|{_PEOPLE}) (?:who|that|to|as|\w+ing)|"
    rf"(?:{_WHOEVER} (?!{_UNDERGOES})|(?:the|any) (?:one|person|\w+er) \w+ing )[^.;]{{2,80}}?"
    r"(?:may|must|can|shall|should|will) ?(?:not|never)|"
    rf"{_WHOEVER} (?!{_UNDERGOES})[^.;]{{2,80}}?(?:can't|mustn't|is not (?:allowed|permitted)|is barred|"
    r"do(?:es)?(?: not|n't) (?!need|have))|"
    rf"(?:nobody|no one|no-one|no {_PEOPLE}) (?:(?:may|must|can|should|shall|will|is to) )?both (?=[^.;]* and )|"
    rf"(?:nobody|no one|no-one|none|no {_PEOPLE}) (?:who|that) (?!{_UNDERGOES})[^.;]{{2,80}}? (?:may|can|must|should|shall|will|is to) |"
    rf"(?:not|never|neither|nor|nobody|no one)\b[^.;]{{0,60}} by (?:one and )?the same {_PEOPLE}|"
    rf"(?:must|may|shall|should|can|is to|are to) ?(?:not|never) (?:\w+ ){{1,6}}by (?:(?:an?|any|the|those) (?:{_PEOPLE}|one) (?:who|that|by whom)|(?:anyone|anybody|someone|"
    r"somebody|those) (?:who|by whom)|whoever)|"
    rf"(?:nobody|no one|none|no (?:\w+ ){{1,3}}?)[^.;]{{0,40}}?(?:may|can|must|should|shall|will|is|are) (?:to )?(?:be )?(?:\w+ ){{1,3}}by "
    rf"(?:(?:an?|any|the|those) (?:{_PEOPLE}|one) (?:who|that|by whom)|(?:anyone|anybody|someone|somebody|those) (?:who|by whom)|whoever)|"
    rf"(?:is|are) (?:not|never) (?:an? (?:job|task|matter) )?for (?:(?:an?|any|the|those) (?:{_PEOPLE}|one) (?:who|that)|(?:anyone|anybody|someone|"
    rf"somebody|those) who|whoever)|"
    rf"{_WHOEVER} (?!{_UNDERGOES})[^.;]{{2,80}}? (?:(?:must |shall |should |has to )?(?:keeps?|stays?) (?:out of|away from)|"
    rf"(?:has|have|takes?) no (?:part|hand|say|share) in|(?:is|are) (?:kept|excluded|barred) from)|"
    rf"(?:must|should|shall|have to|has to|are to) (?:always )?be (?:two |three )?(?:separate|different|distinct) (?:\w+ )?{_PEOPLE}|"
    rf"(?:one and )?the same (?:\w+ )?{_PEOPLE} (?:must not|may not|should not|shall not|cannot|can't|must never|may never|never)|"
    r"(?:not|never|cannot|nobody|no one|none)\b[^.;]{0,60}? (?:in|into) (?:one and )?(?:the same|one|a single) (?:hands?|person)|"
    rf"(?:nobody|no one|no \w+|(?:must|may|should|shall) (?:not|never)|cannot|never)\b[^.;]{{0,60}}\b(?:he or she|she or he|he|she|they)"
    rf" (?:has |have |had )?\w+ (?:\w+ ){{0,3}}{_THEMSELVES}"
)
"""One person may not do both of two acts."""
NOT_THE_ONE = _words(
    rf"(?:not|never|cannot|\w+n't) (?:also )?(?:be )?the (?:very )?(?:same|one|person|{_SOMEONE} (?:who|that))|"
    rf"(?:one|a single) (?:and the same )?{_SOMEONE}"
)
"""In a ban, of the person who did the other act, where it would ask for another in a duty."""
ANYBODY_ELSE = _words(
    rf"(?:nobody|no one|no-one|none|anybody|anyone) else(?! (?:than|but|except))|(?:no|any) other (?:\w+ )?{_SOMEONE}(?! than)"
)
"""All others are barred, or are asked."""
_DID = rf"(?:whoever|(?:the|that|those|an?|any)(?: very| same)*(?: \w+)? (?:{_PEOPLE}|one|person)s? (?:who|that)|(?:the|that|an?) [\w-]+ who|those who)"
NOBODY_BUT = Wording(
    rf"\b(?:(?:nobody|no one|no-one|none)(?: else)? (?:but|than|except)|"
    rf"(?:nobody|no one|no-one|none|no \w+|not|never|cannot|\w+n't)\b[^.;,]{{0,60}}?(?:(?:else|other|another \w+|a different \w+) than|different from|except|apart from)|"
    rf"by (?:nobody|no one|no-one|none)(?: else)? (?:but|than|except)) {_DID}"
)
"""Bars all but the person who did the act behind it."""
DOES = Wording(
    rf"\b(?:{_WHOEVER}|(?:the|an?|any|every|each) (?:[\w-]+ )?[\w-]+ who) (?!{_UNDERGOES})(?:(?:has|have|had) )?"
)
"""Before what somebody does of whom more is asked."""
DOES_TOO = _words(
    rf"also|as well|too|likewise|{_THEMSELVES}|personally|in person|(?:is|are|be) the (?:very )?(?:same )?(?:one|{_SOMEONE}) (?:who|that)"
)
"""Behind it, says that this very person does another act as well."""
BY_THE_SAME = Wording(
    rf"\bby (?:whoever|the (?:(?:very )?same (?:\w+ )?{_SOMEONE}|very (?:same )?(?:one|{_SOMEONE})|one) (?:who|that))\b"
)
"""The person who did the act behind it does the one before it."""
THE_SAME = Wording(r"\b(?:one and )?the (?:very )?same\s+$")
BARRED = Wording(
    r"\s+(?:(?:must|may|shall|should|can|will) ?(?:not|never)|cannot|never|is not to|mustn't|can't|shouldn't)\b"
)
"""Around a role whose holder may not do both of two acts."""
THE_ONE_WHO = _words(
    rf"the (?:{_PEOPLE}|one|person) (?:who|that) [^.;]{{2,80}}? (?:is|was|being|to be) (?:also )?the (?:very )?(?:same )?"
    rf"(?:one|{_PEOPLE}|person) (?:who|that)"
)
"""One person does both, which a ban of it rules out."""
OTHER_THAN = _words(
    rf"other than (?:whoever|(?:the|those|anyone|an?) ?(?:one|person|{_PEOPLE})? ?(?:who|that))|"
    rf"(?:another|a different) \w+ than (?:whoever|the (?:one|person|{_PEOPLE}) (?:who|that))|"
    rf"by (?:someone|somebody|an? (?:\w+ )?{_PEOPLE}|people|those|whoever) (?:who |that )?(?:(?:did|does|has|had|have|was|were|is|are) ?(?:not|n['’]t|never)|"
    r"(?:has|had|have|takes?|took) no (?:part|hand|say|share) in)"
)
"""Says so too, where nothing else orders the acts."""
DONE_TO = Wording(r"\b(?:that|which|who)\s+(?:ha(?:s|ve)|was|were|is|are)\b")
"""Before what was done to a thing."""
LACKED = Wording(
    r"\b(?:who|that|which)\s+(?:(?:was|were|is|are|has|have|had)\s+(?:not|never)|\w+n't)\s+(?:yet\s+|been\s+)*$"
)
"""Before an act that was not done to what something else is said of."""
TAKES_LONGER = _words(
    r"(?:may|can|might|(?:is|are) allowed to) (?:only )?(?:take|be|last|wait|come|follow|go out|happen) (?:\w+ )?(?:longer|later)"
)
"""Leaves something more time than what was told before."""
NOT_ON_RECORD = Wording(
    r"\s+(?:(?:of|for|on|to|by)\s+(?:[\w'’-]+\s+){1,4}?)?(?:is|are|was|were|has been|have been)\s+(?:still\s+)?"
    r"(?:(?:not|never)\s+(?:yet\s+)?(?:recorded|registered|logged|noted|documented|entered|made|received|done|held|there|"
    r"available|found|on (?:record|file)|(?:in|on) the (?:file|records?|register|log|books|case))|missing|lacking|absent|"
    r"outstanding)\b"
)
"""Behind an act told by its noun, says that it was not done: the payment is not recorded, is missing."""
NOT_DONE_TO = Wording(
    rf"\b(?:who|that|which)\s+(?:is|are|was|were|has|have)\s+(?:not|never)\b(?=(?:(?!{MODAL}\b)[^.;,])*?\b{MODAL}\b)"
)
"""The same, where a subject waits for its verb behind it."""
ONE_AND_OTHER = _words(
    rf"(?:not|never) (?:also )?be the (?:very )?(?:same )?(?:one|{_PEOPLE}|person) (?:who|that|to|as|\w+ing)|"
    rf"(?:one and )?the (?:very )?same {_PEOPLE}"
)
"""Says so of persons, whatever order their acts come in."""
ORDERED = _words(
    r"again|any ?more|any longer|no longer|wait|until|thereafter|thereupon|before|afterwards|beforehand"
)
"""Words of order, with which what is said of a person is said of the time after or before an act."""
BY = Wording(
    r"\bby\s+(?:(?:the|an?|any|every|each|his|her|their|another|two|either|some|all|our|that|this|those)\s+)?(?:same\s+)?$"
)
OBLIQUE_DOER = _words("by|of")
"""Between an act and who did it: the arrival of the courier."""
_IN_SO_MANY = (
    r"(?:\w+ (?:out of|in) (?:three|four|five|ten|twenty|a hundred|\d+)|"
    r"(?:\w+ )?(?:half|halves|thirds?|quarters?|fifths?|tenths?)|the (?:(?:vast|great|large) )?majority)"
)
SHARE = rf"(?:(?:[\w-]+ (?:per cent|percent)|\d+ ?%)(?: or more)?|all|each|every one|any|most|some|{_IN_SO_MANY}) of (?:the |our |all )*"
"""How many of those who are bound, told before them."""
OBLIQUE = Wording(
    r"\b(?:with|to|from|(?<!per cent )(?<!percent )(?<!% )(?<!\ball )(?<!\beach )(?<!or more )of|about|at|for|"
    r"than|whose|tells?|told|asks?|asked|against|between)\s+(?:the|an?|any|every|each|his|her|their|another|some|all)?\s*$"
)
SHARE_OF_THOSE = Wording(rf"\b(?:{SHARE}|{_IN_SO_MANY} )(?:[\w-]+ ){{1,3}}?{MODAL}\b")
"""A share of those who are bound, with what binds them."""
_THOSE = rf"(?:(?:at least|no fewer than|not fewer than|no less than|not less than|more than|\w+) )?(?:{SHARE})?(?:(?:the|an?|any|every|each|all|our|his|her|their) (?:\w+ )?)?$"
ASKED_OF = Wording(
    r"\b(?:(?:due|required|expected|demanded) (?:from|of)|(?:forbidden|prohibited|incumbent|binding|off[- ]limits|not open) (?:to|for|on|upon)|"
    rf"among|amongst|between)\s+{_THOSE}"
)
"""Before those who are bound: what is due from them, forbidden to them, done among them."""
DOING_OF = Wording(rf"(\w+)\s+of\s+{_THOSE}")
"""Before those who do what a noun says."""
YOU = _words("you|your|please")
ADDRESSED = Wording(
    r"\b(?:you(?:['’]re| are)?|i(?:['’]m| am)?)(?:,? as)?(?: (?:all|one of|any of|an?|the|our))*\s+$|"
    r"\bi,? (?:as )?an?\s+$|\b(?:you|i),? as an?\s+$|"
    r"\b(?:i|you) (?:belong to|work (?:as|for|in|with)|(?:am|are) (?:with|in|on|part of|one of)) (?:the|an?|our)\s+$"
)
"""Before those a text speaks to, or whose question it answers: you couriers, you, as a patrol member, I am a waiter."""
SALUTATION = Wording(
    r"(?:^|[.!?\n])\s*(?:hi|hello|hey|dear|attention|good (?:morning|afternoon|evening)|(?:an? )?(?:memo|note|notice|message|"
    r"word) (?:to|for)|to|for the attention of)(?: (?:all|all of|you|our|the|every))*\s+$"
)
"""Before those a text is written to: Dear couriers, Note to all couriers."""
OPENS_SENTENCE = Wording(r"(?:^|[.!?;:\n])\s*(?:(?:so|and|now|all|our|the)[, ]\s*)*$")
CALLED = re.compile(r"\s*(?:alike)?,")
"""Behind those who are called by name: Couriers, please …"""
GERUND = Wording(r"\s*(?!being\b|having been\b|(?:any|every|some|no)thing\b)(?:having\s+)?\w+ing\b")
PASSIVE = Wording(r"\b(?:be|get)\s+(?:\w+ly\s+|first\s+)?(\w+)")
UNDERGONE = Wording(
    rf"{PASSIVE.pattern}|\b(?:been|being|is|are|was|were)\s+(?:\w+ly\s+|first\s+|not\s+|already\s+)*$"
)
"""Between those somebody speaks of and what is done: others do it."""
GIVEN = Wording(
    rf"\s+(?:{MODAL}\s+)?(?:(?:not|never|only|also|always|ever)\s+)*(?:(?:have\s+)?(?:be|been|is|are|was|were)\s+(?:\w+ly\s+|not\s+)?\w+"
    r"|(?P<gets>gets?|got|receives?|received|obtains?|obtained))\s+(?:at (?:most|least)\s+)?"
    r"(?:an?|any|no|the|his|her|their|its|another|more|fewer|less|one|two|three|four|five|\d+)\b"
)
"""Between somebody and what is done for them: "must be sent a reminder", "gets no reminder"."""
POSSESSIVE = re.compile(r"['’]s?\b|['’](?=\s)")
SAME_SUBJECT = Wording(rf"[\s,]*(?:and|but)?\s+{MODAL}\b")
PERSON = _words(
    "he|she|they|you|we|i|anyone|anybody|someone|somebody|nobody|no one|everyone|everybody|people"
)
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
OPENS_WITH_THEY = Wording(
    rf"\W*(?:(?:and|but|so|then|also|never|under no circumstances|on no account|at no time|in no case|{MODAL})\s+){{0,3}}(?:they|he or she|she or he|he|she)\b"
)
"""Begins a clause with those said before."""
NO_LONGER = _words(
    r"(?:may|must|should|shall|can|do|does|will) not (?:(?:take|wait|need|be|last) (?:any )?(?:longer|more|greater) than|exceed)|"
    r"(?:nobody|no one|no \w+) (?:may|must|should|shall|can|has to) (?:ever )?(?:wait|take) (?:any )?(?:longer|more) than|"
    rf"(?:no|not) (?:more|longer) than {PLAIN_DURATION} (?:may|must|shall|should|can|is to|are to) (?:pass|elapse|go by)"
)
GOES_BY = Wording(
    rf"\b(?:no|not) (?:more|longer) than {PLAIN_DURATION} (?:may|must|shall|should|can|is to|are to) (?:pass|elapse|go by)\b"
)
GOES_BY_BEFORE = Wording(rf"{GOES_BY.pattern}(?P<since>[^.;]*?)\b(?:before|until|till)\b")
"""Before what is due within a time: no more than an hour may go by after the signal before …"""
ELAPSES = _words(
    r"(?:pass(?:es)?|elapse(?:s)?|go(?:es)? by|lie|waits?(?: any)? (?:longer|more) than [\w ]{1,30}?) between|(?:the |any )?(?:time|interval|period|gap|delay|wait) between"
)
WHOSE = Wording(r"\s*(?:of|for|on)\s+(?:the\s+|an?\s+|any\s+|every\s+|each\s+)?")
IN_A_LIST = Wording(r"\s*(?:,|and|or|, and|, or)\s*(?:the |an? |any |every |all )?")
BEFOREHAND = _words(
    r"beforehand|before (?:they|he|she|you|it) (?:has|have|had) (?:done so|done it)|before (?:it|that|"
    r"this|them|doing so)|prior to (?:it|that|this|them)|in advance"
)
AND_ONLY_THEN = _words(r"(?:and|but) only then")
"""What follows an act comes after nothing else."""
ONLY_THEN = _words(r"only (?:then|after that|afterwards)|not (?:until|before) then")
NOT_YET = _words(r"still|not yet")
JOINTS = _words("and|or|with|while|nor")
AFTER_EVENT = _words(r"after|following|once|upon|as soon as|since|of|from")
# an event in the past: it was registered, has been vaccinated
EVENT = _words(
    r"(?:was|were|is|are|has been|have been|has|have|gets?|got) (?:\w+ly |\w+ )?[a-z]+(?:ed|en|t|d|n)"
)
NAMES_EVENT = Wording(r"\s*(?:(?:the|an?|its|his|her|their|our|any|every|each)\s+)?(\w+)\s+of\b")
"""What befell a thing, as a noun: the inspection of the vehicle."""
OF_A_THING = Wording(r"\s*(?:the|an?|its|his|her|their|our)\s+(?!other|next|first|same)\w")
"""Begins to say what befell a thing, and not just anything."""
PERIOD = _words(
    r"cases?|shifts?|days?|weeks?|months?|quarters?|years?|terms?|periods?|hours?|minutes?|nights?|"
    r"mornings?|evenings?|noon|midnight|o'clock|starts?|beginning|ends?|over"
)
EACH_TIME = re.compile(r"(?:for|at|on|with|upon|after) (?:each|every)")
NO_LIMIT = Wording(
    r"(?:per|every|each|a|(?<!until )at least|minimum of|no less than|not less than|for|lasting|"
    r"(?<!inside )of)\s*$"
)
RATE = Wording(r"\b(?:once|twice|thrice|times)\s+$")
"""Before a time in which something may be done so often, over and over: "once a day"."""
WAITED = Wording(r"\bafter\s+(?:at least\s+)?$")
"""Before a time that goes by, and by whose end nothing is due: "after eight weeks the clerk may …"."""
LASTING = Wording(r"\bfor\s*$")
"""Before a time that something lasts."""

HABIT = _words(
    r"most|mostly|usually|typically|generally|normally|roughly|approximately|on average|these days|nowadays|"
    r"tends?|often|rarely|seldom|one third|two thirds|half of|per cent|percent|as long as|last (?:year|month|quarter)"
)
"""What is usual, or how much of it there is, and no duty."""
USUALLY = _words(
    r"on average|usually|typically|generally|normally|mostly|(?<!at )(?<!at the )(?<!very )most|often|rarely|seldom|"
    r"nowadays|these days|in (?:my|our|his|her|their) experience"
)
"""What is only usual, where no word binds."""
_AT_EARLIEST = (
    r"at (?:the )?(?:very )?earliest|(?:not|no|never) (?:any )?(?:earlier|sooner) than|"
    rf"(?<!\b(?:has|had|get|for) )(?<!\b(?:have|gets|with) )only\b(?:(?!\b(?:has|have|had|gets|get|for|within|in|inside|during|up to|later|most|latest|less)\b)[^.;,]){{0,40}}?"
    rf"\s(?:at least )?{PLAIN_DURATION}\s+after|"
    rf"(?:not|never|cannot|\w+n['’]t|no|nobody|no one|none|nothing|wait)\b[^.;]{{0,80}}?\buntil\s+(?:at least )?{PLAIN_DURATION}\s+after"
)
AT_EARLIEST = _words(_AT_EARLIEST)
AT_LATEST = _words(r"at (?:the )?(?:very )?latest|(?:no|not) later than")
"""By when something is due."""
EARLIEST = _words(
    rf"{_AT_EARLIEST}|"
    r"must (?:pass|elapse|lie|go by|have (?:passed|elapsed|gone by))|(?:wait|waits|waited|waiting)|not (?:for|until) at least"
)
"""A time that must go by first."""
SO_MUCH_LATER = _words(rf"{PLAIN_DURATION} (?:later|afterwards?|thereafter|after (?:that|this|it))")
"""A time that runs from what was told before."""
LIMITS = _words(
    r"deadline|limit|maximum|longest|latest|time|term|plenty|enough|sufficient|ample|suffices?|allow(?:ed|s)?|grant(?:ed|s)?|there (?:is|are)|within|at (?:the )?(?:very )?(?:most|latest)|"
    r"(?:no|not|never) (?:any )?(?:later|more|longer) than|ha(?:s|ve)|gets?|(?:may|must|shall|should) (?:pass|go by|elapse)"
)
"""In a sentence on nothing but a time, says that it is how long the act told before may take."""
CALLS_A_LIMIT = Wording(r"\b(?:limit|deadline|term|maximum|time(?: allowed)?):\s*\Z")
"""Before the colon behind which a time is told: time limit: ten minutes."""
TIME_GIVEN = Wording(
    rf"\W*(?:and |so |then )*(?:you|they|he|she|he or she|we) (?:have|has|get|gets) (?:up to |at most |no more than )?{PLAIN_DURATION}\s+"
    r"(?:from|after|as of|since)\b"
)
"""Says of those who were just asked how long they have: you have ten minutes from …"""
TOO_SOON = _words(
    r"(?:not|never) (?:before|until|within|inside)|at (?:the )?(?:very )?least|minimum|too (?:early|soon)"
)
"""In such a sentence, says that it is how long the act must wait."""
DURING = Wording(r"(?:in|within|during|throughout|for)\b")
"""Opens a time in which something may be done or not."""
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
THE_TWO = _words(
    r"(?<!of )(?<!between )(?:(?:one|either|neither|both|each) of (?:these|those|the|them)(?: two)?|(?:these|those|the) two(?: of them)?|"
    r"both(?: of them)?(?=\s*(?:[.,;:!]|$|(?:on|in|at|within|together|must|may|shall|should|can|cannot|never)\b))|either(?: one)?(?: or the other)?(?= (?:must|shall|should|has to|is|may|can|closes?|opens?|ends?|begins?)\b))"
)
"""Takes up two acts told before."""
WHATEVER = Wording(
    r"(?:even (?:if|when|though|after|where)|whether|be it that|no matter|never mind|regardless of|irrespective of|despite|"
    r"in spite of|notwithstanding)\b"
)
"""Opens circumstances of background that change nothing of what is asked."""
ALL_THE_SAME = Wording(
    r"\b(?:(?:it|that) (?:makes? no difference|does(?: not|n't) matter|is (?:of no (?:importance|consequence)|irrelevant|all the same|all one))"
    r"(?: (?:to|for) \w+)? (?:whether|if)\b[^.;:,]*|[\w ]{3,40}? notwithstanding\b)"
)
"""The same, in a clause of its own."""
OF_PLACE = Wording(
    rf"\b(?:(?:very )?(?:(?P<last>last|final|closing|concluding)|first|opening|initial) (?:{_ENTRY}|line|record)\b(?: (?:of|in|on) (?:the|its|an?|each|every|any) \w+)?|"
    r"(?:(?P<closes>close|end|conclude)|open|begin|start)s? (?:the|each|every|a) (?:file|case|record|folder|dossier)\b)"
)
"""The first or last place of a case."""
IN_ONE_CASE = _words(
    r"together|side by side|at once|meet|coexist|one and the same \w+|(?:the same|one|a single|any|an?|each|every|no) (?:\w+ )?\w+"
)
"""Where two things stand that may not both do so."""
COULD_NOT = _words("could(?: not|n't)")
"""Tells what once did not come about, and bans nothing."""
_CASE = r"(?:file|case|record|visit|process|matter|dossier|folder)"
CASE_THAT = _words(
    rf"(?:an?|any|every|each|the) {_CASE} (?:that|which) (?:holds?|shows?|contains?|has|includes?|records?)|(?:an?|any|every|each) {_CASE} with"
)
"""Before an act that a case has, of which something else is asked or barred."""
NEXT = _words(
    rf"(?:nothing|no other {_ENTRY})(?: \w+){{0,9}}? between|"
    rf"the (?:very )?(?:first|next) {_ENTRY}(?: that (?:happens?|is done|comes|occurs|follows)| to (?:happen|be done|come|occur|follow)| done| recorded)?"
    r"(?: to (?:it|them|that \w+))?,? (?:after|once|when|following|upon|as soon as)"
)
"""One act right behind another."""
_DIRECTLY = r"(?:immediately|directly|right|straight|just)"
_THE_ENTRY = rf"(?:the )?(?:very )?(?:next|first) {_ENTRY}"
NEXT_TO = AsWritten(
    rf"\b(?:{_ENTRY} (?:that (?:comes|is|happens|follows) )?)?(?:(?P<by>(?:{_DIRECTLY} (?:be )?followed|followed {_DIRECTLY}) by|{_DIRECTLY} before|{_DIRECTLY} preced(?:es?|ing)|"
    rf"(?:last|previous) {_ENTRY}(?: done| recorded| that (?:happens?|is done))? before)|"
    rf"{_DIRECTLY} (?:after|behind|following|follows?|upon|once)|(?:{_DIRECTLY} (?:be )?preceded|preceded {_DIRECTLY}) by|"
    rf"(?P<next>{_THE_ENTRY})(?: (?:done|recorded|to (?:follow|happen|come)|that (?:happens?|is done|comes|occurs|follows)))? (?:after|behind|following|once|when))\b"
    rf"|\bafter\b(?=[^.;]*\b(?:the|its) (?:very )?next {_ENTRY}\b)",
)
"""Before one of two acts that stand right next to each other: the later one with ``by``, else the earlier."""
LETS_BETWEEN = _words("unless|until|only|except|nothing|other|without")
"""With what is denied beside it, such words ban nothing."""
STEP_BEFORE = AsWritten(
    rf"\b(?P<opens>where|when(?:ever)?|if|unless|provided(?: that)?|as long as)\s+the (?:very )?(?:(?:last|previous|preceding) {_ENTRY}"
    rf"(?: (?:done|recorded|that happened|to happen))?(?: {_DIRECTLY})?|{_ENTRY} {_DIRECTLY}) (?:before(?:hand)?|preceding)"
    r"(?: (?:it|that|this|them|these))?(?: (?:in|on|of) (?:the|that|this) \w+)? (?:is|was|has been|(?:must|has to|should) be)\b",
)
"""Before the act that another has right before it: only where the step immediately before it is …"""
BELONG = _words(
    r"(?:belong|go|come)s? (?:always )?together|(?:go|come)(?:es)? hand in hand|(?:are|is) inseparable"
)
"""Of two acts, says that neither is without the other."""
ONE_NOT_OTHER = Wording(
    r"\b(?:the )?(?:one|first|former) (?:and not|but not|without|and never) (?:also )?(?:the )?(?:other|second|latter)\b"
)
"""Of two acts told before, the one without the other."""
TAKES_PLACE = Wording(
    rf"(?:^|[,:;]\s*|\band\s+)\s*(?:that|this|it)(?: {_ENTRY})? (?:is|{MODAL} be)(?: (?:always|in every case))? (?:the (?:very )?(?:(?P<last>last|final)|first)"
    rf" (?:{_ENTRY}|to happen|to be done|of all)|(?:always )?{_ENTRY} (?:number )?one)\b"
)
"""The first or last act, which was told before."""
_OWN = r"(?:its|their|his|her|an) (?:very )?own|of its own"
BEFORE_NEXT = Wording(
    rf"\b(?:{_OWN})\b[^.;:]*?\bbefore (?:the|any|another) (?:next|further|following|other)\b"
)
"""Each time anew, before the act that asks for it comes again."""
SINCE_LAST = Wording(
    rf"\b(?:preceded) by (?:{_OWN})\b|"
    rf"\b(?:{_OWN})\b[^.;:]*?\b(?:after|since) the (?:previous|last|preceding|one before)\b"
)
"""Each time anew, since the act that asks for it came last."""
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

FALLS_TO = Wording(
    r"\b(?:falls? (?:up)?on|(?:falls?|is up|is left) to|is for|(?:job|duty|task|business|responsibility) of)\s+(?:the|an?|every|each|all)?\s*$"
)
"""Before those something is asked of: it falls to the manager to post one."""
WHOSE_DUTY = Wording(
    r"(?:['’]s?)\s+(?:\w+\s+)?(?:job|duty|task|business|obligation|responsibility)\b(?:\s+it\s+is)?\s+to\b"
)
"""Behind those something is asked of: it is the manager's job to post one."""
TO_DO = Wording(r"\s+to\s+(?:\w+ly\s+|first\s+)?")
BY_THEN = _words("by then|by that time|before then")
"""Within a time told right before."""
NTH = ("second", "third", "fourth", "fifth")
NTH_TIME = _words(rf"an? ({'|'.join(NTH)})")
"""The time that is one too many."""
NTH_OF = Wording(
    rf"(?:an? |the )?(?:{'|'.join(NTH)})\s+(?!(?:after|before|later|earlier|of|from|following|at|to|and|or|the)\b)[a-z]"
)
"""What comes a second time, and no time of a second."""
