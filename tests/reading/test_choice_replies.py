"""Replies of many kinds, written to try the reader: bare labels with a discussion, lists, corrections, paraphrases."""

from __future__ import annotations

from time import process_time

import pytest

from sociometer.reading import read_choice

TEAM = [
    "Apologise to her at once in front of the whole team",
    "Wait for a better moment and then speak with her alone",
    "Ask the manager what happened before the meeting",
    "Say nothing and hope that the matter is forgotten",
]
TEAM_HAN = [
    "当着全组的面立刻向她道歉",
    "等一个合适的时机再单独跟她谈",
    "先去问经理会上发生了什么",
    "什么也不说，等事情过去",
]
LICENCE = [
    "There's room, you're right. Let's go in together and ask for one licence between us: you take "
    "the mornings, I take the nights.",
    "Sundays, well! What are they like out there? And January, I've always wondered: who comes at all, once it's dark?",
    "I came for the licence, and I've worked three years towards it. Sundays aren't a step on that "
    "way. I'll see you inside.",
]
PLACES = ["red basket", "green drawer"]
YES_NO = ["Yes", "No"]
FEELINGS = ["Angry", "Relieved", "Ashamed", "Proud"]
FEELINGS_HAN = ["生气", "委屈", "得意", "害怕"]
WALL_HAN = [
    "高处挺寂寞的吧。人人都看你，可没一个站得够近。",
    "我是来捉弄你的，还是个缺德主意。不干了。",
    "这绿衬着石头真绝。明天的毯子偏偏是绿的。",
]
STUTTER = [
    "Name the stutter at once, say that a pause is not a doubt, and talk about the collection at his own pace.",
    "Keep every answer short and go round the difficult words, so that she notices as little of the "
    "stutter as possible.",
    "The woman may not know where to look when somebody stutters, and be afraid of finishing a sentence for him.",
    "She should send him the questions a day ahead and allow him some more time.",
]
PRICE_HAN = ["九个春天了，您家孩子是吃我的蜜长大的。就照去年的吧。", "一百八，搬之前先付一半。这个价我报得踏实。"]
NAMES = ["Lena", "Omar"]
LETTERS = [
    "Yui should make the print on the screen larger for him and write down the steps, as his eyes "
    "and his memory are no longer what they were.",
    "He should go on using the tablet and never speak of letters, since a present must not be met with a further wish.",
    "Yui finds the tablet modern and warm, and it does not occur to her that paper could mean more than a face.",
    "He should show her the drawer in which he keeps her letters, thank her for the tablet, and ask "
    "her for one letter a month.",
]
HIVES = [
    "Before I say a number: in your place I'd lie awake over rain in bloom week, not over twenty "
    "dollars a hive. Is that how it is for you?",
    "Nine springs, Marion, and your kids have grown up on my honey. Make it last year's, and how is your boy's knee?",
    "A hundred and eighty, half before I move them. I know what my bees did on your east block last spring.",
]
PRICES = ["it rises", "it falls", "it stays the same"]
HIDDEN = ["the blue tin", "the iron chest", "the coat pocket"]
FEELINGS_HAN_2 = ["尴尬", "高兴", "内疚", "无所谓"]
ABSENT_HAN = [
    "先去问清楚她为什么不来，再决定要不要请别人",
    "直接换人，省得耽误大家",
    "当着全组批评她，让别人引以为戒",
    "装作没看见，继续干活",
]
NIGHTS = [
    "I've weighed it on the stairs. My galaxies will look the same in a thousand years, yours is "
    "gone by Friday. All three nights are yours.",
    "What would the others do? If Pieter thinks I ought to, then I ought to. Let's go and ask Pieter.",
    "Oh dear. If I keep them I'd feel bad, and if I give them up I'd feel bad. Come back at five, perhaps I'll know.",
    "Take them! Don't ask me why, it just came over me; I haven't thought about it for one second.",
]
DRINKS = [
    "Plain water, since tea would be an insult",
    "Black tea with salt, as the custom demands",
    "Nothing at all until the elder has spoken",
]
STYLES = ["Aggressive", "Conservative"]
WHERE_HAN = ["我不知道。", "他去了河边。", "他在家里睡觉。", "他跟哥哥去了集市。"]

