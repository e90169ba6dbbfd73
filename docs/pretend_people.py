"""Rehearse a study: pretend people answer it in the browser's way, so that you can try the results before people come.

    python docs/pretend_people.py STUDY NUMBER

Opens the study on this machine, lets NUMBER of them take it, and closes it. They share out points near the key of
SECEU's bundled stories, or near 4, 3, 2, 1 in other stories, each with more or less noise, and take any answer to other
questions. Every eighth is careless: the same answer to everything, also to attention checks. Use a store of its own for
it (SOCIOMETER_STORE): their answers are no data.
"""

import json
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from html import unescape
from html.parser import HTMLParser
from http.cookiejar import CookieJar
from pathlib import Path
from random import Random
from urllib.error import HTTPError

import sociometer

STORIES = Path(sociometer.__file__).parent / "instruments/seceu/data/scenarios.jsonl"
CARELESS = 8
IN_ORDER = (4.0, 3.0, 2.0, 1.0)


class Form(HTMLParser):
    """The first form that is sent to one of these addresses: hidden values, choices, numbers and texts."""

    def __init__(self, page: str, *actions: str) -> None:
        super().__init__()
        self.actions, self.action, self.inside = actions, "", False
        self.hidden: dict[str, str] = {}
        self.choices: dict[str, list[str]] = {}
        self.numbers: dict[str, tuple[int, int]] = {}
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remembers a field."""
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.inside = not self.action and given["action"] in self.actions
            self.action = given["action"] if self.inside else self.action
        if self.inside and "name" in given:
            name, kind = given["name"], given.get("type", "text")
            if kind == "hidden":
                self.hidden[name] = given["value"]
            elif kind == "radio" or tag == "button":
                self.choices.setdefault(name, []).append(given["value"])
            elif kind == "number":
                self.numbers[name] = int(float(given.get("min") or 18)), int(float(given.get("max") or 65))
            elif kind == "text":
                self.texts.append(name)


class Person:
    """Somebody who reads the pages of a study and answers."""

    def __init__(self, link: str, number: int) -> None:
        self.site, self.start = re.fullmatch(r"(https?://[^/]+)(/.*)", link).groups()
        self.browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        self.lots, self.careless = Random(number), number % CARELESS == CARELESS - 1
        self.noise = self.lots.uniform(0.4, 2.0)  # some people are nearer to the key than others
        lines = map(json.loads, STORIES.read_text("utf-8").splitlines())
        self.keys = [(one["story"]["en"], one["key"]) for one in lines]

    def take_part(self) -> bool:
        """Answers until there is no question left; whether the person came to the end."""
        page, _ = self._send(self.start)
        self._send(self.start, self._filled(Form(page, self.start), page) | {"agree": "yes"})
        answered = 0
        while True:
            page, address = self._send("/take")
            form = Form(page, "/take", "/check", "/after")
            if form.action:
                self._send(form.action, self._filled(form, page))
                answered += form.action == "/take"
            elif 'http-equiv="refresh"' in page:  # a model is answering
                time.sleep(0.5)
            else:
                return address.endswith("/end") and answered > 0

    def _send(self, path: str, fields: dict[str, str] | None = None) -> tuple[str, str]:
        """The page that comes back, and its address."""
        body = urllib.parse.urlencode(fields).encode() if fields else None
        with self.browser.open(urllib.request.Request(self.site + path, body, {"Origin": self.site})) as got:
            return got.read().decode(), got.url

    def _filled(self, form: Form, page: str) -> dict[str, str]:
        text = _text(page)
        fields = form.hidden | dict.fromkeys(form.texts, "pretend")
        for name, values in form.choices.items():
            if self.careless:
                fields[name] = values[0]
            elif form.action == "/check":  # the page names the option to choose once more
                fields[name] = max(values, key=text.count)
            else:
                fields[name] = self.lots.choice(values)
        points = [name for name in form.numbers if name.startswith("points-")]
        if points:
            fields |= zip(points, self._shared_out(text), strict=True)
        for name, (low, high) in form.numbers.items():
            if name not in points:
                fields[name] = str(self.lots.randint(max(low, min(18, high)), max(low, min(65, high))))
        return fields

    def _shared_out(self, text: str) -> list[str]:
        """Ten points, in halves."""
        if self.careless:
            return ["2.5"] * 4
        key = next((key for story, key in self.keys if story in text), IN_ORDER)
        halves = [max(0, round(2 * self.lots.gauss(points, self.noise))) for points in key]
        while sum(halves) != 20:
            place = self.lots.randrange(4)
            halves[place] = max(0, halves[place] + (1 if sum(halves) < 20 else -1))
        return [f"{half / 2:g}" for half in halves]


def _text(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def main() -> None:
    """Opens the study, lets the people take it one after another, and closes it."""
    if len(sys.argv) != 3 or not sys.argv[2].isdecimal():
        sys.exit("Usage: python docs/pretend_people.py STUDY NUMBER")
    study, number = sys.argv[1], int(sys.argv[2])
    command = [sys.executable, "-m", "sociometer.cli.main", "study", "open", study, "--port", "0"]
    finished, refused = 0, ""
    command += ["--per-address", str(number)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            link = re.search(r"https?://\S+/join/\S+", server.stdout.readline())
            if link is None:
                sys.exit(f"the study could not be opened: {server.stderr.read().strip()}")
            for person in range(number):
                finished += Person(link[0], person).take_part()
        except HTTPError as error:
            main_part = re.search(r"<main.*?</main>", error.read().decode(), re.DOTALL)
            refused = _text(main_part[0]) if main_part else str(error)
        finally:
            server.terminate()
    print(f"{finished} of {number} pretend people finished the study '{study}'.")
    if refused:
        sys.exit(f"The others were refused: {refused}")


if __name__ == "__main__":
    main()
