"""People read texts that were written for people: no formats for models, no options twice, forms they can use."""

import asyncio
import json
import re

import msgspec
import pytest
from open_study import OpenStudy
from person import Form

from sociometer.cli.main import run_command
from sociometer.core.conversation import Allocation, Choice, Free, Reply, Schema, Usage
from sociometer.engine.engine import Engine
from sociometer.engine.run_options import make_config
from sociometer.instruments import cards, load
from sociometer.store.store import Store
from sociometer.web.forms import fields_of, people_folder, people_texts
from sociometer.web.rendering import texts
from sociometer.web.seats import FormPlayer

FOR_MODELS = re.compile(
    r"Answer: X|答案：X|JSON|nothing but|Write one line|每种情绪写一行|the letter of|选项字母|own_total|_belief"
)
GAMES = ("blackjack", "numbers", "holdem")
TASKS = [
    (name, task.name, language)
    for name, card in cards().items()
    if name in ("sesi", "seceu", "egosocial", "socialeval")
    for language in card.languages
    for task in card.task
    if task.name in card.default_tasks(official=False) and (language == "en" or task.name not in GAMES)
]


class Reader(FormPlayer):
    """Answers anything, and keeps what it was shown."""

    def __init__(self):
        super().__init__("p-1", 0)
        self.seen = []

    async def answer(self, request):
        self.seen.append(request)
        match request.answer_format:
            case Choice(labels=labels):
                said = labels[0]
            case Allocation(options=options, total=total):
                said = "\n".join(f"{option}: {0 if place else total}" for place, option in enumerate(options))
            case Schema(schema=schema):
                said = msgspec.json.encode({name: _value(part) for name, part in schema["properties"].items()}).decode()
            case Free():
                said = "I see. Tell me more."
        return Reply(said, usage=Usage(0, 0))


def _value(part):
    return part["enum"][-1] if "enum" in part else "words" if part["type"] == "string" else part.get("minimum", 17)


def seen(path, name, task, language):
    instrument = load(name)
    known = {one.name for one in instrument.card.setting}
    small = {"language": language, "stories": 1, "rounds": 2}
    settings = {name: value for name, value in small.items() if name in known}
    config = make_config(
        instrument.card, "human", tasks=(task,), limit=1 if task in GAMES else 2, repeats=1, settings=settings,
        prompts=people_folder(instrument),
    )  # fmt: skip
    reader = Reader()
    with Store(path) as store:
        engine = Engine(store, load)
        asyncio.run(engine.play(engine.prepare(engine.plan(config, players={"human": reader}))))
    return instrument, reader.seen


@pytest.mark.parametrize(("name", "task", "language"), TASKS)
def test_no_text_is_for_models(tmp_path, name, task, language):
    instrument, requests = seen(tmp_path / "s.db", name, task, language)
    texts = people_texts(instrument, language)
    assert requests
    for request in requests:
        said = "\n".join(message.content for message in request.messages if message.role != "assistant")
        assert not FOR_MODELS.search(said), said
        wanted = request.answer_format
        if isinstance(wanted, Choice) and wanted.labels != wanted.options:
            assert not all(
                f"{label}. {option}" in said for label, option in zip(wanted.labels, wanted.options, strict=True)
            )
        for field in fields_of(wanted, texts):
            assert "_" not in field.label


def test_a_move_is_a_button_and_the_enter_key_chooses_none(tmp_path):
    with OpenStudy(tmp_path / "s.db", "egosocial", "--task", "holdem", "--limit", "1") as opened:
        person = opened.person().join()
        text = person.page().text
        assert re.search(r'<button name="answer" value="fold">Fold</button>', text)
        assert text.index("<button disabled hidden>") < text.index('<button name="answer"')
        assert "♠" in text or "♥" in text or "♦" in text or "♣" in text
        assert Form(text, "/take").radios["answer"] == ["call", "raise", "fold"]
        assert person.answer()


