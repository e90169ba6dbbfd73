"""The English words that tell who is who: people by gender and number, pronouns, verbs, function words."""

import re
from typing import Literal

Gender = Literal["m", "f"]

_MALE = """husband boyfriend father dad brother son uncle grandfather grandpa nephew man guy boy groom gentleman male
stepfather stepdad stepson stepbrother fiancé bf dude lad widower waiter landlord grandson godfather papa"""
_FEMALE = """wife girlfriend mother mom mum sister daughter aunt grandmother grandma niece woman girl bride lady female
stepmother stepmom stepdaughter stepsister fiancée gf widow waitress landlady granddaughter godmother mama sahm"""
_EITHER = """friend coworker co-worker colleague boss roommate flatmate housemate partner spouse child kid baby toddler
newborn infant cousin sibling parent neighbor neighbour ex fiance fiancee crush stranger manager tenant client supervisor
classmate student teacher therapist teenager teen bestie acquaintance buddy employee professor coach pupil worker
grandchild godchild bridesmaid foreman baker caretaker director volunteer customer guest director patient nurse"""
_PLURAL = """parents friends kids children siblings brothers sisters in-laws family families coworkers co-workers colleagues
people men women girls boys guys neighbors neighbours roommates flatmates relatives cousins daughters sons twins
grandparents others pets dogs cats individuals strangers members guests bridesmaids grandchildren stepchildren
stepkids stepsons stepdaughters mothers fathers husbands wives partners exes classmates students nieces nephews aunts
uncles babies toddlers toddler strangers parents-in-law brothers-in-law sisters-in-law teens teenagers moms dads
employees clients workers boundaries feelings issues comments nurses grandsons granddaughters employees tenants
acquaintances elders comments doctors messages texts actions behaviors behaviours expectations emotions messages"""

MALE = frozenset(_MALE.split())
FEMALE = frozenset(_FEMALE.split())
EITHER = frozenset(_EITHER.split())
PLURAL = frozenset(_PLURAL.split())
PEOPLE = MALE | FEMALE | EITHER | PLURAL
LETTING = frozenset("let lets letting make makes making made watch watching".split())
THINGS = frozenset(
    """boundaries feelings issues comments messages texts actions behaviors behaviours expectations emotions""".split()
)
"""Plural things that "they" and "them" may mean as well as people."""

PARTNER = frozenset(
    """husband wife boyfriend girlfriend partner spouse fiancé fiancée fiance fiancee ex-husband ex-wife ex ex-boyfriend
    ex-girlfriend date""".split()
)
COUNTERPART = {"wife": "husband", "husband": "wife", "girlfriend": "boyfriend", "boyfriend": "girlfriend"}
GENERIC = frozenset("others people individuals strangers members".split())
CHILDREN = frozenset("child kid baby toddler newborn infant grandchild godchild".split())
"""Children of unknown gender, whom "he" and "she" are hardly ever left to mean beside a grown-up."""
CLAUSE = frozenset(
    "that who which because if when while since although though whether where what how why and but or".split()
)
FRIENDLY = frozenset("best close good are been be become were just being remain stay old long-time".split())
INDEFINITE = frozenset("everyone everybody anyone anybody someone somebody nobody".split())
SPEECH = frozenset(
    "said says told tells thinks thought claims claimed feels felt believes believed made makes left".split()
)
FOR_ONESELF = frozenset(
    """losing lose improve improving change changing find finding managing manage overcome overcoming raise quit leaving
    assert asserting lost quitting rebuild controlling control""".split()
)
"""What one does to one's own: "since losing her job" is the job of whoever lost it."""
JUDGING = frozenset(
    """remarks comments criticizes criticizing criticized criticises mocks mocking insults insulted insulting discredit
    undermines undermining brings judges judging ridicules""".split()
)
"""What one does to another's: in "makes comments about her body" the body is not the speaker's."""
REPORTING = frozenset(
    "saying claiming stating says claims thinks believes said claimed stated admitted mentioned insisted".split()
)
OWN = frozenset(
    """feelings concerns needs desired own intentions emotions boundaries perspective hurt expectations discomfort thoughts
    frustration limits wishes""".split()
)
"""What somebody is told to voice: after "the person should … his" it is the central person's."""
TITLES = frozenset("mr mrs ms miss signor madame sir professor dr".split())
NOT_PEOPLE = frozenset(
    """spanish english french german chinese indian mexican american british australian asian african european christian
    muslim jewish catholic instagram facebook snapchat netflix reddit covid christmas thanksgiving tinder discord tiktok
    google youtube twitter whatsapp january february march april may june july august september october november
    december monday tuesday wednesday thursday friday saturday sunday easter halloween valentine eve year new costco
    disney uber playstation xbox adhd ptsd bpd ocd autism god english-speaking""".split()
)
SHARED = frozenset(
    """relationship marriage wedding engagement anniversary honeymoon dates date home house apartment flat place finances
    kids children son daughter child baby bed bedroom sex sexual intimacy life lives connection communication future
    differences own first shared joint different differing respective bond friendship partnership divorce breakup family
    newborn toddler kid house mortgage rent bills money savings room kitchen romantic love vacation trip plans
    intimate physical emotional interactions conversations concerns perspectives needs issues conflicts expectations
    values dynamic boundaries situation two three four five living household daughters sons compatibility
    separation trust mutual age workplace disagreements arguments fights goals budget account lease long-term current lifestyle""".split()
)
"""What a couple has together: "their" before one of these means both of them."""

