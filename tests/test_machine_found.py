"""What random commands found, and what the package does not do yet of its design, as strict
expected failures.

Each test is the fewest commands that show a fault. `tests/machine.py` goes around those that
its `KNOWN` names.
"""

import pytest

from machine import BY_WORD, Broken, Person, World, opened_study, spec_of, subject_of
from scripted_subjects import QUESTIONS, answer_of, is_spoilt, item_names


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


def test_a_name_is_a_subject_and_can_be_used_for_another_test(world):
    assert run(world, "ann#1", "--limit", 2, "--name", "new").code == 0
    done = run(world, "ann#1", "--limit", 2, "--name", "new", test="seceu")
    assert done.code == 0, done.err


def test_a_name_is_a_subject_and_can_be_used_for_more_items(world):
    assert run(world, "ann#1", "--limit", 2, "--name", "new").code == 0
    done = run(world, "ann#1", "--limit", 6, "--name", "new")
    assert done.code == 0, done.err


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


def test_a_copy_that_would_make_a_name_mean_two_subjects_is_refused(world):
    world.play("run_item", store="a", models="ann#1", place=0, name="bob")
    world.play("run_item", store="b", models="eve#1", place=0, name="bob")
    world.play("copy", source="a", trust=False)


def test_compare_and_show_take_a_word_for_the_same_run(world):
    """`show` refuses the word because two runs fit; `compare` takes the longer one."""
    for model, limit in (("ann#1", 2), ("ann#1", 6), ("eve#1", 6)):
        run(world, model, "--limit", limit)
    shown = world.ask("a", "show", "vllm/ann")
    compared = world.ask("a", "compare", "vllm/ann", "vllm/eve")
    assert shown.code == compared.code, shown.err
    assert shown.value["run"] == compared.value["comparisons"][0]["first_run"]


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


def test_an_unfinished_command_of_unknown_weights_is_refused_with_the_resume_line(world):
    assert run(world, "ann", "--limit", 6, "--max-requests", 2).code == 3
    again = run(world, "ann", "--limit", 6, "--max-requests", 2)
    assert again.code == 2 and "resume" in again.err
    assert again.requests == 0


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


def test_replies_of_another_served_model_are_another_subject(world):
    """From the fourth request on, the provider answers with another model: its answers are not
    ann's."""
    world.server.watch(lambda number: setattr(world.server, "served_name", "other" if number > 3 else "ann"))
    done = run(world, "ann#1", "--limit", 6, "-o", "in-flight=1")
    assert done.code != 0 and done.value[0]["done"] == 3


def test_the_first_model_plays_on_when_it_is_back(world):
    """The reply of the other model is in the journal under the key of the first: each `resume` reads it and stops,
    with 0 requests, whoever answers now. The stop prints this line as the next step."""
    world.server.watch(lambda number: setattr(world.server, "served_name", "other" if number > 3 else ""))
    played = run(world, "ann#1", "--limit", 6, "-o", "in-flight=1").value[0]["run"]
    world.server.watch(None)
    world.server.served_name = ""
    resumed = world.ask("a", "resume", played)
    assert (resumed.code, resumed.requests) == (0, 3), resumed.err


def test_a_refusal_of_one_of_two_models_comes_before_the_first_request(world):
    """First kind: ann#1 is played and paid for; then the command is refused, and nothing says what ann#1 did."""
    assert run(world, "eve", "--limit", 6, "--max-requests", 2).code == 3
    done = run(world, "ann#1", "--model", spec_of(world, subject_of("eve")), "--limit", 6)
    assert (done.code, done.requests) == (2, 0), done.err


def test_a_refusal_of_one_of_two_tests_comes_before_the_first_request(world):
    """First kind: sesi is played and paid for; then the command is refused, since seceu needs --same."""
    assert run(world, "eve", "--limit", 2, "--name", "new", test="seceu").code == 0
    done = run(world, "eve", "seceu", "--limit", 3, "--name", "new")
    assert (done.code, done.requests) == (2, 0), done.err


