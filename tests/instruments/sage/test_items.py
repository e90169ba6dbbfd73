import json
import re
from collections import Counter

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.instruments.sage.items import PROFILES, bundled, read_built, read_profiles
from sociometer.instruments.sage.person.emotion import CARDS, INTENTIONS, find_leak, intention_of_task
from sociometer.reporting.page import chosen_settings
from sociometer.results.candidates import run_labels
from sociometer.results.summaries import run_json

ENGLISH = list(bundled("en"))
CHINESE = list(bundled("zh"))


def test_three_english_scenarios_stand_for_each_intention_and_one_chinese():
    assert Counter(each.intention for each in ENGLISH) == dict.fromkeys(INTENTIONS, 3)
    assert Counter(each.intention for each in CHINESE) == dict.fromkeys(INTENTIONS, 1)


def test_chinese_scenarios_are_eight_of_the_english_ones():
    assert {each.cluster for each in CHINESE} < {each.cluster for each in ENGLISH}


@pytest.mark.parametrize("scenario", ENGLISH + CHINESE, ids=lambda each: each.id)
def test_a_scenario_is_whole_and_its_opening_keeps_the_secret(scenario):
    assert scenario.persona and scenario.background and scenario.goal and scenario.hidden
    assert len(scenario.rises) >= 3 and len(scenario.falls) >= 3
    assert scenario.calm and scenario.uneasy and scenario.raw
    assert len(scenario.details) >= 8 and len(scenario.traits) == 3
    for shown in (scenario.first_words, scenario.goal, scenario.background):
        assert find_leak(shown, scenario.hidden, scenario.intention) in ("", "plea")
    assert find_leak(scenario.first_words, scenario.hidden, scenario.intention) == ""


def test_people_differ_in_age_and_subject():
    ages = [each.age for each in ENGLISH]
    assert min(ages) < 18 and max(ages) > 70 and len(set(ages)) > 18
    assert len({each.topic for each in ENGLISH}) > 18


def test_details_really_occur_in_the_story():
    for scenario in ENGLISH + CHINESE:
        told = f"{scenario.persona} {scenario.background} {scenario.first_words}".lower()
        missing = [detail for detail in scenario.details if detail.lower() not in told]
        assert len(missing) <= len(scenario.details) // 3, (scenario.id, missing)


def test_the_eight_official_intentions_are_known(official):
    scenarios = list(read_profiles(official.parent / PROFILES))
    assert len(scenarios) == 100
    # Table 4
    assert Counter(each.intention for each in scenarios) == {
        "balance": 12,
        "advice": 15,
        "motives": 11,
        "growth": 13,
        "praise": 13,
        "listening": 12,
        "empathy": 13,
        "blameless": 11,
    }


def test_the_hidden_theme_is_cut_from_official_scenes(official):
    for scenario in read_profiles(official.parent / PROFILES):
        assert scenario.hidden not in scenario.background
        assert "隐藏主题:" not in scenario.background
        assert scenario.age and 5 < scenario.age < 100
        assert scenario.first_words


def test_an_unknown_task_is_refused_by_name():
    with pytest.raises(DataError, match="states 0 of the eight"):
        intention_of_task("你想吃饭")


def test_every_intention_has_a_sentence_in_both_languages():
    for card in CARDS.values():
        assert card.sentence("en") != card.sentence("zh")
        assert card.mark not in card.sentence("en")


def test_a_bad_row_is_refused_naming_file_and_line(tmp_path):
    path = tmp_path / "profiles.jsonl"
    path.write_text("\n" + json.dumps({"id": "x", "player": "p"}) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"profiles.jsonl:2: .*scene"):
        list(read_profiles(path))


def test_built_scenarios_are_read_back_and_must_open_the_talk(tmp_path):
    import msgspec

    path = tmp_path / "own.jsonl"
    path.write_bytes(msgspec.json.encode(ENGLISH[0]) + b"\n")
    assert list(read_built(path)) == [ENGLISH[0]]
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(ENGLISH[0], first_words=" ")))
    with pytest.raises(DataError, match="no first words"):
        list(read_built(path))
    with pytest.raises(DataError, match="cannot be read"):
        list(read_built(tmp_path / "absent.jsonl"))


def test_a_profile_speaks_of_the_person_in_the_third_person_only():
    for card in CARDS.values():
        assert not re.search(r"\b(?:I|me|my|you|your|yourself)\b", card.sentence("en")), card.key
        assert not re.search("[你我]", card.sentence("zh")), card.key


def test_the_language_of_the_bundled_scenarios_is_no_setting_of_a_run_of_official_ones(tmp_path, official, capsys):
    given = {"model": "baseline/random", "limit": 1, "store": tmp_path / "s.db"}
    bundled = sm.run("sage", **given)
    own = sm.run("sage", official=True, data=official.parent, **given)
    assert chosen_settings(bundled.view())["language"] == "en" and "language" not in chosen_settings(own.view())
    assert "language" not in run_json(own)["manifest"].config.settings
    assert own.manifest.config.settings["language"] == "en", "the record stays as it is"
    for other in ({}, {"official": True, "data": official.parent}):
        sm.run("sage", settings={"language": "all"}, **given, **other)
    assert run_command(["runs", "--store", str(tmp_path / "s.db")]) == 0
    listed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("sage-")]
    both, theirs = listed[2:]
    assert "language en and zh, limit 1" in both and "language" not in theirs and "official items" in theirs
    assert run_labels([bundled, own]) == {bundled.id: "baseline/random", own.id: "baseline/random (official items)"}
