"""What random commands found, and what the package does not do yet of its design, as strict
expected failures.

Each test is the fewest commands that show a fault. `tests/machine.py` goes around those that
its `KNOWN` names.
"""

import pytest

from machine import Broken, World, spec_of, subject_of
from scripted_subjects import answer_of


@pytest.fixture
def world():
    """Two empty stores and a server; no fault is known."""
    empty = World(known={})
    yield empty
    empty.close()
    World.server.__exit__()
    World.server = None


def fails(topic):
    return pytest.mark.xfail(strict=True, raises=(AssertionError, Broken), reason=topic)


def run(world, model, *words, test="sesi", store="a"):
    return world.ask(store, "run", test, "--quiet", "--model", spec_of(world, subject_of(model)), *words)


@fails("a run is a command")
def test_a_second_plan_says_0_where_the_weights_are_known(world):
    run(world, "ann#1", "--limit", 2)
    planned = world.ask("a", "plan", "sesi", "--model", spec_of(world, subject_of("ann#1")), "--limit", 2)
    assert [one["estimate"]["requests"] for one in planned.value] == [0]


@fails("forms and subjects")
def test_subjects_that_share_no_items_are_each_shown(world):
    run(world, "ann#1", "--item", "sesi-emp-104")
    run(world, "eve#1", "--item", "sesi-emp-110")
    ranked = world.ask("a", "compare", "sesi")
    assert ranked.code == 0, ranked.err


@fails("names")
def test_a_name_is_a_subject_and_can_be_used_for_another_test(world):
    assert run(world, "ann#1", "--limit", 2, "--name", "new").code == 0
    done = run(world, "ann#1", "--limit", 2, "--name", "new", test="seceu")
    assert done.code == 0, done.err


@fails("names")
def test_a_name_is_a_subject_and_can_be_used_for_more_items(world):
    assert run(world, "ann#1", "--limit", 2, "--name", "new").code == 0
    done = run(world, "ann#1", "--limit", 6, "--name", "new")
    assert done.code == 0, done.err


@fails("names")
def test_a_name_of_unknown_weights_can_be_used_for_another_test(world):
    assert run(world, "ann", "--limit", 2, "--name", "new").code == 0
    done = run(world, "ann", "--limit", 2, "--name", "new", test="seceu")
    assert done.code == 0, done.err


@fails("results and facts")
def test_runs_shows_the_same_scores_without_summaries(world):
    world.play("run_item", store="a", models="ann#1", place=0, name="")
    world.play("forget_summaries", store="a")


@fails("a run is a command")
def test_two_commands_are_two_runs(world):
    """A command for one model, and another for two: the second is a run of its own, with parts of
    its own."""
    world.play("run_item", store="a", models="ann#1", place=0, name="")
    world.play("run_item", store="a", models="ann#1 eve#1", place=0, name="")


@fails("names")
def test_a_copy_that_would_make_a_name_mean_two_subjects_is_refused(world):
    world.play("run_item", store="a", models="ann#1", place=0, name="bob")
    world.play("run_item", store="b", models="eve#1", place=0, name="bob")
    world.play("copy", source="a", trust=False)


@fails("names")
def test_compare_and_show_take_a_word_for_the_same_run(world):
    """`show` refuses the word because two runs fit; `compare` takes the longer one."""
    for model, limit in (("ann#1", 2), ("ann#1", 6), ("eve#1", 6)):
        run(world, model, "--limit", limit)
    shown = world.ask("a", "show", "vllm/ann")
    compared = world.ask("a", "compare", "vllm/ann", "vllm/eve")
    assert shown.code == compared.code, shown.err
    assert shown.value["run"] == compared.value["comparisons"][0]["first_run"]


@fails("names")
def test_a_run_cannot_take_the_name_of_a_study(world):
    assert world.ask("a", "study", "create", "seceu", "--name", "bob", "--limit", 3).code == 0
    done = run(world, "ann#1", "--limit", 3, "--name", "bob", test="seceu")
    assert done.code == 2, "bob is a study and a run"


@fails("forms and subjects")
def test_a_limit_counts_pairs_of_twins(world):
    done = run(world, "ann#1", "--limit", 12)
    items = {draw.item for draw in world.plays("a", done.value[0]["run"])}
    twins = {item for item in items if item.startswith("twin-")}
    other_half = {"a": "b", "b": "a"}
    assert all(item[:-1] + other_half[item[-1]] in twins for item in twins), sorted(twins)


@fails("a run is a command")
def test_an_unfinished_command_of_unknown_weights_is_refused_with_the_resume_line(world):
    assert run(world, "ann", "--limit", 6, "--max-requests", 2).code == 3
    again = run(world, "ann", "--limit", 6, "--max-requests", 2)
    assert again.code == 2 and "resume" in again.err
    assert again.requests == 0


@fails("results and facts")
def test_a_pilot_and_a_full_run_are_one_result(world):
    run(world, "ann#1", "--limit", 2)
    run(world, "ann#1", "--limit", 6)
    shown = world.ask("a", "show", "vllm/ann")
    assert shown.code == 0, shown.err


@fails("results and facts")
def test_a_pair_is_compared_on_all_items_that_both_have(world):
    """The comparison was decided after 30 of 40 items; the other ten were played meanwhile, and
    paid for."""
    run(world, "ann#1", "--limit", 40, "--name", "ann")
    done = run(world, "eve#1", "--limit", 40, "--against", "ann")
    assert len(world.plays("a", done.value[0]["run"])) == 40
    compared = world.ask("a", "compare", "ann", done.value[0]["run"])
    assert compared.value["comparisons"][0]["measures"][0]["paired"]["items"] == 40


@fails("forms and subjects")
def test_replies_of_another_served_model_are_another_subject(world):
    """From the fourth request on, the provider answers with another model: its answers are not
    ann's."""
    world.server.watch(lambda number: setattr(world.server, "served_name", "other" if number > 3 else "ann"))
    done = run(world, "ann#1", "--limit", 6, "-o", "in-flight=1")
    assert done.code != 0 and done.value[0]["done"] == 3


def test_the_scripted_models_differ(world):
    """A check of the machine: a comparison of two of its models has something to find."""
    from machine import QUESTIONS

    eve, ann = ([answer_of(name, 0, question) for question in QUESTIONS] for name in ("eve", "ann"))
    assert eve.count("right") > ann.count("right") + 50
