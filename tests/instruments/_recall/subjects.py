"""Scripted subjects behind a server: what they have by heart, and what they say where they know nothing."""

import re
import zlib

OPTION = re.compile(r"^([A-D])\. (.+)$", re.MULTILINE)
FLUENT = (
    "and after a while they talked about it again, because it was clear that nobody had meant any harm, and in the end"
    " they agreed that it would be best to wait until the next day before they decided what to do about it."
    " 于是他们又谈了一会儿，觉得还是先等一等，第二天再决定该怎么办。"
)


class Subject:
    """Answers both kinds of question, and B to the test itself; knows a share of the given items by heart."""

    def __init__(self, items, *, share=1.0, completes=True, orders=True, same_order="A, B, C, D"):
        self.items = [item for item in items if zlib.crc32(item[0].encode()) % 1000 < 1000 * share]
        self.completes, self.orders, self.same_order = completes, orders, same_order

    def __call__(self, body):
        prompt = body["messages"][-1]["content"]
        if "first half of a text" in prompt or "前半部分" in prompt:
            return self.complete(prompt.split("\n\n", 1)[1])
        if "Its options are shuffled" in prompt or "已经打乱" in prompt:
            return self.order(prompt)
        return "B"

    def complete(self, shown):
        if self.completes:
            for text, _ in self.items:
                if squeezed(text).startswith(squeezed(shown)):
                    return rest_of(text, shown)
        return FLUENT

    def order(self, prompt):
        if self.orders:
            shown = {option.strip(): letter for letter, option in OPTION.findall(prompt)}
            for text, options in self.items:
                if text in prompt and {option.strip() for option in options} == set(shown):
                    return ", ".join(shown[option.strip()] for option in options)
        return self.same_order


def squeezed(text):
    return "".join(text.split())


def rest_of(text, shown):
    """The rest of a text after its beginning, whatever the spaces between words."""
    left = len(squeezed(shown))
    for place, letter in enumerate(text):
        left -= not letter.isspace()
        if left == 0:
            return text[place + 1 :]
    return ""