def test_a_repeat_that_failed_is_taken_from_another_command(world):
    """First kind: "each item and repeat counts once, an outcome before a failure". An item comes whole from one
    command: its first repeat failed there and was played in another, and counts as failed."""
    item = next(each for each in item_names("sesi") if is_spoilt(BY_WORD[each, "en"]))
    picked = ("--item", item, "-o", "retries=0", "-o", "in-flight=1")
    world.server.watch(lambda number: setattr(world.server, "mood", "fails" if number == 1 else "good"))
    twice = run(world, "ann#1", *picked, "--repeats", 2)
    world.server.watch(None)
    assert twice.value[0]["errors"], "the first request failed"
    run(world, "ann#1", *picked)
    assert len(world.rows("a")) == 2
    shown = world.ask("a", "show", "vllm/ann#1")
    assert shown.value["summaries"]["questions"]["measures"][0]["errors"] == 0


def test_a_sheet_of_a_subject_has_the_replies_of_all_its_commands(world):
    """Second kind: "there is no run 'sesi-aaaaa+sesi-bbbbb' in this store", an id that `show` prints."""
    run(world, "ann#1", "--limit", 2)
    run(world, "ann#1", "--limit", 6)
    written = world.ask("a", "sheet", "write", "vllm/ann#1", "--to", world.new_file("anna.csv"))
    assert (written.code, written.value.get("rows")) == (0, 6), written.err


def test_a_run_in_another_language_takes_no_model_out_of_a_table(world):
    """First kind: `compare seceu` shows two models, and none once one of them has also played in Chinese."""
    for model in ("ann#1", "eve#1"):
        run(world, model, "--limit", 12, test="seceu")
    assert [len(one["standings"]) for one in world.ask("a", "compare", "seceu").value["rankings"]] == [2]
    run(world, "ann#1", "--language", "zh", test="seceu")
    ranked = world.ask("a", "compare", "seceu")
    assert ranked.code == 0, ranked.err
    assert 2 in [len(one["standings"]) for one in ranked.value["rankings"]]


def test_a_run_with_another_seed_takes_no_item_out_of_a_table(world):
    """First kind: the table had 12 items of both models, and has 3 after a longer run of one of them."""
    for model in ("ann#1", "eve#1"):
        run(world, model, "--limit", 12)
    run(world, "ann#1", "--limit", 40, "--seed", 1)
    (ranking,) = world.ask("a", "compare", "sesi").value["rankings"]
    assert [one["items"] for one in ranking["standings"]] == [12, 12]


@fails("forms and subjects")
def test_an_item_picked_by_hand_is_not_compared_with_a_whole_test(world):
    picked = run(world, "ann#1", "--item", "twin-004a").value[0]["run"]
    whole = run(world, "eve#1").value[0]["run"]
    compared = world.ask("a", "compare", picked, whole)
    assert compared.code == 2 or compared.value["comparisons"][0]["refused"]


def test_a_fresh_measurement_is_another_subject_of_the_table(world):
    for words in (("ann#1",), ("eve#1",), ("ann#1", "--fresh")):
        run(world, *words, "--limit", 12)
    (ranking,) = world.ask("a", "compare", "sesi").value["rankings"]
    assert len(ranking["standings"]) == 3


def test_two_measurements_of_unknown_weights_are_two_subjects_of_the_table(world):
    """Other weights answer behind the same address; the table shows only the newer ones."""
    run(world, "ann", "--limit", 12)
    world.server.mind = 1
    run(world, "ann", "--limit", 12)
    run(world, "eve", "--limit", 12)
    (ranking,) = world.ask("a", "compare", "sesi").value["rankings"]
    assert len(ranking["standings"]) == 3


@fails("a run is a command")
def test_a_cap_holds_over_the_resume_of_one_of_two_models(world):
    """First kind: a command for two models with a cap of 4 sends 4 requests, and `resume` of one model 2 more."""
    started = run(world, "ann#1", "--model", spec_of(world, subject_of("bob#1")), "--limit", 3, "--max-requests", 4)
    assert (started.code, started.requests) == (3, 4)
    resumed = world.ask("a", "resume", started.value[1]["run"], "--max-requests", 4)
    assert (resumed.code, resumed.requests) == (3, 0)


