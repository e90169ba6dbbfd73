"""Posts are read from dumps and filtered, each rejection with its reason."""

import json

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.sesi.build.posts import (
    DEMO,
    Comment,
    RawPost,
    Rejection,
    filter_posts,
    read_posts,
    split_tldr,
)


def raw(name="a", body="I moved out.", comments=5, title="Title", is_text=True):
    return RawPost(name, title, body, "", is_text, tuple(Comment(f"c{n}", f"Advice {n}", n) for n in range(comments)))


def test_the_bundled_dozen_passes_and_the_three_others_are_rejected_with_reasons():
    kept, rejected = filter_posts(read_posts([DEMO]))
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
    assert filter_posts([post])[1] == [Rejection("a", reason)]


def test_the_same_text_twice_is_one_post():
    kept, rejected = filter_posts([raw("a"), raw("b")])
    assert ([post.id for post in kept], [entry.post for entry in rejected]) == (["a"], ["b"])


def test_the_five_top_comments_are_taken_best_first():
    kept, _ = filter_posts([raw(comments=9)])
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
    found = read_posts([plain, comments])
    assert len(found) == 1
    assert {comment.text for comment in found[0].comments} == {"A 0", "A 1", "A 2"}


def test_a_bad_line_names_file_and_line(tmp_path):
    path = tmp_path / "posts.jsonl"
    path.write_text('{"id": "x", "title": "T"}\nnot json\n')
    with pytest.raises(DataError, match=r"posts\.jsonl:2"):
        read_posts([path])
    path.write_text('{"author": "x"}\n')
    with pytest.raises(DataError, match="neither a post"):
        read_posts([path])


@pytest.mark.parametrize("comments", ["5", '"words"', '["words"]', "[" * 100_000])
def test_comments_of_another_form_are_refused(tmp_path, comments):
    path = tmp_path / "posts.jsonl"
    path.write_text(f'{{"id": "x", "title": "T", "comments": {comments}}}\n')
    with pytest.raises(DataError, match=r"posts\.jsonl:1"):
        read_posts([path])


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
    assert split_tldr(body) == parts
