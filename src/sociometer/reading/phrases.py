"""Phrases around a mention that claim, reject or suspend it, in English and Chinese, as patterns over marked text."""

from __future__ import annotations

import re

from sociometer.reading.marks import ANY

__all__ = [
    "ALL_BUT",
    "AT_FIRST",
    "BUT_BEHIND",
    "CLAIM_BEFORE",
    "CLAIM_BEHIND",
    "CONCEDED",
    "CONCEDED_BEHIND",
    "CORRECTION",
    "DECLARED_BEFORE",
    "GOOD",
    "GROUP",
    "HYPOTHETICAL",
    "IF_BEHIND",
    "IS_NOT",
    "NOT",
    "ONLY_BEFORE",
    "OTHERS",
    "OUT_BEFORE",
    "OUT_BEHIND",
    "PRAISE",
    "RETRACTION",
    "SO_BEFORE",
    "TAKEN_BACK",
    "UNREAL",
    "WORST_BEHIND",
    "WRONG_BEHIND",
]

_ADVERB = (
    r"(?:most likely|probably|prob|definitely|clearly|surely|certainly|obviously|therefore|simply|actually|still|"
    r"indeed|"
    r"likely|almost certainly|really|just|now|perhaps|maybe|also|by far|easily|most|hands down|arguably|undoubtedly|"
    r"then|mostly|mainly|primarily|"
    r"thus|overall|ultimately|honestly|personally|either way|exactly|of course|hmm+|well|ok|okay|sure)"
)
_ADVERBS = rf"(?:{_ADVERB}[\s,.!]+)*"
_CHOICE = (
    r"(?:answers?|anser|awnser|ans\.?|choice|pick|selection|selected|verdict|vote|decision|conclusion|"
    r"final(?= answer|:| is)|"
    r"response|"
    r"réponse|favou?rite|guess|chosen option|preference|recommendation)"
)
BEST = (
    r"(?:best|correct|right|better|(?:saf|wis|kind|gentl|nic|fair|smart)(?:er|est)|strongest|winner|top|"
    r"clearest|closest|ideal|preferable|most [a-z-]+(?: [a-z-]+)?|more [a-z-]+|"
    r"only(?! (?:an?|about|part|half|partly|the (?:cause|reason|symptom))\b)|(?:[a-z-]+ )?one|"
    r"superior|"
    r"(?:final |my )?answer|way to go|strong(?:er|est)|favou?rite|pick|choice|recommended|sensible|solution|"
    r"what (?:i|we)(?:'d| would|'ll)? (?:choose|pick|recommend|go|say|do|find|see|expect)|"
    r"(?:simplest|smartest|healthiest|warmest) \w+)"
)
WORST = r"(?:worst|weakest|poorest|least [a-z-]+)"
"""What a question may ask for instead of the best."""
_BE = (
    r"(?:'s(?: got to be)?|\s+(?:is|was|would be|should be|must be|will be|has to be|can only be|remains|goes to|"
    r"seems to be|to be|"
    r"would have to be|got to be|has got to be|got to be|might be|may be|could be|lies with))"
)
_VERB = (
    r"(?:choose|chose|chosen|choosing|select|selected|selecting|pick|picked|picking|go with|going with|went with|"
    r"go for|going for|opt for|opting for|settled? on|settling on|settle for|decided? on|decided? for|say|answer|"
    r"advise|"
    r"vote for|vote|take|taking|stick with|sticking with|stay with|prefer|recommend(?: going with)?|suggest|favou?r|"
    r"lean(?:ing)?(?: towards?| to)?|side with|come down on the side of|conclude|think|believe|guess|argue for|"
    r"end up with|land on|landing on|mark|accept|go|endorse|back|give you|meant?|inclined to (?:pick|choose|say)|do|"
    r"trust|call it)"
)
_ENGLISH_BEFORE = (
    rf"\b{_CHOICE}(?:\s+(?:here|to this question|to the question|for me|is therefore))?(?:{_BE}|\s*[:=—–-]+>?)*\s*|"
    rf"\b(?:i|we|i'd|i'll|i'm|we'd|we'll|i've|let's|let me|you|one|should|would|must|he|she|gonna|going to)\b"
    rf"(?:'d|'ll|'m|'ve)?\s+(?:[a-z']+\s+){{0,4}}?{_VERB}:?\s+(?:that |it's |it is |it to be |it would be |on |with )*|"
    rf"\b(?:it's|it is|torn|toss-up|tie|is now|choice is|comes down to|down to)(?: between)?\s+|"
    rf"\bbetween\s+(?={ANY}? ?$)|"
    rf"\bits\s+|\b(?:shown|found|expressed|seen|visible|illustrated) (?:[a-z]+ )?(?:in|by)\s+|"
    rf"\b(?:gonna|got to) say\s+|\bmake (?:it|that)\s+|^\W*(?:gotta|got to|must|has to|could|might|may|would|"
    rf"should) be\s+|\b(?:go|going|went|gone) with\s+|"
    rf"\b(?:settled on|opted for|ended up with)\s+|"
    rf"\bi (?:think|believe|guess|suspect|feel|say)\b[^,.;:]{{0,60}}\b(?:is|be)\s+|"
    rf"(?:^|[,.;:—–-]\s*|\b(?:so|then|just|therefore|hence|thus) )(?:choose|pick|select|go with|go for|go|take|"
    rf"choosing|"
    rf"going with|leaning towards?|selecting|picking):?\s*|"
    rf"\b(?:it|this|that|which|what fits|what's left|what remains|everything points to)(?:{_BE}|\s+leaves|\s*:):?\s*|"
    rf"\b(?:leaves?(?: us)?(?: with)?|leaving(?: us)?(?: with)?|left with|left is|remaining(?: option)? is|"
    rf"ending up at)"
    rf"\s*(?:only|just)?:?\s*|"
    rf"\b(?:{BEST}|{WORST})(?:\s+[a-z']+){{0,6}}?\s*(?:\b(?:is|was|would be|remains|has to be|must be|goes to|"
    rf"might be)\b:?|:)\s*|"
    rf"\b(?:switch|chang|revis|correct|updat|mov)\w*\s+(?:(?:my|the)\s+)?(?:answer|choice|pick|mind|vote)?\s*"
    rf"(?:from {ANY} )?(?:to|:)\s*|"
    rf"(?:→|->|=>|⇒|✅|☑|👉|✔️?|\[x\])\s*|"
    rf"\b(?:points? to|pointing to|speaks for|in favou?r of|corresponds? to|match(?:es)?|"
    rf"aligns? (?:[a-z]+ ){{0,2}}with|"
    rf"described (?:[a-z]+ )?by|captured (?:[a-z]+ )?by|leads? (?:me |us )?to|brings? (?:me |us )?to|supports|"
    rf"is exactly what|consistent with|reflected in|in line with|by elimination,?)\s+|"
    rf"\b(?:the|my) (?:utterance|comment|option|reply|line|sentence|statement|letter)(?: here)? (?:is|must be)\s+|"
    rf"\b{_CHOICE}{_BE} (?:therefore|thus|clearly|so|then|simply) (?:the |in the )?(?:[\ue140-\ue15f],? )?|"
    rf"\bwhat(?:'s left| remains| is left),? [^.;:\n]{{0,30}}\bis\s+|"
    rf"\b(?:answer|option|one|reply|response|comment|sentence|utterance|line|choice|statement|person)s? "
    rf"(?:that|which|who|where|in which) [^.;:\n]{{1,100}} (?:is|would be|must be|has to be)\s+|"
    rf"\b(?:i|i'd|i'll|we|i'm going to)(?: (?:would|will|should|just|simply|have to|must|therefore|choose to|"
    rf"decide to|want to))*"
    rf"\s+|\b(?:decision|move|play|action|choice|thing|response|answer) (?:here )?(?:is|would be) to\s+|"
    rf"(?:\b(?:will|would)|'ll|'d) (?:[a-z]+ )?(?:look|search|check|try|go)(?: [a-z]+){{0,2}}? (?:in|under|at|"
    rf"inside|on|to|for)"
    rf"(?: the)?\s+|"
    rf"\b(?:must be|has to be|had to be|can only be|would have to be)\s+(?:the |in |on |at |under )*|"
    rf"\b(?:describe|call|label|class|classify|judge|rate|characteri[sz]e|read|see)\b[^.;:\n]{{1,60}} as (?:an? |"
    rf"being )?|"
    rf"\bnot {ANY},?\s*(?:but|it's|it is)\s+|^\W*{_ADVERB}[\s,.!]+"
)
_HAN_BEFORE = (
    r"(?:答案|结论|結論|正解|正确选项|正確選項|选项|選項|选择|選擇|回答|排第一的?)(?:应该|應該|应当|应|應|就|会|還|"
    r"还|只能|自然|便|当然)*"
    r"(?:是|为|為|选|選|:|=)+|(?<![\u3400-\u9fff])答:?|"
    r"(?<![不没沒别別候挑竞入当备次])(?:不如|宁愿|宁可|必须|首推|要选的话,?|选一个的话,?|选|選|选择|選擇|选定|改选|"
    r"改選|改为|"
    r"改成|换成|投|支持|推荐|推薦|建议|倾向于?|傾向於?|偏向|喜欢|"
    r"喜歡|站)"
    r"(?:了|的是|给|給|选|选择|選擇)?:?|"
    r"(?:所以|因此|那么|那|故|因而|于是|应该|應該|应当|当然|还|還|肯定|就|只能|我(?:认为|認為|觉得|覺得|猜)|才|大概|"
    r"可能|毫无疑问|"
    r"显然|顯然|其实|其實|也许|一定|明显)(?:就|还|還|应该|應該|应|只能|会|會)*(?:是|说|說|选|選)|(?:^|"
    r"[,。;:])\s*(?:而?是)|"
    rf"不是{ANY}[,]?(?:而是|是)|"
    r"(?:只剩下?(?:了)?|剩下的?(?:就)?(?:是)?|唯独|唯獨|唯有)|我(?:认为|認為|觉得|覺得)|会说|會說|(?:觉得|覺得|"
    r"感到|感觉|其实|心里)(?:很|非常|十分|更|有些|有点)+|会(?:觉得|感到)|会先说|当然去?|直接|"
    r"(?:那就|就|还是|還是|综上|综上所述),?|"
    r"最不[^,。;]{1,8}的(?:选项|選項|做法|说法|那?一?[个個項项句条條种種])?(?:就|应该)?(?:是|为|為|:)|"
    r"(?<!不)最[^,。;不]{1,10}的(?:选项|選項|答案|做法|回应|回應|那?一?[个個項项句条條种種]|说法|說法)?(?:应该|"
    r"應該|应|还|"
    r"還|就)?(?:是|为|為|:)"
)
CLAIM_BEFORE = re.compile(rf"(?:{_ENGLISH_BEFORE}|(?:{_HAN_BEFORE})\s*)[\"'(]*{_ADVERBS}[\"'(]*$", re.IGNORECASE)
DECLARED_BEFORE = re.compile(
    rf"(?:\b(?:answer|choice|pick|vote|selection|letter)\b(?: here)?{_BE}|"
    rf"\b(?:i|i'd|i'll|i'm|i've)\b(?:'d|'ll|'m|'ve)?\s+(?:[a-z']+\s+){{0,3}}?(?:choose|chose|pick|picked|select|"
    rf"selected|"
    rf"go|going|went|opt|settle|settled|decided?|vote|stick|sticking|take|choosing|picking)(?: with| for| on)?|"
    rf"(?:答案|我的选择)(?:应该|就|还|只能)*(?:是|为)|我(?:会|还是|就|要|最后|最终|应该)*选(?:择|"
    rf"了)?)\s*[\"'(]*{_ADVERBS}[\"'(]*$",
    re.IGNORECASE,
)
SO_BEFORE = re.compile(
    r"(?:\b(?:so|therefore|thus|hence|ergo|(?<!and )then|ok|okay|fine|overall|ultimately|finally|in (?:conclusion|"
    r"summary|"
    r"short)|"
    r"on balance|given (?:all )?this|all things considered|to summari[sz]e|here|by (?:process of )?elimination)|"
    r"所以|因此|那么|那就|故|总之|總之)[,:]?\s*$",
    re.IGNORECASE,
)
ONLY_BEFORE = re.compile(r"(?:\bonly|\bjust|只有|唯有|唯独|唯獨)\s*$", re.IGNORECASE)
_QUITE = (
    r"(?:clearly |by far |probably |definitely |still |simply |perhaps |as |easily |likely |therefore |thus |really |"
    r"actually |obviously |the |my |an? |overall |far |much |arguably |certainly )*"
)
CLAIM_BEHIND = re.compile(
    rf"(?:\s*,?\s*(?:it is\b|for me\b|for sure|hands down|all the way|then\b|wins\b(?=\s*[.,!;]|$)|gets my vote|"
    rf"is it\b|"
    rf"takes (?:it|the cake)\b|all day\b|for the win\b|(?:is )?(?:slightly |just |a bit |narrowly )?ahead\b|edges\b|"
    rf"has the edge|obviously|definitely|certainly|i (?:think|guess|believe|suppose)\b|i'd say\b|"
    rf"(?:rather than|instead of|over|beats|not)\s*{ANY})|"
    rf",?\s*(?:'s|is|was|would be|seems(?: to be)?|looks(?: like)?|remains|feels(?: like)?|sounds|comes out|"
    rf"comes across|"
    rf"stands out|must be|should be|has to be|will be|gets|might be|may be|could be|as|appears(?: to be)?)\s+"
    rf"{_QUITE}{BEST}\b(?!\s+(?:to\b(?! me\b| {ANY})|people|answer from|(?:that )?i(?:'d| would)? (?:find|take|"
    rf"consider)))|"
    rf"\s+(?:the )?(?:best|winner|right|correct)\b|"
    rf"\s+(?:stands out|comes out on top|comes (?:out (?:ahead|best)|closest)|is on top|makes (?:the )?most sense|"
    rf"is it\b|"
    rf"is the way|"
    rf"does more|beats|says exactly|is exactly)\b|\s+(?:best |most |perfectly )[a-z]+s\b|"
    rf"\s+[a-z]+s (?:[a-z]+ )?(?:best|perfectly|the most)\b|"
    r"\s*(?:(?:相对|相對|明显|显然|顯然|才|就|是|会|會|要|则|則|比较|無疑|无疑|还是|還是)*(?:最|"
    r"更)(?![不差糟坏弱])[^,。;]{1,6}|"
    r"才?(?:是|为)(?:正确|正確|最|唯一|更|答案|对的|對的)(?!不)|好就好在|一票|胜出|勝出|才对|才對|才(?:是|能|真正|"
    r"说得通|行|合理)|无疑|無疑|"
    r"莫属|"
    rf"(?:对|正确|吧|啦|呀|咯|哦)(?=[。,;!]|\s*$)|(?:比|好过|胜过){ANY}(?:更?好|更|强|合适)|(?:而不是|而非|多于|"
    rf"大于|胜过){ANY}|"
    rf"正好|因为|因為))",
    re.IGNORECASE,
)
BUT_BEHIND = re.compile(
    r"[^.;。]{0,60}?(?P<but>\b(?:but|yet)\b|但|不过|可是|可(?![以能])|然而)[^.;。\ue100-\ue160]*(?:$|[.;。])",
    re.IGNORECASE,
)
WORST_BEHIND = re.compile(
    rf"\s+(?:is|would be|seems|remains) {_QUITE}{WORST}\b|\s*(?:显然|明显|是)?最[不差糟坏弱]", re.IGNORECASE
)
PRAISE = re.compile(
    r"\s+(?:(?:clearly|simply|actually|really|actively|directly|only) )?(?:fits|works|suits|serves|matches|describes|"
    r"captures|explains|solves|meets|respects|repairs|(?:is|are)(?: both)? (?:right|correct|appropriate|good|fine|"
    r"true|kind|honest|it|"
    r"perfect|considerate|reasonable|helpful|thoughtful|respectful|balanced|empathetic))\b|"
    r"\s+[a-z]+s\b[^,.;]{0,50}\b(?:most|best|better)\b|"
    r"\s*(?:比较|則|则|很|也|都|才)?(?:符合|贴切|貼切|恰当|恰當|正确|正確|合适|合適|得体|得體|妥当|妥當)",
    re.IGNORECASE,
)
NOT = re.compile(
    r"\bnot\b|n't\b|\bnever\b|\bneither\b|\bnor\b|\bcannot\b|\bhardly\b|\bwithout\b|\bdoubt(?:s|ed)?\b|"
    r"\bunlikely\b|\bno (?:reason|case)\b",
    re.IGNORECASE,
)
ALL_BUT = re.compile(
    r"\b(?:everything|all(?: options| of them)?|none(?: of them)?|nothing|no option) (?:except|but|"
    r"other than)(?: for)?\s*$",
    re.IGNORECASE,
)
GOOD = re.compile(r"\b(?:fine|good|okay|ok|appropriate|correct|works?|right|fits?|acceptable|helpful)\b", re.IGNORECASE)
OUT_BEFORE = re.compile(
    rf"(?:\bnot|\bnor|\bneither|\bnone of|\brather than|\binstead of|\bover|\bthan|\bagainst|\bexcept(?: for)?|"
    rf"\beliminat\w+|\brul\w+ out|\breject\w*|\bexclud\w*|\bdiscard\w*|\bdismiss\w*|\bstrike|\bwithout|\bfrom|\bunlike|"
    rf"\bbeats|\b(?:preferable|superior|compared) (?:to|with)|\bprefer {ANY} to|与其选?|相比|与|與|比|多于|大于|"
    rf"胜过|\bahead of|"
    rf"\bedg\w+ out|"
    rf"(?<!唯)不(?:是|选|選|会选|會選|该选|應選|应选|能选|会是|可能是)?|别选|沒選|没选|非|排除了?|除了|除|谈不上|"
    rf"談不上|算不上|"
    rf"而不是|而非|并非|並非|不像|去掉)\s*:?\s*(?:(?:be|is|choose|choosing|pick|both|either|just|it's|for)\s+)*[\"(]*$",
    re.IGNORECASE,
)
WRONG_BEHIND = re.compile(
    r"\W*\s*(?:(?:all|both|each|also|just|simply|clearly|definitely|is|are|was|were|can be|can|could be|would be|would|"
    r"must be|seems?|looks?|sounds?|does|do|did|should be|has been|have been|quite|rather|completely|obviously|"
    r"far)\s+)*"
    r"(?:not\b|n't|isn't|aren't|doesn't|don't|can't|cannot|won't|wouldn't|out\b|wrong|incorrect|false|unlikely|too\b|"
    r"no\b|"
    r"ruled out|eliminated|excluded|impossible|implausible|inappropriate|unsuitable|unacceptable|irrelevant|nonsense|"
    r"miss(?:es)?\b|fails?\b|ignores?\b|lacks?\b|off the table|far-fetched|beside the point|❌|✖|✗|×)|"
    r"\s*(?:都|均|也|就|显然|明显|则|則|项|是|更|全)*(?:不(?!错)|错|錯|排除|过于|過於|太)",
    re.IGNORECASE,
)
OUT_BEHIND = re.compile(
    r"\b(?:not|never|no|nothing|neither|nor|without|too|wrong|incorrect|out|unlikely|implausible|far-fetched|"
    r"irrelevant|"
    r"bad|worse|misses|ignores?|fails|lacks|lacking|merely|unrelated|impossible|cruel|rude|silly|weird|cold|mean|lie|"
    r"weak|"
    r"offensive|harsh|illegal|insult\w*|attack\w*|snub|assumes?|invents?|stealing|humiliat\w*|dangerous|disrespect\w*|"
    r"excluded|ruled|drops?|naive|late|nonsense|cannot|shames|disproportionate|wasteful|lectures|costs|pretends|"
    r"overreact\w*|threat\w*|hurt\w*|harm\w*|dismiss\w*|aggressive|passive|confrontational|cowardly|selfish|"
    r"problematic|"
    r"escalat\w*|hostile|blunt|pry\w*|pries|intrusive|awkward|tactless|clumsy|less|disregard\w*|dodges?|evades?|"
    r"embarrass\w*|undermin\w*|betray\w*|poor|overkill|extreme|contradict\w*|premature|immature|minimi[sz]\w*|blam\w*|"
    r"avoid\w*|guilt\w*|behind (?:her|his|their) back|pressur\w*|judg\w*|(?:un|in|im|ir)(?:appropriate|acceptable|"
    r"helpful|"
    r"kind|sensitive|suitable|reasonable|adequate|considerate|necessary|effective|polite|fair|caring|sincere|wise|"
    r"sufficient|responsible|true|supported|realistic|professional)|dis(?:honest|missive))\b|n't\b|"
    r"[不没沒无無太错錯非酸刺俗丢]|[过過](?=[于於分头頭火激])|反而|排除|怪他|❌|✖|✗|×",
    re.IGNORECASE,
)
IS_NOT = re.compile(
    r"\W*(?:is|was|are|do|does|did|would|will|can|could|should)\s?(?:n't|not)\b|\s*[不沒没]|"
    r"\s*not\b(?!\s*[\ue100-\ue160])",
    re.IGNORECASE,
)
_IF_ASKED = r"(?! (?:i (?:had|have|must|were|was)|forced|pressed|asked|you ask|anything|it (?:were|was) me|only one))"
HYPOTHETICAL = re.compile(
    r"\bhad (?:he|she|it|they|the|we|this)\b|\bwere (?:he|she|it|they)\b|"
    rf"\b(?:if{_IF_ASKED}|unless|suppose|supposing|whether(?! or not)|imagine|had it|were it|in case)\b|"
    r"(?:如果|要是|假如|假设|倘若|若是)(?!(?:是|换了?|换作)?我(?=[,会來来选選就要肯])|要我|让我|非要)|"
    r"若(?=[^干是要让])",
    re.IGNORECASE,
)
IF_BEHIND = re.compile(r"^[^.;!]{0,60}?\b(?:if|unless|only when|provided)\b", re.IGNORECASE)
UNREAL = re.compile(r"\b(?:would|were|had|might|could)\b|'d\b", re.IGNORECASE)
OTHERS = re.compile(
    r"\b(?:people|everyone|everybody|many|some|others|most (?:people|readers|parents|of us|would|will)|author|textbook|"
    r"you(?:'d| would| might| may| could)|one (?:might|could|may)|somebody|someone|(?:he|she|they)'d (?:say|pick|"
    r"choose|answer|go)|obvious|"
    r"no one|nobody|nearly|almost|i thought|was going to|was about to|second (?:choice|pick|best|place)|runner-up|"
    r"close second|expected|tempt\w*|not far (?:off|behind)|would have (?:said|been|chosen)|i'd have (?:said|chosen|"
    r"gone)|"
    r"(?:mother|father|ex|friend|stranger|examiner|boss) would|\ban? (?:\w+ ){1,3}would|according to|"
    r"from [\w' ]{1,30} point of view|by our)\b|"
    r"有人|一般人|很多人|多数人|大家|习惯|容易误|其次|有些人|有的人|备选|次选|第二选择",
    re.IGNORECASE,
)
AT_FIRST = re.compile(
    r"\b(?:first (?:instinct|thought|reaction|impression|guess|impulse|glance|analysis)|first i thought|initial(?:ly)?|"
    r"at first|originally)\b|第一反应|第一反應|乍看|乍一看|表面上|本来|本來|原本|起初|一开始|一開始|最初|先写|"
    r"刚开始|最开始|开始时",
    re.IGNORECASE,
)
CONCEDED = re.compile(
    r"^\W*(?:while|although|though|even though|whereas|as much as|even if)\b|^\W*(?:虽然|雖然|尽管|儘管|固然)",
    re.IGNORECASE,
)
CONCEDED_BEHIND = re.compile(
    r"^\s*,?\s*(?:(?:is|was|would be|might be|may be|comes|looks|seems|as)\s+(?:\w+\s+){0,4}?(?:tempting|obvious|"
    r"textbook|"
    r"runner-up|(?:close |distant )?second|close\b|popular|what (?!i\b|we\b)))|"
    r"^\s*(?:虽然|雖然|固然|也|看似|听起来|聽起來|看起来|看起來|乍看|其次|次之)|"
    r"^\s*(?:is|was|would be)\s+(?:\w+\s+){0,4}?(?:many|most people|some people|people|others|everyone|everybody)\b|"
    r"^[^.;]{0,40}\bat first\b|^\s*(?:seems|looks|sounds|feels|may|might|would|could)\b[^.;]{0,80}\b(?:but|yet)\b|"
    r"^,\s*(?:(?:though|although)\s+\w|however|despite|while|which)\b",
    re.IGNORECASE,
)
CORRECTION = re.compile(
    r"\b(?:wait|actually|oops|scratch that|on (?:closer )?(?:reflection|inspection)|on second thoughts?|"
    r"come to think of it|correction|hold on|reconsider|hmm+|no(?=[,.;:!…])|chang(?:e|ed|ing) my (?:answer|mind)|"
    r"revised?|"
    r"correct my answer|then again|i mean|but (?:look|then)|sorry|instead|i'm not convinced|it isn't|however)\b|"
    r"不对|不對|等等|等一下|更正|其实|其實|改选|改選|改为|改成|换成|再想想|但是|重新|看错|不(?=[,，])",
    re.IGNORECASE,
)
TAKEN_BACK = re.compile(
    r"\b(?:wait|oops|scratch that|on second thoughts?|reconsider|hmm+|no(?=[,.;:!…])|chang(?:e|ed|ing) my (?:answer|"
    r"mind)|"
    r"sorry)\b|(?:^|[。,.…;])\s*(?:不对|不對|等等|等一下|更正|[哦啊噢呃]不(?:是|不)?(?=[,。!]))",
    re.IGNORECASE,
)
RETRACTION = re.compile(
    rf"{TAKEN_BACK.pattern}|(?:^|[.!?。…\n])\W*(?:actually|on (?:closer |further )?(?:reflection|inspection)|"
    rf"correction|"
    rf"come to think of it|then again|i mean|其实|再想想|重新|仔细一想)|改(?:为|成|选)|\b(?:edit|update):",
    re.IGNORECASE,
)
_JOINT = (
    rf"\s*(?:,\s*(?:and|or)\b|,\s|,(?={ANY}(?![\u3400-\u9fff]))|/|、|&|\+|\band\b|\bor\b|和|或者?|与|與|及|还是|還是|"
    rf"跟|以及|as well as)\s*"
    r"(?:either |perhaps |maybe |even |或者?)?"
)
GROUP = rf"(?>(?:(?<=between ){ANY} and {ANY}|{ANY}(?:{_JOINT}{ANY})*))"
"""Mentions joined by a comma, "and" or "or"."""
