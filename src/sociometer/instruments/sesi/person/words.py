"""The English words that tell who is who: people by gender and number, pronouns, verbs, function words."""

import re
from typing import Literal


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


Gender = Literal["m", "f"]

_MALE = """
husband boyfriend father dad brother son uncle grandfather grandpa nephew man guy boy groom gentleman male
stepfather stepdad stepson stepbrother fiancé bf dude lad widower waiter landlord grandson godfather papa
"""
_FEMALE = """
wife girlfriend mother mom mum sister daughter aunt grandmother grandma niece woman girl bride lady female
stepmother stepmom stepdaughter stepsister fiancée gf widow waitress landlady granddaughter godmother mama sahm
"""
_EITHER = """
friend coworker co-worker colleague boss roommate flatmate housemate partner spouse child kid baby toddler
newborn infant cousin sibling parent neighbor neighbour ex fiance fiancee crush stranger manager tenant client
supervisor classmate student teacher therapist teenager teen bestie acquaintance buddy employee professor coach
pupil worker grandchild godchild bridesmaid foreman baker caretaker director volunteer customer guest patient
nurse
"""
_PLURAL = """
parents friends kids children siblings brothers sisters in-laws family families coworkers co-workers colleagues
people men women girls boys guys neighbors neighbours roommates flatmates relatives cousins daughters sons twins
grandparents others pets dogs cats individuals strangers members guests bridesmaids grandchildren stepchildren
stepkids stepsons stepdaughters mothers fathers husbands wives partners exes classmates students nieces nephews
aunts uncles babies toddlers toddler parents-in-law brothers-in-law sisters-in-law teens teenagers moms dads
employees clients workers boundaries feelings issues comments nurses grandsons granddaughters tenants
acquaintances elders doctors messages texts actions behaviors behaviours expectations emotions
"""

MALE = _words(_MALE)
FEMALE = _words(_FEMALE)
EITHER = _words(_EITHER)
PLURAL = _words(_PLURAL)
SINGULAR = MALE | FEMALE | EITHER
PEOPLE = SINGULAR | PLURAL
LETTING = _words("let lets letting make makes making made watch watching saw see hear heard")
THINGS = _words(
    """boundaries feelings issues comments messages texts actions behaviors behaviours expectations emotions"""
)
"""Plural things that "they" and "them" may mean as well as people."""

