"""A scripted person: reads the forms of a study as a browser does, and fills them in."""

import re
import time
from html import unescape
from html.parser import HTMLParser
from itertools import cycle

from serving import Client


class Form(HTMLParser):
    """The fields of the form that is sent to a path: hidden values, options, numbers and texts."""

    def __init__(self, text, action):
        super().__init__()
        self._action, self._inside = action, False
        self.hidden, self.radios, self.numbers, self.texts = {}, {}, {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "form":
            self._inside = given["action"] == self._action
        if not self._inside or "name" not in given:
            return
        kind = "words" if tag == "textarea" else given.get("type")
        if kind == "hidden":
            self.hidden[given["name"]] = given["value"]
        elif kind == "radio" or tag == "button":
            self.radios.setdefault(given["name"], []).append(given["value"])
        elif kind == "number":
            self.numbers[given["name"]] = float(given.get("min") or 0), float(given.get("max") or 100)
        elif kind in ("words", "text"):
            self.texts.append(given["name"])


class Person(Client):
    """Somebody who takes part; `choose` says which option, `points` how they share out."""

    def __init__(self, url, join, choose=lambda values: values[0], points=(4, 3, 2, 1), words="I see. Tell me more."):
        super().__init__(url)
        self.join_path, self.choose, self.points, self.words = join, choose, points, words
        self.code = ""

    def join(self, **about):
        form = Form(self.get(self.join_path).text, self.join_path)
        got = self.post(self.join_path, {**form.hidden, "agree": "yes", **about})
        assert got.status == 303, plain(got.text)
        code = re.search(r"<code>([^<]+)</code>", self.get(got.headers["Location"]).text)
        self.code = code[1] if code else ""  # who is screened out gets none
        return self

    def come_back(self, code=None):
        return self.post(f"{self.join_path}/code", {"code": code or self.code})

    def page(self):
        """The page that the person is on now; the pages on which somebody else answers are waited through."""
        while True:
            got = self.get("/take")
            if got.status == 303:
                return self.get(got.headers["Location"])
            if 'http-equiv="refresh"' not in got.text:
                return got
            time.sleep(0.005)

    def filled(self, form):
        fields = dict(form.hidden)
        fields |= {name: self.choose(values) for name, values in form.radios.items()}
        for points, (name, (low, high)) in zip(cycle(self.points), form.numbers.items(), strict=False):
            fields[name] = f"{min(max(points, low), high):g}"
        fields |= {name: "50 %" if "percent" in name else self.words for name in form.texts}
        return fields

    def answer(self):
        """Answers one question; False where there is none any more."""
        return self.answer_page(self.page().text)

    def answer_page(self, text):
        """Answers the question of a page; False where there is none."""
        form = Form(text, "/take")
        if not form.hidden:
            return False
        got = self.post("/take", self.filled(form))
        assert got.status == 303, plain(got.text)
        return True

    def practise(self):
        """Plays the rounds that do not count."""
        while "does not count" in self.page().text:
            assert self.answer()
        return self

    def withdraw(self):
        """Asks to withdraw, and says yes on the page that asks once more; the last page."""
        asked = self.post("/withdraw", Form(self.get("/stored").text, "/withdraw").hidden)
        assert asked.status == 200, plain(asked.text)
        return self.post("/withdraw", Form(asked.text, "/withdraw").hidden)

    def answer_all(self, most=500):
        count = 0
        while count < most and self.answer():
            count += 1
        return count


def plain(text):
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())
