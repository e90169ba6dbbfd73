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
