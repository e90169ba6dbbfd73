"""The English words that tell who is who: people by gender and number, pronouns, verbs, function words."""

import re


def words_in(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


_MALE = """
husband boyfriend father dad daddy brother son uncle grandfather grandpa granddad nephew man guy boy groom gentleman
male stepfather stepdad stepson stepbrother fiancé bf dude lad widower waiter landlord grandson godfather godson papa
hubby fil bil king prince priest fisherman policeman salesman chairman foreman mr
"""
_FEMALE = """
wife girlfriend mother mom mommy mum sister daughter aunt grandmother grandma granny niece woman girl bride lady female
stepmother stepmom stepdaughter stepsister fiancée gf widow waitress landlady granddaughter godmother goddaughter mama
sahm mistress mil sil saleswoman policewoman chairwoman bridesmaid midwife queen princess nun actress hostess mrs
"""
_EITHER = """
friend coworker co-worker colleague boss roommate flatmate housemate partner spouse child kid baby toddler
newborn infant cousin sibling parent neighbor neighbour ex fiance fiancee crush stranger manager tenant client
supervisor classmate student teacher therapist teenager teen bestie acquaintance buddy employee professor coach
pupil worker grandchild godchild baker caretaker director volunteer customer guest patient nurse doctor driver owner
counselor counsellor caregiver carer optometrist assaulter mediator babysitter sitter speaker writer singer
planner specialist beginner programmer athlete reporter visitor captain engineer publisher lawyer
designer passenger pediatrician interpreter mayor guardian physiotherapist physician farmer dealer welder cleaner
actor minister donor employer chemist collector shopkeeper veterinarian vet organiser organizer cheater hairstylist
pharmacist jeweler trainer instructor principal landowner officer leader chef clerk assistant secretary
intern trainee apprentice stepchild stepparent stepsibling grandparent relative heir lover
seller buyer dancer painter musician photographer gardener plumber mechanic electrician pilot agent accountant
dentist surgeon psychologist psychiatrist technician teammate player opponent rival passer-by mentor mate pal
"""
_PLURAL = """
parents friends kids children siblings brothers sisters in-laws family families coworkers co-workers colleagues
people men women girls boys guys neighbors neighbours roommates flatmates housemates relatives cousins daughters sons
twins grandparents others pets dogs cats individuals strangers members guests bridesmaids groomsmen grandchildren
stepchildren stepkids stepsons stepdaughters mothers fathers husbands wives partners spouses exes classmates students
nieces nephews aunts uncles babies toddlers parents-in-law brothers-in-law sisters-in-law teens teenagers moms dads
employees clients workers nurses grandsons granddaughters tenants acquaintances elders doctors couples caregivers
technicians players girlfriends boyfriends step-siblings stepsiblings half-siblings visitors helpers teachers coaches
customers team group staff crew public everyone everybody villagers owners bosses managers professionals parties
lovers adults females males ladies gentlemen folks police teammates
"""

MALE = words_in(_MALE)
FEMALE = words_in(_FEMALE)
EITHER = words_in(_EITHER)
PLURAL = words_in(_PLURAL)
SINGULAR = MALE | FEMALE | EITHER
PEOPLE = SINGULAR | PLURAL
PARTNER = words_in(
    """
    husband wife boyfriend girlfriend partner spouse fiancé fiancée fiance fiancee ex-husband ex-wife ex
    ex-boyfriend ex-girlfriend ex-partner
    """
)
COUNTERPART = {"wife": "husband", "husband": "wife", "girlfriend": "boyfriend", "boyfriend": "girlfriend"}
CHILDREN = words_in(
    """
    child kid baby toddler newborn infant grandchild godchild
    """
)
"""Children of unknown gender, whom "he" and "she" are hardly ever left to mean beside a grown-up."""
CLAUSE_STARTS = words_in(
    """
    that who which because if when while since although though whether where what how why
    """
)
CLAUSE = words_in(
    """
    that who which because if when while since although though whether where what how why and but or
    """
)
FRIENDLY = words_in(
    """
    best close good are been be become were just being remain stay old long-time
    """
)
INDEFINITE = words_in(
    """
    everyone everybody anyone anybody someone somebody nobody
    """
)
SPEECH = words_in(
    """
    said says told tells thinks thought claims claimed feels felt believes believed made makes left
    """
)
NOT_PEOPLE = words_in(
    """
    spanish english french german chinese indian mexican american british australian asian african european
    christian muslim jewish catholic instagram facebook snapchat netflix reddit covid christmas thanksgiving
    tinder discord tiktok google youtube twitter whatsapp january february march april may june july august
    september october november december monday tuesday wednesday thursday friday saturday sunday easter
    halloween valentine eve year new costco disney uber playstation xbox adhd ptsd bpd ocd autism god
    english-speaking
    """
)
SHARED = words_in(
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

COUPLE = words_in("relationship marriage engagement anniversary divorce breakup")
"""What only a couple has: "their" before one of these means both of them even where others are about."""

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
PRONOUNS |= {
    subject + ending: (PRONOUNS[subject][0], "subject")
    for subject, endings in (("he", "d ll"), ("she", "d ll"), ("they", "d ll re ve"))
    for ending in (f"{mark}{end}" for end in endings.split() for mark in "'’")
}
FIRST_PERSON = {"i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself"}
FIRST_PERSON |= {
    f"i{mark}{end}": f"you'{new}" for mark in "'’" for end, new in (("d", "d"), ("ll", "ll"), ("ve", "ve"), ("m", "re"))
}
FIRST_PERSON |= dict.fromkeys(("we", "us", "our", "ours", "ourselves", "we're", "we've", "we'd", "we'll"), "")
"""What stands for a first-person word; nothing for "we", who may or may not be the central person and another."""
SECOND_PERSON = words_in("you your yours yourself you're you've you'd you'll")

PREPOSITIONS = words_in(
    """
    of with to for from by about on at toward towards against between behind without than like into onto
    over under near beside around through upon despite among including regarding concerning as
    """
)
AFTER_OBJECT = PREPOSITIONS | words_in(
    """
    cook find cope deal navigate regain explore prioritize seek decide overcome heal grow learn realize recognize walk
    achieve maintain escape process improve accept speak say tell give meet order join
    and or but if that because when while since until before after so in out up down off away again is was to not too
    also even either how why what who which where whether the a an this these those being feeling doing going having
    making taking getting really just his her their your my our its each any some later then there here alone feel go
    do be stay have take make get see know come leave understand believe think cry stop look want enough yet anymore
    ever continuously constantly repeatedly directly personally openly emotionally physically financially badly
    uncomfortable upset happy sad angry guilty responsible lazy crazy through it anything something nothing
    everything unless though although despite throughout during once twice whenever wherever altogether afterward
    afterwards instead forever anyway otherwise overnight yesterday today tomorrow tonight due disgusting attractive
    awake can could will would should may might must
    """
)
"""A word after "her" that shows it to be an object ("told her that"), not a possessive ("her mother")."""
AFTER_EITHER = words_in(
    "only first next last good now very one both well more less back no every all nearly most two three"
)
"""A word after "her" that may follow an object as well as a possessive ("gave her one", "her one wish")."""
COMPLETED = words_in(
    """
    let lets letting make makes making made watch watching saw see seeing sees hear heard call calls called calling
    find finds found finding help helps helped helping tell tells told telling want wants wanted give gives gave giving
    cause causes caused causing promise promises promised save saved bring brings brought keep keeps kept leave leaves
    left leaving consider considers considered show shows showed owe owes pay pays paid ask asks asked asking
    """
)
"""Verbs that take a second word after their object ("made her proud"), so that "her" may be object or possessive."""

ADVERBS = words_in(
    """
    also often always never still already just really now then only even sometimes usually rarely recently
    simply currently constantly frequently initially finally eventually both truly actually clearly probably
    possibly perhaps likely genuinely generally typically merely fully not soon too once ever long no longer
    since later first still
    """
)
NOT_ADVERBS = words_in(
    """
    family only friendly elderly lovely lonely early ugly holy daily weekly monthly likely
    """
)
PAST = words_in(
    """
    found got came went gave took broke kept saw knew sent became began did had met lost paid ran spoke
    wrote cut let put hit bought brought caught felt left made said told thought stood sat threw slept chose
    fell grew held hurt led read sold spent
    """
)
TO_BE = {"is": "are", "was": "were", "isn't": "aren't", "wasn't": "weren't", "am": "are"}
AUXILIARIES = {"has": "have", "does": "do", "hasn't": "haven't", "doesn't": "don't"} | TO_BE
MODALS = words_in(
    """
    can could may might must shall should will would had did do have are were ought need dare
    """
)
FINITE = (
    frozenset(AUXILIARIES)
    | MODALS
    | words_in(
        """
    said told asked wanted expressed admitted continues says believes thinks wants feels made got went left
    took gave became started began refused answered who drums leaves comes lives speaks votes picks writes
    stays keeps
    """
    )
)
FUNCTION_WORDS = PREPOSITIONS | CLAUSE | MODALS | frozenset(AUXILIARIES) | frozenset(PRONOUNS)
NOT_VERBS = words_in(
    """
    this his its us always yes as perhaps towards besides sometimes less unless plus thus whereas across
    previous various jealous serious nervous anxious ours yours hers theirs regardless nevertheless kids
    friends parents boundaries feelings
    """
)
NOUNS_IN_S = words_in(
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
VERBS_IN_S = words_in(
    """
    feels wants thinks believes says tells knows asks tries finds gets makes takes gives goes comes keeps seems
    wonders worries regrets expects considers refuses decides misses brings becomes begins continues lives likes
    prioritizes listens explains receives reveals describes realizes understands agrees admits insists suspects
    """
)
"""Words in -s that are hardly ever anything but verbs."""
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
