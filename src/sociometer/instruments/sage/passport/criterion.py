"""The rules of the verdict. `NOT`: not a person; `CARE`: use with care.

Those on our own turns and on released judgements were fixed before any model was examined.
"""

from typing import Literal

Verdict = Literal["may be used", "use with care", "not a person"]

NOT_UNREADABLE, CARE_UNREADABLE = 0.2, 0.02
NOT_ORDERED, CARE_ORDERED = 0.7, 0.9
NOT_APART = 3.0
"""Points by which the good replies must be above the cruel ones, and above each set of adversaries."""
NOT_SPREAD, CARE_SPREAD = 4.0, 2.0
"""Points by which judgements of the same turn may vary (standard deviation); a random change varies by 6."""
CARE_BIAS = 1.5
# From version 9 agreement is judged given the state of the talk: the feeling before, the turn and the length of the
# reply. Not a person: the interval of the partial correlation, over dialogues, reaches down to zero.
CARE_BEYOND = 0.3
"""The partial correlation with released changes, given the state, below which a simulator is used with care."""
CARE_FIRST = 0.0
"""The correlation on first turns, within one opening, that a simulator must exceed."""
FEWEST_TURNS, FEWEST_FIRST = 30, 10
"""With fewer released turns (with fewer first turns) the agreement decides nothing."""
FIRST_SHARE = 0.5

# The rules on people's own reports, fixed before any simulator was examined against real people; the README has them
# in words. Not a person besides: the interval of the partial correlation given the state, or that of the difference to
# another reply, includes 0 or less.
FEWEST_PEOPLE, FEWEST_PEOPLE_TURNS = 30, 150
"""With fewer people, or fewer turns of them, the agreement decides nothing."""
CARE_PEOPLE = 0.3
"""The partial correlation with people's reports, given the state, below which a simulator is used with care."""
NOT_KINDNESS, CARE_KINDNESS = 1.0, 1 / 3
"""Standard deviations of the people's reports beyond which the whole interval of the mean difference lies."""
CARE_COMPLIANCE = 0.01
"""The slope of the difference over the turns, as a share of the scale's range, from which compliance counts."""
CARE_NARROW, CARE_WIDE = 0.5, 2.0
"""The least and the largest ratio of the simulator's standard deviation to the people's."""
FEWEST_ENDINGS = 15
"""The failed talks, and the successful ones, from which the relief decides."""
FEWEST_PAIRS = 20
"""The pairs of replies from which their order decides."""
CHANCE = 0.5