PARTNER = _words(
    """
    husband wife boyfriend girlfriend partner spouse fiancé fiancée fiance fiancee ex-husband ex-wife ex ex-
    boyfriend ex-girlfriend date
    """
)
COUNTERPART = {"wife": "husband", "husband": "wife", "girlfriend": "boyfriend", "boyfriend": "girlfriend"}
GENERIC = _words(
    """
    others people individuals strangers members
    """
)
CHILDREN = _words(
    """
    child kid baby toddler newborn infant grandchild godchild
    """
)
"""Children of unknown gender, whom "he" and "she" are hardly ever left to mean beside a grown-up."""
CLAUSE = _words(
    """
    that who which because if when while since although though whether where what how why and but or
    """
)
FRIENDLY = _words(
    """
    best close good are been be become were just being remain stay old long-time
    """
)
INDEFINITE = _words(
    """
    everyone everybody anyone anybody someone somebody nobody
    """
)
SPEECH = _words(
    """
    said says told tells thinks thought claims claimed feels felt believes believed made makes left
    """
)
FOR_ONESELF = _words(
    """
    losing lose improve improving change changing find finding managing manage overcome overcoming raise
    quit leaving assert asserting lost quitting rebuild controlling control
    """
)
"""What one does to one's own: "since losing her job" is the job of whoever lost it."""
JUDGING = _words(
    """
    remarks comments criticizes criticizing criticized criticises mocks mocking insults insulted insulting
    discredit undermines undermining brings judges judging ridicules
    """
)
"""What one does to another's: in "makes comments about her body" the body is not the speaker's."""
REPORTING = _words(
    "saying claiming stating says claims thinks believes said claimed stated admitted mentioned insisted"
)
VOICING = _words("express expressing communicate communicating convey conveying share sharing prioritize voice")
OWN = _words(
    """
    feelings concerns needs desired own intentions emotions boundaries perspective hurt expectations
    discomfort thoughts frustration limits wishes
    """
)
"""What somebody is told to voice: after "the person should … his" it is the central person's."""
TITLES = _words(
    """
    mr mrs ms miss signor madame sir professor dr
    """
)
NOT_PEOPLE = _words(
    """
    spanish english french german chinese indian mexican american british australian asian african european
    christian muslim jewish catholic instagram facebook snapchat netflix reddit covid christmas thanksgiving
    tinder discord tiktok google youtube twitter whatsapp january february march april may june july august
    september october november december monday tuesday wednesday thursday friday saturday sunday easter
    halloween valentine eve year new costco disney uber playstation xbox adhd ptsd bpd ocd autism god
    english-speaking
    """
)
SHARED = _words(
    """
    relationship marriage wedding engagement anniversary honeymoon dates date home house apartment flat
    place finances kids children son daughter child baby bed bedroom sex sexual intimacy life lives
    connection communication future differences own first shared joint different differing respective bond
    friendship partnership divorce breakup family newborn toddler kid mortgage rent bills money savings room
    kitchen romantic love vacation trip plans intimate physical emotional interactions conversations
    concerns perspectives needs issues conflicts expectations values dynamic boundaries situation two three
    four five living household daughters sons compatibility separation trust mutual age workplace
    disagreements arguments fights goals budget account lease long-term current lifestyle
    """
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

PREPOSITIONS = _words(
    """
    of with to for from by about on at toward towards against between behind without than like into onto
    over under near beside around through upon despite among including regarding concerning as
    """
)
AFTER_OBJECT = PREPOSITIONS | _words(
    """
    cook find cope deal navigate regain explore prioritize seek decide overcome heal grow learn realize recognize
    walk
    and or but if that because when while since until before after so in out up down off away back again is
    was to not more less too also even either how why what who which where whether the a an this these those
    being feeling doing going having making taking getting very really just only his her their your my our
    its every each all any some no later now then there here alone feel go do be stay have take make get see
    know come leave understand believe think cry stop look want well enough yet anymore ever first next last
    continuously constantly repeatedly directly personally openly emotionally physically financially badly
    good uncomfortable upset happy sad angry guilty jealous responsible lazy crazy names through it anything
    something nothing everything space unless though although despite throughout during once twice one both
    """
)
"""A word after "her" that shows it to be an object ("told her that"), not a possessive ("her mother")."""

ADVERBS = _words(
    """
    also often always never still already just really now then only even sometimes usually rarely recently
    simply currently constantly frequently initially finally eventually both truly actually clearly probably
    possibly perhaps likely genuinely generally typically merely fully not soon too once ever long no longer
    since
    """
)
NOT_ADVERBS = _words(
    """
    family only friendly elderly lovely lonely early ugly holy daily weekly monthly likely
    """
)
PAST = _words(
    """
    found got came went gave took broke kept saw knew sent became began did had met lost paid ran spoke
    wrote cut let put hit bought brought caught felt left made said told thought stood sat threw slept chose
    fell grew held hurt led read sold spent
    """
)
TO_BE = {"is": "are", "was": "were", "isn't": "aren't", "wasn't": "weren't", "am": "are"}
AUXILIARIES = {"has": "have", "does": "do", "hasn't": "haven't", "doesn't": "don't"} | TO_BE
MODALS = _words(
    """
    can could may might must shall should will would had did do have are were ought need dare
    """
)
FINITE = (
    frozenset(AUXILIARIES)
    | MODALS
    | _words(
        """
    said told asked wanted expressed admitted continues says believes thinks wants feels made got went left
    took gave became started began refused answered who drums leaves comes lives speaks votes picks writes
    stays keeps
    """
    )
)
NOT_VERBS = _words(
    """
    this his its us always yes as perhaps towards besides sometimes less unless plus thus whereas across
    previous various jealous serious nervous anxious ours yours hers theirs regardless nevertheless kids
    friends parents boundaries feelings
    """
)
NOUNS_IN_S = _words(
    """
    plans needs wants desires feelings works calls texts messages talks fights thoughts comments dates hopes
    fears loves likes hates interests concerns issues questions reasons chores insecurities boundaries goals
    values emotions arguments compliments gifts memories photos pictures videos dreams responsibilities
    actions decisions choices struggles worries doubts changes demands requests supports limits advances
    moves visits remarks conflicts compromises jokes insults lies apologies kisses hugs games drinks drugs
    meals dishes clothes breaks signs steps hours days weeks months years times things
    """
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
