"""Rehearse a study: pretend people answer it in the browser's way, so that you can try the results before people come.

    python docs/pretend_people.py STUDY NUMBER

Opens the study on this machine, lets NUMBER of them take it, and closes it. They share out points near the key of
SECEU's bundled stories, each with more or less noise, and take any answer to other questions. Use a store of its own
for it (SOCIOMETER_STORE): their answers are no data.
"""

import json
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from html import unescape
from html.parser import HTMLParser
from http.cookiejar import CookieJar
from pathlib import Path
from random import Random

import sociometer

STORIES = Path(sociometer.__file__).parent / "instruments/seceu/data/scenarios.jsonl"


class Form(HTMLParser):
    """The fields of the form with this address: hidden values, the values of a choice, the names of numbers."""

    def __init__(self, page: str, action: str) -> None:
        super().__init__()
        self.action, self.inside = action, False
        self.hidden: dict[str, str] = {}
        self.choices: dict[str, list[str]] = {}
        self.numbers: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remembers a field."""
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.inside = given["action"] == self.action
        if self.inside and "name" in given:
            if given.get("type") == "hidden":
                self.hidden[given["name"]] = given["value"]
            elif given.get("type") == "radio" or tag == "button":
                self.choices.setdefault(given["name"], []).append(given["value"])
            elif given.get("type") == "number":
                self.numbers.append(given["name"])


def take_part(link: str, lots: Random) -> None:
    """One person reads the pages of a study and answers until there is no question left."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    keys = [(one["story"]["en"], one["key"]) for one in map(json.loads, STORIES.read_text("utf-8").splitlines())]
    noise = lots.uniform(0.4, 2.0)  # some people are nearer to the key than others
    site, path = re.fullmatch(r"(https?://[^/]+)(/.*)", link).groups()

    def send(path: str, fields: dict[str, str] | None = None) -> str:
        body = urllib.parse.urlencode(fields).encode() if fields else None
        return browser.open(urllib.request.Request(site + path, body, {"Origin": site})).read().decode()

    def filled(form: Form, page: str) -> dict[str, str]:
        text = " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())
        key = next((key for story, key in keys if story in text), None)
        fields = dict(form.hidden)
        fields |= {name: lots.choice(values) for name, values in form.choices.items()}
        if key is None:
            return fields | {name: str(lots.randint(18, 65)) for name in form.numbers}
        halves = [max(0, round(2 * lots.gauss(points, noise))) for points in key]
        while sum(halves) != 20:  # ten points, in halves
            place = lots.randrange(4)
            halves[place] = max(0, halves[place] + (1 if sum(halves) < 20 else -1))
        return fields | {name: f"{half / 2:g}" for name, half in zip(form.numbers, halves, strict=True)}

    page = send(path)
    send(path, filled(Form(page, path), page) | {"agree": "yes"})
    while (form := Form(page := send("/take"), "/take")).hidden:
        send("/take", filled(form, page))


def main() -> None:
    """Opens the study, lets the people take it one after another, and closes it."""
    study, number = sys.argv[1], int(sys.argv[2])
    command = [sys.executable, "-m", "sociometer.cli.main", "study", "open", study, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            link = re.search(r"https?://\S+/join/\S+", server.stdout.readline())
            if link is None:
                sys.exit("the study could not be opened; the message above says why")
            for person in range(number):
                take_part(link[0], Random(person))
        finally:
            server.terminate()
    print(f"{number} pretend people took the study '{study}'.")


if __name__ == "__main__":
    main()
