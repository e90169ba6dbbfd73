"""What the Inspect adapter costs: 100 questions of SESI as our Inspect task and as a task written for Inspect by hand.

Both ask the same model, which answers at once, with the same prompts, in turn and several times in one process:

    python bench/inspect_adapter.py

Needs the extra `inspect`. Prints processor time per sample; the difference is the adapter's own cost.
"""

import statistics
import tempfile
import time

import msgspec
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelAPI, ModelOutput, modelapi
from inspect_ai.scorer import match
from inspect_ai.solver import generate

from sociometer.adapters.inspect_tasks import sesi
from sociometer.adapters.one_turn import one_turns, plan_of

TIMES = 5


@modelapi(name="instant")
class Instant(ModelAPI):
    """Answers B at once."""

    async def generate(self, input, tools, tool_choice, config):
        return ModelOutput.from_content("instant", "B")


def native():
    """The same questions as one would write them for Inspect."""
    plan = plan_of("sesi", "questions", b'{"orders": 1}')
    samples = [
        Sample(
            id=turn.item.id,
            input=turn.messages[0].content,
            target="ABCD"[turn.item.answer],
            metadata={"cluster": turn.item.id, "item": msgspec.to_builtins(turn.item)},
        )
        for turn in one_turns(plan)
    ]
    return Task(dataset=samples, solver=generate(), scorer=match(location="begin"))


def seconds_a_sample(task, folder):
    """Processor time of one evaluation, and the number of right answers."""
    begin = time.process_time()
    (log,) = inspect_eval(task, model="instant/b", display="none", log_dir=folder)
    spent = (time.process_time() - begin) / len(log.samples)
    accuracy = next(metric for score in log.results.scores for metric in score.metrics.values())
    return spent, accuracy.value


def main():
    """Both tasks in turn."""
    tasks = {"written for Inspect": native(), "through Sociometer": sesi()}
    found = {name: [] for name in tasks}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(TIMES + 1):
            for name, task in tasks.items():
                spent, right = seconds_a_sample(task, folder)
                if turn:  # the first turn warms up
                    found[name].append((spent, right))
    for name, runs in found.items():
        print(
            f"{name}: {1000 * statistics.median(spent for spent, _ in runs):.2f} ms a sample, accuracy {runs[0][1]:.3f}"
        )
    one, two = (statistics.median(spent for spent, _ in runs) for runs in found.values())
    print(f"the adapter adds {1000 * (two - one):.2f} ms a sample ({two / one - 1:+.0%})")


if __name__ == "__main__":
    main()
