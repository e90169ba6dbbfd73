"""A transcript as a conversation: instructions once, turns, feelings next to them, no raw JSON."""

from sociometer.core.conversation import Exchange, Noted, Reply, assistant, system, user
from sociometer.core.task import Score
from sociometer.reporting.chat import note_text, print_chat, record_text, score_text, turns, without_json

TOLD = system("Be good company.")
PERSON = system("You are Ada, 40.")
EVENTS = (
    Exchange("subject", "m", (TOLD, user("I lost my job.")), Reply("Oh no.")),
    Exchange(
        "simulator",
        "s",
        (PERSON, user("How do you feel?")),
        Reply('{"said": "Oh no.", "feeling": "Heard.", "change": 3}'),
    ),
    Noted("emotion", {"turn": 1, "before": 40, "change": 3, "after": 43}),
    Exchange("simulator", "s", (PERSON, user("Speak.")), Reply('{"tone": "soft", "words": "Thanks."}')),
    Exchange(
        "subject", "m", (TOLD, user("I lost my job."), assistant("Oh no."), user("Thanks.")), Reply("Tell me more.")
    ),
    Noted("end", {"ending": "turns", "emotion": 43}),
)


def test_a_dialogue_reads_like_a_chat():
    found = [(turn.kind, turn.speaker, turn.text) for turn in turns(EVENTS, "model-x")]
    assert found == [
        ("instructions", "instructions to subject", "Be good company."),
        ("instructions", "instructions to simulator", "You are Ada, 40."),
        ("words", "simulator", "I lost my job."),
        ("subject", "model-x", "Oh no."),
        ("thought", "simulator", "feeling: Heard."),
        ("note", "emotion", "40 → 43 (+3), turn 1"),
        ("words", "simulator", "Thanks."),
        ("subject", "model-x", "Tell me more."),
        ("note", "end", "ending turns, emotion 43"),
    ]


def test_a_prompt_that_repeats_the_last_one_is_shown_from_where_it_differs():
    scene = "You are Bo.\nYou want peace.\nYou live here.\nSo far:\nA: hello"
    events = [
        Exchange("subject", "m", (user(scene),), Reply("A")),
        Exchange("subject", "m", (user(f"{scene}\nB: hi\nYour turn."),), Reply("B")),
    ]
    words = [turn.text for turn in turns(events, "m") if turn.kind == "words"]
    assert words == [scene, "…\nB: hi\nYour turn."]


def test_json_is_shown_as_names_and_values_and_other_text_as_it_is():
    assert without_json('```json\n{"a": 1, "b": ["x", "y"], "c": null}\n```') == "a: 1\nb: x, y\nc: –"
    assert without_json("{not json") == "{not json"
    assert without_json("[" * 100_000) == "[" * 100_000
    assert without_json('{"a":' * 100_000).startswith('{"a":')


def test_a_fall_has_a_minus_sign():
    assert note_text({"before": 40, "change": -2.5, "after": 37.5}) == "40 → 37.50 (−2.50)"


def test_the_outcome_and_the_score_hold_no_braces():
    score = Score(values={"emotion": 43.0, "success": 0.0}, facets={"language": "en"}, unreadable=1)
    assert score_text(score) == "emotion 43, success 0; 1 unreadable  (language en)"
    assert "{" not in record_text(score)


def test_a_piped_chat_is_plain_and_cannot_move_the_terminal(capsys):
    print_chat(turns([Exchange("subject", "m", (user("Hi"),), Reply("\x1b[2J hello"))], "model-x"))
    assert capsys.readouterr().out == "prompt: Hi\n\nmodel-x: \\x1b[2J hello\n\n"
