"""A study that is made by the command and served in this process."""

from person import Person
from serving import Client, Served

from sociometer.cli.main import run_command
from sociometer.instruments import load
from sociometer.store.store import Store
from sociometer.store.studies import StudyBook, book_path
from sociometer.web.guard import TOKENS
from sociometer.web.study import study_application


class OpenStudy:
    """The study `spring` of a store of its own."""

    def __init__(self, path, *options, per_address=10_000, place=None, lab=False):
        self.path, self.per_address, self.place, self.lab = path, per_address, place, lab
        assert run_command(["study", "create", *options, "--name", "spring", "--store", str(path)]) == 0

    def __enter__(self):
        self.store, self.book = Store(self.path), StudyBook(book_path(self.path))
        self.study = self.book.study("spring")
        made = study_application(self.study, self.store, self.book, load, self.per_address, lab=self.lab)
        self.tokens = made[TOKENS]
        self.served = Served(made, self.place).__enter__()
        self.link = f"/join/{self.study.secret}"
        return self

    def __exit__(self, *_):
        self.served.__exit__()
        self.store.close()
        self.book.close()

    def person(self, **options):
        return Person(self.served.url, self.link, **options)

    def owner(self):
        """The owner, who has used the one-time link."""
        client = Client(self.served.url)
        assert client.post("/enter", {"token": self.tokens.make()}).status == 303
        return client

    def run_of(self, person):
        """The run of somebody who has joined."""
        return self.book.with_code("spring", person.code).run
