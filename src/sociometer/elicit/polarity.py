"""What a sentence says about the options it mentions: claims them, rejects them, or only talks about them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from sociometer.elicit.mentions import ANY, CLASH, index_of

__all__ = ["FINAL", "MARKED", "VERDICT", "WEAK", "Claim", "Sentence", "Stance", "corrected", "judge", "sentences"]

WEAK, VERDICT, FINAL, MARKED = 1, 2, 3, 4
"""How strongly an option is claimed: praised, chosen, chosen at the very end, marked as the answer."""

_ADVERBS = (
    r"(?:(?:most likely|probably|definitely|clearly|surely|certainly|obviously|therefore|simply|actually|still|indeed|"
    r"likely|almost certainly|really|just|now|perhaps|maybe|also|by far|easily|most|hands down|easily|arguably|"
    r"undoubtedly|then|thus|overall|ultimately|honestly|personally)[\s,]+)*"
)
_CHOICE = r"(?:answers?|choice|pick|selection|verdict|vote|decision|conclusion|final(?= answer|:| is)|response|réponse|favou?rite|guess)"
_BEST = (
    r"(?:best|correct|right|strongest|better|safest|wisest|kindest|gentlest|nicest|fairest|worst|weakest|winner|top|"
    r"clearest|closest|ideal|preferable|most [a-z-]+|least [a-z-]+|more [a-z-]+|only|one|worse|superior|answer|"
    r"way to go|strong(?:er|est)|favou?rite|pick|choice|recommended|sensible|solution)"
)
_BE = r"(?:'s|\s+(?:is|was|would be|should be|must be|will be|has to be|can only be|remains|goes to|seems to be|to be))"
_VERB = (
    r"(?:choose|chose|chosen|choosing|select|selected|selecting|pick|picked|picking|go with|going with|went with|"
    r"go for|going for|opt for|opting for|settle on|settling on|settle for|say|answer|vote for|take|taking|stick with|"
    r"sticking with|stay with|prefer|recommend|suggest|favou?r|lean(?:ing)? (?:towards?|to)|side with|"
    r"come down on the side of|conclude|think|believe|guess|argue for|end up with|land on|landing on|mark|accept|"
    r"go|endorse|back|give you)"
)
_LEFT = re.compile(
    rf"(?:\b{_CHOICE}(?:\s+(?:here|to this question|to the question|for me|is therefore))?(?:{_BE}|\s*[:=—–-]+>?)*\s*|"
    rf"\b(?:i|we|i'd|i'll|i'm|we'd|we'll|i've|let's|let me|you|one|should|would|must|he|she)\b"
    rf"(?:'d|'ll|'m|'ve)?\s+(?:[a-z']+\s+){{0,3}}?{_VERB}:?\s+(?:that |it's |it is |it to be |it would be |on |with )*|"
    rf"(?:^|[,.;:—–-]\s*|\b(?:so|then|just|therefore|hence|thus) )(?:choose|pick|select|go with|go for|go|take|choosing)"
    rf":?\s*|"
    rf"\b(?:it|this|that|which|what fits|what's left|what remains|everything points to)(?:{_BE}|\s+leaves|\s*:):?\s*|"
    rf"\b(?:leaves?(?: us)?(?: with)?|leaving(?: us)?(?: with)?|left with|left is|remaining(?: option)? is|ending up at)"
    rf"\s*(?:only|just)?:?\s*|"
    rf"\b{_BEST}(?:\s+[a-z']+){{0,5}}?\s*(?:\b(?:is|was|would be|remains|has to be|must be|goes to)\b:?|:)\s*|"
    rf"\b(?:switch|chang|revis|correct|updat|mov)\w*\s+(?:(?:my|the)\s+)?(?:answer|choice|pick|mind|vote)?\s*"
    rf"(?:from {ANY} )?(?:to|:)\s*|"
    rf"(?:→|->|=>|⇒|✅|☑|👉|✔️?|\[x\])\s*|\b(?:points? to|pointing to|speaks for|in favou?r of)\s+)"
    rf"{_ADVERBS}$",
    re.IGNORECASE,
)
_SO = re.compile(r"(?:\b(?:so|therefore|thus|hence|ergo|then|only|ok|okay|fine|overall)|所以|因此|那么|那就|故)[,:]?\s*$", re.I)
_HAN_LEFT = re.compile(
    r"(?:(?:答案|结论|結論|正解|正确选项|正確選項|选项|選項|选择|選擇|回答|排第一的?)(?:应该|應該|应当|应|應|就|会|還|还|只能|自然|便|当然)*"
    r"(?:是|为|為|选|選|:|=)+|"
    r"(?:改|还是|還是|应该|應該|应当|应|應|故|会先?说?|只能|我|就|可以|可|要|该|該|必|当|当然|建议|建議|推荐|会|會|再|,|。|;|:|^|\s)"
    r"(?:选|選|选择|選擇|选定|改选|改選|投|支持|推荐|建议|倾向于?|傾向於?|偏向)(?:了|的是|给|給)?:?|"
    r"(?:所以|因此|那么|那|故|因而|于是|应该|應該|应当|当然|还|還|肯定|就|只能|我(?:认为|認為|觉得|覺得|猜)|才)(?:就|还|還|应该|應該|应|只能)*"
    r"(?:是|说|說|选|選)|"
    r"(?:只有|只剩下?(?:了)?|剩下的?(?:就)?(?:是)?|唯独|唯獨|唯有)|我(?:认为|認為|觉得|覺得)|会说|會說|会先说|去|"
    r"(?<!不)最[^,。;不]{1,10}的(?:选项|選項|答案|做法|回应|回應|一个|一項|一项|一句|说法|說法)?(?:应该|應該|应|还|還|就)?(?:是|为|為|:))"
    r"\s*[\"(]*$"
)
_RIGHT = re.compile(
    rf"\s*(?:,?\s*(?:it is|for me|hands down|all the way|then\b|wins\b(?=\s*[.,!;]|$)|gets my vote|is it\b|takes it\b)|"
    rf",?\s*(?:'s|is|was|would be|seems(?: to be)?|looks(?: like)?|remains|feels|sounds|comes out|comes across|stands out|"
    rf"must be|should be|has to be|will be|gets)\s+(?:clearly |by far |probably |definitely |still |simply |perhaps |"
    rf"as |easily |likely |therefore |thus |really |actually |obviously |the |my |an? |overall |far |much )*{_BEST}\b"
    rf"(?!\s+(?:to\b|people|answer from|(?:that )?i(?:'d| would)? (?:find|take|consider)))|"
    rf"\s+(?:stands out|comes out on top|comes out (?:ahead|best)|fits best|works best|is on top|makes (?:the )?most sense|"
    rf"is it\b|is the way)\b)",
    re.IGNORECASE,
)
_RIGHT_WEAK = re.compile(
    r"\s+(?:(?:clearly|simply|actually|really|actively|directly|only) )?(?:fits|works|suits|serves|matches|describes|"
    r"captures|explains|solves|meets|respects|repairs|is (?:right|correct|appropriate|good|fine|true|kind|honest|it))\b|"
    r"\s+[a-z]+s\b[^,.;]{0,50}\b(?:most|best|better)\b",
    re.IGNORECASE,
)
_HAN_RIGHT = re.compile(
    r"\s*(?:(?:相对|相對|明显|显然|顯然|才|就|是|会|會|要|则|則|比较|無疑|无疑|还是|還是)*(?:最|更)(?!不)[^,。;]{1,6}|"
    r"才?(?:是|为)(?:正确|正確|最|唯一|更|答案|对的|對的)(?!不)|好就好在|一票|胜出|勝出|才对|才對|才(?:是|能|真正))"
)
_HAN_RIGHT_WEAK = re.compile(r"\s*(?:比较|則|则|很|也|都|才)?(?:符合|贴切|貼切|恰当|恰當|正确|正確|合适|合適|得体|得體|妥当|妥當)")

_NOT = re.compile(
    r"(?:\bnot\b|n't\b|\bnever\b|\bneither\b|\bnor\b|\bcannot\b|\bhardly\b|\bwithout\b|\bno (?:reason|case)\b)",
    re.IGNORECASE,
)
_ALL_BUT = re.compile(
    r"\b(?:everything|all(?: options| of them)?|none(?: of them)?|nothing|no option) (?:except|but|other than)(?: for)?\s*$",
    re.IGNORECASE,
)
_GOOD = re.compile(r"\b(?:fine|good|okay|ok|appropriate|correct|works?|right|fits?|acceptable|helpful)\b", re.IGNORECASE)
_OUT_LEFT = re.compile(
    r"(?:\bnot|\bnor|\bneither|\brather than|\binstead of|\bover|\bthan|\bagainst|\bexcept(?: for)?|\beliminat\w+|"
    r"\brul\w+ out|\breject\w*|\bexclud\w*|\bdiscard\w*|\bdismiss\w*|\bstrike|\bwithout|\bfrom|\bunlike|"
    r"(?<!唯)不(?:是|选|選|会选|會選|该选|應選|应选|能选)?|别选|沒選|没选|非|排除了?|除了|除|谈不上|談不上|算不上|而不是|而非|并非|並非|不像|去掉)\s*"
    r"(?:(?:be|is|choose|choosing|pick|both|either|just|it's|for)\s+)*[\"(]*$",
    re.IGNORECASE,
)
_OUT_RIGHT = re.compile(
    r"\b(?:not|never|no|nothing|neither|nor|without|too|wrong|incorrect|out|unlikely|implausible|far-fetched|irrelevant|"
    r"beside the point|bad|worse|misses|ignores|fails|lacks|merely|unrelated|impossible|cruel|rude|silly|weird|cold|"
    r"mean|lie|weak|offensive|harsh|illegal|dishonest|untrue|insult|attack|snub|assumes?|invents?|stealing|humiliat\w*|"
    r"dangerous|disrespect\w*|excluded|ruled|drops?|avoids?|naive|late|nonsense|doesn't|isn't|don't|can't|won't|"
    r"aren't|wouldn't|cannot|shames|disproportionate|wasteful|lectures|costs|pretends|overreaction|threat)\b|n't\b|"
    r"[不没沒无無太错錯非过過酸刺俗丢]|反而|排除|怪他|❌|✖|✗|×",
    re.IGNORECASE,
)
_IS_NOT = re.compile(r"\W*(?:is|was|are|do|does|did|would|will|can|could|should)\s?(?:n't|not)\b|\s*[不沒没]|\s*not\b", re.IGNORECASE)
_IF = re.compile(r"\b(?:if|unless|suppose|supposing|whether|imagine|had it|were it)\b|如果|要是|假如|假设|倘若|若是|若(?=[^干])", re.I)
_IF_AFTER = re.compile(r"^[^.;!]{0,60}?\b(?:if|unless|only when|provided)\b", re.IGNORECASE)
_UNREAL = re.compile(r"\b(?:would|were|had|might|could)\b|'d\b", re.IGNORECASE)
_OTHERS = re.compile(
    r"\b(?:people|everyone|everybody|many|some|others|most (?!(?:[a-z-]+ )*(?:is|answer))|author|textbook|"
    r"you(?:'d| would| might| may| could)|one (?:might|could|may)|somebody|someone|he'd|she'd|they'd|obvious choice|"
    r"no one|nobody|nearly|almost|i thought|was going to|was about to|second (?:choice|pick|best|place)|runner-up|close second|"
    r"expected answer|tempt\w*|not far (?:off|behind)|would have (?:said|been)|i'd have|(?:mother|father|ex|friend|"
    r"stranger|examiner|boss) would|according to|from [\w' ]{1,30} point of view|by our)\b|"
    r"有人|一般人|很多人|多数人|大家|习惯|容易误|其次|有些人|有的人",
    re.IGNORECASE,
)
_AT_FIRST = re.compile(
    r"\b(?:first (?:instinct|thought|reaction|impression|guess|impulse|glance|analysis)|first i thought|initial(?:ly)?|"
    r"at first|originally)\b|第一反应|第一反應|乍看|乍一看|表面上|本来|本來|原本|起初|一开始|一開始|最初|先写",
    re.IGNORECASE,
)
_AFTER_CONCEDED = re.compile(
    r"^\s*,?\s*(?:(?:is|was|would be|might be|may be|comes|looks|seems|as)\s+(?:\w+\s+){0,4}?(?:tempting|obvious|textbook|"
    r"runner-up|second|close|popular|what )|(?:虽然|雖然|固然|也|看似|听起来|聽起來|看起来|看起來|乍看|其次))|"
    r"^,\s*(?:though|although|however|despite|while|which)\b",
    re.IGNORECASE,
)
_CONCEDED = re.compile(r"^\W*(?:while|although|though|even though|whereas|as much as|虽然|雖然|尽管|儘管|固然)", re.IGNORECASE)
_CORRECTION = re.compile(
    r"\b(?:wait|actually|oops|scratch that|on reflection|on second thoughts?|come to think of it|correction|hold on|"
    r"reconsider|hmm|no(?=[,.;:!…])|chang(?:e|ed|ing) my (?:answer|mind)|revised?|correct my answer|then again|"
    r"i mean|but (?:look|then)|sorry|instead|i'm not convinced|it isn't|however)\b|"
    r"不对|不對|等等|等一下|更正|其实|其實|改选|改選|改为|再想想|但是|重新|不(?=[,，])",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"\n+|[。!?]+[\"')\]]*|;|\.{2,}|…+|"
    r"(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bMrs)(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)(?<!\bno)(?<!\bNo)\.[\"')\]]*(?=\s|$|[\u3400-\u9fff])"
)
_JOINT = r"\s*(?:,\s*(?:and|or)?|/|、|&|\+|\band\b|\bor\b|和|或者?|与|與|及|还是|還是|跟|以及|,?\s*as well as)\s*(?:either |perhaps |maybe |even |或者?)?"
_GROUP = re.compile(rf"{ANY}(?:{_JOINT}{ANY})*", re.IGNORECASE)
_MARK = re.compile(ANY)


class Sentence(msgspec.Struct, frozen=True):
    """A sentence of a marked reply, where it starts, and whether it is a question."""

    text: str
    start: int
    question: bool


class Claim(msgspec.Struct, frozen=True):
    """Options claimed together at one place of the reply; None among them where label and words clash."""

    indexes: frozenset[int | None]
    strength: int
    start: int


class Stance(msgspec.Struct, frozen=True):
    """Options rejected or merely discussed at one place of the reply."""

    indexes: frozenset[int | None]
    rejected: bool
    start: int


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a marked reply."""
    start = 0
    for stop in _STOP.finditer(text):
        part = text[start : stop.start()]
        if part.strip():
            yield Sentence(part, start, "?" in stop[0])
        start = stop.end()
    if text[start:].strip():
        yield Sentence(text[start:], start, question=False)