@fails("one number")
def test_one_pair_has_one_interval_whoever_asks(world):
    """First kind: the interval of a pair gets wider when a third model stands beside it."""
    for model in ("ann", "bob", "eve"):
        run(world, f"{model}#1", "--limit", 40, "--name", model)
    alone = world.ask("a", "compare", "ann", "eve", "--margin", 5).value["comparisons"][0]
    beside = world.ask("a", "compare", "ann", "bob", "eve", "--margin", 5).value["comparisons"][1]
    intervals = [one["measures"][0]["paired"]["interval"] for one in (alone, beside)]
    assert [(one["low"], one["high"]) for one in intervals[:1]] == [(one["low"], one["high"]) for one in intervals[1:]]


@fails("names")
def test_the_name_of_a_test_means_no_run(world):
    """`sesi` is all runs of a test for `export` and `compare`; `show` takes it for the beginning of an id."""
    run(world, "ann#1", "--limit", 2)
    assert world.ask("a", "show", "sesi").code == 2


@fails("a run is a command")
def test_a_decided_run_can_be_resumed_after_its_reference_is_deleted(world):
    """Nothing is left to do; the error is about a run that is gone, and suggests the one that was named."""
    run(world, "ann#1", "--limit", 40, "--name", "ann")
    decided = run(world, "eve#1", "--limit", 40, "--against", "ann").value[0]["run"]
    assert world.ask("a", "store", "delete", "ann", "--yes").code == 0
    resumed = world.ask("a", "resume", decided)
    assert resumed.code == 0, resumed.err


def test_a_run_cannot_be_renamed_to_the_name_of_a_study(world):
    assert world.ask("a", "study", "create", "seceu", "--name", "bob", "--limit", 3).code == 0
    played = run(world, "ann#1", "--limit", 3, test="seceu").value[0]["run"]
    renamed = world.ask("a", "store", "rename", played, "bob")
    assert renamed.code == 2, "bob is a study and a run"


def make_study(world, people):
    """The study `spring`, which some people took."""
    created = world.ask("a", "study", "create", "seceu", "--name", "spring", "--limit", 3)
    assert created.code == 0, created.err
    join_study(world, people)


def join_study(world, people):
    with opened_study(world.stores["a"], "spring") as (url, link):
        for number in range(people):
            points = ((4, 3, 2, 1), (1, 2, 3, 4), (5, 0, 0, 5))[number % 3]
            Person(url, link, points=points).join().answer_all()


@fails("names")
def test_rescore_takes_the_word_that_show_takes(world):
    """`show spring` shows the people of a study; `store rescore spring` calls it an unknown run."""
    make_study(world, people=2)
    assert world.ask("a", "show", "spring").code == 0
    assert world.ask("a", "store", "rescore", "spring").code == 0


@fails("results and facts")
def test_a_second_copy_has_everybody_who_came_since_the_first(world):
    """First kind: the runs of the new people are copied, and count nowhere: `show spring` has another score."""
    make_study(world, people=2)
    for _ in range(2):
        assert world.ask("", "store", "copy", world.stores["a"], world.stores["b"]).code == 0
        join_study(world, people=1)
    assert world.ask("", "store", "copy", world.stores["a"], world.stores["b"]).code == 0
    ours, copied = (world.ask(store, "show", "spring").value for store in ("a", "b"))
    assert len(world.rows("a")) == len(world.rows("b"))
    assert copied["summaries"]["feelings"]["measures"] == ours["summaries"]["feelings"]["measures"]


@fails("a run is a command")
def test_a_plan_says_that_a_comparison_may_stop_early(world):
    """Second kind: the plan says 40 requests or more; the run is decided after fewer."""
    against = run(world, "bob#1", "--limit", 40).value[0]["run"]
    words = ("--limit", 40, "--against", against, "-o", "in-flight=1")
    planned = world.ask("a", "plan", "sesi", "--model", spec_of(world, subject_of("ann#1")), *words)
    done = run(world, "ann#1", *words)
    assert planned.value[0]["estimate"]["fewest_requests"] <= done.requests < 40


