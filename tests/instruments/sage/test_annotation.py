import csv
import io

import msgspec
import pytest

from sociometer.core.errors import UsageError
from sociometer.core.task import PeopleLabel
from sociometer.instruments import load
from sociometer.instruments.sage.analyses.stability import contexts
from sociometer.instruments.sage.items import bundled
from sociometer.instruments.sage.judges.sheets import check, context_key, feelings_row, reasoning_row
from sociometer.instruments.sage.samples import some_contexts
from sociometer.reporting.sheets import draw_rows, sheet_text

from .analyses.test_analyses import stored

SCENARIOS = list(bundled("en"))


def given(name, directions, reasonable):
    """One annotator's sheet."""
    felt = [PeopleLabel(name, (key,), {"direction": said}) for key, said in directions.items()]
    return felt + [PeopleLabel(name, (key,), {"reasonable": said}) for key, said in reasonable.items()]


DIALOGUES = [stored(scenario, 5, 0, -3, 2, 4, -1) for scenario in SCENARIOS]


def test_a_sheet_has_44_percent_from_latter_halves_and_never_the_answer():
    chosen = some_contexts(DIALOGUES, 100, 1, 0.44)
    assert sum(context.latter for context in chosen) == 44
    assert chosen == some_contexts(DIALOGUES, 100, 1, 0.44) != some_contexts(DIALOGUES, 100, 2, 0.44)
    rows = [feelings_row(context) for context in chosen]
    assert len(rows) == 100 and "thought 0" not in str(rows)
    talk = rows[0].shown[-2]
    assert talk.startswith("A: ") and "person:" not in talk, "no English names in any language"
    assert "thought 0" in str([reasoning_row(context) for context in chosen])


def test_too_few_contexts_are_refused_with_their_numbers():
    with pytest.raises(UsageError, match="need 440 and 560, but there are"):
        some_contexts(DIALOGUES, 1000, 1, 0.44)


def test_words_and_a_change_never_become_a_formula():
    context = contexts(DIALOGUES[0])[0]
    judgement = msgspec.structs.replace(context.judgement, activity="=HYPERLINK(1)", feeling="-5+1", change=-5)
    row = reasoning_row(msgspec.structs.replace(context, judgement=judgement))
    instrument = load("sage")
    (card,) = (one for one in instrument.card.sheet if one.name == "reasoning")
    (read,) = csv.DictReader(io.StringIO(sheet_text(draw_rows(instrument, card, [row], 0))))
    assert (read["inner activity"], read["feeling"], read["change"]) == ("'=HYPERLINK(1)", "'-5+1", "'-5")


def test_table_1_on_a_worked_example():
    known = {context_key(context): context for context in contexts(DIALOGUES[0])}
    one, two, three = list(known)[:3]  # the simulator went up, same, down
    people = [
        *given("ann", {one: "up", two: "same", three: "up"}, {one: "yes", two: "yes"}),
        *given("bob", {one: "up", two: "down", three: "down"}, {one: "yes", two: "no"}),
        *given("cyd", {one: "down", two: "same", three: "down"}, {}),
    ]
    found = check(people, known)
    consistency, majority_consistency, agreement, reasonableness, reasonableness_agreement = found.shares
    assert consistency.value == pytest.approx((2 / 3 + 2 / 3 + 2 / 3) / 3)
    assert majority_consistency.value == 1
    # ann-bob agree on one of three, ann-cyd on one, bob-cyd on one
    assert agreement.value == pytest.approx(1 / 3)
    assert reasonableness.value == pytest.approx(3 / 4)
    assert reasonableness_agreement.value == pytest.approx(1 / 2)
    assert (found.contexts, found.shared, found.annotators, found.undecided) == (3, 3, 3, 0)


def test_two_sheets_of_one_annotator_count_once():
    known = {context_key(context): context for context in contexts(DIALOGUES[0])}
    one, two, *_ = known  # the simulator went up, same
    ann = given("ann", {one: "down", two: "same"}, {}) + given("ann", {one: "down"}, {})
    bob = given("bob", {one: "up"}, {}) + given("bob", {}, {one: "yes"})
    found = check([*ann, *bob], known)
    assert found.annotators == 2
    consistency, _, agreement, *_ = found.shares
    assert consistency.value == pytest.approx(2 / 3)
    assert agreement.value == 0 and (found.contexts, found.shared, found.undecided) == (2, 1, 1)


def test_ties_have_no_majority_and_are_counted():
    known = {context_key(context): context for context in contexts(DIALOGUES[0])}
    first, alone, *_ = known
    found = check(given("a", {first: "up", alone: "up"}, {}) + given("b", {first: "down"}, {}), known)
    assert found.undecided == 1 and found.shares[1].value is None, "one answer is no majority"
