"""Files of people's talks as they are released: what is read, what is counted, and what is refused with its line."""

import json
import os
import re
from pathlib import Path

import pytest

from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.instruments.sage.passport.files import read_people


def planned(user="User_1", satisfactions=("4", "5"), **more):
    """A talk in the form of RecLLMSim; the words are ours."""
    history = [{"role": "user", "content": f"{user} 想学做面包"}]
    for number, satisfaction in enumerate(satisfactions):
        reply = {"role": "assistant", "content": f"第 {number} 个建议", "satisfaction": satisfaction}
        history += [reply, {"role": "user", "content": f"还有第 {number} 个问题"}]
    talk = {
        "chat_model": "model-a",
        "history": history[:-1],
        "task_context": "学一样新本领",
        "task_type": "学习",
        "profile": {"age": 31, "personality": ["安静", "耐心"], "complete_tid": {"x": [1]}},
        "user": user,
        "file": f"{user}/0.json",
    }
    return talk | more


def supported(stars=("5", None, "4"), before=4, after=2, situation="I lost my job"):
    """A talk in the form of MultiESC; the words are ours."""
    dialog = [{"speaker": "sys", "text": "Good evening"}]
    for number, given in enumerate(stars):
        dialog.append({"speaker": "usr", "text": f"{situation}, {number}", "feedback": given})
        dialog.append({"speaker": "sys", "text": f"Tell me more, {number}"})
    return {
        "situation": situation,
        "problem_type": "job crisis",
        "init_intensity": before,
        "final_intensity": after,
        "dialog": dialog,
    }


def rejected(stars=("2", "1"), after="5", situation="My friend left"):
    """A rejected talk of ESConv; the words are ours."""
    dialog = []
    for number, given in enumerate(stars):
        dialog.append({"speaker": "listener", "annotation": {"strategy": "x"}, "content": f"Hm {number}\n"})
        note = {"feedback": given} if given else {}
        dialog.append({"speaker": "speaker", "annotation": note, "content": f"Well {number}\n"})
    seeker = {"initial_emotion_intensity": "5"} | ({"final_emotion_intensity": after} if after else {})
    return {
        "situation": situation,
        "problem_type": "problems with friends",
        "survey_score": {"seeker": seeker, "supporter": {}},
        "dialog": dialog,
    }


def lines(path, *talks):
    path.write_text("".join(json.dumps(talk, ensure_ascii=False) + "\n" for talk in talks), "utf-8")
    return path


def test_a_talk_of_recllmsim_keeps_task_profile_and_each_satisfaction(tmp_path):
    (found,) = read_people(lines(tmp_path / "plans.jsonl", planned())).talks
    talk = found.talk
    assert (found.person, found.model) == ("User_1", "model-a")
    assert (talk.report, talk.reports, talk.start, talk.language) == ("satisfaction", (4, 5), None, "zh")
    assert talk.profile == (("age", "31"), ("personality", "安静、耐心"))
    assert talk.matter == talk.kind == "学一样新本领"
    assert [who for who, _ in talk.said(1)] == ["person", "subject", "person"]


def test_two_messages_in_a_row_are_one_and_the_folder_of_the_release_is_the_same(tmp_path):
    talk = planned()
    talk["history"].insert(1, {"role": "user", "content": "马上"})
    (found,) = read_people(lines(tmp_path / "plans.jsonl", talk)).talks
    assert found.talk.opening == "User_1 想学做面包\n马上"
    place = tmp_path / "human" / "User_1" / "学习"
    place.mkdir(parents=True)
    released = {name: value for name, value in talk.items() if name not in ("user", "file")}
    (place / "0.json").write_text(json.dumps(released), "utf-8")
    (place.parent / "profile.json").write_text("{}", "utf-8")
    assert read_people(tmp_path / "human").talks == (found,)


def test_a_talk_of_esconv_keeps_stars_and_intensity_and_may_begin_with_the_other(tmp_path):
    (found,) = read_people(lines(tmp_path / "valid.txt", supported())).talks
    talk = found.talk
    assert (talk.report, talk.reports, talk.opening) == ("stars", (5, 4), "")
    assert (talk.intensity_before, talk.intensity_after, talk.relief, talk.failed) == (4, 2, 2, False)
    assert [turn.reported for turn in talk.turns] == [5, None, 4, None]
    assert talk.said(1) == (("subject", "Good evening"), ("person", "I lost my job, 0"))
    assert not found.names_person


def test_a_folder_holds_kept_and_rejected_talks(tmp_path):
    lines(tmp_path / "valid.txt", supported())
    (tmp_path / "FailedESConv.json").write_text(json.dumps([rejected(), rejected(after="")], indent=1), "utf-8")
    with pytest.raises(DataError, match="the same talk as") as caught:
        (tmp_path / "FailedAgain.json").write_text(json.dumps([rejected()]), "utf-8")
        read_people(tmp_path)
    assert "FailedESConv.json:2" in str(caught.value)
    (tmp_path / "FailedAgain.json").unlink()
    found = read_people(tmp_path).talks
    assert [each.talk.failed for each in found] == [True, True, False]
    assert [each.talk.relief for each in found] == [0, None, 2]