REPLIES = {
    ("TEAM", "ABCD"): [
        (
            "B\n\nA would humiliate her further, C drags in a third party, and D is cowardly. B respects "
            "her feelings and her privacy.",
            1,
        ),
        (
            "**B**\n\n*Why not the others?*\n- **A**: too public\n- **C**: the manager is the best source, "
            "but she isn't asked\n- **D**: avoids the issue",
            1,
        ),
        ("B!\nC might look like the most sensible step, yet it goes behind her back.", 1),
        ("(B)\n\nC is more thorough, A is braver, but neither protects her dignity.", 1),
        ("B — A is too public; C is the better idea only if nobody else knows.", 1),
        ("B (A is more direct, but she'd be embarrassed)", 1),
        ("A. Hmm, no. In front of the team she would feel exposed. Make it B.", 1),
        ("A... Let me reconsider. Being alone matters here. Changing to B.", 1),
        ("I first wrote A, but I'm switching to B.", 1),
        ("The comment which best takes her perspective into account is B.", 1),
        ("The response that would help her most in this situation is probably B.", 1),
        ("The only reply that respects both her privacy and the facts would be B, in my view.", 1),
        ("If he had insulted her in public, A would be right, but here it happened in private, so it's B.", 1),
        ("In most offices that would be C, but nothing in the story suggests the manager knows, so B.", 1),
        ("🥇 B\n🥈 C\n🥉 A\nD comes last.", 1),
        ("1. B – tactful\n2. C – thorough\n3. A – too public\n4. D – cowardly\n\nRanked from best to worst.", 1),
        ("A: 10%\nB: 70%\nC: 15%\nD: 5%", 1),
        ("A 10 %, B 65 %, C 20 %, D 5 %.", 1),
        (
            "| Option | Tact | Honesty | Verdict |\n|---|---|---|---|\n| A | low | high | ❌ |\n| B | high | "
            "high | ✅ |\n| C | medium | low | ❌ |\n| D | low | low | ❌ |\n\nB combines tact with honesty.",
            1,
        ),
        ("The second one. Speaking alone spares her; the first would shame her and the third involves the boss.", 1),
        ("I'd go for the second comment, since the first is too loud.", 1),
        (
            "Rather than apologising before everybody, he should wait for a calmer moment and speak to her "
            "in private, just the two of them.",
            1,
        ),
        ("B\n\nQuestion: What should he do next?\nA. Go home\nB. Stay\n\nAnswer: A", 1),
        ("B\n\nUser: Thanks! And which is the worst?\nAssistant: D", 1),
        ("Answer: B\n\nNow consider the following:\nA. Yes\nB. No\nAnswer: A", 1),
        ("Either B or C would do.", None),
        ("B/C", None),
        ("B and C are equally good.", None),
        ("It depends on the relationship; I can't choose without knowing more.", None),
        ("Could you tell me what happened at the meeting?", None),
        ("He should quit his job and move to another city.", None),
        ("She should talk to a lawyer and document everything that was said in the meeting with the manager.", None),
        ("The answer is not A.", None),
        ("A is too public. D is too passive.", None),
        ("Not A, not D. I'm torn between the other two.", None),
        ("**A**: too public\n**B**: tactful\n**C**: ", None),
        ("Answer: B) Ask the manager what happened before the meeting", None),
        ("B. Ask the manager what happened", None),
        ("The tactful thing is to wait for the right moment. B.", 1),
        ("I'm going with B here; C comes in second.", 1),
        ("I would say that B is slightly ahead of C.", 1),
        ("C is close, but B edges it out.", 1),
        ("B, though C has something going for it too.", 1),
        ("A? Too loud. B? Yes. C? Meh. D? No.", 1),
        ("A no, B yes, C no, D no", 1),
        ("It has to be B: the others all make things worse for her.", 1),
        ("Go B.", 1),
        ("b it is", 1),
        ("Option B all day", 1),
        ("B ✅", 1),
        ("👉 B", 1),
        ("<answer>B</answer>", 1),
        ('{"reason": "A is too public", "answer": "B"}', 1),
        ('```json\n{"choice": "B"}\n```', 1),
        ("\\boxed{B}", 1),
        ("Let me think. A: too public. B: good. C: unclear. D: bad.", 1),
        ("A ❌\nB ✅\nC ❌\nD ❌", 1),
        ("**My pick:** B\n**Runner-up:** C", 1),
        ("Final answer: B (second choice: C)", 1),
        ("B is better than C, and C is better than A and D.", 1),
        ("I like C best emotionally, but the better answer is B.", 1),
        ("If I had to choose, I'd say B.", 1),
        ("If forced to pick one: B.", 1),
        ("If I were her, I'd want B.", 1),
        ("Assuming she's still hurt, B.", 1),
        ("A = 3, B = 9, C = 5, D = 1", 1),
        ("Scores (out of 10): A 3, B 9, C 5, D 1.", 1),
        ("⭐ B", 1),
        ("The winner: B!", 1),
        ("B for the win.", 1),
        ("B hands down", 1),
        ("Gotta be B", 1),
        ("prob B", 1),
        ("B i guess", 1),
        ("I'm between B and C but I'll say B", 1),
        ("B?", 1),
        ("Could be B.", 1),
        ("Probably B, possibly C.", 1),
        ("It's not C, as one might think. It's B.", 1),
        ("Correct choice → B", 1),
        ("So the answer must be option B: waiting.", 1),
        ("The best answer is the second: wait.", 1),
        (
            "A is wrong because it is public.\nB is right because it is private.\nC is wrong because it is "
            "indirect.\nD is wrong because it is passive.",
            1,
        ),
        ("- A ✗ public\n- B ✓ private\n- C ✗ indirect\n- D ✗ passive", 1),
        ("- A (no)\n- B (yes)\n- C (no)\n- D (no)", 1),
        ("A. Incorrect. B. Correct. C. Incorrect. D. Incorrect.", 1),
        (
            "My answer is B. I want to stress that A would be a disaster, C is a detour and D is avoidance. "
            "A is the answer many would give.",
            1,
        ),
        ("B. A is the answer most people would give, but it's wrong.", 1),
        ("Choosing B. Reason: C is better for information but worse for trust.", 1),
        ("Let's eliminate.\nA – out.\nC – out.\nD – out.\n", 1),
        ("I'd drop A and D right away. Of the remaining two, C delays things. So B.", 1),
        ("I'd drop A and D right away. The remaining two are both fine.", None),
        ("I'd drop A and D right away.", None),
        ("First C, then B.", None),
        ("Do C before B.", None),
        ("A combination of B and C would be ideal.", None),
        ("B+C", None),
        ("B & C", None),
        ("Both B and C work; I can't decide.", None),
        ("I would never choose A.", None),
        ("Anything but A.", None),
        ("Why would anyone pick A?", None),
        ("Many would pick A.", None),
        ("The test maker probably wants A, but I don't agree with any of them.", None),
        ("I can't answer as B and C are both partly right.", None),
        ("Option A: too public.\nOption B: takes time.", None),
        ("A is public. B is private. C is indirect. D is passive.", None),
        ("<think>B seems right</think>", None),
        ("<think>A? no, C</think>B", 1),
        ("D\n\nWait, D ignores her completely. B.", 1),
        ("D. Actually no, B.", 1),
        ("D\n\nEdit: B", 1),
        ("Initially D, finally B.", 1),
        ("I said D before. I now think B.", 1),
        ("B. However, if she is in a hurry, C.", 1),
        ("B, unless she's already left, in which case C.", 1),
        ("B. That said, C is better if the manager was there.", 1),
        ("B\n\nThat said, I can see why someone would choose C.", 1),
        ("A: 1/5\nB: 5/5\nC: 3/5\nD: 0/5\n\nSo I'd choose B, with C as backup.", 1),
        ("A is worst, B is best.", 1),
        ("Worst: A. Best: B.", None),
        ("B is good. C is good too. I'd still take B.", 1),
        ("The manager should be asked, so C.", 2),
        ("C, because the manager knows. A is rude. B takes too long, though it's the kindest.", 2),
        ("She needs facts first → C", 2),
        ("facts first = C", 2),
        ("Ask first, act later: option C.", 2),
        ("C. B. A. D. (in that order)", None),
        ("Neither A nor D. B and C are both defensible; gun to my head, C.", 2),
        ("Honestly, either B or C works, but I'd go C.", 2),
        ("It comes down to B vs. C. C it is, since facts come first.", 2),
        ("B vs C... C.", 2),
        ("I don't like any of them, but C is the least bad.", 2),
        ("None is perfect. C comes closest.", 2),
        ("None of them.", None),
        ("All of the above", None),
        ("A, B, C and D all have problems.", None),
        ("C isn't bad.", None),
        ("C is not wrong, but B is better.", 1),
        ("I doubt it's C.", None),
        ("I'm not convinced by C.", None),
        ("C? I don't think so.", None),
    ],
    ("TEAM_HAN", "ABCD"): [
        ("B，A太张扬，C绕了弯子，D等于逃避。", 1),
        ("**B**\n\nA看似最真诚，其实会让她更难堪；C最稳妥，可是多了个外人；D最省事。", 1),
        ("B（C也不错，但经理未必知道实情）", 1),
        ("选B。A最直接，但场合不对。", 1),
        ("先选A。再想一下，当众道歉会让她更难堪，改选B。", 1),
        ("A？不，还是B吧。", 1),
        ("A，哦不，应该是B。", 1),
        ("最能照顾她感受的那一项是B。", 1),
        ("能够既道歉又不让她难堪的选项是B。", 1),
        ("换成别的公司可能选C，但这里经理不知情，所以是B。", 1),
        ("A：2分\nB：9分\nC：6分\nD：1分", 1),
        (
            "| 选项 | 评价 | 结论 |\n|---|---|---|\n| A | 太公开 | ✗ |\n| B | 合适 | ✓ |\n| C | 多余 | ✗ |\n"
            "| D | 逃避 | ✗ |",
            1,
        ),
        ("第二个。第一个太张扬，第三个多此一举。", 1),
        ("我觉得第二种做法最好，第四种太消极。", 1),
        ("找个合适的机会，私下单独跟她聊聊。当众道歉只会让她更尴尬。", 1),
        ("B、C都可以。", None),
        ("B或C", None),
        ("这要看他们平时的关系，信息不足，没法选。", None),
        ("B. 先去问经理会上发生", None),
        ("首先排除A和D。C只是了解情况，没有解决问题。因此答案选B。", 1),
        ("排除A、C、D，只剩B。", 1),
        ("答案：B\n解析：A项过于公开，C项没有必要，D项是逃避。", 1),
        ("我投B一票，C次之。", 1),
        ("B比C更好。", 1),
        ("与其A，不如B。", 1),
        ("与其选C，我宁愿选B。", 1),
        ("首选B，备选C。", 1),
        ("第一选择是B，第二选择是C。", 1),
        ("选 B 吧", 1),
        ("B吧。", 1),
        ("就B。", 1),
        ("B，没跑了。", 1),
        ("肯定是B啊", 1),
        ("我倾向于B，C也说得通。", 1),
        ("综合来看，B最优。", 1),
        ("B更合适，C稍差。", 1),
        ("若要我选，B。", 1),
        ("如果是我，我会选B。", 1),
        ("不是A，不是C，也不是D。", 1),
        ("A错，C错，D错。", 1),
        ("A、C、D三项都不妥。", 1),
        ("A ×  B √  C ×  D ×", 1),
        ("A（×）B（√）C（×）D（×）", 1),
        ("评分：A 4分，B 9分，C 6分，D 2分", 1),
        ("B>C>A>D", 1),
        ("从最合适到最不合适：B > C > A > D", 1),
        ("很多人会选A，但我选B。", 1),
        ("有人可能觉得A更真诚。我认为B才是。", 1),
        ("B和C之间我纠结了一下，最后选B。", 1),
        ("B和C之间很难取舍。", None),
        ("B与C并列。", None),
        ("只要不是A就行。", None),
        ("A不合适。", None),
        ("我不选A。", None),
        ("为什么要选A呢？", None),
        ("信息不足，无法判断该选A还是B。", None),
        ("等时机合适了，再私下单独和她谈。", 1),
        ("先别急，等合适的时机单独谈。当着全组道歉反而让她难堪，装作没事更不行。", 1),
        ("答案：B\n\n题目：小王应该怎么办？\nA. 走\nB. 留\n答案：A", 1),
        ("B\n\n问题2：下一步呢？\n答案：C", 1),
        ("B\n因为A过于直接。\n\n(A) 错\n(B) 对", 1),
        ("选C，虽然B更温和。", 2),
        ("C吧，B也行。", 2),
        ("C更好，A最差。", 2),
        ("A最差，C最好。", 2),
        ("要我说，C。", 2),
        ("必须C", 2),
        ("果断选C", 2),
        ("首推C", 2),
        ("就选C了", 2),
        ("C才是正解", 2),
        ("我不认为是C。", None),
        ("C吗？不见得。", None),
        ("不一定是C。", None),
        ("C不算差。", None),
        ("B和C比较，C更直接有效，故选C。", 2),
        ("A、B、D都有问题，因此只能选C。", 2),
        ("C（虽然B也有道理）", 2),
        ("C\n\n虽然B看起来更体贴，但先弄清事实更重要；D最不可取。", 2),
        ("应选：C\nA：✗ 太急\nB：✗ 拖延\nC：✓ 弄清事实\nD：✗ 逃避", 2),
    ],
    ("LICENCE", "ABC"): [
        ("C\n\nA gives half of it away. B is just small talk, pleasant as it may be.", 2),
        ("C. A is the friendliest of the three and B the cleverest, but the goal is the licence for her alone.", 2),
        ("B\n\nReasoning: C is the most honest, A is the most generous. B gets him talking.", 1),
        ("B)\nA: gives up the licence\nC: ends the talk", 1),
        ("Option B\n\nOption A gives in. Option C is final.", 1),
        ("I'd pick B. A surrenders the goal. C is brave but closes the door.", 1),
        ("The one where she asks about January and the dark.", 1),
    ],
    ("PLACES", "AB"): [
        ("She looks in the red basket, because she never saw the move to the green drawer.", 0),
        (
            "Mia put it in the red basket. Tom moved it to the green drawer while she was out. So she will "
            "search the red basket.",
            0,
        ),
        ("Tom moved it to the green drawer, but Mia doesn't know, so she'll look in the red basket first.", 0),
        (
            "It's in the green drawer now, yet Mia believes it's in the red basket. The question is where "
            "it really is: green drawer.",
            1,
        ),
        ("Mia saw the red basket. Then the ball went into the green drawer.", None),
        ("Either the red basket or the green drawer, depending on what she saw.", None),
        ("The red basket.", 0),
        ("Red basket!", 0),
        ("The drawer", 1),
        ("basket", 0),
        ("She would check the drawer.", 1),
    ],
    ("YES_NO", "AB"): [
        ("Yes, because he promised.", 0),
        ("No. He never said so.", 1),
        ("Yes and no.", None),
    ],
    ("FEELINGS", "ABCD"): [
        ("I think he feels ashamed, maybe with a bit of anger.", 2),
        ("He'd feel ashamed rather than angry.", 2),
        ("Mostly ashamed, a little angry too.", 2),
        ("At first he is angry, but then relief sets in: relieved.", 1),
        ("Ashamed: 60 %, Angry: 30 %, Relieved: 10 %, Proud: 0 %", 2),
        ("He is not angry, and certainly not proud. Relieved? Hardly. He's ashamed.", 2),
    ],
    ("FEELINGS", "1234"): [
        ("3", 2),
        ("Answer: 3", 2),
        ("Option 3 – Ashamed", 2),
        ("3. Ashamed", 2),
        ("I choose 3, since 1 would need a culprit.", 2),
        ("Number three.", 2),
    ],
    ("FEELINGS_HAN", "甲乙丙丁"): [
        ("丙", 2),
        ("选丙。甲太过，乙不至于。", 2),
        ("答案是丙，得意。", 2),
        ("他应该是得意，而不是生气。", 2),
        ("既不是生气也不是委屈，更谈不上害怕，是得意。", 2),
    ],
    ("WALL_HAN", "ABC"): [
        ("A\n\nB 一上来就坦白，等于认输。C 只说颜色，他换条毯子就行。", 0),
        ("A。B太老实，C最有画面感，但打不中要害。", 0),
        ("**A**——C虽然也行，但不够狠。", 0),
        ("选A，因为它戳中了他的寂寞。B和C都不合适。", 0),
        ("我的选择：A\n理由：B放弃了目标，C最容易被化解。", 0),
        ("说他在高处寂寞的那句。", 0),
        ("三个选项里，B是退缩，C是挑剔，只有A真正说到他心里去了。", 0),
        ("C挺有意思，B太软，还是A更好一些。", 0),
        ("刚开始我想选C，仔细想想还是A。", 0),
        ("A和C都说得过去，硬要选的话，A。", 0),
        ("A和C都说得过去，很难取舍。", None),
        ("这三句都不好。", None),
        ("抱歉，我无法替角色作出这种选择。", None),
        ("如果目标是吓唬他，选A；如果目标是道歉，选B。", None),
    ],
    ("STUTTER", "ABCD"): [
        ("I won't choose, since every option manipulates him.", None),
        ("All four have merit. It's not for me to say.", None),
        ("If he is confident, A. If he's shy, B.", None),
        ("A for honesty, B for comfort.", None),
        ("C describes her feelings, not what he should do. D is about her. So it's between A and B.", None),
        ("C and D don't answer the question at all. B hides it, and hiding makes it worse.", 0),
        ("A, B, C, D", None),
        ("A\nB\nC\nD", None),
        (
            "A. Name the stutter at once, say that a pause is not a doubt, and talk about the collection at "
            "his own pace.\nB. Keep every answer short and go round the difficult words",
            None,
        ),
        ("Vitamin A is good for the eyes.", None),
        ("I give this an A for effort.", None),
        ("What is the collection about?", None),
        ("Answer: E", None),
        ("Answer: None of the above", None),
        ("Answer: A or B", None),
        ("Answer: A, B", None),
        ("Answer: A\nAnswer: B", None),
        ("A\nB", None),
        ("Answer: A. No wait, Answer: B", 1),
        ("The question asks what he could do, so A or B; B hides the problem, A faces it. Answer: A", 0),
        (
            "**Analysis**\n\n**A** – faces it head-on. Strong.\n\n**B** – hides it. Weak.\n\n**C** – about "
            "her. Off-topic.\n\n**D** – about logistics. Off-topic.\n\n**Conclusion:** A",
            0,
        ),
        ("### A\nfaces it\n### B\nhides it\n### C\noff-topic\n### D\noff-topic\n\nI'd go with the first.", 0),
        ("Between A and B I lean A, though B is tempting.", 0),
        ("A beats B.", 0),
        ("A > B > D > C", 0),
        ("A≥B>D>C", 0),
        ("Not B (hiding), not C or D (beside the question).", 0),
        ("Everything but A misses the question.", 0),
        ("Three of the four are beside the point or make it worse; only A tackles the fear itself.", 0),
        ("I considered B and D. Neither convinced me. C isn't even advice. A, then.", 0),
        ("Of course a nervous person would choose B, but the wiser course is A.", 0),
        ("My friend says B. I say A.", 0),
        ("Some would argue for B. Fair enough. Still, A.", 0),
        ("A is right. B is wrong. C is wrong. D is wrong.", 0),
        ("a) correct b) incorrect c) incorrect d) incorrect", 0),
        ("[x] A\n[ ] B\n[ ] C\n[ ] D", 0),
        ("The answer's A.", 0),
        ("Ans: A", 0),
        ("A is the answer I'd give.", 0),
        ("I choose option (a).", 0),
        ("It's a.", 0),
    ],
    ("PRICE_HAN", "AB"): [
        ("一百八，先付一半那句。", 1),
        ("打感情牌不如直接报价：一百八，先付一半。", 1),
        ("后者。前者只会让价钱停在去年。", 1),
        ("第二句更好，第一句太软。", 1),
        ("A太软了。", 1),
    ],
    ("NAMES", "AB"): [
        ("Lena wins, since Omar was slower.", 0),
        ("Omar was slower, so Lena gets it.", 0),
        ("Lena.", 0),
        ("Lena, not Omar.", 0),
        ("It was Lena who took it; Omar only watched.", 0),
        ("Omar only watched. It was Lena.", 0),
        ("Lena thinks that Omar took it. But really it was her.", None),
        ("Omar told Lena about it.", None),
    ],
    ("LETTERS", "ABCD"): [
        (
            "Letters are what he misses, and the drawer shows her how much they meant without a word of "
            "complaint. Thanking her first keeps the gift whole, and one letter a month is a small thing to "
            "ask. The advice to keep quiet forever leaves him lonely.",
            3,
        ),
        (
            "He ought to thank her for the tablet, show her the drawer with the letters and ask for a "
            "letter once a month.",
            3,
        ),
        ("I was torn between B and D. B is safe. But safe isn't what was asked. D.", 3),
        ("Both B and D answer the question; D does it better.", 3),
        ("D, hands down. (B would be the cowardly version.)", 3),
        ("Answer: D\n\nConfidence: high. B would be my second choice.", 3),
        (
            "My reasoning:\n1. He likes the tablet.\n2. He misses the letters.\n3. She doesn't know.\n\nSo "
            "he has to tell her gently. Answer: D",
            3,
        ),
        (
            "1. Option A misreads the problem.\n2. Option B silences him.\n3. Option C only describes her.\n"
            "4. Option D solves it.\n\nAnswer: D",
            3,
        ),
        (
            "Step 1: Rule out C (not advice).\nStep 2: Rule out A (wrong problem).\nStep 3: Compare B and "
            "D. B avoids the talk.\nResult: D",
            3,
        ),
        (
            "**Answer: D**\n\n| | fits question | kind |\n|---|---|---|\n| A | no | yes |\n| B | no | no |\n"
            "| C | no | yes |\n| D | yes | yes |",
            3,
        ),
        ("C is tempting because it's true. But true isn't the same as helpful.", None),
        (
            "Let me go through them one by one. A is about the print size. B says he should keep silent. C "
            "is about what Yui thinks. D is about the drawer of letters.",
            None,
        ),
        ("I think there is no good way to tell her. He should just call her more often.", None),
        ("Honestly I'd combine A and D.", None),
        ("D (or B, if he is very shy)", 3),
        ("If he is shy, B. Otherwise D.", None),
        ("D would be the natural answer. But wait: the question asks what Yui thinks, doesn't it? Then C.", 2),
        ("D. Or should it be B? No, D.", 3),
        ("Not B, because silence helps no one; not A or C, because they don't answer the question.", 3),
        ("Comments A, B and C all miss the point.", 3),
        (
            "With C, he learns nothing. With B, he stays sad. With A, he reads better. With D, he gets his letters.",
            None,
        ),
        ("The fourth comment, because it is the only one that gives him a way to say it.", 3),
        ("Number 4.", 3),
        ("Comment no. 4", 3),
        ("the last one", 3),
    ],
    ("HIVES", "ABC"): [
        (
            "A\n\nThe question about rain opens her up. B throws away the raise. C is the bluntest, and "
            "that's its strength as well as its weakness.",
            0,
        ),
        ("A, since she has to name her fear before a price makes sense. C comes too early.", 0),
        (
            "I'd open with the question about rain in bloom week. It costs nothing, and it shows I "
            "understand what keeps her awake. Naming the price straight away would only start a fight over "
            "numbers.",
            0,
        ),
        ('He says: "Before I say a number: in your place I\'d lie awake over rain in bloom week..."', 0),
        ('"A hundred and eighty, half before I move them."', 2),
        ("A hundred and eighty, half before I move them.", 2),
        (
            "C) A hundred and eighty, half before I move them. I know what my bees did on your east block last spring.",
            2,
        ),
        ("C: because it's the only one that states the price and the deposit.", 2),
    ],
    ("PRICES", "ABC"): [
        ("On this island, scarce things get cheaper. Normally it rises. Here it falls.", 1),
        ("It falls, because on this island everything is reversed; elsewhere it rises.", 1),
        ("it falls", 1),
        ("The price falls.", 1),
        ("I expect that it falls rather than rises.", 1),
        ("One would expect that it rises. But the rule of the island says otherwise: it falls.", 1),
    ],
    ("HIDDEN", "ABC"): [
        ("He last saw it in the blue tin, so he'll look in the blue tin, although it is now in the iron chest.", 0),
        ("It is in the iron chest. But he doesn't know that. He thinks: blue tin.", 0),
        (
            "The coin moved from the blue tin to the iron chest and then to the coat pocket. He only saw "
            "the first move. Iron chest.",
            1,
        ),
        ("Tin.", 0),
        ("In the tin", 0),
    ],
    ("FEELINGS_HAN_2", "ABCD"): [
        ("尴尬。", 0),
        ("她应该会觉得尴尬，甚至有点内疚。", 0),
        ("不是高兴，也不是无所谓，而是内疚。", 2),
        ("内疚多于尴尬。", 2),
        ("她表面无所谓，心里其实很内疚。", 2),
        ("A 尴尬", 0),
        ("A（尴尬）", 0),
        ("C、内疚", 2),
    ],
    ("ABSENT_HAN", "ABCD"): [
        ("选A。批评她（C）会伤人，换人（B）太急，装作没看见（D）等于放弃。", 0),
        ("A。了解原因永远是第一步，B和C都太冲动，D是逃避。", 0),
        ("应该先弄清楚她为什么不来，再决定请不请别人。直接换人太草率，当众批评更不合适。", 0),
        ("我个人更倾向A。虽然B效率最高，但会寒了人心。", 0),
        ("B效率最高，C最解气，D最省事，但都治标不治本，A才是正路。", 0),
        ("综合考虑各方面因素，A最为稳妥，其次是D。", 0),
        ("A或D都行，看情况。", None),
        ("这道题没有标准答案。", None),
        ("C肯定不行。", None),
        ("最终答案：**A**", 0),
        ("【答案】A", 0),
        ("故选：A。", 0),
        ("故选A", 0),
        ("本题选A。", 0),
        ("正确答案：A. 先去问清楚她为什么不来，再决定要不要请别人", 0),
        ("答案是B。\n\n等等，题目问的是最体贴的做法，那么应该是A。", 0),
        ("A、先去问清楚", 0),
    ],
    ("NIGHTS", "ABCD"): [
        ("A\n\nB defers to Pieter, C dithers, D is impulsive.", 0),
        ("A — the only reply with both weighing and deciding.", 0),
        ("Weighing: A, C. Deciding: A, D. Both: A.", 0),
        (
            "A weighs and decides. B asks someone else. C weighs but can't decide. D decides without "
            'weighing. The trait asked for is "weighs, then decides".',
            None,
        ),
        ("The trait is shown in A: she has weighed it and says so.", 0),
        ("It's the line about the galaxies.", 0),
        (
            "D? No: she says herself that she hasn't thought about it. C? No decision. B? Leaves it to Pieter. A? Yes.",
            0,
        ),
        ("Only one of them actually weighs both sides and then settles the matter, and that is the first.", 0),
        (
            "**A.** *\"I've weighed it on the stairs...\"* – the others either don't weigh (D), don't "
            "decide (C) or outsource it (B).",
            0,
        ),
        ('"I\'ve weighed it on the stairs."', 0),
        ("I've weighed it on the stairs. My galaxies will look the same in a thousand years", 0),
        ("A. Oh dear. If I keep them I'd feel bad, and if I give them up I'd feel bad.", None),
        ("Selected option: A. Rejected: B, C, D.", 0),
        ("Not B/C/D.", 0),
        ("A, C and D are all plausible, but A shows it most clearly.", 0),
        ("A seems right to me. C is a close second.", 0),
        ("C is a close second, but A wins.", 0),
        ("I am an AI and have no preferences, but the best fit is A.", 0),
        ("Sorry, I can't help with that.", None),
        ("I'm sorry for her, but it has to be A.", 0),
        ("ok so this is a tough one lol. i think a", 0),
        ("ok so this is a tough one lol. i think its A", 0),
        ("definitely (a)", 0),
        ("a.", 0),
        ("A.\n", 0),
        ("Option A.", 0),
        ("Letter A", 0),
        ("A. I've weighed it", 0),
        ("Answer:\n\nA", 0),
        ("Answer:\n**A**\n\nExplanation:\nB, C and D fail.", 0),
        ("## Answer\nA", 0),
        ("## A\n\nShe decides.", 0),
        ("The correct answer is:\n\nA. I've weighed it on the stairs.", 0),
        ("Thus the final answer is $\\boxed{A}$.", 0),
        ("<choice>A</choice>", 0),
        ("answer = A", 0),
        ("ANSWER A", 0),
        ("A) ✔", 0),
    ],
    ("DRINKS", "ABC"): [
        ("I would serve plain water. In this village tea is an insult.", 0),
        ("Plain water", 0),
        ("Tea with salt would be the custom elsewhere, but here tea is an insult. Plain water, then.", 0),
        ("You give him plain water, because tea insults the guest.", 0),
        ("Wait until the elder has spoken and serve nothing before that.", 2),
        ("Nothing until the elder speaks.", 2),
    ],
    ("STYLES", "AB"): [
        ("Aggressive, I'd say.", 0),
        ("A conservative player would have folded. This one raised three times. Aggressive.", 0),
        ("This is not the play of a conservative opponent.", 0),
        ("Rather aggressive than conservative.", 0),
        ("Neither aggressive nor conservative, just random.", None),
        ("Somewhere between aggressive and conservative.", None),
        ("The opponent is aggressive preflop but conservative on the river.", None),
    ],
    ("WHERE_HAN", "ABCD"): [
        ("他去了河边。", 1),
        ("鱼竿不见了，所以他去了河边，不是集市。", 1),
        ("我不知道。", 0),
        ("我不知道该选哪个。", None),
        ("B。A是说谎，C不可能，D的话哥哥也该不在。", 1),
        ("哥哥在家，所以D不对；床是空的，所以C不对；答案只能是B。", 1),
        ("选项B最符合描述，其他选项均与线索矛盾。", 1),
        ("B项。", 1),
        ("（B）", 1),
        ("B、他去了河边", 1),
        ("答：B", 1),
        ("我的答案是 B ，理由如下：……", 1),
        ("A不对。B对。C不对。D不对。", 1),
        ("B是对的，其余都是错的。", 1),
        ("非B莫属", 1),
        ("除了B都不对", 1),
        ("B无疑", 1),
        ("毫无疑问，B。", 1),
        ("乍一看像D，其实是B。", 1),
        ("D看起来像，但哥哥在家，B才说得通。", 1),
        ("如果哥哥也不在，那就是D。可是哥哥在家，所以B。", 1),
        ("B？D？说不好。", None),
        ("可能是B，也可能是D。", None),
        ("先看A……再看B……", None),
    ],
}
OPTIONS = {
    "TEAM": TEAM,
    "TEAM_HAN": TEAM_HAN,
    "LICENCE": LICENCE,
    "PLACES": PLACES,
    "YES_NO": YES_NO,
    "FEELINGS": FEELINGS,
    "FEELINGS_HAN": FEELINGS_HAN,
    "WALL_HAN": WALL_HAN,
    "STUTTER": STUTTER,
    "PRICE_HAN": PRICE_HAN,
    "NAMES": NAMES,
    "LETTERS": LETTERS,
    "HIVES": HIVES,
    "PRICES": PRICES,
    "HIDDEN": HIDDEN,
    "FEELINGS_HAN_2": FEELINGS_HAN_2,
    "ABSENT_HAN": ABSENT_HAN,
    "NIGHTS": NIGHTS,
    "DRINKS": DRINKS,
    "STYLES": STYLES,
    "WHERE_HAN": WHERE_HAN,
}
CASES = [(name, labels, reply, index) for (name, labels), replies in REPLIES.items() for reply, index in replies]


