"""Our scenarios are sound, official files are read whole or refused, and every way of prompting is an item."""

import json
import re
from collections import Counter

import pytest

from seceu_documents import synthetic_english, synthetic_norm
from sociometer.core.errors import DataError
from sociometer.instruments.seceu import items
from sociometer.instruments.seceu.items import BUNDLED, Bundled, bundled_scenarios, prompting_methods
from sociometer.reading import read_allocation, read_items

OURS = list(read_items(BUNDLED, Bundled))


def test_forty_scenarios_of_three_contexts_are_bundled():
    assert len(OURS) == 40
    assert len({line.id for line in OURS}) == 40
    assert Counter(line.context for line in OURS) == {"school": 13, "family": 14, "social": 13}
    assert min(Counter(line.direction for line in OURS).values()) >= 7


@pytest.mark.parametrize("line", OURS, ids=lambda line: line.id)
def test_a_scenario_stands_in_both_languages_with_a_key_of_ten_points(line):
    assert sum(line.key) == pytest.approx(10)
    assert set(line.story) == set(line.options) == {"en", "zh"}
    assert line.story["en"].endswith(("feels:", "feel:"))
    assert line.story["zh"].endswith("会感到：")
    assert not re.search(r"[A-Za-z]", line.story["zh"])
    assert len(set(line.options["en"])) == len(set(line.options["zh"])) == 4
    assert 30 <= len(line.story["en"].split()) <= 75


@pytest.mark.parametrize("line", OURS, ids=lambda line: line.id)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_option_is_mistaken_for_another_when_a_reply_is_read(line, language):
    options = line.options[language]
    reply = "\n".join(f"{option}: {points:g}" for option, points in zip(options[::-1], (4, 3, 2, 1), strict=True))
    assert read_allocation(reply, options, 10).values == (1, 2, 3, 4)


def test_the_strongest_feeling_stands_equally_often_at_each_place():
    places = Counter(line.key.index(max(line.key)) for line in OURS)
    assert max(places.values()) - min(places.values()) <= 3


def test_the_strongest_feeling_is_not_given_away_by_its_length():
    longest = sum(
        max(range(4), key=lambda at: len(line.options["en"][at])) == line.key.index(max(line.key)) for line in OURS
    )
    assert longest <= 18


