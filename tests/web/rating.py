"""A queue that is made by the command and served in this process, and raters who fill in its forms."""

import json
import re

from person import Form, plain
from serving import Client, Served

from sociometer.cli.main import run_command
from sociometer.instruments import load
from sociometer.store.labels import LabelBook, book_path
from sociometer.web.annotate import annotate_application, compared
from sociometer.web.guard import TOKENS


class OpenQueue:
    """The queue `spring` of a store."""

    def __init__(self, path, capsys, *options):
        self.path = path
        capsys.readouterr()
        assert run_command(["annotate", "create", "spring", *options, "--store", str(path), "--json"]) == 0
        self.made = json.loads(capsys.readouterr().out)
        self.codes = self.made["codes"]

    def __enter__(self):
        self.book = LabelBook(book_path(self.path))
        self.queue = self.book.queue("spring")
        app = annotate_application(self.queue, self.book, lambda queue: compared(self.path, load, self.book, queue))
        self.tokens = app[TOKENS]
        self.served = Served(app).__enter__()
        self.link = f"/join/{self.queue.secret}"
        return self

    def __exit__(self, *_):
        self.served.__exit__()
        self.book.close()

    def rater(self, name):
        client = Client(self.served.url)
        assert client.post(self.link, {"code": self.codes[name]}).status == 303
        return client

    def owner(self):
        client = Client(self.served.url)
        assert client.post("/enter", {"token": self.tokens.make()}).status == 303
        return client


def label_all(client, choose, most=500):
    """Labels everything that a rater is given; `choose` takes the text of the page and the form."""
    seen = []
    for _ in range(most):
        got = client.get("/rate")
        if got.status == 303 or "<form" not in got.text:
            return seen
        form = Form(got.text, "/rate")
        seen.append(form.hidden["unit"])
        shown = plain(re.search(r'<dl class="unit">.*?</dl>', got.text, re.DOTALL).group(0))
        answers = choose(shown, form)
        assert client.post("/rate", {**form.hidden, **answers, "action": "label"}).status == 303
    raise AssertionError("the queue never ends")


def first(shown, form):
    return {name: values[0] for name, values in form.radios.items()} | dict.fromkeys(form.numbers, "50")


def second(shown, form):
    return {name: values[1] for name, values in form.radios.items()} | dict.fromkeys(form.numbers, "60")
