"""Published figures and claims and their recomputation: a table, and whether every mismatch has a known reason."""

from collections.abc import Iterable, Sequence

from sociometer.core.measure import PublishedFigure, Table

UNCHECKED = "cannot be checked"


def unexplained(figures: Iterable[PublishedFigure]) -> tuple[PublishedFigure, ...]:
    """The mismatches without a known reason; these make `reproduce` fail."""
    return tuple(figure for figure in figures if not figure.match and not figure.reason)


def reproduction_table(instrument: str, figures: Sequence[PublishedFigure], mismatches_only: bool = False) -> Table:
    """One row for each figure, claims first: printed and recomputed value, and whether they match or why not."""
    shown = [figure for figure in figures if not (mismatches_only and figure.match)]
    shown.sort(key=lambda figure: not figure.claim)
    rows = tuple(
        (figure.where, figure.what, figure.printed, figure.recomputed, _state(figure), figure.reason)
        for figure in shown
    )
    numbers = [figure for figure in figures if not figure.claim]
    printed = [figure for figure in numbers if figure.printed is not None]
    matched = sum(figure.match for figure in printed)
    known = sum(not figure.match and bool(figure.reason) for figure in printed)
    note = f"{matched} of {len(printed)} figures match; {known} differ for a known reason"
    open_ones = len(printed) - matched - known
    note += f"; {open_ones} differ without one" if open_ones else ""
    unprinted = len(numbers) - len(printed)
    note += f"; {unprinted} more are not printed as numbers." if unprinted else "."
    said = claims_sentence(figures)
    columns = ("where", "what", "printed", "recomputed", "result", "reason")
    title = f"{instrument}: published figures recomputed"
    return Table(f"reproduce-{instrument}", title, columns, rows, f"{note} {said}".strip())


def claims_sentence(figures: Iterable[PublishedFigure]) -> str:
    """How many claims of the text hold; empty if none was checked."""
    states = [_state(figure) for figure in figures if figure.claim]
    if not states:
        return ""
    hold, fail, unknown = (states.count(state) for state in ("holds", "does not hold", UNCHECKED))
    return f"Claims in the text that hold: {hold}; that do not hold: {fail}; that cannot be checked: {unknown}."


def _state(figure: PublishedFigure) -> str:
    if figure.claim:
        return UNCHECKED if figure.recomputed is None else "holds" if figure.match else "does not hold"
    if figure.printed is None:
        return "not printed"
    return "match" if figure.match else "known difference" if figure.reason else "MISMATCH"
