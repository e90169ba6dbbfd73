"""Inspect on the same work: multiple_choice and choice for questions, a solver of three calls a turn for dialogues.

Run in an environment of its own: inspect_ai_.py URL questions|dialogues
"""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import work
from measure import measured


def main(url: str, which: str) -> None:
    os.environ.update(OPENAI_API_KEY="none", INSPECT_DISPLAY="none")
    from inspect_ai import Task
    from inspect_ai import eval as play
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, GenerateConfig, get_model
    from inspect_ai.scorer import choice, includes
    from inspect_ai.solver import multiple_choice, solver

    @solver
    def talk():
        async def solve(state, generate):
            model = get_model()
            for _ in range(work.TURNS):
                said = await model.generate(state.messages)
                state.messages.append(ChatMessageAssistant(content=said.completion))
                await model.generate(state.messages)
                answered = await model.generate(state.messages)
                state.messages.append(ChatMessageUser(content=answered.completion))
            state.output = answered
            return state

        return solve

    questions = which == "questions"
    if questions:
        items = (work.question(number) for number in range(work.QUESTIONS))
        samples = [
            Sample(input=i["question"], choices=list(i["options"]), target=work.LETTERS[i["answer"]], id=i["id"])
            for i in items
        ]
        task = Task(dataset=MemoryDataset(samples), solver=multiple_choice(), scorer=choice())
    else:
        samples = [Sample(input=work.opening(n), target=work.REPLY, id=f"d{n}") for n in range(work.DIALOGUES)]
        task = Task(dataset=MemoryDataset(samples), solver=talk(), scorer=includes())
    in_flight = work.QUESTIONS_IN_FLIGHT if questions else work.DIALOGUES_IN_FLIGHT
    count = work.QUESTIONS if questions else work.DIALOGUES * work.TURNS * work.CALLS
    with tempfile.TemporaryDirectory() as logs, measured(count) as told:
        config = GenerateConfig(max_connections=in_flight, temperature=0, max_tokens=200)
        model = get_model(f"openai/{work.MODEL}", base_url=url, api_key="none", responses_api=False, config=config)
        (log,) = play(task, model=model, log_dir=logs, display="none", max_samples=in_flight, max_connections=in_flight)
        assert log.status == "success", log.error
        told["right"] = round(log.results.scores[0].metrics["accuracy"].value * len(samples))


if __name__ == "__main__":
    main(*sys.argv[1:3])
