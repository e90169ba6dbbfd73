"""From posts to a played set: readers, filters, drafts, assembly, checks, review; the same bytes on a second run."""

import json
from random import Random

import msgspec
import pytest

from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.instruments.sesi import build, items
from sociometer.instruments.sesi.build import Candidate, Comment, Draft, Post, RawPost
from sociometer.reading import read_items

BUNDLED = list(read_items(items.BUNDLED / "en.jsonl", items.Question))


def raw(name="a", body="I moved out.", comments=5, title="Title", is_text=True):
    return RawPost(name, title, body, "", is_text, tuple(Comment(f"c{n}", f"Advice {n}", n) for n in range(comments)))


def test_the_bundled_dozen_passes_and_the_three_others_are_rejected_with_reasons():
    kept, rejected = build.filter_posts(build.read_posts([build.DEMO]))
    assert len(kept) == 12
    assert [entry.reason.partition(" (")[0] for entry in rejected] == [
        "several updates", "refers to an external link", "too few comments"
    ]  # fmt: skip
    assert all(len(post.comments) == 5 and post.tldr for post in kept)


@pytest.mark.parametrize(
    ("post", "reason"),
    [
        (raw(body="[removed]"), "the text was removed"),
        (raw(body="see https://x.org"), "refers to an external link"),
        (raw(is_text=False), "refers to an external link"),
        (raw(title="[Update] it", body="Edit 2: thanks"), "several updates (2)"),
        (raw(comments=4), "too few comments (4 of 5)"),
    ],
)
def test_each_rejection_has_its_reason(post, reason):
    assert build.filter_posts([post])[1] == [build.Rejection("a", reason)]


def test_the_same_text_twice_is_one_post():
    kept, rejected = build.filter_posts([raw("a"), raw("b")])
    assert ([post.id for post in kept], [entry.post for entry in rejected]) == (["a"], ["b"])


def test_the_five_top_comments_are_taken_best_first():
    kept, _ = build.filter_posts([raw(comments=9)])
    assert [comment.votes for comment in kept[0].comments] == [8, 7, 6, 5, 4]


def test_dumps_are_read_split_over_files(tmp_path):
    head = json.dumps({"id": "x", "title": "T", "selftext": "Body", "is_self": True})
    said = [
        json.dumps({"id": f"c{n}", "link_id": "t3_x", "parent_id": "t3_x", "body": f"A {n}", "score": n})
        for n in range(3)
    ]
    said.append(json.dumps({"id": "r", "link_id": "t3_x", "parent_id": "t1_c0", "body": "a reply", "score": 9}))
    said.append(json.dumps({"id": "m", "link_id": "t3_x", "body": "rules", "author": "AutoModerator"}))
    plain, comments = tmp_path / "posts.jsonl", tmp_path / "comments.jsonl"
    plain.write_text(head + "\n")
    comments.write_text("\n".join(said) + "\n")
    found = build.read_posts([plain, comments])
    assert len(found) == 1
    assert {comment.text for comment in found[0].comments} == {"A 0", "A 1", "A 2"}


def test_a_bad_line_names_file_and_line(tmp_path):
    path = tmp_path / "posts.jsonl"
    path.write_text('{"id": "x", "title": "T"}\nnot json\n')
    with pytest.raises(DataError, match=r"posts\.jsonl:2"):
        build.read_posts([path])
    path.write_text('{"author": "x"}\n')
    with pytest.raises(DataError, match="neither a post"):
        build.read_posts([path])


@pytest.mark.parametrize("comments", ["5", '"words"', '["words"]', "[" * 100_000])
def test_comments_of_another_form_are_refused(tmp_path, comments):
    path = tmp_path / "posts.jsonl"
    path.write_text(f'{{"id": "x", "title": "T", "comments": {comments}}}\n')
    with pytest.raises(DataError, match=r"posts\.jsonl:1"):
        build.read_posts([path])


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ("Long story. TL;DR: short.", ("Long story.", "short.")),
        ("Long story.\n\n**tldr** - short", ("Long story.", "short")),
        ("TL;DR short\nLong story.", ("Long story.", "short")),
        ("Only the story.", ("Only the story.", "")),
    ],
)
def test_the_short_version_is_split_off(body, parts):
    assert build.split_tldr(body) == parts


def test_the_three_least_entailed_candidates_are_chosen():
    candidates = [
        Candidate(t, "reversed", e)
        for t, e in (("a", 0.9), ("b", 0.1), ("c", None), ("d", 0.3), ("b", 0.1), ("e", 0.2), ("R", 0.0))
    ]
    assert [entry.text for entry in build.least_entailed(candidates, "r", Random(0))] == ["b", "e", "d"]


