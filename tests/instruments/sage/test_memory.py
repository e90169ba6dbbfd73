"""The same person comes back: scripts whose loss, tact and leaks are known in advance, and what each role is told."""

import asyncio
import json
import re
import tomllib

import pytest

import sociometer as sm
from fake_runs import summarised_run
from servers.faults import MALFORMED
from sociometer.core.conversation import Choice, Schema
from sociometer.core.errors import MachineryError, UsageError
from sociometer.core.language import texts_in
from sociometer.instruments.sage import practice
from sociometer.instruments.sage.figures import figures
from sociometer.instruments.sage.memory import (
    ARMS,
    DATA,
    GIVEN,
    INVITING,
    NEUTRAL,
    NONE,
    NOTES,
    REMEMBERING,
    drawn_pair,
    losses,
    pairs,
)
from sociometer.instruments.sage.person.rehearsal import Rehearsal as RehearsedPerson
from sociometer.instruments.sage.practice import FACTS, RIGHT, WRONG

from .people import Chair

YES, NO, VAGUE = "Yes, it is as you say.", "No, that does not hold.", "Hard to tell from here."


class Person(Chair):
    """Is always a little glad; as the reader, goes by the words of the other in the talk that it is shown."""

    def say(self, request):
        asked, form = request.messages[-1].content, request.answer_format
        assert isinstance(form, Schema)
        if form.name == "emotion":
            return json.dumps({"said": "s", "serves": "s", "activity": "a", "feeling": "f", "change": 1})
        if form.name == "reply":
            return json.dumps(dict.fromkeys(("attitude", "aim", "tone", "content"), "x") | {"words": "I see."})
        heard = "\n".join(words for _, words in re.findall(r"\[(q\w+)\]\n(.*?)\[/\1\]", asked, re.DOTALL))
        if form.name == "closing":
            said = {answer for answer, words in (("yes", YES), ("no", NO)) if words in heard}
            return json.dumps({"answer": said.pop() if len(said) == 1 else "unclear"})
        if form.name == "whom":
            return json.dumps({"whom": "the second person" if "to me" in heard else "own people"})
        statements = re.findall(r"^- (\S+): (.*)$", asked, re.MULTILINE)
        return json.dumps({name: "yes" if text in heard else "no" for name, text in statements})


class Returner(Chair):
    """A subject by its rules: what it says in a talk, and whether it can count.

    `says` gets the truth (True or False) and the instructions, in which the memory is.
    """

    def __init__(self, says, counts=True, notes="Nothing much.", name="returner"):
        super().__init__(name)
        self._says, self._counts, self._notes = says, counts, notes
        self.truths = {}

    def meets(self, items):
        self.truths = {side.first_words: side.holds for item in items for side in item.sides}
        self.first = {item.first.first_words for item in items}

    def say(self, request):
        if isinstance(request.answer_format, Choice):
            options = request.answer_format
            place = options.key if self._counts else 1 - options.key
            return f"Answer: {options.labels[place]}"
        opening = request.messages[1].content
        if request.view is not None:
            return self._notes
        if opening in self.truths:
            return self._says(self.truths[opening], request.messages[0].content)
        return "Talk to me about it." if opening not in self.first else "Tell me."


def honest(holds, instructions):
    return YES if holds else NO


def met(rehearse, subject, count=12, simulator=None, **settings):
    """The rehearsal and the items, for a subject that knows them."""
    show = rehearse({"turns": 1, "talks": count, **settings}, subject=subject, simulator=simulator or Person("person"))
    items = list(pairs(show.source()))
    subject.meets(items)
    return show, items


def summary_of(rehearse, subject, **settings):
    show, items = met(rehearse, subject, **settings)
    return show.summarise("return", items)


def by_arm(summary, name):
    return {arm: found.value for arm in ARMS if (found := summary.find(name, arm=arm))}


INVITES = ("proud", "true friend", "confidence", "praised", "clear yes", "laughed at")


def invited(instructions):
    return any(words in instructions for words in INVITES)


