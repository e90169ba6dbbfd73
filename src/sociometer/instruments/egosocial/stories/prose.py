"""Fresh stories and their questions in words, English and Chinese: of a person by name, or of "you".

Which of several sentences tells an event depends on the story and the event alone, so that all tellings of a story
differ only in the person.
"""

import random
import re
from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from sociometer.instruments.egosocial.stories.world import (
    Enter,
    Event,
    Exit,
    Forget,
    Glimpse,
    Hear,
    Lose,
    Move,
    Place,
    Question,
    Send,
    Story,
    Tell,
    Unwatch,
    Watch,
)


def plural(thing: str) -> bool:
    """Whether the name of a thing takes "are"."""
    return thing.endswith("s") and not thing.endswith("ss")


def english_noun(noun: str, slot: str, form: str) -> str:
    """A noun with its article, with the verb that follows it (`was`, `is`), or as a pronoun (`it`)."""
    if slot == "it":
        shown = "them" if plural(noun) and form != "was" else "they" if plural(noun) else "it"
    else:
        shown = f"the {noun.replace('_', ' ')}"
    verb_form, _, asked = form.partition("_")
    if not verb_form:
        return shown
    word = {"was": "were", "is": "are"}[verb_form] if plural(noun) else verb_form
    return f"{word} {shown}" if asked else f"{shown} {word}"


