"""Whatever people do in whatever order, a study asks no more people than its quota and counts what happened."""

import os
import random

import pytest
from open_study import OpenStudy
from person import Form

from sociometer.cli.main import run_command

QUOTA, ITEMS = 3, 2
STEPS = ("join", "join", "look", "answer", "answer", "answer", "withdraw", "fail", "restart", "enlarge")


def test_people_who_withdraw_make_no_room_for_others(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1", "--quota", str(QUOTA)) as opened:
        asked = 0
        for _ in range(3 * QUOTA):
            person = opened.person()
            form = Form(person.get(opened.link).text, opened.link)
            if person.post(opened.link, {**form.hidden, "agree": "yes"}).status == 403:
                continue
            asked += Form(person.page().text, "/take").hidden != {}
            person.answer_all()
            assert person.withdraw().status == 200
        assert asked == opened.book.started("spring") == QUOTA
        gone = opened.book.gone("spring")
        assert (gone.withdrew, gone.started, gone.finished) == (QUOTA, QUOTA, QUOTA)


class Visitor:
    """A person of the sequence, and what is true of them."""

    def __init__(self, person):
        self.person = person
        self.has_joined = self.has_started = self.has_withdrawn = False
        self.answers = 0


class Sequence:
    """One study, and the people who do random things in it."""

    def __init__(self, path, lots):
        self.path, self.lots, self.quota = path, lots, QUOTA
        self.visitors = []
        self.opened = OpenStudy(path, "sesi", "--limit", str(ITEMS), "--quota", str(QUOTA)).__enter__()

    def play(self, steps):
        try:
            for _ in range(steps):
                getattr(self, self.lots.choice(STEPS))()
                self.check()
        finally:
            self.opened.__exit__()

    def some(self):
        """Somebody who takes part; None if nobody does."""
        present = [visitor for visitor in self.visitors if visitor.has_joined and not visitor.has_withdrawn]
        return self.lots.choice(present) if present else None

    @property
    def started(self):
        return sum(visitor.has_started for visitor in self.visitors)

    def join(self):
        visitor = Visitor(self.opened.person())
        form = Form(visitor.person.get(self.opened.link).text, self.opened.link)
        got = visitor.person.post(self.opened.link, {**form.hidden, "agree": "yes"})
        assert got.status == (303 if self.started < self.quota else 403)
        visitor.has_joined = got.status == 303
        if visitor.has_joined:
            visitor.person.code = visitor.person.get("/code").text.split("<code>")[1].split("</code>")[0]
        self.visitors.append(visitor)

    def look(self):
        visitor = self.some()
        if visitor is None:
            return
        got = visitor.person.get("/take")
        if visitor.has_started or self.started < self.quota:
            assert got.status in (200, 303)
            visitor.has_started = True
        else:
            assert got.status == 403

    def answer(self):
        visitor = self.some()
        if visitor is not None and visitor.has_started:
            visitor.answers += visitor.person.answer()
            visitor.person.page()  # after the last answer, the end: only then is it finished

    def withdraw(self):
        visitor = self.some()
        if visitor is None:
            return
        if self.lots.random() < 0.5:
            assert visitor.person.withdraw().status == 200
        else:
            # The owner does it; while the study holds the run in memory, it is finished later.
            command = ["study", "withdraw", "spring", visitor.person.code, "--yes", "--store", str(self.path)]
            assert run_command(command) in (0, 5)
        visitor.has_withdrawn = True

    def fail(self):
        """Somebody withdraws while another process holds the run."""
        visitor = self.some()
        run = visitor and self.opened.run_of(visitor.person)
        if not run or visitor.answers < ITEMS:
            return
        visitor.person.page()  # the end: the study itself holds it no more
        with self.opened.store.hold(run):
            asked = Form(visitor.person.get("/stored").text, "/withdraw").hidden
            assert visitor.person.post("/withdraw", {**asked, "sure": "yes"}).status == 503
        visitor.has_withdrawn = True

    def restart(self):
        opened = self.opened
        opened.__exit__()
        opened.__enter__()
        for visitor in self.visitors:
            # Another port has another name of the cookie.
            value = visitor.person.cookie.partition("=")[2]
            visitor.person.url = opened.served.url
            visitor.person.cookie = f"{opened.served.address.guest_cookie}={value}"

    def enlarge(self):
        if self.quota < 2 * QUOTA:
            self.quota += 1
            change = ["study", "change", "spring", "--quota", str(self.quota), "--store", str(self.path)]
            assert run_command(change) == 0

    def check(self):
        book = self.opened.book
        with book.changing():  # the study finishes withdrawals meanwhile
            self.compare(book)

    def compare(self, book):
        assert book.started("spring") == self.started <= self.quota
        gone, leaving = book.gone("spring"), book.withdrawing()
        left = [visitor for visitor in self.visitors if visitor.has_withdrawn]
        assert gone.withdrew + len(leaving) == len(left)
        assert gone.started + sum(person.started for person in leaving) == sum(each.has_started for each in left)
        finished = sum(each.answers == ITEMS for each in left)
        assert gone.finished + sum(person.finished for person in leaving) == finished
        present = sum(each.has_joined and not each.has_withdrawn for each in self.visitors)
        assert len(book.participants("spring")) == present


@pytest.mark.parametrize("seed", range(int(os.environ.get("SEQUENCES", "6"))))
def test_random_sequences_keep_quotas_and_counts_true(seed, tmp_path):
    Sequence(tmp_path / "s.db", random.Random(seed)).play(40)