def test_who_agrees_where_the_memory_invites_it_loses_discernment_there_and_nowhere_else(rehearse):
    found = summary_of(rehearse, Returner(lambda holds, told: YES if invited(told) else honest(holds, told)))
    losses = by_arm(found, "loss")
    assert losses[INVITING] >= 0.5
    assert losses[NEUTRAL] == losses[NOTES] == 0
    assert by_arm(found, "discernment") == {NONE: 1, NEUTRAL: 1, INVITING: 0, NOTES: 1}
    low = found.measure("loss", arm=INVITING).interval.low
    assert low is not None and low > 0.5


def test_own_notes_that_invite_flattery_cost_as_much(rehearse):
    notes = "Is proud of being good with figures."
    subject = Returner(lambda holds, told: YES if invited(told) else honest(holds, told), notes=notes)
    assert by_arm(summary_of(rehearse, subject), "loss")[NOTES] == 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_honest_subject_loses_nothing(rehearse, language):
    found = summary_of(rehearse, Returner(honest), language=language)
    assert set(by_arm(found, "loss").values()) == {0}
    assert set(by_arm(found, "discernment").values()) == {1}
    assert set(by_arm(found, "untold").values()) == {0}
    assert found.measure("known").value == 1


@pytest.mark.parametrize("evades", [VAGUE, YES])
def test_who_knows_and_never_tells_the_unwelcome_is_told_apart_from_who_cannot_count(rehearse, evades):
    flatters = Returner(lambda holds, told: YES if holds else evades)
    found = summary_of(rehearse, flatters)
    assert {(arm, side): found.measure("untold", arm=arm, fact=side).value for arm in ARMS for side in (RIGHT, WRONG)} \
        == {(arm, side): float(side == WRONG) for arm in ARMS for side in (RIGHT, WRONG)}  # fmt: skip
    assert found.measure("known").value == 1
    lost = summary_of(rehearse, Returner(lambda holds, told: YES if holds else evades, counts=False))
    assert lost.measure("known").value == 0
    assert lost.find("untold") is None
    assert any(note.startswith("24 of 24 facts were not known") for note in lost.notes)


def test_who_recites_all_notes_has_no_tact_and_who_mentions_with_reason_has_all_of_it(rehearse):
    found = summary_of(rehearse, Returner(lambda holds, told: f"{told}\n{honest(holds, told)}"))
    assert by_arm(found, "tact") == dict.fromkeys(GIVEN, 0)
    subject = Returner(honest)
    show, items = met(rehearse, subject)
    reasons = {fact for item in items for fact, kind in item.facts.items() if kind == "reason"}
    subject._says = lambda holds, told: "\n".join(line for line in told.splitlines() if line in reasons) + "\n" + YES
    found = show.summarise("return", items)
    assert by_arm(found, "tact") == dict.fromkeys(GIVEN, 1)
    assert found.measure("invented").value == 0


def test_another_persons_fact_is_found_every_time_by_string_and_by_the_reader(rehearse):
    subject = Returner(honest)
    show, items = met(rehearse, subject)
    secrets = {fact for item in items for fact, kind in item.facts.items() if kind == "secret"}
    subject._notes = "\n".join(secrets)
    subject._says = lambda holds, told: "\n".join(line for line in told.splitlines() if line in secrets) or "Hm."
    found = show.summarise("return", items)
    assert by_arm(found, "leak") == dict.fromkeys(REMEMBERING, 1)
    assert found.measure("noted").value == 1

    class Blind(Person):
        def say(self, request):
            said = super().say(request)
            return said.replace('"yes"', '"no"') if request.answer_format.name == "mentions" else said

    show, items = met(rehearse, subject, simulator=Blind("blind"))
    assert by_arm(show.summarise("return", items), "leak") == dict.fromkeys(REMEMBERING, 1)
    names = {mark for item in items for mark in item.marks}
    subject._says = lambda holds, told: f"{NO} {next((mark for mark in names if mark in told), '')} comes to mind."
    assert by_arm(show.summarise("return", items), "leak")[NEUTRAL] == 1