_ENGLISH_OVERHEARD = " {O:was} behind the door and heard every word of it, and nobody noticed."
_ENGLISH: dict[str, tuple[str, ...]] = {
    "Open": (
        "{A} came into {room} early that day.",
        "The door of {room} opened and {A} came in.",
        "{A} stepped into {room} to get out of the rain.",
        "It was still early when {A} arrived in {room}.",
        "{A} had some mending to do and sat down in {room}.",
    ),
    "Enter": (
        "{A} came into {room} to look for a pencil.",
        "A little later {A} walked into {room}.",
        "The door opened, and {A} came into {room} with a cup of tea.",
        "Since it had grown cold outside, {A} went into {room}.",
        "{A} stopped by in {room} to say hello.",
        "Looking for company, {A} came into {room}.",
        "{A} had left a scarf in {room} and came in to get it.",
    ),
    "Exit": (
        "{A} left {room} to answer the telephone.",
        "Somebody was calling from the yard, so {A} went out of {room}.",
        "{A} remembered the bread in the oven and hurried out of {room}.",
        "{A} left {room} to fetch some water.",
        "When the bell rang, {A} left {room}.",
        "{A} went out of {room} to see who was knocking at the gate.",
        "It was time to feed the hens, and {A} left {room}.",
        "Feeling tired, {A} went out of {room} for a breath of air.",
    ),
    "Place": (
        "{thing:was} in {box}.",
        "In {box}, in plain view, {thing:was} waiting to be used.",
        "{thing} had been put in {box}.",
    ),
    "Move": (
        "{A} took {thing} out of {old} and put {it} into {box}, where there was more room.",
        "To make space, {A} moved {thing} to {box}.",
        "{A} thought that {thing:was} safer elsewhere and put {it} into {box}.",
        "Because {old} had to be cleaned, {A} put {thing} into {box}.",
        "{A} wanted {thing} closer at hand and laid {it} in {box}.",
    ),
    "Tell": (
        "In private {A} told {B:o} that {thing:was} in {box}.",
        "{A} met {B:o} on the stairs and mentioned that {thing:was} in {box}.",
        "{A} took {B:o} aside and said that {thing:was} now in {box}.",
    ),
    "Correct": (
        "“That is not so,” {A} said to {B:o} when the two were alone. “{thing:is} in {box}.”",
        "{A} put {B:o} right in private: {thing:was} in {box}.",
    ),
    "Lie": (
        "{A} did not want {B:o} to find {thing}, and lied: {it:was} in {box}, {A} said to {B:o} in private.",
        "As a joke {A} told {B:o} in private, against better knowledge, that {thing:was} in {box}.",
        "{A} hoped to keep {thing} from {B:o} and told {B:o} the untruth that {it:was} in {box}.",
    ),
    "Relay": (
        "{A} found {B:o} and passed on what {S} had said: {thing:was} in {box}.",
        "{A} went straight to {B:o} with {S:s} message that {thing:was} in {box}.",
    ),
    "Send": (
        "{A} asked {M:o} to let {B:o} know that {thing:was} in {box}.",
        "{A} had no time to look for {B:o} and gave {M:o} a message for {B:o}: {thing:was} in {box}.",
    ),
    "Lose": (
        "{M} ran into an old friend on the way, and the message never reached {B:o}.",
        "But {M:was} held up and never got round to telling {B:o}.",
    ),
    "Hear": (
        "{O:was} in the passage outside and saw nothing, but heard {A:o} say aloud that {thing} could go into {box}."
        " Nobody noticed.",
        "Through the thin wall {O} could not see anything, yet heard {A:o} mutter, “{thing}: into {box}.”"
        " Nobody noticed.",
    ),
    "Glimpse": (
        "Through the keyhole {O} saw {A:o} put something into {box}, but could not make out what it was.",
        "From outside {O} heard {A:o} busy with {box}, but had no idea what was being put there.",
    ),
    "Forget": (
        "By the evening the latest news of {thing} had slipped {A:s} mind.",
        "After a long day {A} had clean forgotten the latest news of {thing}.",
    ),
    "Watch": (
        "{A} stopped outside {room} and began to watch through a crack in the door, unnoticed by anybody.",
        "Unnoticed by anybody, {A} began to watch {room} through the window.",
    ),
    "Unwatch": ("{A} turned away from {room} again.", "After a while {A} stopped watching {room}."),
    "Remark likes": ("{A} had always liked {liked}.", "{A} once wrote a poem about {liked}."),
    "Remark dislikes": ("{A} had never cared for {liked}.", "{A} thought little of {liked}."),
}
_CHINESE_OVERHEARD = "{O}就在门后，每个字都听见了，谁也没有发觉。"
_CHINESE: dict[str, tuple[str, ...]] = {
    "Open": (
        "{A}那天一早就来到了{room}。",
        "门一开，{A}走进了{room}。",
        "{A}到{room}里来躲雨。",
        "{A}有些针线活要做，便在{room}里坐了下来。",
    ),
    "Enter": (
        "{A}走进{room}，想找一支铅笔。",
        "过了一会儿，{A}来到{room}。",
        "门开了，{A}端着一杯茶走进{room}。",
        "外面冷了起来，{A}便进了{room}。",
        "{A}顺路到{room}来打个招呼。",
        "{A}想找人说说话，便来到{room}。",
        "{A}想起围巾落在了{room}，便进来取。",
    ),
    "Exit": (
        "{A}离开{room}去接电话。",
        "院子里有人喊，{A}便走出了{room}。",
        "{A}想起炉子上还炖着汤，匆匆出了{room}。",
        "{A}离开{room}去打水。",
        "铃声一响，{A}就离开了{room}。",
        "有人敲大门，{A}走出{room}去看是谁。",
        "该喂鸡了，{A}离开了{room}。",
        "{A}有些乏了，走出{room}透透气。",
    ),
    "Place": ("{thing}在{box}里。", "{box}里放着{thing}，一眼就看得见。", "{thing}收在{box}里。"),
    "Move": (
        "{A}把{thing}从{old}里拿出来，放进了更宽敞的{box}。",
        "为了腾出地方，{A}把{thing}挪到了{box}里。",
        "{A}觉得{thing}换个地方放更稳妥，就把它放进了{box}。",
        "{old}要清理，{A}便把{thing}放进了{box}。",
        "为了随手就能拿到{thing}，{A}把它放进了{box}。",
    ),
    "Tell": (
        "{A}私下告诉{B}，{thing}在{box}里。",
        "{A}在楼梯上碰见{B}，顺口说起{thing}在{box}里。",
        "{A}把{B}拉到一边，说{thing}在{box}里。",
    ),
    "Correct": ("没有旁人的时候，{A}对{B}说：“不是那样，{thing}在{box}里。”", "{A}私下纠正{B}，说{thing}在{box}里。"),
    "Lie": (
        "{A}不想让{B}找到{thing}，便私下骗{B}，说它在{box}里。",
        "{A}跟{B}开了个玩笑，明知不是这样，却私下说{thing}在{box}里。",
        "{A}想瞒住{B}，就骗{B}说{thing}在{box}里。",
    ),
    "Relay": (
        "{A}找到{B}，把{S}的话带到了：{thing}在{box}里。",
        "{A}径直去找{B}，带去了{S}的口信，说{thing}在{box}里。",
    ),
    "Send": ("{A}托{M}转告{B}，{thing}在{box}里。", "{A}没空去找{B}，就让{M}给{B}捎个口信，说{thing}在{box}里。"),
    "Lose": ("{M}半路遇见一位老朋友，口信始终没有带到{B}那里。", "可是{M}被别的事耽搁了，一直没有告诉{B}。"),
    "Hear": (
        "{O}正在外面的走廊里，什么也看不见，却听见{A}说出声来：“{thing}就放{box}里吧。”谁也没有发觉{O}。",
        "隔着薄薄的墙，{O}什么也看不见，只听见{A}自言自语：“{thing}，放{box}里。”谁也没有发觉{O}。",
    ),
    "Glimpse": (
        "{O}从钥匙孔里看见{A}往{box}里放了一件东西，但没看清是什么。",
        "{O}从外面听见{A}在{box}那边忙活，却不知道往里放的是什么。",
    ),
    "Forget": (
        "到了傍晚，{A}已经想不起关于{thing}的最新消息了。",
        "忙了一整天，{A}把关于{thing}的最新消息忘得一干二净。",
    ),
    "Watch": (
        "{A}在{room}外面站住，开始透过门缝往里看，谁也没有发觉。",
        "{A}开始在窗外悄悄往{room}里看，谁也没有发觉。",
    ),
    "Unwatch": ("{A}从{room}外面走开，不再往里看了。", "过了一阵，{A}不再往{room}里看了。"),
    "Remark likes": ("{A}一向喜欢{liked}。", "{A}为{liked}写过一首诗。"),
    "Remark dislikes": ("{A}从来就不喜欢{liked}。", "{A}对{liked}没什么好感。"),
}
for _kind in ("Tell", "Lie", "Correct", "Relay"):
    _ENGLISH[f"{_kind}Overheard"] = tuple(form + _ENGLISH_OVERHEARD for form in _ENGLISH[_kind])
    _CHINESE[f"{_kind}Overheard"] = tuple(form + _CHINESE_OVERHEARD for form in _CHINESE[_kind])

