"""How many transcripts a page shows."""

from sociometer.reporting.evidence import transcripts_each


def test_a_page_about_many_runs_shows_fewer_transcripts_of_each() -> None:
    """Four of each kind for a few runs; never none, however many runs there are."""
    assert [transcripts_each(played) for played in (0, 1, 50, 100, 200, 100_000)] == [4, 4, 4, 2, 1, 1]