def test_talks_without_a_report_and_reports_for_no_reply_are_counted(tmp_path):
    early = supported()
    early["dialog"] = early["dialog"][1:]
    twice = rejected(stars=("2",), situation="Again")
    twice["dialog"].append({"speaker": "speaker", "annotation": {"feedback": "4"}, "content": "And yet"})
    path = lines(tmp_path / "valid.txt", supported(stars=(None, None), situation="Quiet"), early)
    found = read_people(path)
    assert found.left_out == ("valid.txt:1",) and found.unused_reports == 1
    (tmp_path / "FailedESConv.json").write_text(json.dumps([twice]), "utf-8")
    found = read_people(tmp_path / "FailedESConv.json")
    assert found.talks[0].talk.reports == (2,) and found.unused_reports == 1


@pytest.mark.parametrize(
    ("talk", "why"),
    [
        (planned(satisfactions=("6",)), "Invalid enum value '6'"),
        (planned(satisfactions=("0",)), "Invalid enum value '0'"),
        (planned(satisfactions=("4.5",)), "Invalid enum value '4.5'"),
        (planned(user=""), "names no user"),
        (planned(history=[]), "begins with the user"),
        (planned(history=[{"role": "assistant", "content": "x"}]), "begins with the user"),
        (planned(history=[{"role": "system", "content": "x"}]), "Invalid enum value 'system'"),
        (planned(history=[{"role": "user", "content": " "}]), "matching regex"),
        (planned(history=[{"role": "user", "content": "x", "satisfaction": "4"}]), "only replies have one"),
        (planned(task_context=""), "length >= 1"),
        (planned(), "the same talk as bad.jsonl:1"),
        (supported(stars=("7",)), "chat_model"),
    ],
)
def test_a_bad_talk_of_recllmsim_is_refused_with_its_line(tmp_path, talk, why):
    with pytest.raises(DataError, match=re.escape(why)) as caught:
        read_people(lines(tmp_path / "bad.jsonl", planned(), talk))
    assert "bad.jsonl:2" in str(caught.value)


@pytest.mark.parametrize(
    ("talk", "why"),
    [
        (supported(stars=("7",)), "Invalid enum value '7'"),
        (supported(before=0), ">= 1"),
        (supported(after=6), "<= 5"),
        (supported(situation=" "), "matching regex"),
        (supported(), "the same talk as bad.txt:1"),
        ({**supported(), "dialog": [{"speaker": "host", "text": "x"}]}, "Invalid enum value 'host'"),
    ],
)
def test_a_bad_talk_of_esconv_is_refused_with_its_line(tmp_path, talk, why):
    with pytest.raises(DataError, match=re.escape(why)) as caught:
        read_people(lines(tmp_path / "bad.txt", supported(), talk))
    assert "bad.txt:2" in str(caught.value)


@pytest.mark.parametrize(
    ("body", "line"), [('[{"situation": 3}]', 1), ('[\n{"situation": "x"}\n]', 2), ("[\n{]", 2), ("[]", None)]
)
def test_a_bad_array_is_refused(tmp_path, body, line):
    path = tmp_path / "FailedESConv.json"
    path.write_text(body, "utf-8")
    with pytest.raises(DataError) as caught:
        read_people(path)
    assert "FailedESConv.json" + (f":{line}" if line else "") in str(caught.value)


def test_two_kinds_of_report_are_not_mixed(tmp_path):
    lines(tmp_path / "valid.txt", supported())
    lines(tmp_path / "plans.jsonl", planned())
    with pytest.raises(DataError, match="satisfaction and stars"):
        read_people(tmp_path)


def test_satisfaction_and_stars_are_imported_under_their_own_names(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    lines(tmp_path / "plans.jsonl", *(planned(f"User_{number}", ("4", "2")) for number in range(12)))
    lines(tmp_path / "help.txt", *(supported(situation=f"Trouble {number}") for number in range(12)))
    assert run_command(["sage", "import", "--people", "plans.jsonl", "--store", "s.db"]) == 0
    assert "reports of satisfaction" in capsys.readouterr().out
    assert run_command(["sage", "import", "--people", "help.txt", "--store", "s.db"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "reports of stars" in shown and "each talk counts as a person of its own" in shown
    assert run_command(["report", "plans", "help", "--to", "r.html", "--store", "s.db"]) == 0
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "Satisfaction with a reply" in page and "Stars for the support" in page
    assert "Feeling" not in page and "想学" not in page and "Trouble" not in page


def test_the_released_talks_of_people_are_read(tmp_path):
    place = Path(os.environ.get("SOCIOMETER_DATA", "")) / "people"
    if not (place / "esconv").is_dir():
        pytest.skip("people's talks absent: set SOCIOMETER_DATA to the folder that holds people/")
    support = read_people(place / "esconv")
    assert len(support.talks) + len(support.left_out) == 291
    assert sum(len(found.talk.reports) for found in support.talks) == 1603
    assert sum(found.talk.failed for found in support.talks) == 94
    plans = read_people(place / "recllmsim")
    assert len(plans.talks) + len(plans.left_out) == 1174
    assert sum(len(found.talk.reports) for found in plans.talks) == 5055
    assert len({found.person for found in plans.talks}) == 74