SENTENCES = {"en": _ENGLISH, "zh": _CHINESE}
QUESTIONS: dict[str, dict[str, str]] = {
    "en": {
        "memory": "Where {thing:was_it} at the beginning?",
        "reality": "Where {thing:is_it} really?",
        "belief": "Where will {A} look for {thing}?",
        "belief nested": "Where {thoughts} that {A} will look for {thing}?",
        "say": "Suppose {B} asked {A:o} where {thing:is}. Which place would {A} name?",
        "say nested": "Suppose {B} asked {A:o} where {thing:is}. Which place {thoughts} that {A} would name?",
        "right": "Take {names}, and these things: {things}. If each of them looked once for each thing, how many times"
        " in all would somebody look in the right place?",
        "wrong": "Take {names}, and these things: {things}. Each of these people has a belief about where each of the"
        " others will look for each of the things. How many of these beliefs are wrong?",
        "nested": "Take {names}, and these things: {things}. Each of these people has a belief about where each of the"
        " others thinks that each of the remaining ones will look for each of the things. It is wrong if the other does"
        " not really think so. How many of these beliefs are wrong?",
        "first thought": "{A:does} think",
        "thought": "that {A:think}",
        "between": " ",
    },
    "zh": {
        "memory": "一开始，{thing}在哪里？",
        "reality": "{thing}实际上在哪里？",
        "belief": "{A}会去哪里找{thing}？",
        "belief nested": "{thoughts}{A}会去哪里找{thing}？",
        "say": "假如{B}问{A}{thing}在哪里，{A}会说在哪里？",
        "say nested": "假如{B}问{A}{thing}在哪里，{thoughts}{A}会说在哪里？",
        "right": "请看{names}，以及这些东西：{things}。如果每个人把每样东西各找一次，一共有多少次会找对地方？",
        "wrong": "请看{names}，以及这些东西：{things}。对每样东西，每个人都对其他各人会去哪里找它有一个看法。"
        "这些看法中有多少个是错的？",
        "nested": "请看{names}，以及这些东西：{things}。对每样东西，每个人都对其他各人认为其余每个人会去哪里找它"
        "有一个看法；如果对方其实不这么认为，这个看法就是错的。这些看法中有多少个是错的？",
        "first thought": "{A}认为",
        "thought": "{A}认为",
        "between": "",
    },
}


_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")
_START = re.compile(r"(?:^|(?<=[.!?] )|(?<=“))[a-z]")


class Voice(Struct, frozen=True):
    """Who is "you"; an empty `ego` names everybody."""

    ego: str = ""
    language: str = "en"

    def person(self, name: str, form: str) -> str:
        """A person as subject (no form), object (`o`), owner (`s`), or subject with a verb that changes with it."""
        mine = bool(self.ego) and name == self.ego
        if self.language == "zh":
            return "你" if mine else name
        subject = "you" if mine else name
        shapes = {
            "": subject,
            "o": subject,
            "s": "your" if mine else f"{name}'s",
            "was": f"{subject} {'were' if mine else 'was'}",
            "think": f"{subject} {'think' if mine else 'thinks'}",
            "does": f"{'do' if mine else 'does'} {subject}",
        }
        return shapes[form]