PRONOUNS: dict[str, tuple[str, str]] = {
    "he": ("m", "subject"),
    "him": ("m", "object"),
    "his": ("m", "possessive"),
    "himself": ("m", "reflexive"),
    "she": ("f", "subject"),
    "her": ("f", "object or possessive"),
    "hers": ("f", "absolute"),
    "herself": ("f", "reflexive"),
    "they": ("p", "subject"),
    "them": ("p", "object"),
    "their": ("p", "possessive"),
    "theirs": ("p", "absolute"),
    "themselves": ("p", "reflexive"),
    "themself": ("p", "reflexive"),
}
FIRST_PERSON = {"i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself"}

PREPOSITIONS = frozenset(
    """of with to for from by about on at toward towards against between behind without than like into onto over
    under near beside around through upon despite among including regarding concerning as""".split()
)
AFTER_OBJECT = PREPOSITIONS | frozenset(
    """and or but if that because when while since until before after so in out up down off away back again
        is was to not more less too also even either how why what who which where whether the a an this these those
        being feeling doing going having making taking getting very really just only his her their your my our its
        every each all any some no later now then there here alone feel go do be stay have take make get see know
        come leave understand believe think cry stop look want well enough yet anymore ever first next last
        continuously constantly repeatedly directly personally openly emotionally physically financially badly
        uncomfortable upset happy sad angry guilty jealous responsible lazy crazy names through it anything something
        nothing everything space unless though although despite throughout during once twice one both""".split()
)
"""A word after "her" that shows it to be an object ("told her that"), not a possessive ("her mother")."""

ADVERBS = frozenset(
    """also often always never still already just really now then only even sometimes usually rarely recently simply
    currently constantly frequently initially finally eventually both truly actually clearly probably possibly perhaps
    likely genuinely generally typically merely fully not soon too once ever long no longer since longer since""".split()
)
NOT_ADVERBS = frozenset(
    "family only friendly elderly lovely lonely early ugly holy daily weekly monthly likely".split()
)
PAST = frozenset(
    """found got came went gave took broke kept saw knew sent became began did had met lost paid ran spoke wrote cut let
    put hit bought brought caught felt left made said told thought stood sat threw slept chose fell grew held hurt led
    read sold spent""".split()
)
TO_BE = {"is": "are", "was": "were", "isn't": "aren't", "wasn't": "weren't", "am": "are"}
AUXILIARIES = {"has": "have", "does": "do", "hasn't": "haven't", "doesn't": "don't"} | TO_BE
MODALS = frozenset("can could may might must shall should will would had did do have are were ought need dare".split())
FINITE = (
    frozenset(AUXILIARIES)
    | MODALS
    | frozenset(
        """said told asked wanted expressed admitted continues says believes thinks wants feels made got went left took gave
        became started began refused answered who drums leaves comes lives speaks votes picks writes stays keeps""".split()
    )
)
NOT_VERBS = frozenset(
    """this his its us always yes as perhaps towards besides sometimes less unless plus thus whereas across previous
    various jealous serious nervous anxious various ours yours hers theirs regardless nevertheless kids friends parents
    boundaries feelings""".split()
)
NOUNS_IN_S = frozenset(
    """plans needs wants desires feelings works calls texts messages talks fights thoughts comments dates hopes fears
    loves likes hates interests concerns issues questions reasons chores concerns insecurities boundaries goals values
    emotions arguments compliments gifts memories photos pictures videos dreams responsibilities actions decisions
    choices struggles worries doubts struggles changes demands requests supports limits advances moves visits remarks
    conflicts compromises jokes insults lies apologies kisses hugs games drinks drugs meals dishes clothes
    breaks signs steps hours days weeks months years times things""".split()
)
"""Words in -s that are nouns as often as verbs: after "and" they are read as verbs only before an object."""
_ES = re.compile(r"(?:ss|sh|ch|x|zz|o)es$")
_IRREGULAR = {
    "has": "have",
    "does": "do",
    "goes": "go",
    "is": "are",
    "was": "were",
    "ties": "tie",
    "lies": "lie",
    "dies": "die",
}


def base_form(verb: str) -> str:
    """The verb without the ending of the third person: "feels" -> "feel", "tries" -> "try", "is" -> "are"."""
    low = verb.lower()
    if low in AUXILIARIES:
        return AUXILIARIES[low]
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if low.endswith("ies") and len(low) > 4:
        return low[:-3] + "y"
    if _ES.search(low):
        return low[:-2]
    return low[:-1]


def looks_third_person(word: str) -> bool:
    """Whether a word right after its subject can be a verb in the third person singular."""
    low = word.lower()
    if low in AUXILIARIES:
        return True
    return (
        low.isalpha() and low.endswith("s") and not low.endswith(("ss", "us")) and low not in NOT_VERBS and len(low) > 3
    )