def corrected(text: str) -> bool:
    """Whether the writer takes back what was said before."""
    return _CORRECTION.search(text) is not None


def judge(sentence: Sentence) -> Iterator[Claim | Stance]:
    """Yield what a sentence says about each group of options that it mentions."""
    groups = list(_GROUP.finditer(sentence.text))
    for at, group in enumerate(groups):
        indexes = frozenset(None if mark == CLASH else index_of(mark) for mark in _MARK.findall(group[0]))
        end = groups[at + 1].start() if at + 1 < len(groups) else len(sentence.text)
        left = sentence.text[max(0, group.start() - 120) : group.start()]
        right = sentence.text[group.end() : min(end, group.end() + 140)]
        strength = 0 if sentence.question else _strength(left, right)
        start = sentence.start + group.start()
        if strength:
            yield Claim(indexes, strength, start)
        else:
            doubted = sentence.question and not (left + right).strip()
            yield Stance(indexes, doubted or _is_rejected(left, right), start)


def _strength(left: str, right: str) -> int:
    """How strongly the words around a mention claim it."""
    near = _clause_before(left)
    if _ALL_BUT.search(left):
        return 0 if _GOOD.search(right) else VERDICT
    if _OUT_LEFT.search(left):
        return 0
    if _is_hypothetical(left, right) or _OTHERS.search(near.split(",")[-1]) or _AT_FIRST.search(near) or _AFTER_CONCEDED.match(right):
        return 0
    if _CONCEDED.match(near) or _IS_NOT.match(right):
        return 0
    if (_LEFT.search(left) or _HAN_LEFT.search(left)) and not _denied(near) and not _verb_follows(right):
        return VERDICT
    if _SO.search(left) and re.match(r"\s*(?:[.,:;!)—–-]|$|\s(?:it is|because|then|for)\b)", right):
        return VERDICT
    if _RIGHT.match(right) or _HAN_RIGHT.match(right):
        return 0 if _denied(near) else VERDICT
    if (_RIGHT_WEAK.match(right) or _HAN_RIGHT_WEAK.match(right) or re.search(r"[^不]的(?:就|才|正)?是[\"']*$", left)) and not _denied(near):
        return WEAK
    return 0


