"""A builder's reply becomes one plain line, told in the third person."""

import pytest

from sociometer.instruments.sesi.build.draft import first_person, one_line


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        ("**Answer:** She feels left out.", "She feels left out."),
        ("**Answer**: She feels left out.", "She feels left out."),
        ("### Answer\n\nShe feels left out.", "She feels left out."),
        ("Answer: She feels left out.", "She feels left out."),
        ("The correct answer:\nShe feels left out.", "She feels left out."),
        ("Sure! Here is one sentence:\n\n**Comment 1:** “She feels left out.”", "She feels left out."),
        ("1. **She feels left out.**", "She feels left out."),
        ("**Reversed answer:**\n- She feels left out.", "She feels left out."),
        ("He could reply: 'Not today.'", "He could reply: 'Not today.'"),
        ("She should give an honest answer: no.", "She should give an honest answer: no."),
        ("The person could ask one question: why now?", "The person could ask one question: why now?"),
    ],
)
def test_headings_never_remain_in_an_option_and_sentences_stay_whole(reply, line):
    assert one_line(reply) == line


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I waited for my aunt.", True),
        ("A person waited. Am I wrong?", True),
        ('A person\'s aunt said "I waited for my bus" and left.', False),
        ("A person's aunt said 'I waited for my bus' and left.", False),
        ("A person met the aunt of a friend.", False),
    ],
)
def test_first_person_is_recognised_outside_quotation_marks(text, told):
    assert first_person(text) == told