def test_a_second_copy_has_the_score_of_what_was_played_since(world):
    """First kind: two items failed, the run was copied and resumed; after a second copy it has no score
    in `runs` of the copy."""
    world.server.mood = "fails"
    played = run(world, "ann#1", "--limit", 6, "-o", "retries=0").value[0]["run"]
    world.server.mood = "good"
    copy = ("store", "copy", world.stores["a"], world.stores["b"])
    assert world.ask("", *copy).code == 0
    assert world.ask("a", "resume", played).code == 0
    assert world.ask("", *copy).code == 0
    assert world.rows("b") == world.rows("a")


def test_a_second_copy_takes_no_score_from_a_run_that_it_does_not_change(world):
    """Second kind: eve#1 was copied before; with ann#1 comes a page of episodes in which eve#1 has some, so `runs`
    of the copy shows no score of eve#1 any more. `show` does."""
    copy = ("store", "copy", world.stores["a"], world.stores["b"])
    for model in ("eve#1", "ann#1"):
        run(world, model, "--limit", 2)
        assert world.ask("", *copy).code == 0
    assert world.rows("b") == world.rows("a")


def test_a_second_copy_keeps_why_a_run_is_not_finished(world):
    """Second kind: `runs` of the copy said "--max-requests 2 is reached", and says nothing after a second copy."""
    copy = ("store", "copy", world.stores["a"], world.stores["b"])
    for model, words in (("eve#1", ("--max-requests", 2)), ("ann#1", ())):
        run(world, model, "--limit", 3, *words)
        assert world.ask("", *copy).code == 0
    assert [row["why"] for row in world.rows("b").values()] == ["--max-requests 2 is reached", ""]


def test_repeats_that_were_copied_count_beside_those_that_were_played_here(world):
    """First kind: two repeats of two items were copied; one of each is played here, and the second counts no more."""
    run(world, "ann#1", "--limit", 2, "--repeats", 2)
    assert world.ask("", "store", "copy", world.stores["a"], world.stores["b"]).code == 0
    run(world, "ann#1", "--limit", 2, store="b")
    assert len(world.plays("b", "vllm/ann#1")) == 4


@fails("a run is a command")
def test_a_command_that_a_cap_stops_tells_of_the_failures_that_are_left(world):
    """Second kind: `runs` says that two items failed, the same command under a cap says none in its JSON."""
    world.server.mood = "fails"
    played = run(world, "eve#1", "--limit", 6, "-o", "retries=0").value[0]
    world.server.mood = "good"
    again = run(world, "eve#1", "--limit", 6, "-o", "retries=0", "--max-requests", 2).value[0]
    assert sum(again["errors"].values()) == world.rows("a")[played["run"]]["errors"]


@fails("one number")
def test_who_ties_with_people_of_a_norm_is_not_above_them(world):
    """First kind: a third right of three, like seven of ten people; ties count half. The norm has the score with
    nine digits, so that a third is above it: 100 % are worse instead of 65 %."""
    assert world.ask("a", "study", "create", "sesi", "--name", "spring", "--limit", 3).code == 0
    with opened_study(world.stores["a"], "spring") as (url, link):
        for number in range(10):
            Person(url, link, choose=lambda options, place=number: options[place % 4]).join().answer_all()
    scores = [row["value"] for row in world.rows("a").values()]
    norm = world.new_file("norm.json")
    assert world.ask("a", "study", "norms", "spring", "--to", norm).code == 0
    played = run(world, "ann#1", "--limit", 3, "--norm", norm).value[0]["run"]
    value = world.rows("a")[played]["value"]
    worse = [score for score in scores if score < value]
    measures = world.ask("a", "show", played).value["summaries"]["questions"]["measures"]
    places = [measure["value"] for measure in measures if measure["name"] == "percentile"]
    assert places == [pytest.approx((len(worse) + scores.count(value) / 2) / 10)]