def test_equally_entailed_candidates_are_drawn_by_seed_and_favour_no_kind():
    kinds = ["switched:empathy", "switched:concern", "switched:influence", "switched:social-cognition", "reversed"]
    candidates = tuple(Candidate(f"answer {n}", kind, 0.2) for n, kind in enumerate([*kinds, "reversed"]))
    draft = Draft("S.", "Q?", "self-presentation", "right", candidates)
    drafts = [(Post(id=f"p{n}", title="", body=""), draft) for n in range(60)]

    def built(seed):
        return build.assemble(drafts, builder="b", prompts="p", seed=seed)[0]

    reversed_ones = sum(kind == "reversed" for entry in built(0) for kind in entry.item.kinds)
    assert 40 < reversed_ones < 80, "a third of the candidates is reversed, and so should be a third of the drawn"
    assert built(0) == built(0)
    assert built(1) != built(0)


def test_positions_are_balanced_and_failed_drafts_rejected():
    wrong = tuple(Candidate(t, "reversed", 0.1) for t in "xyz")
    good = Draft("S.", "Q?", "empathy", "right", wrong)
    drafts = [(Post(id=f"p{n}", title="", body=""), good) for n in range(8)]
    drafts.append((Post(id="bad", title="", body=""), Draft(problem="ability unreadable")))
    built, rejected = build.assemble(drafts, builder="b", prompts="p", seed=0)
    assert sorted(entry.item.answer for entry in built) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert all(entry.item.options[entry.item.answer] == "right" for entry in built)
    assert rejected == [build.Rejection("bad", "ability unreadable")]


def test_built_items_read_back_through_the_official_layout(tmp_path):
    path = tmp_path / "sesi.csv"
    path.write_text(build.official_csv(BUNDLED), encoding="utf-8")
    again = list(items.read_official(path))
    assert [(q.id, q.ability, q.options, q.answer) for q in again] == [
        (q.id, q.ability, q.options, q.answer) for q in BUNDLED
    ]


def test_cohens_d_is_worked_by_hand():
    """Means 2 and 4, both variances 1: d = -2."""
    assert build.cohens_d([1, 2, 3], [3, 4, 5]) == pytest.approx(-2.0)
    assert build.cohens_d([1, 1], [1, 1]) is None
    third = [0.7 / 3] * 7
    assert build.cohens_d([sum(third[:n]) / n for n in range(1, 8)], [0.9] * 6) is None, "rounding is no spread"


def test_tone_is_compared_with_a_lexicon_in_the_nrc_format(tmp_path):
    path = tmp_path / "vad.txt"
    path.write_text("Word\tValence\tArousal\tDominance\nhelp\t0.9\t0.5\t0.5\nhurt\t0.1\t0.7\t0.3\n")
    lexicon = build.read_lexicon(path)
    assert lexicon["hurt"] == (0.1, 0.7, 0.3)
    table = build.tone_table(BUNDLED, lexicon)
    assert len(table.rows) == 6
    path.write_text("help\tgood\n")
    path.write_text("a\t1\t1\t1\nhelp\tgood\t1\t1\n")
    with pytest.raises(DataError, match=r"vad\.txt:2"):
        build.read_lexicon(path)


def test_links_names_and_duplicates_are_flagged():
    spoiled = msgspec.structs.replace(BUNDLED[0], id="x", question="What did Bob see at https://a.org?")
    what = [flag.what for flag in build.flags([BUNDLED[0], spoiled]) if flag.item == "x"]
    assert any(entry.startswith("link") for entry in what)
    assert any("Bob" in entry for entry in what)
    assert any("nearly the same" in entry for entry in what)
    first = msgspec.structs.replace(BUNDLED[1], situation="I waited for my aunt.")
    assert {flag.what for flag in build.flags([first])} >= {
        "the situation has 1 sentences, not three",
        "told in the first person",
    }
    told = msgspec.structs.replace(BUNDLED[1], situation="A person waits. A friend is late. They quarrel.")
    assert not [flag for flag in build.flags([told]) if "sentences" in flag.what or "first person" in flag.what]


