"""A second oracle, which reads the words of a story, English or Chinese, and shares nothing with the first.

It keeps a table: for each chain of people up to five ("what Ann thinks that Bo thinks …") where everybody is and where
each thing lies. A sentence changes the rows of those chains that notice it. The first oracle (`mind.py`) instead turns
the events of the generator into one person's timeline, again for each person of a chain.
"""

import re
from itertools import pairwise, product

_EN_A, _EN_B = (rf"(?P<{slot}>[A-Z][a-z]+)" for slot in "ab")
_EN = {slot: rf"[Tt]he (?P<{slot}>[a-z ]+?)" for slot in ("room", "thing", "box", "old")}
_IN = rf"{_EN['thing']} (?:is|was|were|are) (?:now )?in {_EN['box']}"
ENGLISH = {
    "enter": (
        rf"{_EN_A} (?:came|stepped) into {_EN['room']} (?:early that day|to [a-z ]+)\.",
        rf"The door of {_EN['room']} opened and {_EN_A} came in\.",
        rf"It was still early when {_EN_A} arrived in {_EN['room']}\.",
        rf"{_EN_A} had some mending to do and sat down in {_EN['room']}\.",
        rf"A little later {_EN_A} walked into {_EN['room']}\.",
        rf"The door opened, and {_EN_A} came into {_EN['room']} with a cup of tea\.",
        rf"Since it had grown cold outside, {_EN_A} went into {_EN['room']}\.",
        rf"{_EN_A} stopped by in {_EN['room']} to say hello\.",
        rf"Looking for company, {_EN_A} came into {_EN['room']}\.",
        rf"{_EN_A} had left a scarf in {_EN['room']} and came in to get it\.",
    ),
    "exit": (
        rf"{_EN_A} left {_EN['room']} to [a-z ]+\.",
        rf"Somebody was calling from the yard, so {_EN_A} went out of {_EN['room']}\.",
        rf"{_EN_A} remembered the bread in the oven and hurried out of {_EN['room']}\.",
        rf"When the bell rang, {_EN_A} left {_EN['room']}\.",
        rf"{_EN_A} went out of {_EN['room']} to see who was knocking at the gate\.",
        rf"It was time to feed the hens, and {_EN_A} left {_EN['room']}\.",
        rf"Feeling tired, {_EN_A} went out of {_EN['room']} for a breath of air\.",
    ),
    "place": (
        rf"In {_EN['box']}, in plain view, {_EN['thing']} (?:was|were) waiting to be used\.",
        rf"{_EN['thing']} had been put in {_EN['box']}\.",
        rf"{_IN}\.",
    ),
    "move": (
        rf"{_EN_A} took {_EN['thing']} out of {_EN['old']} and put (?:it|them) into {_EN['box']}, where there was more"
        r" room\.",
        rf"To make space, {_EN_A} moved {_EN['thing']} to {_EN['box']}\.",
        rf"{_EN_A} thought that {_EN['thing']} (?:was|were) safer elsewhere and put (?:it|them) into {_EN['box']}\.",
        rf"Because {_EN['old']} had to be cleaned, {_EN_A} put {_EN['thing']} into {_EN['box']}\.",
        rf"{_EN_A} wanted {_EN['thing']} closer at hand and laid (?:it|them) in {_EN['box']}\.",
    ),
    "tell": (
        rf"In private {_EN_A} told {_EN_B} that {_IN}\.",
        rf"{_EN_A} met {_EN_B} on the stairs and mentioned that {_IN}\.",
        rf"{_EN_A} took {_EN_B} aside and said that {_IN}\.",
    ),
    "watch": (
        rf"{_EN_A} stopped outside {_EN['room']} and began to watch through a crack in the door, unnoticed by"
        r" anybody\.",
        rf"Unnoticed by anybody, {_EN_A} began to watch {_EN['room']} through the window\.",
    ),
    "unwatch": (
        rf"{_EN_A} turned away from {_EN['room']} again\.",
        rf"After a while {_EN_A} stopped watching {_EN['room']}\.",
    ),
    "nothing": (
        rf"{_EN_A} (?:had always liked|once wrote a poem about|had never cared for|thought little of) [a-z ]+\.",
    ),
}
_ZH_A, _ZH_B = (rf"(?P<{slot}>[一-鿿]{{2}})" for slot in "ab")
_ZH = {slot: rf"(?P<{slot}>[一-鿿]+?)" for slot in ("room", "thing", "box", "old")}
_ZH_IN = rf"{_ZH['thing']}在{_ZH['box']}里"
CHINESE = {
    "enter": (
        rf"{_ZH_A}那天一早就来到了{_ZH['room']}。", rf"门一开，{_ZH_A}走进了{_ZH['room']}。",
        rf"{_ZH_A}到{_ZH['room']}里来躲雨。", rf"{_ZH_A}有些针线活要做，便在{_ZH['room']}里坐了下来。",
        rf"{_ZH_A}走进{_ZH['room']}，想找一支铅笔。", rf"过了一会儿，{_ZH_A}来到{_ZH['room']}。",
        rf"门开了，{_ZH_A}端着一杯茶走进{_ZH['room']}。", rf"外面冷了起来，{_ZH_A}便进了{_ZH['room']}。",
        rf"{_ZH_A}顺路到{_ZH['room']}来打个招呼。", rf"{_ZH_A}想找人说说话，便来到{_ZH['room']}。",
        rf"{_ZH_A}想起围巾落在了{_ZH['room']}，便进来取。",
    ),
    "exit": (
        rf"{_ZH_A}离开{_ZH['room']}去(?:接电话|打水)。", rf"院子里有人喊，{_ZH_A}便走出了{_ZH['room']}。",
        rf"{_ZH_A}想起炉子上还炖着汤，匆匆出了{_ZH['room']}。", rf"铃声一响，{_ZH_A}就离开了{_ZH['room']}。",
        rf"有人敲大门，{_ZH_A}走出{_ZH['room']}去看是谁。", rf"该喂鸡了，{_ZH_A}离开了{_ZH['room']}。",
        rf"{_ZH_A}有些乏了，走出{_ZH['room']}透透气。",
    ),
    "place": (
        rf"{_ZH['box']}里放着{_ZH['thing']}，一眼就看得见。", rf"{_ZH['thing']}收在{_ZH['box']}里。", rf"{_ZH_IN}。",
    ),
    "move": (
        rf"{_ZH_A}把{_ZH['thing']}从{_ZH['old']}里拿出来，放进了更宽敞的{_ZH['box']}。",
        rf"为了腾出地方，{_ZH_A}把{_ZH['thing']}挪到了{_ZH['box']}里。",
        rf"{_ZH_A}觉得{_ZH['thing']}换个地方放更稳妥，就把它放进了{_ZH['box']}。",
        rf"{_ZH['old']}要清理，{_ZH_A}便把{_ZH['thing']}放进了{_ZH['box']}。",
        rf"为了随手就能拿到{_ZH['thing']}，{_ZH_A}把它放进了{_ZH['box']}。",
    ),
    "tell": (
        rf"{_ZH_A}私下告诉{_ZH_B}，{_ZH_IN}。", rf"{_ZH_A}在楼梯上碰见{_ZH_B}，顺口说起{_ZH_IN}。",
        rf"{_ZH_A}把{_ZH_B}拉到一边，说{_ZH_IN}。",
    ),
    "watch": (
        rf"{_ZH_A}在{_ZH['room']}外面站住，开始透过门缝往里看，谁也没有发觉。",
        rf"{_ZH_A}开始在窗外悄悄往{_ZH['room']}里看，谁也没有发觉。",
    ),
    "unwatch": (rf"{_ZH_A}从{_ZH['room']}外面走开，不再往里看了。", rf"过了一阵，{_ZH_A}不再往{_ZH['room']}里看了。"),
    "nothing": (
        rf"{_ZH_A}(?:一向喜欢|从来就不喜欢)[一-鿿]+。", rf"{_ZH_A}[为对][一-鿿]+?(?:写过一首诗|没什么好感)。",
    ),
}  # fmt: skip
SENTENCES = {
    language: [(kind, re.compile(form)) for kind, forms in kinds.items() for form in forms]
    for language, kinds in (("en", ENGLISH), ("zh", CHINESE))
}


