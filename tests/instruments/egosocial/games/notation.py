"""Cards and replays as the tests write them."""

from sociometer.instruments.egosocial.games import cards


def card(name):
    """The card of a name, suit first: `HK` is the king of hearts."""
    return cards.RANKS.index(name[1]) * 4 + cards.SUITS.index(name[0])


def as_text(figure):
    """A replay as plain lines of text."""
    cells = [figure.table.columns, *figure.table.rows]
    words = [["" if cell is None else str(cell) for cell in row] for row in cells]
    widths = [min(40, max(len(row[column]) for row in words)) for column in range(len(figure.table.columns))]
    return "\n".join(
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in words
    )