def test_experts_decisions_remove_items_with_their_reason(tmp_path):
    path = tmp_path / "review.csv"
    sheet = build.review_sheet(BUNDLED[:3], []).splitlines()
    assert "right" not in sheet[0], "reviewers do not see the key"
    sheet[2] = sheet[2].removesuffix(",") + "no right answer,"
    path.write_text("\n".join(sheet) + "\n", encoding="utf-8")
    kept, removed = build.apply_decisions(BUNDLED[:3], build.read_decisions(path), path)
    assert [item.id for item in kept] == [BUNDLED[0].id, BUNDLED[2].id]
    assert removed[0].reason == "expert review: no right answer"
    with pytest.raises(DataError, match="not built"):
        build.apply_decisions(BUNDLED[:1], build.read_decisions(path), path)


def test_an_item_that_a_reviewer_answers_otherwise_is_removed(tmp_path):
    path = tmp_path / "review.csv"
    right, wrong = "ABCD"[BUNDLED[0].answer], "ABCD"[(BUNDLED[1].answer + 1) % 4]
    path.write_text(f"id,choice,decision\n{BUNDLED[0].id},{right},\n{BUNDLED[1].id},{wrong.lower()},keep\n")
    decisions = build.read_decisions(path)
    kept, removed = build.apply_decisions(BUNDLED[:3], decisions, path)
    assert [item.id for item in kept] == [BUNDLED[0].id, BUNDLED[2].id]
    assert [entry.reason for entry in removed] == ["expert review: the reviewer chose another option"]
    assert build.agreement(BUNDLED[:3], decisions) == (2, 1)
    path.write_text(f"id,choice,decision\n{BUNDLED[0].id},E,\n")
    with pytest.raises(DataError, match="unknown choice 'E'"):
        build.read_decisions(path)


def test_statistics_count_what_figure_5_counts():
    tables = {table.name: table for table in build.set_tables(BUNDLED)}
    for name in ("abilities", "situations", "relations"):
        assert sum(row[1] for row in tables[name].rows) == len(BUNDLED)


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        ("**Answer:** She feels left out.", "She feels left out."),
        ("**Answer**: She feels left out.", "She feels left out."),
        ("### Answer\n\nShe feels left out.", "She feels left out."),
        ("Answer: She feels left out.", "She feels left out."),
        ("The correct answer:\nShe feels left out.", "She feels left out."),
        ("Sure! Here is one sentence:\n\n**Comment 1:** “She feels left out.”", "She feels left out."),
        ("1. **She feels left out.**", "She feels left out."),
        ("**Reversed answer:**\n- She feels left out.", "She feels left out."),
        ("He could reply: 'Not today.'", "He could reply: 'Not today.'"),
        ("She should give an honest answer: no.", "She should give an honest answer: no."),
        ("The person could ask one question: why now?", "The person could ask one question: why now?"),
    ],
)
def test_headings_never_remain_in_an_option_and_sentences_stay_whole(reply, line):
    assert build.one_line(reply) == line


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I waited for my aunt.", True),
        ("A person waited. Am I wrong?", True),
        ('A person\'s aunt said "I waited for my bus" and left.', False),
        ("A person's aunt said 'I waited for my bus' and left.", False),
        ("A person met the aunt of a friend.", False),
    ],
)
def test_first_person_is_recognised_outside_quotation_marks(text, told):
    assert build.first_person(text) == told


def built(tmp_path, monkeypatch, script, *words):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    path, out = tmp_path / "builder.jsonl", tmp_path / "set"
    path.write_text("".join(json.dumps(line) + "\n" for line in script))
    role = ("--role", f"builder=scripted/{path}", "--to", str(out))
    assert run_command(["sesi", "build", "--posts", "demo", *role, "--quiet", "--json", *words]) == 0
    return out


def test_limit_bounds_the_posts_that_are_drafted(tmp_path, monkeypatch, capsys):
    out = built(tmp_path, monkeypatch, SCRIPT, "--limit", "3")
    assert len(list(items.read_official(out / "sesi.csv"))) == 3
    assert "9 more posts pass the filters; --limit 3 leaves them out" in capsys.readouterr().out


def test_first_person_situations_are_converted_or_rejected(tmp_path, monkeypatch, capsys):
    mine = json.dumps({"situation": "I wait. My friend is late. We quarrel.", "question": "Why is my friend late?"})
    retold = {"match": "Rewrite both in the third person", "reply": json.dumps(TOLD)}
    out = built(tmp_path, monkeypatch, [retold, {**SCRIPT[0], "reply": mine}, *SCRIPT[1:]], "--limit", "2")
    assert {item.situation for item in items.read_official(out / "sesi.csv")} == {TOLD["situation"]}
    stubborn = [{**retold, "reply": mine}, {**SCRIPT[0], "reply": mine}, *SCRIPT[1:]]
    (tmp_path / "again").mkdir()
    out = built(tmp_path / "again", monkeypatch, stubborn, "--limit", "2")
    assert (out / "rejected.csv").read_text().count("told in the first person") == 2


