"""How many transcripts a page shows."""

from sociometer.reporting.evidence import kinds_shown, transcripts_each


def test_a_page_about_many_runs_shows_fewer_transcripts_of_each() -> None:
    """Four of each kind for a few runs; never none, however many runs there are."""
    assert [transcripts_each(played) for played in (0, 1, 50, 100, 200, 100_000)] == [4, 4, 4, 2, 1, 1]


def test_random_transcripts_are_shown_only_if_there_is_room() -> None:
    assert "random" in kinds_shown(200)
    assert kinds_shown(201) == ("best", "worst", "unreadable", "failed")
