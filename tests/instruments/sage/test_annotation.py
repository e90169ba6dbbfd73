import csv
import io

import msgspec
import pytest

from sociometer.core.errors import DataError, UsageError
from sociometer.core.task import PeopleLabel
from sociometer.instruments.sage.analyses.stability import contexts
from sociometer.instruments.sage.items import bundled
from sociometer.instruments.sage.judges.sheets import check, context_key, read_sheet, write_reasoning, write_sheet
from sociometer.instruments.sage.samples import some_contexts

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
    rows = list(csv.DictReader(io.StringIO(write_sheet(chosen))))
    assert len(rows) == 100 and all(row["direction"] == "" for row in rows)
    assert "change" not in rows[0] and "thought 0" not in write_sheet(chosen)
    assert rows[0]["talk"].startswith("A: ") and "person:" not in rows[0]["talk"], "no English names in any language"
    assert "thought 0" in write_reasoning(chosen)


def test_too_few_contexts_are_refused_with_their_numbers():
    with pytest.raises(UsageError, match="need 440 and 560, but there are"):
        some_contexts(DIALOGUES, 1000, 1, 0.44)


def test_words_never_become_a_formula_and_a_change_stays_a_number():
    context = contexts(DIALOGUES[0])[0]
    judgement = msgspec.structs.replace(context.judgement, activity="=HYPERLINK(1)", feeling="-5+1", change=-5)
    (row,) = csv.DictReader(io.StringIO(write_reasoning([msgspec.structs.replace(context, judgement=judgement)])))
    assert (row["inner activity"], row["feeling"], row["change"]) == ("'=HYPERLINK(1)", "'-5+1", "-5")


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
    with pytest.raises(DataError, match=r"'ann' give two answers for .*, direction"):
        check(ann + given("ann", {one: "up"}, {}), known)


def test_ties_have_no_majority_and_are_counted():
    known = {context_key(context): context for context in contexts(DIALOGUES[0])}
    first, alone, *_ = known
    found = check(given("a", {first: "up", alone: "up"}, {}) + given("b", {first: "down"}, {}), known)
    assert found.undecided == 1 and found.shares[1].value is None, "one answer is no majority"


def test_a_filled_sheet_is_read_and_a_strange_word_refused_by_line(tmp_path):
    path = tmp_path / "ann.csv"
    path.write_text("context,direction\nr1:a@1,Up\nr1:a@2,\n", encoding="utf-8-sig")
    assert read_sheet(path) == given("ann", {"r1:a@1": "up"}, {})
    path.write_text("context,direction\nr1:a@1,sideways\n")
    with pytest.raises(DataError, match=r"ann.csv:2: direction 'sideways'; allowed: down, same, up"):
        read_sheet(path)
    path.write_text("context,direction\nr1:a@1,\n")
    with pytest.raises(DataError, match="contains no answer"):
        read_sheet(path)


def test_a_context_from_elsewhere_is_refused():
    with pytest.raises(DataError, match="in none of the runs given"):
        check(given("ann", {"r9:x@1": "up"}, {}), {})