def test_entailment_is_asked_with_situation_and_question(tmp_path, monkeypatch, capsys):
    """Only a prompt that has both gets a probability, and without one there is no item."""
    seen = [
        {"match": "(?s)A friend is late.*Why is the friend late.*how likely is it", "reply": '{"probability": 0.2}'}
    ]
    out = built(tmp_path, monkeypatch, [*seen, *SCRIPT[:-2]], "--limit", "1")
    assert len(list(items.read_official(out / "sesi.csv"))) == 1


def test_the_format_of_posts_is_in_the_help(capsys):
    assert run_command(["sesi", "build", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "link_id" in said and "selftext" in said


TOLD = {"situation": "A person waits. A friend is late. They quarrel.", "question": "Why is the friend late?"}
OTHERS = ["The friend was held up by traffic.", "The friend forgot the time."]
SCRIPT = [
    {"match": "Retell it for a test", "reply": json.dumps(TOLD)},
    {"match": "Which ability", "reply": "A"},
    {"match": "agreed with most", "reply": "The friend feels unwelcome and stays away as long as possible."},
    {"match": "usual and acceptable", "reply": "Being late is common among friends."},
    {"match": "put across", "reply": "The person could say how long the wait was."},
    {"match": "bring about", "reply": "The person could propose an earlier hour."},
    {"match": "in need of help", "reply": "The friend needs a lift."},
    {"match": "different standpoint", "reply": json.dumps({"answers": OTHERS})},
    {"match": "lift", "reply": '{"probability": 0.9}'},
    {"match": "how likely is it", "reply": '{"probability": 0.2}'},
]  # fmt: skip


def test_from_posts_to_a_played_set_and_the_same_bytes_again_without_a_new_request(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    script = tmp_path / "builder.jsonl"
    script.write_text("".join(json.dumps(line) + "\n" for line in SCRIPT))
    out = tmp_path / "set"
    words = [
        "sesi",
        "build",
        "--posts",
        "demo",
        "--role",
        f"builder=scripted/{script}",
        "--to",
        str(out),
        "--quiet",
        "--json",
    ]

    def requests():
        capsys.readouterr()
        assert run_command(["runs", "--json"]) == 0
        return [entry["spent"]["requests"] for entry in json.loads(capsys.readouterr().out)]

    assert run_command(words) == 0
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    figures = {f"{name}.svg" for name in ("abilities", "answers", "characters", "relations", "situations")}
    assert set(first) == {"sesi.csv", "provenance.jsonl", "rejected.csv", "checks.csv", "review.csv"} | figures
    spent = requests()
    assert sum(spent) == 12 * 14
    assert run_command(words) == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first
    assert sum(requests()[1:]) == 0

    found = list(items.read_official(out / "sesi.csv"))
    assert len(found) == 12
    assert all("lift" not in option for item in found for option in item.options)
    provenance = [json.loads(line) for line in first["provenance.jsonl"].splitlines()]
    assert provenance[0]["options"][found[0].answer]["kind"] == "right"
    assert len(provenance[0]["comments"]) == 5

    capsys.readouterr()
    assert run_command(["run", "sesi", "--data", str(out), "--model", "baseline/oracle", "--quiet", "--json"]) == 0


def test_a_changed_review_sheet_is_never_overwritten(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    script = tmp_path / "builder.jsonl"
    script.write_text("".join(json.dumps(line) + "\n" for line in SCRIPT))
    out = tmp_path / "set"
    words = ["sesi", "build", "--posts", "demo", "--role", f"builder=scripted/{script}", "--to", str(out), "--quiet"]
    assert run_command(words) == 0
    sheet = out / "review.csv"
    lines = sheet.read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].removesuffix(",") + "several right answers,"
    sheet.write_text("\n".join(lines) + "\n", encoding="utf-8")
    changed = sheet.read_bytes()
    capsys.readouterr()
    assert run_command(words) == 0
    assert sheet.read_bytes() == changed
    assert f"was edited and not overwritten; apply its decisions with --review {sheet}" in capsys.readouterr().out
    assert run_command([*words, "--review", str(sheet)]) == 0
    assert len(list(items.read_official(out / "sesi.csv"))) == 11
    assert "several right answers" in (out / "rejected.csv").read_text(encoding="utf-8")