@pytest.mark.parametrize(("name", "labels", "reply", "index"), CASES)
def test_a_reply_is_read_as_a_careful_person_reads_it(name: str, labels: str, reply: str, index: int | None) -> None:
    assert read_choice(reply, OPTIONS[name], list(labels)).index == index


WORD_REPLIES = [
    ("I will call because I have a jack.", 0),
    ("The prudent decision is to fold here.", 2),
    ("Answer: F", 2),
    ("Answer: call or raise", None),
    ("Answer: call/raise", None),
    ('{"action": "Raise"}', 1),
    ("| call | cheap |\n| raise | strong |\n| fold | safe |\n\nSo I raise.", 1),
]


@pytest.mark.parametrize(("reply", "index"), WORD_REPLIES)
def test_labels_that_are_words_are_found_in_a_sentence(reply: str, index: int | None) -> None:
    labels = ["call", "raise", "fold"]
    assert read_choice(reply, labels, labels).index == index


def test_a_list_cut_off_behind_its_last_label_is_no_answer() -> None:
    reply = "**Option A**: too public.\n\n**Option B**: tactful, but slow.\n\n**Option C**:"
    assert read_choice(reply, TEAM, list("ABCD"), finish="length").rule == "cut off"


@pytest.mark.parametrize(
    "piece", ["\n", " \n", "\n     ", "final ", "final" + " " * 40, "\n# question   ", "ﷺ", "_", '("(']
)
def test_a_megabyte_of_the_same_is_read_within_a_second(piece: str) -> None:
    reply = piece * (1_000_000 // len(piece))
    started = process_time()
    read_choice(reply, TEAM, list("ABCD"))
    assert process_time() - started < 1