def test_a_bad_line_is_refused_by_file_and_line(tmp_path):
    path = tmp_path / "bad.jsonl"
    good = BUNDLED.read_text(encoding="utf-8").splitlines()[0]
    path.write_text(f"{good}\n{json.dumps({**json.loads(good), 'key': [5, 5, 5, 5]})}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"bad\.jsonl:2: key .* does not add up to 10 points"):
        list(read_items(path, Bundled))


def test_a_further_language_has_a_file_of_its_own_and_a_scenario_without_a_story_is_refused(tmp_path):
    path, line = tmp_path / "own.jsonl", BUNDLED.read_text(encoding="utf-8").splitlines()[0]
    path.write_text(line, encoding="utf-8")
    with pytest.raises(DataError, match=r"own\.jsonl: scenario 'ours-01' has no story with options in 'qaa'"):
        list(bundled_scenarios("qaa", path))
    told = {**json.loads(line), "story": {"qaa": "She feels:"}, "options": {"qaa": ["a", "b", "c", "d"]}}
    (tmp_path / "own.qaa.jsonl").write_text(json.dumps(told), encoding="utf-8")
    assert [(one.story, one.standard) for one in bundled_scenarios("qaa", path)] == [("She feels:", OURS[0].key)]


def test_all_and_best_play_every_way_of_prompting():
    assert prompting_methods("all") == prompting_methods("best") == items.METHODS
    assert prompting_methods("two-shot") == ("two-shot",)


def test_each_way_of_prompting_is_an_item_of_the_same_scenario(rehearse):
    made = rehearse("baseline/even", prompting="all")
    played = list(items.scenarios(made.source()))
    assert len(played) == 200
    assert len({item.id for item in played}) == 200
    assert len({item.cluster for item in played}) == 40
    assert played[0].id == "ours-01"
    assert played[1].id == "ours-01@zero-shot"


def test_chance_on_the_card_is_the_mean_over_every_way_to_share_whole_points(seceu):
    ways = [(a, b, c, 10 - a - b - c) for a in range(11) for b in range(11 - a) for c in range(11 - a - b)]
    assert len(ways) == 286
    scenarios = list(bundled_scenarios("en"))
    mean = sum(items_distance(way, item.standard) for item in scenarios for way in ways) / len(ways) / len(scenarios)
    card = next(measure for measure in seceu.card.measure if measure.name == "distance")
    assert card.chance == pytest.approx(mean, abs=5e-4)


def items_distance(one, two):
    return sum((a - b) ** 2 for a, b in zip(one, two, strict=True)) ** 0.5


@pytest.mark.parametrize("language", ["en", "zh"])
def test_official_items_are_read_in_both_languages(rehearse, official_data, language):
    played = list(items.scenarios(rehearse("baseline/even", official_data, language=language).source()))
    assert [item.id for item in played] == list(items.IDS)
    assert all(len(set(item.options)) == 4 for item in played)
    assert all(9.985 <= sum(item.standard) <= 10.015 for item in played)
    assert all(item.story.endswith((":", "：")) and "Options" not in item.story for item in played)


def test_a_document_without_all_forty_items_is_refused(rehearse, write_docx, tmp_path):
    write_docx("seceu/SECEU_40items_English.docx", synthetic_english(range(1, 40)))
    write_docx("seceu/SECEU_norm.docx", synthetic_norm())
    with pytest.raises(DataError, match="expected items 1 to 40"):
        list(items.scenarios(rehearse("baseline/even", tmp_path).source()))


def test_an_item_without_four_options_is_refused_by_its_paragraph(rehearse, write_docx, tmp_path):
    lines = list(synthetic_english())
    lines[5] = "Options: (1) Glad; (2) Calm"
    write_docx("seceu/SECEU_40items_English.docx", lines)
    write_docx("seceu/SECEU_norm.docx", synthetic_norm())
    with pytest.raises(DataError, match=r"docx:4: item 2 has no story with 4 options"):
        list(items.scenarios(rehearse("baseline/even", tmp_path).source()))


def test_chinese_numerals_and_options_on_the_storys_own_line_are_read(rehearse, write_docx, tmp_path):
    digits = "一二三四五六七八九"
    names = [*digits, "十", *("十" + d for d in digits), "二十", *("二十" + d for d in digits)]
    names += ["三十", *("三十" + d for d in digits), "四十"]
    lines = []
    for at, name in enumerate(names):
        story, options = f"她说：“好的！”故事{name}。她会觉得：", "高兴\t平静\t难过\t生气"
        lines += [f"第{name}题", *([f"{story} \t{options}"] if at % 2 else [story, options]), ""]
    write_docx("seceu/SECEU_40items_Chinese.docx", lines)
    write_docx("seceu/SECEU_norm.docx", synthetic_norm())
    played = list(items.scenarios(rehearse("baseline/even", tmp_path, language="zh").source()))
    assert len(played) == 40
    assert all(item.options == ("高兴", "平静", "难过", "生气") for item in played)
    assert played[1].story == "她说：“好的！”故事二。她会觉得："


def test_a_norm_file_with_missing_rows_is_refused(rehearse, write_docx, tmp_path):
    write_docx("seceu/SECEU_40items_English.docx", synthetic_english())
    write_docx("seceu/SECEU_norm.docx", list(synthetic_norm())[3:])
    with pytest.raises(DataError, match="expected 40 rows of 4 standard scores"):
        list(items.scenarios(rehearse("baseline/even", tmp_path).source()))
