"""Ability questions answered in words by a model with neurons switched off."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sociometer.core.command import CommandContext
from sociometer.core.errors import MachineryError
from sociometer.core.inner_model import InnerModel
from sociometer.instruments.socialeval.items import AbilityQuestion
from sociometer.statistics.intervals import Floats


def reply_scores(
    context: CommandContext, model: InnerModel, questions: Sequence[AbilityQuestion], off: Sequence[int], name: str
) -> Floats:
    """Right (1) or wrong (0), twice, for each question; played as a run, so that a kill loses no reply.

    An unreadable reply is wrong, as in the task.
    """
    if not questions:
        return np.empty((0, 2))
    player = model.player_without(off, name)
    run = context.play("abilities", items=questions, settings={"orders": 1}, repeats=1, player=player)
    right = {item.id: score.values["correct"] for item, _, score in run.view("abilities").scored()}
    if len(right) < len(questions):
        raise MachineryError(
            f"{len(questions) - len(right)} questions have no reply; repeat the command to retry them."
        )
    return np.array([[right[question.id]] * 2 for question in questions])
