"""The 32 abilities and the spellings that certainly mean one of them."""

import pytest

from sociometer.instruments.socialeval.abilities import (
    ABILITIES,
    DIMENSIONS,
    canonical,
    canonical_all,
    completes,
    dimension_of,
    fold,
    slips,
)


def test_there_are_32_abilities_in_the_papers_five_dimensions():
    assert len(set(ABILITIES)) == 32
    assert {name: len(members) for name, members in DIMENSIONS.items()} == {
        "social engagement": 5,
        "cooperation": 5,
        "self-management": 12,
        "emotional resilience": 5,
        "innovation": 5,
    }


def test_no_two_abilities_could_be_slips_of_each_other():
    folded = [fold(name) for name in ABILITIES]
    close = [(a, b) for a in folded for b in folded if a < b and slips(a, b) <= 2]
    assert close == [("taskmanagement", "timemanagement")] or not close


@pytest.mark.parametrize("name", ABILITIES)
def test_an_ability_means_itself_in_any_case_and_spacing(name):
    assert canonical(name) == canonical(f"  {name.title()} ") == canonical(name.replace("-", "\x02")) == name


@pytest.mark.parametrize(
    ("spelling", "meant"),
    [
        ("Teamwork Skil", "teamwork skill"),
        ("IConversational Skill", "conversational skill"),
        ("Perspective-Talking Skill", "perspective-taking skill"),
        ("Organization Skill", "organizational skill"),
        ("Expressive", "expressive skill"),
        ("Confidence ", "confidence regulation"),
        ("Information Process Skill", "information processing skill"),
        ("Adaptive ", "adaptability"),
        ("Capacity for Stress Regulation", "stress regulation"),
        ("Capacity for Perspective-Taking", "perspective-taking skill"),
        ("Ethical Skill", "ethical competence"),
        ("Anger Regulation", "anger management"),
        ("Independence", "capacity for independence"),
        ("Creativity", "creative skill"),
        ("Self Reflection Ability", "self-reflection skill"),
        ("Adaptibility Skill", "adaptability"),
        ("Time and Task Management", None),
        ("Emotional Regulation", None),
        ("Social Skill", None),
        ("Self-control", None),
        ("Communication Skill", None),
        ("Intentionally resisting impulses", None),
        ("capacity for", None),
        ("skill", None),
        ("", None),
    ],
)
def test_a_slip_is_mended_and_a_guess_is_not_made(spelling, meant):
    assert canonical(spelling) == meant


def test_several_spellings_of_one_ability_count_once():
    assert canonical_all(("Teamwork Skill", "teamwork skil", "charm")) == ("teamwork skill",)
    assert dimension_of("teamwork skill") == "cooperation"


@pytest.mark.parametrize(
    ("spelling", "meant"),
    [
        ("Persuasive Skill, Teamwork Skill", ("persuasive skill", "teamwork skill")),
        ("Anger Management、Impulse Regulation", ("anger management", "impulse regulation")),
        ("trust and optimism", ("capacity for trust", "capacity for optimism")),
        ("Teamwork Skill, charm", ()),
    ],
)
def test_a_list_in_one_spelling_is_taken_apart_if_every_part_is_certain(spelling, meant):
    assert canonical_all((spelling,)) == meant


def test_the_rest_of_a_name_is_recognised():
    assert completes("Information ", "Processing Skill")
    assert completes("self-reflection", "skill")
    assert not completes("expressive skill", "skill")
    assert not completes("Expressive", "to his friend?")
    assert not completes("Expressive Skill", "")


def test_all_but_one_of_the_released_spellings_are_certain(official):
    spellings = {name for tree in official for node in tree.nodes for c in node.choices for name in c.abilities}
    assert len(spellings) == 138
    assert {name for name in spellings if canonical(name) is None} == {"Intentionally resisting impulses"}
