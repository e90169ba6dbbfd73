"""Sociometer with journal, reading, scoring and summary all on, into a fresh store.

Imports lie outside the clock, as they do in the floor; the column "process s" has them.
Run: ours.py URL questions|dialogues|command
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import work
from measure import measured


def command(url: str) -> None:
    """The command as a user types it, in this process from the first import on."""
    from sociometer.cli.main import run_command

    with tempfile.TemporaryDirectory() as folder, measured(len(work.official_questions())) as told:
        words = ["run", "sesi", "--official", "--model", f"vllm/{work.MODEL}@{url}", "--quiet"]
        assert run_command([*words, "--max-requests", "100000", "--store", f"{folder}/store.db"]) == 0
        told["right"] = len(work.official_questions())


def main(url: str, which: str) -> None:
    import sociometer.models.openai  # noqa: F401 - else imported at the first request
    from instrument.instrument import INSTRUMENT
    from sociometer.core.config import Caps, RunConfig
    from sociometer.engine.engine import Engine
    from sociometer.store.store import Store

    questions = which == "questions"
    other = f"vllm/{work.MODEL}@{url}"
    config = RunConfig(
        instrument="bench",
        subject=f"vllm/{work.MODEL}",
        base_url=url,
        tasks=(which,),
        roles={} if questions else {"judge": other, "simulator": other},
        in_flight=work.QUESTIONS_IN_FLIGHT if questions else work.DIALOGUES_IN_FLIGHT,
        # A cap, so that what may be spent is written to disk before each request, as in a run that is paid for.
        caps=Caps(max_requests=1_000_000),
    )
    count = work.QUESTIONS if questions else work.DIALOGUES * work.TURNS * work.CALLS
    with tempfile.TemporaryDirectory() as folder, measured(count) as told, Store(Path(folder) / "store.db") as store:
        played = Engine(store, lambda name: INSTRUMENT).run(config)
        assert played.ending.status == "finished", played.ending
        assert played.progress.sent == count, played.progress
        measure = played.run.summary(which).measures[0]
        told["right"] = round(measure.value * (work.QUESTIONS if questions else work.DIALOGUES))


if __name__ == "__main__":
    address, chosen = sys.argv[1:3]
    command(address) if chosen == "command" else main(address, chosen)
