"""The floor: a bare aiohttp script that sends, reads a letter, compares; keeps nothing, retries nothing.

Run: floor.py URL questions|dialogues|command
"""

import asyncio
import sys
from pathlib import Path

import aiohttp
import uvloop

sys.path.insert(0, str(Path(__file__).parents[1]))
import work
from measure import measured


async def ask(session: aiohttp.ClientSession, url: str, messages: list[dict[str, str]]) -> str:
    body = {"model": work.MODEL, "messages": messages, "temperature": 0, "max_tokens": 200}
    async with session.post(f"{url}/chat/completions", json=body) as response:
        return (await response.json())["choices"][0]["message"]["content"]


async def questions(url: str) -> int:
    bound = asyncio.Semaphore(work.QUESTIONS_IN_FLIGHT)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one(item: dict[str, object]) -> bool:
            async with bound:
                text = await ask(session, url, [{"role": "user", "content": work.prompt(item)}])
            return text.rstrip()[-1] == work.LETTERS[item["answer"]]

        return sum(await asyncio.gather(*(one(work.question(number)) for number in range(work.QUESTIONS))))


async def dialogues(url: str) -> int:
    bound = asyncio.Semaphore(work.DIALOGUES_IN_FLIGHT)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one(number: int) -> int:
            spoken = [{"role": "user", "content": work.opening(number)}]
            for _ in range(work.TURNS):
                for call in range(work.CALLS):
                    async with bound:
                        text = await ask(session, url, spoken)
                    if call == 0:
                        spoken = [*spoken, {"role": "assistant", "content": text}]
                spoken = [*spoken, {"role": "user", "content": text}]
            return len(spoken)

        return sum(await asyncio.gather(*(one(number) for number in range(work.DIALOGUES))))


async def command(url: str) -> int:
    bound = asyncio.Semaphore(32)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one(row: dict[str, str]) -> bool:
            async with bound:
                text = await ask(session, url, [{"role": "user", "content": "\n\n".join(row.values())}])
            return text.rstrip()[-1] == "B"

        return sum(await asyncio.gather(*map(one, work.official_questions())))


WORK = {
    "questions": (questions, lambda: work.QUESTIONS),
    "dialogues": (dialogues, lambda: work.DIALOGUES * work.TURNS * work.CALLS),
    "command": (command, lambda: len(work.official_questions())),
}

if __name__ == "__main__":
    url, which = sys.argv[1:3]
    program, count = WORK[which]
    with measured(count()) as told:
        told["right"] = uvloop.run(program(url))
