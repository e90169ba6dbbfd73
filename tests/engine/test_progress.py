"""The time that a run still takes: from the replies so far and the requests that are left in each task."""

import time

import pytest

from sociometer.core.config import Caps, RunConfig
from sociometer.core.conversation import user
from sociometer.engine.budget import Budget
from sociometer.engine.engine import Engine
from sociometer.engine.progress import Progress, TaskWork, effort_of
from sociometer.instruments import load
from sociometer.store.store import Store

SHORT = [user("")]


def halfway(**work):
    """A run of 22 episodes that has played for 40 seconds; its slow task comes first, with ten requests an episode."""
    progress = Progress("", Budget(Caps()), 22, started=time.monotonic() - 40, work=work)
    for _ in range(2):
        for _ in range(10):
            progress.answer(SHORT)
        progress.done += 1
        progress.end_episode("slow", [SHORT] * 10)
    return progress


def test_a_slow_task_says_little_about_the_quick_one_after_it():
    progress = halfway(slow=TaskWork(2, 10.0), quick=TaskWork(20, 1.0))
    assert progress.seconds_left == pytest.approx(40, rel=0.01)  # 20 requests at 2 s each; by episodes, 400 s


def test_replies_of_an_unfinished_episode_count():
    progress = halfway(slow=TaskWork(3, 10.0))
    for _ in range(5):
        progress.answer(SHORT)
    assert progress.seconds_left == pytest.approx(5 * 40 / 25, rel=0.01)


def test_the_time_left_does_not_grow_while_a_reply_is_awaited():
    progress = halfway(slow=TaskWork(4, 10.0))
    before = progress.seconds_left
    progress.started -= 1
    progress._answered_at -= 1  # a second has passed without a reply
    assert progress.seconds_left == before


def test_a_long_prompt_takes_more_time():
    progress = halfway(slow=TaskWork(2, 10.0), long=TaskWork(4, effort_of([[user("a" * 4000)]])))
    progress.total = 6
    assert progress.seconds_left == pytest.approx(4 * 5 * 2, rel=0.01)


def test_episodes_differ_from_what_was_expected():
    progress = halfway(slow=TaskWork(12, 4.0))
    assert 10 * 4 < progress.seconds_left / 2 < 10 * 10


class Listener:
    """Keeps the progress of a run as it began."""

    def started(self, run, progress):
        self.work = {task: (one.left, one.expected) for task, one in progress.work.items()}
        self.progress = progress

    def ended(self, run, ending):
        pass


def test_the_requests_of_each_task_are_known_before_the_run(tmp_path):
    listener = Listener()
    with Store(tmp_path / "s.db") as store:
        engine = Engine(store, load, listener)
        engine.run(RunConfig(instrument="egosocial", subject="baseline/random", tasks=("worlds", "numbers"), limit=3))
    assert {task: left for task, (left, _) in listener.work.items()} == {"worlds": 3, "numbers": 3}
    for task, (_, expected) in listener.work.items():
        after = listener.progress.work[task]
        assert (after.left, after.ended) == (0, 3)
        assert after.effort / 3 == pytest.approx(expected, rel=0.1)
    assert listener.work["numbers"][1] > 5 * listener.work["worlds"][1]
    assert listener.progress.seconds_left == 0


def test_a_resumed_run_counts_only_what_is_left(tmp_path):
    listener, config = (
        Listener(),
        RunConfig(instrument="egosocial", subject="baseline/random", tasks=("worlds",), limit=3),
    )
    with Store(tmp_path / "s.db") as store:
        Engine(store, load).run(config)
        Engine(store, load, listener).run(config)
    assert [one.left for one in listener.progress.work.values()] == [0]