def test_a_study_that_cannot_be_played_is_refused_when_it_is_made(tmp_path, capsys):
    command = ["study", "create", "sage", "--task", "dialogue", "--name", "spring", "--store", str(tmp_path / "s.db")]
    assert run_command(command) == 2
    assert "'dialogue' is not for people" in capsys.readouterr().err


def test_what_came_of_an_item_is_told_on_the_next_page(tmp_path):
    with OpenStudy(tmp_path / "s.db", "egosocial", "--task", "blackjack", "--limit", "2", "--shows", "score") as opened:
        person = opened.person(choose=lambda values: values[-1]).join()
        assert "the dealer had" not in person.page().text
        person.practise()
        assert re.search(r"the dealer had [♠♥♦♣]", person.page().text)
        person.answer()
        assert re.search(r"the dealer had [♠♥♦♣]", person.page().text)
        person.answer_all()
        end = person.page().text
        assert "the dealer had" in end and "Hands in which" in end and "belief" not in end


def test_the_second_telling_of_a_story_is_announced(tmp_path):
    one = ["egosocial", "--task", "generated", "--limit", "1", "--set", "stories=1"]
    with OpenStudy(tmp_path / "s.db", *one) as opened:
        person = opened.person().join()
        assert "part 2" not in person.page().text
        person.answer()
        assert "1 of 1, part 2" in person.page().text and "one person has become “you”" in person.page().text


def test_official_deals_are_in_words_for_people_too(tmp_path):
    (tmp_path / "egosocialarena").mkdir()
    line = {"system": "Play.", "user": "The dealer's card is {Heart 5}. Your cards are {Spade 9, Club 2}. ### Output"}
    (tmp_path / "egosocialarena" / "blackjack.jsonl").write_text(json.dumps(line) + "\n")
    data = ["--data", str(tmp_path), "--limit", "1"]
    with OpenStudy(tmp_path / "s.db", "egosocial", "--task", "blackjack", *data) as opened:
        text = opened.person().join().page().text
        assert "### Output" not in text and "9 of spades" in text


def test_the_background_is_folded_from_the_second_question_on_and_players_are_you_and_the_other(tmp_path):
    with OpenStudy(tmp_path / "s.db", "egosocial", "--task", "holdem", "--limit", "1") as opened:
        person, seen = opened.person().join().practise(), []
        while Form((page := person.page()).text, "/take").hidden:
            seen.append(page.text)
            person.answer()
        assert "<details" not in seen[0] and all('<details class="background">' in text for text in seen[1:])
        assert not [text for text in seen if re.search(r"player [01]|-----", text, re.IGNORECASE)]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_study_refuses_tasks_whose_items_are_in_another_language(tmp_path, capsys, language):
    command = ["study", "create", "egosocial", "--language", "zh", "--name", "spring", "--set", "stories=1"]
    tasks = ["--task", "blackjack", "--task", "generated", "--store", str(tmp_path / "s.db")]
    if language == "en":
        command = ["study", "create", "seceu", "--set", "language=zh", "--name", "spring"]
        tasks = ["--store", str(tmp_path / "s.db")]
    assert run_command([*command, *tasks]) == 2
    said = (
        "with --language, not with --set"
        if language == "en"
        else "blackjack in English only; choose others with --task: gen"
    )
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("pages", ["study", "rating"])
def test_both_languages_have_the_same_words(pages):
    english, chinese = texts(pages, "en"), texts(pages, "zh")
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert ("{" in text) == ("{" in chinese[key]), key


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_result_says_of_which_test_it_is(language):
    found = [
        (label, name)
        for name, card in cards().items()
        if language in card.languages
        for label in people_texts(load(name), language).results.values()
    ]
    assert len(dict(found)) == len(found) > 5, "no two tasks have a result with the same words"
    short = [label for label, _ in found for other, _ in found if label != other and label in other]
    assert not short, "nor one whose words are those of another and more"