def test_official_items_and_ours_have_a_table_each(world, tmp_path):
    """Official items beside ours: one of the two is only counted as left out."""
    header = "ID,Type,Situation,Question,Option_0,Option_1,Option_2,Option_3,Answer"
    rows = [f"x{number},Empathy,Situation {number},Why?,a,b,c,d,1" for number in range(6)]
    official = tmp_path / "sesi"
    official.mkdir()
    (official / "sesi.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    for model in ("ann#1", "eve#1"):
        played = run(world, model, "--data", tmp_path)
        assert played.code == 0, played.err
        assert run(world, model, "--limit", 6).code == 0
    ranked = world.ask("a", "compare", "sesi")
    assert [len(one["standings"]) for one in ranked.value["rankings"]] == [2, 2]


@fails("a run is a command")
def test_runs_counts_the_requests_that_a_kill_lost(world):
    """Second kind: 13 requests were sent, one of them lost by a kill; `runs` says 12. Under a cap it says 14."""
    words = ["run", "sesi", "--quiet", "--model", spec_of(world, subject_of("ann#1")), "--limit", 12]
    words += ["-o", "in-flight=1"]
    killed = world.ask_forked("a", *words, act=lambda number, process: process.kill() if number == 5 else None)
    ((played, _),) = world.rows("a").items()
    resumed = world.ask("a", "resume", played)
    assert world.rows("a")[played]["spent"]["requests"] >= killed.requests + resumed.requests


@fails("people")
def test_a_norm_of_people_who_are_equally_far_from_the_others_is_made_or_refused(world):
    """Second kind: "not a norm of SECEU (Expected `float`, got `null`); make one: study norms", after warnings of
    numpy."""
    assert world.ask("a", "study", "create", "seceu", "--name", "spring", "--limit", 3).code == 0
    with opened_study(world.stores["a"], "spring") as (url, link):
        for number in range(10):
            person = Person(
                url, link, points=((4, 3, 2, 1), (1, 2, 3, 4), (2, 2, 3, 3), (5, 0, 0, 5))[number % 4]
            ).join()
            while person.answer():
                person.points = person.points[1:] + person.points[:1]
    made = world.ask("a", "study", "norms", "spring", "--to", world.new_file("norm.json"))
    assert "similarity_mean" not in made.err and "Warning" not in made.err, made.err


@fails("one number")
def test_a_share_that_all_labels_agree_on_has_an_interval_or_no_correction(world):
    """First kind: all twelve items are labelled right; the corrected value is "100 % [100.0, 100.0]". The page on
    numbers says that nothing is corrected then, and so it is where only a part is labelled."""
    played = run(world, "ann#1", "--limit", 12).value[0]["run"]
    sheet = world.new_file("anna.csv")
    assert world.ask("a", "sheet", "write", played, "--to", sheet).code == 0
    lines = sheet.read_text(encoding="utf-8")
    sheet.write_text(lines.replace('",\n', '",yes\n'), encoding="utf-8")
    read = world.ask("a", "sheet", "read", sheet)
    assert read.code == 0, read.err
    corrected = [row["value"] for row in read.value["judge"] if row["what"] == "corrected by people"]
    assert corrected != ["100 % [100.0, 100.0]"]


@fails("results and facts")
def test_deleting_a_run_deletes_the_replies_that_no_other_run_uses(world):
    """The design sweeps them; they stay in the file, and answer the next run."""
    played = run(world, "ann#1", "--limit", 2).value[0]["run"]
    assert world.ask("a", "store", "delete", played, "--yes").code == 0
    assert run(world, "ann#1", "--limit", 2).requests == 2


def test_the_scripted_models_differ(world):
    """A check of the machine: a comparison of two of its models has something to find."""
    eve, ann = ([answer_of(name, 0, question) for question in QUESTIONS] for name in ("eve", "ann"))
    assert eve.count("right") > ann.count("right") + 50
