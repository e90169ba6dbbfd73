"""The paper's figures from released dialogues, known by their contents."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest

import sociometer as sm
from sociometer.instruments.sage.items import PROFILES, read_profiles
from sociometer.instruments.sage.published.released import listed, recognise, released_files
from sociometer.instruments.sage.published.reproduce import rounded, table

from .test_commands import OTHER, TALK
from .test_transcripts import row


def write(path, *histories):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{**row(history, final), "id": f"id-{number}"} for number, (history, final) in enumerate(histories)]
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in rows), encoding="utf-8")
    return path


def figures(folder):
    return by_place(sm.reproduce("sage", data=folder))


def by_place(found):
    return {(each.where, each.what): each for each in found.figures}


@pytest.fixture(scope="module")
def recomputed(official):
    return sm.reproduce("sage", data=official.parent)


def test_every_file_here_is_known_by_its_contents(official):
    found, unused = released_files([official.parent])
    assert len(found) == 10 and {one.known_by for one in found} == {"git blob"} and not unused
    assert sum(one.simulator == "GPT-4o" for one in found) == 4


def test_a_file_is_known_by_its_contents_under_any_name(official, tmp_path):
    path = tmp_path / "my dialogues.jsonl"
    shutil.copy(official / "transcripts" / "gpt-4.1_result.jsonl", path)
    found = recognise(path)
    assert (found.simulator, found.model, found.known_by) == ("DeepSeek-V3", "GPT-4.1", "git blob")
    wrong = tmp_path / "transcripts" / "qwen2.5-72b_result.jsonl"
    wrong.parent.mkdir()
    shutil.copy(path, wrong)
    assert recognise(wrong).model == "GPT-4.1", "a wrong name does not deceive"


def test_a_file_we_have_not_seen_is_known_by_folder_and_name(tmp_path):
    folder = tmp_path / "sage" / "dataset" / "gemini-2.5-flash-nothink_based_simulator"
    path = write(folder / "openai-o1_result.jsonl", (TALK, 45))
    found = recognise(path)
    assert (found.simulator, found.model, found.known_by) == ("Gemini2.5", "o1", "name")
    strange = write(folder / "unheard-of_result.jsonl", (TALK, 45))
    elsewhere = write(tmp_path / "elsewhere" / "openai-o1_result.jsonl", (TALK, 45))
    assert recognise(strange) is None and recognise(elsewhere) is None
    (tmp_path / "items.jsonl").write_text('{"a": 1}\n')
    used, unused = released_files([tmp_path])
    assert [one.path for one in used] == [path] and set(unused) == {strange, elsewhere}
    named = {what for where, what in figures(tmp_path) if where == "files"}
    assert named == {f"{one.parent.name}/{one.name}" for one in (path, *unused)}


def test_every_row_whose_dialogues_are_present_is_recomputed(recomputed):
    found = by_place(recomputed)
    models = {"GPT-4.1", "Claude3.7-Think", "Claude3.7", "DeepSeek-V3", "o1", "Qwen2.5-72B"}
    scores = {what: each for (where, what), each in found.items() if where == "Table 3" and what.endswith(" score")}
    assert {what.removesuffix(" score") for what in scores} == models
    here = [each for (where, _), each in found.items() if where in ("Table 3", "Table 4")]
    assert all(each.match for each in here if each.recomputed is not None)
    assert sum(each.count for each in here if each.recomputed is None) == 12 * 3 + 36
    assert not any("place among" in each.what for each in here), "the paper prints no such place"
    assert found["Table 3", "Claude3.7-Think score"].recomputed == 61.3, "61.25 is rounded up, as the paper does"
    assert found["Figure 7, GPT-4o", "o1 score"].recomputed == 40.8
    assert found["Figure 7, GPT-4o", "o1 score"].printed is None
    agreement = found["Table 2", "DeepSeek-V3 and GPT-4o"]
    assert (agreement.printed, agreement.recomputed) == (0.84, None)
    assert "dialogues of 9 models, of which 4 are here" in agreement.reason
    assert recomputed.good
    assert any("the 18 of Table 3 have 50.5" in each.reason for each in recomputed.figures)


def test_printed_scores_alone_recompute_nothing(tmp_path):
    found = figures(tmp_path)
    assert not any(each.match for (where, _), each in found.items() if where in ("Table 1", "Table 2", "Table 4"))
    printed_only = [what for (where, what), each in found.items() if where == "Table 3" and each.match]
    assert "ranks of 18 models" in printed_only
    assert sm.reproduce("sage", data=tmp_path).missing == ("sage/dataset", PROFILES)


def test_a_wrong_score_is_a_mismatch_and_a_part_of_a_file_says_so(tmp_path):
    folder = tmp_path / "transcripts"
    write(folder / "gpt-4.1_result.jsonl", *[(TALK, 45)] * 100)
    write(folder / "openai-o1_result.jsonl", (OTHER, 30))
    found = figures(tmp_path)
    wrong, part = found["Table 3", "GPT-4.1 score"], found["Table 3", "o1 score"]
    assert (wrong.match, wrong.reason) == (False, "")
    assert part.reason == "1 of 100 dialogues"
    assert "bytes are not the released ones" in found["files", "transcripts/gpt-4.1_result.jsonl"].reason
    assert not sm.reproduce("sage", data=tmp_path).good


def test_what_is_not_printed_is_not_counted_as_a_match(recomputed):
    assert not any(where.startswith("Figure 7") for where, *_ in recomputed.table().rows)
    assert sum(where.startswith("Figure 7") for where, *_ in recomputed.findings().rows) == 12
    assert "Our own findings about the data: 15." in recomputed.table().note


def test_the_list_of_the_release_is_whole():
    assert all(all(msgspec.structs.astuple(one)) for one in listed())
    printed = {each["model"] for each in table("table3")}
    assert {one.model for one in listed()} - printed == {"Gemini2.5-Flash"}
    assert printed == {one.model for one in listed() if one.simulator == "DeepSeek-V3"}
    assert len(listed()) == 48
    assert len({(one.simulator, one.model) for one in listed()}) == len(listed())


def test_claims_of_the_text_are_checked_with_the_released_files(recomputed):
    found = {what: each for (_, what), each in by_place(recomputed).items()}
    assert found["GPT-4.5-Preview overall, as in Table 3"].match
    unchecked = found["GPT-4.5-Preview on listening scenarios"]
    assert (unchecked.printed, unchecked.recomputed) == (57.1, None) and "get data sage" in unchecked.reason
    gap = found["GPT-4.5-Preview's printed gap of 5.6 points on listening scenarios"]
    assert gap.finding and gap.recomputed == "margin 17.7"
    assert found["language of the scenarios"].recomputed == "Chinese in 100 of 100"
    assert found["SSRR of high-ranked models"].finding
    assert found["high-ranked models repeat strategies less (low SSRR)"].recomputed is None


def test_gpt_45_is_checked_where_its_dialogues_are(official, tmp_path):
    shutil.copytree(official / "profiles", tmp_path / "sage" / "profiles")
    lines = (official / "transcripts" / "gpt-4.1_result.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    folder = tmp_path / "sage" / "dataset" / "deepseek-v3-2024-1227_based_simulator"
    folder.mkdir(parents=True)
    (folder / "gpt-4.5_result.jsonl").write_text("\n".join(lines), encoding="utf-8")
    profiles = read_profiles(official / "profiles" / Path(PROFILES).name)
    listening = {profile.id for profile in profiles if profile.intention == "listening"}
    finals = [row["emo_point"] for row in map(json.loads, lines) if row["id"] in listening]
    claim = figures(tmp_path)["Appendix E.2", "GPT-4.5-Preview on listening scenarios"]
    assert claim.recomputed == rounded(sum(finals) / len(finals)) and len(finals) >= 11


def test_claims_cannot_be_checked_without_files(tmp_path):
    unchecked = [each for each in figures(tmp_path).values() if each.claim and each.recomputed is None]
    assert len(unchecked) == 16 and all(each.reason for each in unchecked)
    assert "16 cannot be checked." in sm.reproduce("sage", data=tmp_path).table().note


def test_with_the_whole_release_every_table_is_recomputed(tmp_path):
    for place, one in enumerate(listed()):
        history, final = ((TALK, 45), (OTHER, 30))[place % 3 == 0]
        write(tmp_path / "sage" / "dataset" / one.folder / one.file, (history, final), *[(TALK, 45)] * (place % 5))
    used, unused = released_files([tmp_path])
    assert len(used) == 48 and not unused
    found = figures(tmp_path)
    assert sum(where == "Table 3" and what.endswith(" score") for where, what in found) == 18
    pairs = [each for (where, _), each in found.items() if where == "Table 2"]
    assert len(pairs) == 6 and all(each.recomputed is not None for each in pairs)
    assert sum(where == "Appendix B" and what.startswith("mean of") for where, what in found) == 4