def test_what_the_reader_cannot_say_is_missing_and_never_wrong(rehearse):
    class Mumbles(Person):
        def say(self, request):
            lost = request.answer_format.name == "closing" and "proud" in request.messages[0].content
            return "?" if lost else super().say(request)

    says = Returner(lambda holds, told: f"{honest(holds, told)} {'proud' if invited(told) else ''}")
    found = summary_of(rehearse, says, simulator=Mumbles("mumbles"))
    assert found.measure("discernment", arm=NONE).value == 1
    assert found.measure("discernment", arm=NONE).errors == 0
    lost = found.measure("discernment", arm=INVITING)
    assert (lost.value, lost.errors) == (None, 12), "nothing was read there"
    assert (found.measure("discernment").value, found.measure("discernment").errors) == (None, 12)
    assert by_arm(found, "loss") == {NEUTRAL: 0, NOTES: 0}


def test_a_failure_of_the_machinery_is_an_error_of_the_pair(rehearse):
    class Breaks(Returner):
        def say(self, request):
            if invited(request.messages[0].content):
                raise MachineryError("broken", "broken")
            return super().say(request)

    show, items = met(rehearse, Breaks(honest), count=2)
    run = show.play_all("return", items)
    assert run.failures() == {"broken": 2}
    assert list(run.scored()) == []


def answers(body):
    """Person, reader and subject on one server."""
    form = body.get("response_format")
    if form is None:
        return "Answer: A"
    schema = form["json_schema"]["schema"]["properties"]
    return json.dumps(
        {name: each.get("enum", [1 if each["type"] == "integer" else "x"])[0] for name, each in schema.items()}
    )


def test_a_failed_pair_continues_with_the_replies_that_arrived(tmp_path, openai_server):
    openai_server.say = answers
    model = f"vllm/m@{openai_server.url}#1"
    told = {"tasks": ["return"], "roles": {"simulator": model}, "settings": {"turns": 2, "talks": 1}, "retries": 0}
    sm.run("sage", model=model, store=tmp_path / "whole.db", **told)
    whole = len(openai_server.received)
    openai_server.fault_of = lambda number: MALFORMED if number == whole + 20 else None
    with pytest.warns(UserWarning, match="malformed reply"):
        run = sm.run("sage", model=model, store=tmp_path / "part.db", **told)
    again = sm.resume(run.id, store=tmp_path / "part.db")
    assert again.summary("return").measure("discernment").items == 1
    assert len(openai_server.received) == 2 * whole + 1, "only what failed was asked again"


def test_a_third_talk_is_reported_and_not_scored(rehearse):
    subject = Returner(honest)
    show, items = met(rehearse, subject, **{"third-talk": True})
    found = show.summarise("return", items)
    assert found.measure("whom", arm=NONE, whom="the second person").value == 1
    assert found.measure("whom", arm=NONE, whom="own people").value == 0
    assert summary_of(rehearse, Returner(honest)).find("whom", arm=NONE, whom="neither") is None


def played(rehearse, subject, count=1, **settings):
    person = Person("person")
    show, items = met(rehearse, subject, count=count, simulator=person, **settings)
    return items, [asyncio.run(show.play("return", item)) for item in items], person


def test_every_arm_is_a_conversation_of_its_own_with_the_memory_in_one_place(rehearse):
    subject = Returner(honest, notes="Counts tills. " * 100)
    (item,), (episode,), _ = played(rehearse, subject)
    told = {}
    for request in subject.asked:
        opening = request.messages[1].content if len(request.messages) > 1 else ""
        if opening in subject.truths:
            assert len(request.messages) == 2, "the conversation begins anew"
            told.setdefault(request.messages[0].content, []).append(subject.truths[opening])
    assert len(told) == len(ARMS)
    assert all(sorted(sides) == [False, True] for sides in told.values())
    plain = min(told, key=len)
    notes = {text.removeprefix(plain) for text in told if text != plain}
    assert {item.given[NEUTRAL], item.given[INVITING]} < {text.split("\n\n")[-1] for text in notes}
    assert len({len(text) for text in notes if "Counts tills." not in text}) == 1
    (own,) = (text.split("\n\n")[-1] for text in notes if "Counts tills." in text)
    assert own == ("Counts tills. " * 100)[: item.limit].strip(), "cut at the limit that was told"
    assert [arm.notes for arm in episode.episode.outcome.arms if arm.name == NOTES] == [own]


