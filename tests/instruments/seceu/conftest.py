import zipfile
from xml.sax.saxutils import escape

import pytest

from rehearsal import Rehearsal
from sociometer.core.conversation import Identity, Reply
from sociometer.core.player import RulePlayer
from sociometer.instruments import load
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


class Speaker(RulePlayer):
    """A subject that answers by a function of the request."""

    identity = Identity("test", "speaker")

    def __init__(self, say):
        self._say = say
        self.requests = []

    async def answer(self, request):
        self.requests.append(request)
        return Reply(self._say(request))


@pytest.fixture(scope="session")
def seceu():
    return load("seceu")


@pytest.fixture
def rehearse(seceu):
    """A rehearsal of SECEU with a model's name, a function of the request, or a fixed reply as the subject."""

    def make(subject, data=None, **settings):
        if isinstance(subject, str) and subject.startswith("baseline/"):
            player = resolve(subject, ModelOptions())
        else:
            player = Speaker(subject if callable(subject) else lambda _: subject)
        made = Rehearsal(seceu, {"subject": player}, settings, data=data)
        made.subject = player
        return made

    return make


@pytest.fixture
def write_docx(tmp_path):
    """Writes a Word file of some paragraphs; a tab and a line break become Word's own."""

    def write(name, paragraphs, head='<?xml version="1.0"?>'):
        body = "".join(f"<w:p><w:r><w:t>{_marked(text)}</w:t></w:r></w:p>" for text in paragraphs)
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(
                "word/document.xml", f'{head}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
            )
        return path

    return write


def _marked(text):
    return escape(text).replace("\t", "</w:t><w:tab/><w:t>").replace("\n", "</w:t><w:br/><w:t>")