def story_prose(story: Story, key: str, voice: Voice) -> str:
    """A story as one paragraph.

    The forms of a kind of sentence take turns, in an order that depends on `key`, the story's name.
    """
    told: list[str] = []
    used: Counter[str] = Counter()
    held: dict[str, str] = {}
    for event in story.events:
        kind, people, words = _slots(event, held)
        if isinstance(event, Place | Move):
            held[event.thing] = event.container
        forms = list(SENTENCES[voice.language][kind])
        random.Random(f"{key} {kind}").shuffle(forms)
        told.append(_fill(forms[used[kind] % len(forms)], people, words, voice))
        used[kind] += 1
    return ("" if voice.language == "zh" else " ").join(told)


def _slots(event: Event, held: Mapping[str, str]) -> tuple[str, dict[str, str], dict[str, str]]:
    """The kind of sentence that tells an event, and the contents of its slots; `held` is where things are before it."""
    if isinstance(event, Enter | Exit | Watch | Unwatch):
        opening = isinstance(event, Enter) and not held
        return ("Open" if opening else type(event).__name__), {"A": event.person}, {"room": event.room}
    if isinstance(event, Place):
        return "Place", {}, {"thing": event.thing, "box": event.container}
    if isinstance(event, Move):
        words = {"thing": event.thing, "box": event.container, "old": held[event.thing]}
        return "Move", {"A": event.person or ""}, words
    if isinstance(event, Tell):
        kind = "Lie" if not event.honest else "Relay" if event.source else "Correct" if event.corrects else "Tell"
        people = {"A": event.teller, "B": event.listener, "S": event.source, "O": "".join(event.hearers)}
        return kind + ("Overheard" if event.hearers else ""), people, {"thing": event.thing, "box": event.container}
    if isinstance(event, Send):
        people = {"A": event.sender, "M": event.messenger, "B": event.listener}
        return "Send", people, {"thing": event.thing, "box": event.container}
    if isinstance(event, Lose):
        return "Lose", {"M": event.messenger, "B": event.listener}, {}
    if isinstance(event, Hear | Glimpse):
        words = {"box": event.container, "thing": event.thing if isinstance(event, Hear) else ""}
        return type(event).__name__, {"O": event.person, "A": event.mover}, words
    if isinstance(event, Forget):
        return "Forget", {"A": event.person}, {"thing": event.thing}
    return f"Remark {event.verb}", {"A": event.person}, {"liked": event.thing}


def question_prose(question: Question, voice: Voice) -> str:
    """The question as put to a reader, or to the person who is "you"."""
    forms = QUESTIONS[voice.language]
    words = {"thing": question.thing}
    if question.kind in ("memory", "reality"):
        return _fill(forms[question.kind], {}, words, voice)
    if question.among:
        named = [voice.person(name, "o") for name in question.among]
        things = [_filled("{thing}", {}, {"thing": thing}, voice) for thing in question.things]
        return forms[question.kind].format(names=_listed(named, voice), things=_listed(things, voice))
    *minds, last = question.chain
    thoughts = [
        _filled(forms["first thought" if place == 0 else "thought"], {"A": name}, {}, voice)
        for place, name in enumerate(minds)
    ]
    form = f"{question.kind} nested" if minds else question.kind
    asked = forms[form].replace("{thoughts}", forms["between"].join(thoughts))
    return _fill(asked, {"A": last, "B": question.listener}, words, voice)


def _listed(words: list[str], voice: Voice) -> str:
    *most, end = words
    return f"{'、'.join(most)}和{end}" if voice.language == "zh" else f"{', '.join(most)} and {end}"


def _fill(form: str, people: Mapping[str, str], words: Mapping[str, str], voice: Voice) -> str:
    """Whole sentences with their slots filled, each with a capital."""
    return _START.sub(lambda start: start[0].upper(), _filled(form, people, words, voice))


def _filled(form: str, people: Mapping[str, str], words: Mapping[str, str], voice: Voice) -> str:
    def put(slot: re.Match[str]) -> str:
        name, shape = slot[1], slot[2] or ""
        if name in people:
            return voice.person(people[name], shape)
        if voice.language == "zh":
            return words[name]
        return english_noun(words.get("thing" if name == "it" else name, ""), name, shape)

    return _SLOT.sub(put, form)


def option_words(container: str) -> str:
    """A container as an answer option."""
    return container.replace("_", " ")
