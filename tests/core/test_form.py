"""What was asked, and the one relation that says what may be put together."""

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociometer.core.form import Form, differs, norm_digest, read_settings, why_apart
from sociometer.instruments import card_of

PURPOSES = ("result", "table", "pair", "probe")
FORMS = st.builds(
    Form,
    test=st.just("sesi"),
    task=st.sampled_from(["questions", "recall"]),
    version=st.sampled_from(["1", "2"]),
    whose_items=st.sampled_from(["official", "bundled"]),
    language=st.sampled_from(["en", "zh"]),
    settings=st.dictionaries(st.just("orders"), st.sampled_from(["1", "3"])),
    roles=st.dictionaries(st.just("judge"), st.sampled_from(["gpt-4o", "claude"])),
    seed=st.integers(0, 1),
)


@given(st.lists(FORMS, min_size=3, max_size=3))
def test_what_may_be_put_together_is_the_same_in_every_order_and_groups_never_overlap(forms):
    for purpose in PURPOSES:
        for one, two, three in product(forms, repeat=3):
            assert bool(differs(one, two, purpose)) == bool(differs(two, one, purpose))
            if not differs(one, two, purpose) and not differs(two, three, purpose):
                assert not differs(one, three, purpose)
            assert (not differs(one, two, purpose)) == (one.key(purpose) == two.key(purpose))


@given(FORMS, FORMS)
def test_parts_of_one_result_stand_in_one_table_and_can_be_compared(one, two):
    for narrow, wide in pairwise(PURPOSES):
        if not differs(one, two, narrow):
            assert not differs(one, two, wide)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": "2"}, "they come from versions 1 and 2 of sesi"),
        ({"whose_items": "official"}, "one has bundled items and the other official ones"),
        ({"language": "zh"}, "their languages differ: en and zh"),
        ({"apart": {"orders": "3"}}, "they differ in the setting 'orders': 1 and 3"),
        ({"roles": {"judge": "claude"}}, "they have different models in the role judge: gpt-4o and claude"),
        ({"roles": {}}, "they have different models in the role judge: gpt-4o and no model"),
        ({"norm": "3fa2"}, "they were scored on different norms"),
        ({"tools": "told"}, "their subjects use tools in different ways (none and told)"),
    ],
)
def test_the_message_names_the_field_and_both_values(change, why):
    usual = {
        "test": "sesi",
        "task": "questions",
        "version": "1",
        "language": "en",
        "apart": {"orders": "1"},
        "roles": {"judge": "gpt-4o"},
    }
    found = differs(Form(**usual), Form(**{**usual, **change}), "pair")
    assert why in why_apart(found, "sesi")


def test_a_setting_of_another_task_is_no_part_of_a_form():
    card = card_of("egosocial")
    for task, settings in (("generated", {"stories", "perspective"}), ("numbers", {"rounds", "opponents", "drawn"})):
        _, apart, others = read_settings(card, task, {"rounds": 5, "stories": 3}, {}, official=False)
        assert set(others) == settings
        assert apart == {}


def test_a_file_is_known_by_its_checksum_and_not_by_its_path():
    card = card_of("sage")
    for folder in ("/home/ann", "/home/bob"):
        path = f"{folder}/own.toml"
        _, _, others = read_settings(
            card, "dialogue", {"scenarios": path}, {f"--scenarios {path}": "9f3c"}, official=False
        )
        assert others["scenarios"] == "9f3c"


def test_a_norm_that_only_gives_places_among_people_makes_no_other_form():
    assert norm_digest(None) == norm_digest({"kind": "people"}) == ""
    assert norm_digest({"key": [1, 2]}) != norm_digest({"key": [2, 1]})
