"""Random commands against the oracle: a few in the suite, more with `-m slow`, by the hour with
`tests/machine.py`."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

import machine
import oracle
from machine import RULES, World
from oracle import FAILED, RIGHT, UNREADABLE, WRONG, Draw, Form, Part, Subject


@pytest.fixture(autouse=True)
def server():
    """The loopback server of all worlds of a test."""
    yield
    if World.server is not None:
        World.server.__exit__()
        World.server = None


class Commands(RuleBasedStateMachine):
    """A world on which any rule can be played at any time."""

    def __init__(self):
        super().__init__()
        self.world = World()
        self.is_broken = False

    def play(self, name, arguments):
        try:
            self.world.play(name, **arguments)
        except BaseException:
            self.is_broken = True
            raise

    def teardown(self):
        try:
            if not self.is_broken:
                self.world.finish()
        finally:
            self.world.close()


def step(name):
    """One rule of `tests/machine.py` as a rule of Hypothesis."""

    def play(self, **arguments):
        self.play(name, arguments)

    play.__name__ = name
    return rule(**{word: st.sampled_from(values) for word, values in RULES[name].choices.items()})(play)


for _name in RULES:
    setattr(Commands, _name, step(_name))


def play_at_random(sequences, steps):
    chosen = settings(
        max_examples=sequences,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Commands, settings=chosen)


def test_random_commands_keep_every_promise():
    play_at_random(sequences=4, steps=7)


@pytest.mark.slow
def test_many_random_commands_keep_every_promise():
    play_at_random(sequences=40, steps=15)


def test_fixed_sequences_keep_every_promise():
    """Sequences that play what a short random one rarely gets to."""
    for seed in range(3):
        steps = machine.draw_steps(machine.random.Random(seed), length=10)
        _, broken = machine.play_steps(steps)
        assert broken is None, broken


def test_the_machine_sees_a_fault(monkeypatch):
    """An oracle that scores wrongly is contradicted, and the fault is shrunk to the one command
    that shows it."""
    monkeypatch.setattr(oracle, "points", lambda test, key, answer: float(answer == WRONG))
    steps = [
        ("compare", {"store": "a", "first": "ann", "second": "bob"}),
        ("run_item", {"store": "a", "models": "eve#1", "place": 1, "name": ""}),
        ("rescore", {"store": "a", "word": "last"}),
    ]
    _, broken = machine.play_steps(steps)
    assert broken is not None and broken.check == "scores_are_right"
    fewest, world, broken = machine.shrink(steps, broken)
    assert [name for name, _ in fewest] == ["run_item"]
    assert 'world.play("run_item"' in machine.as_test(fewest, world, broken)


def test_every_known_fault_has_its_plain_test():
    import test_machine_found

    for test in machine.KNOWN.values():
        assert hasattr(test_machine_found, test), test


# The oracle, by hand.


ANN = Subject("ann", "server", "1")
FORM = Form("sesi", "en", 0, "")


def part(answers, items=4, subject=ANN):
    return Part(subject, FORM, items, 1, answers={Draw(item, 0): answer for item, answer in answers.items()})


def test_a_failure_is_left_out_and_an_unreadable_reply_is_wrong():
    played = part({"a": RIGHT, "b": FAILED, "c": UNREADABLE})
    assert oracle.score(played.form, {}.fromkeys("abc", (0,)), played.answers) == 0.5
    assert played.counts() == oracle.Counts(scored=2, failed=1, unreadable=1, unplayed=1)


def test_two_parts_are_one_result():
    together = oracle.joined([part({"a": FAILED, "b": RIGHT}), part({"a": WRONG, "b": WRONG, "c": RIGHT})])
    assert together == {Draw("a", 0): WRONG, Draw("b", 0): RIGHT, Draw("c", 0): RIGHT}


def test_a_difference_is_that_of_shared_items():
    assert oracle.difference({"a": 1.0, "b": 0.0}, {"b": 1.0, "c": 0.0}) == oracle.Difference(1.0, 1)
    assert oracle.difference({"a": 1.0}, {"b": 1.0}) is None


def test_a_name_means_one_subject():
    ann = part({})
    assert not oracle.refusal(ann, "x", {"x": ANN}, [part({}, items=2)])
    assert oracle.refusal(ann, "x", {"x": Subject("bob", "server", "1")}, [])
    assert oracle.refusal(ann, "x", {"y": ANN}, []) == "it is stored as y"
    assert oracle.refusal(ann, "x", {"x": oracle.A_STUDY}, []) and oracle.refusal(ann, "all", {}, [])
    assert oracle.refusal(ann, "x", {}, [], models=2) and not oracle.refusal(ann, "", {}, [], models=2)


def test_unknown_weights_are_joined_with_same_only():
    new = Subject("ann", "server", "")
    night = new._replace(dated=1)
    stored = part(dict.fromkeys("abcd", RIGHT), subject=night)
    command = part({}, subject=new)
    assert oracle.refusal(command, "night", {"night": night}, [stored]) == "measured on this form"
    assert not oracle.refusal(command, "night", {"night": night}, [stored], is_same=True)
    assert oracle.refusal(command, "night", {"night": night}, [stored], is_fresh=True)
    unfinished = part({"a": RIGHT}, subject=night)
    assert "unfinished" in oracle.refusal(command, "", {"night": night}, [stored, unfinished])
    assert not oracle.refusal(command, "", {"night": night}, [unfinished], is_fresh=True)


def test_parts_of_other_lengths_are_planned_once():
    long, twice = part({"a": RIGHT}, items=6), part({"a": WRONG}, items=2)
    twice.repeats = 2
    assert oracle.together([long, twice]).planned == 8
    assert oracle.together([long, twice]).answers == {Draw("a", 0): RIGHT}


def test_a_copy_that_would_make_a_name_mean_two_subjects_clashes():
    bob = Subject("bob", "server", "1")
    assert oracle.a_copy_clashes({"x": ANN}, {"x": bob}) == ["x"]
    assert oracle.a_copy_clashes({"x": ANN}, {"y": ANN}) == ["x"]
    assert not oracle.a_copy_clashes({"x": ANN}, {"x": ANN, "y": bob})
