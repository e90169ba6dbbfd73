"""How many transcripts a page shows."""

from sociometer.reporting.evidence import room_for


def test_a_page_about_many_runs_shows_fewer_transcripts_of_each() -> None:
    """Four of each kind for a few runs; never none, however many runs there are."""
    assert [room_for(played)[0] for played in (0, 1, 50, 100, 200, 100_000)] == [4, 4, 4, 2, 1, 1]


def test_random_transcripts_are_shown_only_if_there_is_room() -> None:
    assert "random" in room_for(200)[1]
    assert room_for(201)[1] == ("best", "worst", "unreadable", "failed")