def sentences(text, language):
    """What each sentence says, in order; a sentence that is not understood is an error."""
    at, told = 0, []
    while at < len(text):
        found = next((match for match in ((k, f.match(text, at)) for k, f in SENTENCES[language]) if match[1]), None)
        if found is None:
            raise ValueError(f"not understood: {text[at : at + 80]}")
        kind, match = found
        told.append((kind, match.groupdict()))
        at = match.end() + (text[match.end() : match.end() + 1] == " ")
    return told


class Table:
    """Where everybody is and where each thing lies, for every chain of people; the empty chain is the truth."""

    def __init__(self, text, language, longest=4):
        self.told = sentences(text, language)
        self.people = people = list(dict.fromkeys(said["a"] for kind, said in self.told if kind == "enter"))
        self.chains = [
            chain
            for length in range(longest + 1)
            for chain in product(people, repeat=length)
            if all(one != two for one, two in pairwise(chain))
        ]
        self.where = {chain: {} for chain in self.chains}
        self.spying = {}
        self.held = {chain: {} for chain in self.chains}
        """For each thing the places that the chain has believed in, the latest last."""
        self.scene = self._scene()
        for kind, said in self.told:
            getattr(self, f"_{kind}")(said)

    def answer(self, kind, thing, chain):
        """The place that a question asks for."""
        if kind == "memory":
            return next(said["box"] for told, said in self.told if told == "place" and said["thing"] == thing)
        return self.held[chain][thing][-1]

    def _scene(self):
        """The room of the things: where somebody is who moves one."""
        where = {}
        for kind, said in self.told:
            if kind == "enter":
                where[said["a"]] = said["room"]
            elif kind == "move":
                return where[said["a"]]
        raise ValueError("nobody moves anything")

    def _notices(self, chain, room):
        """Whether the last of the chain has the room before their eyes, as the others of the chain believe."""
        if not chain:
            return True
        before, last = chain[:-1], chain[-1]
        here = self.where[before].get(last) == room or (not before and self.spying.get(last) == room)
        return here and self._notices(before, room)

    def _put(self, chain, said):
        past = self.held[chain].setdefault(said["thing"], [])
        if past[-1:] != [said["box"]]:
            past.append(said["box"])

    def _look(self, room, start=()):
        """Everybody in a room sees who is there and what lies there, and that the others see it."""
        there = {name for name, place in self.where[()].items() if place == room}
        for chain in self.chains:
            if chain[: len(start)] != start or not self._notices(chain, room):
                continue
            gone = {name for name, place in self.where[chain].items() if place == room} - there
            self.where[chain] |= dict.fromkeys(gone) | dict.fromkeys(there, room)
            if room == self.scene:
                for thing, places in self.held[()].items():
                    self._put(chain, {"thing": thing, "box": places[-1]})

    def _enter(self, said):
        self.where[()][said["a"]] = said["room"]
        self._look(said["room"])

    def _exit(self, said):
        for chain in [chain for chain in self.chains if self._notices(chain, said["room"])]:
            self.where[chain][said["a"]] = None

    def _watch(self, said):
        self.spying[said["a"]] = said["room"]
        self._look(said["room"], (said["a"],))

    def _unwatch(self, said):
        del self.spying[said["a"]]

    def _move(self, said):
        for chain in self.chains:
            if self._notices(chain, self.scene):
                self._put(chain, said)

    _place = _move

    def _tell(self, said):
        both = {said["a"], said["b"]}
        for chain in self.chains:
            if chain and set(chain) <= both:
                self._put(chain, said)

    def _nothing(self, said):
        """It teaches nobody anything."""