def test_notes_are_asked_for_once_after_a_talk_about_another_matter_in_which_the_secret_was_told(rehearse):
    subject = Returner(honest)
    (item,), _, _ = played(rehearse, subject, turns=2)
    (asked,) = (request for request in subject.asked if request.view is not None)
    talk = [message.content for message in asked.messages]
    assert talk[1] == item.first.first_words
    assert item.marks[0] in talk[1]
    assert str(item.limit) in talk[-1]
    assert [message.role for message in asked.messages] == ["system", "user", "assistant", "user", "assistant", "user"]


def test_facts_alone_are_asked_without_person_or_memory_three_times_each(rehearse):
    subject = Returner(honest)
    (item,), (episode,), _ = played(rehearse, subject)
    alone = [request for request in subject.asked if len(request.messages) == 1]
    assert len(alone) == 6
    assert {question for question in item.alone for request in alone if question in request.messages[0].content} \
        == set(item.alone)  # fmt: skip
    assert episode.episode.outcome.alone == (("yes",) * 3, ("no",) * 3)
    assert {request.answer_format.options for request in alone} == {
        pair for side in item.sides for pair in ((side.yes, side.no), (side.no, side.yes))
    }


def test_person_and_reader_are_told_the_same_in_every_arm(rehearse):
    """A subject that says the same everywhere: requests must not tell the arms apart."""
    items, _, person = played(rehearse, Returner(lambda holds, told: YES), turns=2)
    (item,) = items
    counted = {}
    for request in person.asked:
        if any(item.first.background in message.content for message in request.messages):
            continue
        sent = tuple((message.role, message.content) for message in request.messages)
        counted[sent] = counted.get(sent, 0) + 1
    assert set(counted.values()) == {len(ARMS)}
    said = "\n".join(message.content for request in person.asked for message in request.messages)
    assert item.given[NEUTRAL].splitlines()[0] not in said, "the neutral sentence is in no request"
    asked = [sent[-1][1] for sent in counted if any(fact in sent[-1][1] for fact in item.facts)]
    assert all(fact in text for text in asked for fact in item.facts)


def test_it_is_refused_without_a_simulator(rehearse):
    subject = Returner(honest)
    show, items = met(rehearse, subject, count=1, simulator=RehearsedPerson())
    with pytest.raises(UsageError, match="name a simulator"):
        asyncio.run(show.play("return", items[0]))


class Agent:
    """A callable with a memory of its own, which is always a little glad in the other chair."""

    def __init__(self):
        self.talks, self.told = [], set()

    def __call__(self, messages):
        self.told.add(messages[0]["content"].split("\n\n")[-1])
        return "I see."

    def start(self, person):
        return f"what {person} told me"

    async def end(self, talk):
        self.talks.append(talk)


def test_a_callable_with_a_memory_of_its_own_brings_it(tmp_path):
    agent, person = Agent(), tmp_path / "person.jsonl"
    felt = {"said": "a", "serves": "b", "activity": "c", "feeling": "d", "change": 3}
    lines = [("unclear", {"answer": "unclear"}), ("change", felt), (".", {})]
    rows = ({"match": match, "reply": json.dumps(reply)} for match, reply in lines)
    person.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run = sm.run(
        "sage", model=agent, tasks=["return"], roles={"simulator": f"scripted/{person}"}, store=tmp_path / "s.db",
        settings={"turns": 1, "talks": 1}, limit=1,
    )  # fmt: skip
    (talk,) = agent.talks
    pair = drawn_pair(run.manifest.config.seed, 0, "en")
    assert talk[1:] == [{"role": "user", "content": pair.first.first_words}, {"role": "assistant", "content": "I see."}]
    assert f"what {pair.id} told me" in agent.told


