"""The time that a run still takes: from the replies so far and the requests that are left in each task."""

import time

import pytest

from servers import faults
from sociometer.core.config import Caps, RunConfig
from sociometer.core.conversation import Exchange, user
from sociometer.engine.budget import Budget
from sociometer.engine.engine import Engine
from sociometer.engine.progress import Progress, TaskWork
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
        progress.end_episode("slow", 10.0)
    return progress


def test_a_slow_task_says_little_about_the_quick_one_after_it():
    progress = halfway(slow=TaskWork(2, 10.0), quick=TaskWork(20, 1.0))
    assert progress.seconds_left == pytest.approx(40, rel=0.01)  # 20 requests at 2 s each; by episodes, 400 s


def test_replies_of_an_unfinished_episode_count():
    progress = halfway(slow=TaskWork(3, 10.0))
    for _ in range(5):
        progress.answer(SHORT)
    assert progress.seconds_left == pytest.approx(5 * 40 / 25, rel=0.01)


def test_the_time_left_counts_down_while_a_reply_is_awaited_and_is_not_told_when_it_is_over():
    progress = halfway(slow=TaskWork(4, 10.0))
    before = progress.seconds_left
    progress.started -= 1
    progress._answered_at -= 1  # a second has passed without a reply
    assert progress.seconds_left == pytest.approx(before - 1, rel=0.01)
    progress.started -= before
    progress._answered_at -= before
    assert progress.seconds_left is None


def test_a_long_prompt_takes_more_time():
    one = Progress("", Budget(Caps()), 2, started=time.monotonic() - 10, work={"long": TaskWork(2, 5.0)})
    one.answer([user("a" * 4000)])
    one.done += 1
    one.end_episode("long", 5.0)
    assert one.seconds_left == pytest.approx(10, rel=0.01)
    progress = halfway(slow=TaskWork(2, 10.0), long=TaskWork(4, 5.0))
    progress.total = 6
    assert progress.seconds_left == pytest.approx(4 * 5 * 2, rel=0.01)


def test_episodes_differ_from_what_was_expected():
    progress = halfway(slow=TaskWork(12, 4.0))
    assert 10 * 4 < progress.seconds_left / 2 < 10 * 10


@pytest.fixture
def guesser(tmp_path, monkeypatch):
    """A function in a module of the user, as a model."""
    (tmp_path / "guesser.py").write_text("def reply(messages):\n    return '50'\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)


class Listener:
    """Keeps the progress of a run as it began."""

    def started(self, run, progress):
        self.work = {task: (one.left, one.expected) for task, one in progress.work.items()}
        self.progress = progress

    def ended(self, run, ending):
        pass


def test_the_requests_of_each_task_are_known_before_the_run(tmp_path, guesser):
    listener = Listener()
    with Store(tmp_path / "s.db") as store:
        tasks = ("worlds", "numbers")
        config = RunConfig(instrument="egosocial", subject="python/guesser:reply", tasks=tasks, limit=3)
        Engine(store, load, listener).run(config)
    assert {task: left for task, (left, _) in listener.work.items()} == {"worlds": 3, "numbers": 3}
    after = listener.progress.work["numbers"]
    assert (after.left, after.ended) == (0, 3)
    assert listener.work["numbers"][1] > 5 * listener.work["worlds"][1]
    assert listener.progress.seconds_left == 0


def test_no_time_is_told_while_a_request_waits_to_be_sent_again(tmp_path, openai_server):
    listener, told = Listener(), []

    def fault(number):
        told.append((listener.progress.retrying, listener.progress.seconds_left))
        return faults.SERVER_ERROR if 0 < number < 8 else None

    openai_server.fault_of = fault
    with Store(tmp_path / "s.db") as store:
        subject = f"vllm/m@{openai_server.url}"
        config = RunConfig(instrument="sesi", subject=subject, tasks=("questions",), limit=6, in_flight=2)
        Engine(store, load, listener).run(config)
    assert any(retrying for retrying, _ in told)
    assert {left for retrying, left in told if retrying} == {None}
    assert listener.progress.retrying == 0 and listener.progress.retries == 7


def test_a_person_that_a_rule_plays_takes_no_time(tmp_path, guesser):
    listener = Listener()
    with Store(tmp_path / "s.db") as store:
        config = RunConfig(instrument="sage", subject="python/guesser:reply", tasks=("dialogue",), limit=2)
        run = Engine(store, load, listener).run(config).run
        asked = [
            one for item in run.finished("dialogue") for one in run.transcript(item[0]) if isinstance(one, Exchange)
        ]
    assert any(one.role != "subject" for one in asked)
    assert listener.progress.work["dialogue"].effort == pytest.approx(
        sum(1 + sum(len(said.content) for said in one.messages) / 1000 for one in asked if one.role == "subject")
    )


def test_a_resumed_run_counts_only_what_is_left(tmp_path):
    listener, config = (
        Listener(),
        RunConfig(instrument="egosocial", subject="baseline/random", tasks=("worlds",), limit=3),
    )
    with Store(tmp_path / "s.db") as store:
        Engine(store, load).run(config)
        Engine(store, load, listener).run(config)
    assert [one.left for one in listener.progress.work.values()] == [0]