def _verb_follows(right: str) -> bool:
    """Whether the sentence goes on to say something else of the option than that it is chosen."""
    return re.match(r"\s+(?:is|are|was|would|could|might|may|can|does|has|fails|misses|ignores|[a-z]+s)\b(?! it)", right) is not None


def _clause_before(left: str) -> str:
    """The words between the last break and the mention."""
    return re.split(r"[;:—–]|,\s*(?:but|so|and so|yet|and)\b|\b(?:but|yet|whereas)\b|,(?=但|可|所以|因此|不过|而)|但是?|不过|所以|因此", left)[-1]


def _denied(near: str) -> bool:
    last = re.split(r",", near)[-1]
    return _NOT.search(last) is not None or re.search(r"[不没沒别](?:会|會|能|该|該|应|應)?(?:选|選|是|推荐|建议)", last) is not None


def _is_hypothetical(left: str, right: str) -> bool:
    if re.match(r"^\s*(?:would|might|could|may)\b", right) and _IF_AFTER.search(right):
        return True
    if _UNREAL.search(left[-40:]) and _IF_AFTER.search(right):
        return True
    found = None
    for found in _IF.finditer(left):
        pass
    if found is None:
        return False
    between = left[found.start() :]
    return re.search(r",\s*(?:so|therefore|but)\b|(?:所以|因此|但)|:.*:", between) is None


def _is_rejected(left: str, right: str) -> bool:
    return _OUT_LEFT.search(left) is not None or _denied(_clause_before(left)) or _OUT_RIGHT.search(right) is not None