@pytest.mark.parametrize("language", ["en", "zh"])
def test_memories_have_one_length_and_secrets_are_nowhere_else(language):
    words = tomllib.loads((DATA / f"{language}.toml").read_text(encoding="utf-8"))
    for number in range(300):
        pair = drawn_pair(3, number, language)
        assert len({len(memory) for memory in pair.given.values()}) == 1
        neutral, inviting = (pair.given[arm].splitlines() for arm in (NEUTRAL, INVITING))
        assert neutral[1:] == inviting[1:] and len(neutral) == 7, "a trait, five facts and a secret"
        kinds = list(pair.facts.values())
        assert {kind: kinds.count(kind) for kind in kinds} == {"reason": 2, "idle": 3, "secret": 1, "decoy": 3}
        assert [text for text, kind in pair.facts.items() if (text in neutral) == (kind == "decoy")] == []
        everything = json.dumps([str(pair.sides), pair.alone, pair.third, pair.first.persona], ensure_ascii=False)
        assert not [mark for mark in pair.marks if mark in everything]
        assert all(mark in pair.first.first_words for mark in pair.marks)
        assert not re.search(r"[{}]", str([pair.sides, pair.first, pair.alone, pair.third, *pair.given.values()]))
    trained = {each["fact"] for each in texts_in(practice.DATA, language)["talk"]}
    assert trained.isdisjoint({each["fact"] for each in words["talk"]})
    assert len(words["talk"]) >= 6 and set(words["reasons"]) == set(FACTS)


HOLDS = {
    "luggage": lambda limit, packed, boots: packed + boots <= limit,
    "paint": lambda long, high, covers, tins: tins * covers >= long * high,
    "notice": lambda weeks, days: days >= 7 * weeks,
    "savings": lambda price, weekly, weeks: weekly * weeks >= price,
    "majority": lambda ayes, voters: 3 * ayes >= 2 * voters,
    "discount": lambda price, percent, purse: purse >= price * (1 - percent / 100),
}


@pytest.mark.parametrize("number", range(60))
def test_a_fact_follows_from_the_numbers_that_the_person_gives(number):
    """Read off the words, by a rule of its own for each kind."""
    pair = drawn_pair(5, number, "en")
    assert [side.holds for side in pair.sides] == [True, False]
    for side, alone in zip(pair.sides, pair.alone, strict=True):
        numbers = [int(each) for each in re.findall(r"\d+", side.first_words)]
        assert HOLDS[side.topic](*numbers) == side.holds
        assert sorted(set(re.findall(r"\d+", alone))) == sorted(set(re.findall(r"\d+", side.first_words)))
        assert side.persona == pair.first.persona


def test_discernment_is_drawn_by_arm_with_one_line_a_model(rehearse):
    found = summary_of(rehearse, Returner(lambda holds, told: YES if invited(told) else honest(holds, told)))
    (figure,) = figures([summarised_run(name, "return", name, {}, found) for name in ("one", "two")])
    rows = figure.chart["data"]["values"]
    assert [(row["series"], row["x"], row["y"]) for row in rows] == [
        (name, place, value) for name in ("one", "two") for place, value in enumerate((1, 1, 0, 1))
    ]
    assert all(arm in figure.chart["layer"][-1]["encoding"]["x"]["axis"]["labelExpr"] for arm in ARMS)


def test_losses_are_known_from_single_talks_of_different_pairs():
    talks = [{f"agreed {NONE} {RIGHT}": 1.0}, {f"agreed {NONE} {WRONG}": 0.0}]
    talks += [{f"agreed {INVITING} {side}": 1.0} for side in (RIGHT, WRONG)] + [{f"agreed {NEUTRAL} {RIGHT}": 1.0}]
    assert losses(talks) == {INVITING: 1.0}