_THING = {"en": r"the (?P<thing>[a-z ]+?)", "zh": r"(?P<thing>[一-鿿]+?)"}
_QUESTIONS = {
    "en": {
        "memory": rf"Where (?:was|were) {_THING['en']} at the beginning\?",
        "reality": rf"Where (?:is|are) {_THING['en']} really\?",
        "belief": rf"Where (?P<chain>.+) look for {_THING['en']}\?",
    },
    "zh": {
        "memory": rf"一开始，{_THING['zh']}在哪里？",
        "reality": rf"{_THING['zh']}实际上在哪里？",
        "belief": rf"(?P<chain>.+)会去哪里找{_THING['zh']}？",
    },
}
_NAMES = {"en": re.compile(r"[A-Z][a-z]+"), "zh": re.compile(r"(..)(?:认为|$)")}


def asked(question, language):
    """The kind of a question, its thing, and its chain of people."""
    for kind, form in _QUESTIONS[language].items():
        if found := re.fullmatch(form, question):
            parts = found.groupdict()
            names = tuple(_NAMES[language].findall(parts.get("chain", "")))
            return kind, parts["thing"], names
    raise ValueError(f"not understood: {question}")


def second_answer(story, question, language):
    """The answer to a question, from the words of the story and the question alone."""
    kind, thing, chain = asked(question, language)
    return Table(story, language, max(2, len(chain))).answer(kind, thing, chain)
