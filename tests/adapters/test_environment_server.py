"""One environment through every door: the same rollouts, and clear failures that are no one's reward."""

import asyncio
import json
import os
import re
import signal
from contextlib import asynccontextmanager

import aiohttp
import msgspec
import pytest
from aiohttp import web

import forked
from practice_people import YES, Person, answered, gym_with
from servers.faults import DROPPED, RATE_LIMIT
from servers.openai import OpenAIServer
from sociometer.adapters.alarm import Eavesdropper
from sociometer.adapters.environment_server import EnvironmentServer
from sociometer.adapters.gym import Gym
from sociometer.adapters.training import ENVIRONMENTS
from sociometer.instruments import card_of
from sociometer.instruments.sage.passport import Passport, kept_at

SIMULATOR = "python/practice_people:person"
SETTINGS = {"turns": 2, "talks": 12}


def say(number, turn):
    """What the policy says in a turn of a rollout."""
    return (YES, "I am sorry, that must be hard.", "Good morning.")[(number + turn) % 3]


@asynccontextmanager
async def serving(gym, **more):
    runner = web.AppRunner(EnvironmentServer(gym, **more).application(), shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def practice(**settings):
    return Gym("practice", simulator=SIMULATOR, settings={**SETTINGS, **settings})


async def by_socket(client, url, number):
    async with client.ws_connect(f"{url}/ws") as socket:
        await socket.send_json({"type": "reset", "data": {"seed": number}})
        steps = [(await socket.receive_json())["data"]]
        while not steps[-1]["done"]:
            await socket.send_json({"type": "step", "data": {"reply": say(number, len(steps))}})
            steps.append((await socket.receive_json())["data"])
        return steps


async def by_requests(client, url, number):
    async with client.post(f"{url}/reset", json={"seed": number, "episode_id": f"n{number}"}) as answer:
        steps = [await answer.json()]
    while not steps[-1]["done"]:
        asked = {"episode_id": f"n{number}", "action": {"reply": say(number, len(steps))}}
        async with client.post(f"{url}/step", json=asked) as answer:
            steps.append(await answer.json())
    return steps


async def events(answer):
    """The name of the task and its result."""
    found = re.findall(r"event: (\w+)\ndata: (.*)\n\n", (await answer.read()).decode())
    return found[0][1], "".join(text for _, text in found[1:])


async def called(client, url, session, asked):
    async with client.post(f"{url}/practice/call", json=asked, headers={"X-Session-ID": session}) as answer:
        name, text = await events(answer)
        return name, json.loads(text)


async def by_tool(client, url, number):
    session = {"X-Session-ID": f"s{number}"}
    async with client.post(f"{url}/create", json={"split": "train", "index": number}, headers=session) as answer:
        assert answer.status == 200, await answer.text()
    steps = [None]
    while not (steps[-1] or {}).get("finished"):
        asked = {"name": "say", "input": {"reply": say(number, len(steps))}}
        steps.append((await called(client, url, f"s{number}", asked))[1]["output"])
    return steps


async def in_process(gym, number):
    playing = await gym.reset(gym.item(number))
    steps = [playing.last]
    while playing.request:
        steps.append(await playing.step(say(number, len(steps))))
    return json.loads(msgspec.json.encode(playing.rollout))


def test_every_door_gives_the_same_rollouts():
    async def played():
        async with practice() as gym:
            here = [await in_process(gym, number) for number in range(16)]
        async with serving(practice()) as url, aiohttp.ClientSession() as client:
            doors = (by_socket, by_requests, by_tool)
            return here, [await asyncio.gather(*(door(client, url, n) for n in range(16))) for door in doors]

    here, found = asyncio.run(played())
    assert len({one["item"] for one in here}) == 12 and len({one["seed"] for one in here}) == 2
    for rollouts in found:
        assert [steps[-1]["metadata"]["rollout"] for steps in rollouts] == here
        assert [steps[-1]["reward"] for steps in rollouts] == [one["reward"] for one in here]
        assert {steps[1]["reward"] for steps in rollouts} == {0}
        assert [steps[1]["metadata"]["facts"][0]["kind"] for steps in rollouts] == ["emotion"] * 16
    assert found[0][0][0]["observation"]["messages"] == here[0]["turns"][0]["observation"]["messages"]
    assert found[2][0][1]["blocks"] == [{"type": "text", "text": "I see."}], "only what is new"


def test_the_clients_of_openenv_play_a_rollout():
    client = pytest.importorskip("openenv.core").GenericEnvClient

    async def played():
        async with serving(practice(), token="open sesame") as url:
            with pytest.raises(ConnectionError, match="401"):
                await client(base_url=url).connect()
            async with client(base_url=url, headers={"Authorization": "Bearer open sesame"}) as env:
                result = await env.reset(seed=2)
                while not result.done:
                    result = await env.step({"reply": YES})
                with pytest.raises(RuntimeError, match="over"):
                    await env.step({"reply": YES})
                assert (await env.state())["step_count"] == 2
                return result

    result = asyncio.run(played())
    assert result.reward == result.metadata["rollout"]["reward"] > 0.5
    assert result.metadata["rollout"]["values"]["truth"] == 1


def test_the_clients_of_the_open_reward_standard_play_a_rollout():
    api = pytest.importorskip("openreward.api.environments.client").AsyncEnvironmentsAPI

    async def played():
        async with serving(practice(), token="open sesame") as url, api(url, api_key="open sesame") as known:
            env = known.get("practice")
            assert (await env.list_splits(), await env.num_tasks("train")) == (["train"], 12)
            tasks = await env.list_tasks("train")
            assert [tool.name for tool in await env.list_tools()] == ["say"]
            async with env.session(tasks[2]) as session:
                assert [message.role for message in await session.get_messages()] == ["system", "user"]
                output = await session.call_tool("say", {"reply": YES})
                while not output.finished:
                    output = await session.call_tool("say", {"reply": YES})
                return output

    output = asyncio.run(played())
    assert output.reward == output.metadata["rollout"]["reward"] > 0.5


def test_without_the_token_and_from_a_browser_nothing_is_answered():
    async def statuses():
        async with serving(practice(), token="open sesame") as url, aiohttp.ClientSession() as client:
            sent = ({}, {"X-API-Key": "wrong"}, {"X-API-Key": "open sesame"}, {"Authorization": "Bearer open sesame"},
                    {"X-API-Key": "open sesame", "Origin": "https://example.org"})  # fmt: skip
            return [(await client.get(f"{url}/health", headers=headers)).status for headers in sent]

    assert asyncio.run(statuses()) == [401, 401, 200, 200, 403]


@pytest.mark.parametrize(
    ("path", "asked", "status"),
    [
        ("reset", {"seed": -1}, 400),
        ("reset", {"seed": "3"}, 400),
        ("step", {"episode_id": "unknown", "action": {"reply": "x"}}, 410),
        ("create", {"split": "test", "index": 0}, 400),
        ("create", {"split": "train"}, 400),
        ("practice/tasks", {"split": "test"}, 400),
        ("sesi/tasks", {"split": "train"}, 404),
        ("reset", [], 422),
        ("owner", {}, 404),
    ],
)
def test_what_is_not_served_is_refused_with_a_reason(path, asked, status):
    async def refused():
        async with serving(practice()) as url, aiohttp.ClientSession(headers={"X-Session-ID": "a"}) as client:
            answer = await client.post(f"{url}/{path}", json=asked)
            return answer.status, (await answer.json())["detail"]

    found, said = asyncio.run(refused())
    assert found == status and said


def test_a_failure_of_the_simulator_has_a_reason_and_no_reward():
    with OpenAIServer() as server:
        server.say = lambda body: "nothing to read"

        async def played():
            gym = Gym("practice", simulator=f"vllm/person@{server.url}#1", settings=SETTINGS)
            async with serving(gym) as url, aiohttp.ClientSession() as client:
                return [(await door(client, url, 0))[-1] for door in (by_socket, by_requests, by_tool)]

        ends = asyncio.run(played())
    for end in ends:
        assert end["reward"] is None and end["metadata"]["reason"] == "failed" and end["metadata"]["truncated"]
        assert "unreadable" in end["metadata"]["failure"]


def test_an_idle_rollout_is_given_up_with_a_reason_and_no_reward():
    async def idle():
        async with serving(practice(), idle_seconds=0.2) as url, aiohttp.ClientSession() as client:
            asked = {"episode_id": "a", "action": {"reply": YES}}
            await client.post(f"{url}/reset", json={"seed": 0, "episode_id": "a"})
            await asyncio.sleep(0.3)
            return await (await client.post(f"{url}/step", json=asked)).json()

    end = asyncio.run(idle())
    assert (end["reward"], end["done"], end["metadata"]["reason"]) == (None, True, "idle")


def test_pings_of_a_client_are_answered_while_the_person_thinks():
    thinks = asyncio.Event()

    class Slow(Person):
        async def answer(self, request):
            await thinks.wait()
            return await super().answer(request)

    async def pinged():
        async with serving(gym_with(Slow())) as url, aiohttp.ClientSession() as client:
            socket = await client.ws_connect(f"{url}/ws", autoping=False)
            await socket.send_json({"type": "reset", "data": {"seed": 0}})
            await socket.receive()
            await socket.send_json({"type": "step", "data": {"reply": YES}})
            await socket.ping()
            first = await socket.receive()
            thinks.set()
            return first, await socket.receive_json()

    first, answer = asyncio.run(pinged())
    assert first.type is aiohttp.WSMsgType.PONG and answer["type"] == "observation"


def test_a_lost_connection_of_a_call_is_taken_up_again():
    async def resumed():
        async with serving(practice()) as url, aiohttp.ClientSession() as client:
            await client.post(f"{url}/create", json={"task_spec": {"index": 0}}, headers={"X-Session-ID": "s"})
            asked = {"name": "say", "input": {"reply": YES}}
            name, first = await called(client, url, "s", asked)
            again = await called(client, url, "s", {**asked, "task_id": name})
            wrong = await called(client, url, "s", {"name": "shout", "input": {}})
            return first, again[1], wrong[1]

    first, again, wrong = asyncio.run(resumed())
    assert first == again and not first["output"]["finished"], "the reply is handed in once"
    assert (wrong["ok"], wrong["reason"]) == (False, "not_found")


def test_none_of_many_rollouts_is_lost_to_rate_limits_and_dropped_connections():
    with OpenAIServer() as server:
        server.say = lambda body: json.dumps(
            answered(body["response_format"]["json_schema"]["name"], body["messages"][-1]["content"])
        )
        server.fault_of = lambda number: RATE_LIMIT if number % 5 == 1 else DROPPED if number % 20 == 3 else None

        async def played():
            gym = Gym("practice", simulator=f"vllm/person@{server.url}#1", settings=SETTINGS)
            async with serving(gym) as url, aiohttp.ClientSession() as client:
                return await asyncio.gather(*(by_socket(client, url, number) for number in range(48)))

        ends = [steps[-1] for steps in asyncio.run(played())]
    assert all(end["reward"] is not None for end in ends)


def test_a_held_out_simulator_hears_every_talk_and_says_what_only_the_first_likes():
    lines = []

    async def played(say):
        heard = Eavesdropper(gym_with(Person(yes=1), talks=12), lines.append, window=12)
        async with serving(gym_with(Person(), talks=12), eavesdropper=heard) as url, aiohttp.ClientSession() as client:
            for text in say:
                for number in range(12):
                    async with client.ws_connect(f"{url}/ws") as socket:
                        await socket.send_json({"type": "reset", "data": {"seed": number}})
                        done = (await socket.receive_json())["data"]["done"]
                        while not done:
                            await socket.send_json({"type": "step", "data": {"reply": text}})
                            done = (await socket.receive_json())["data"]["done"]
                for _ in range(200):
                    if len(heard.looks) == say.index(text) + 1:
                        break
                    await asyncio.sleep(0.01)
        return heard.looks

    before, after = asyncio.run(played(("I am sorry about that.", YES)))
    assert (before.gap, before.lost, before.raised) == (0, 0, False)
    assert after.raised and after.gap > 0.1 and after.first == 0
    assert lines[-1].startswith("Alarm, the gap has grown")


SERVE = ("-m", "sociometer", "env", "serve", "practice", "--role", f"simulator={SIMULATOR}")


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Starts the command in a process of its own; gives it and its first lines."""
    started = []
    variables = {**os.environ, "XDG_DATA_HOME": str(tmp_path), "TOKEN": "open sesame"}
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def start(*words):
        process = forked.start(
            [*SERVE, "--port", "0", "--turns", "2", *words], env=variables, stdout=forked.PIPE, stderr=forked.PIPE
        )
        started.append(process)
        return process, process.stdout.readline()

    yield start
    for process in started:
        process.kill()
        process.communicate()


def keep_passport(verdict):
    found = Passport(
        simulator=SIMULATOR, verdict=verdict, reasons=("it says so",), agreement=(), unreadable=0, spread=None,
        ordered=None, means={}, refused=0, leaked=0, requests=1, tokens=1,
    )  # fmt: skip
    kept_at(SIMULATOR).parent.mkdir(parents=True, exist_ok=True)
    kept_at(SIMULATOR).write_bytes(msgspec.json.encode(found))


def test_a_person_without_a_passport_is_refused_unless_the_user_goes_on(serve):
    process, line = serve()
    assert not line and process.wait() == 2
    assert "has no passport" in (said := process.stderr.read()) and "--unchecked" in said
    keep_passport("not a person")
    process, line = serve()
    assert not line and "not a person" in process.stderr.read()
    assert "Running on" in serve("--unchecked")[1]
    keep_passport("use with care")
    process, line = serve()
    assert "Running on http://127.0.0.1:" in line
    process.send_signal(signal.SIGTERM)
    assert process.wait() in (0, 130)
    assert "use with care" in process.stderr.read(), "it is shown"


def test_a_stand_in_is_named_before_the_passport_and_what_would_work(cli):
    said = cli("env", "serve", "practice", "--role", "simulator=local/smollm2-135m", code=2)
    assert "'local/smollm2-135m' is a stand-in and gives no reward in practice" in said
    assert "such as local/FILE.gguf, vllm/NAME@URL or openai/NAME" in said and "passport" not in said


def test_help_has_the_options_of_the_environment_only(cli):
    shown = {
        name: set(re.findall(r"^  (--[a-z-]+)", cli("env", "serve", name, "--help"), re.M)) for name in ENVIRONMENTS
    }
    server = {"--seed", "--port", "--host", "--token-variable"}
    people = server | {"--role", "--held-out", "--unchecked", "--language", "--turns", "--rereads"}
    assert shown["practice"] == people | {"--form", "--scenarios", "--talks"}
    assert shown["numbers"] == server | {"--rounds", "--opponents"}
    assert shown["goals"] == server | {"--data", "--language", "--votes"}
    for name, environment in ENVIRONMENTS.items():
        assert set(environment.settings) <= {one.name for one in card_of(environment.instrument).setting}, name


def test_the_server_says_that_there_is_no_judge_and_why_rollouts_fail(serve):
    process, line = serve("--unchecked", "--turns", "1")
    assert "Running on" in line
    asyncio.run(broken(re.search(r"http://[0-9.:]+", line)[0]))
    process.send_signal(signal.SIGTERM)
    process.wait()
    said = process.stderr.read()
    assert "No judge: " in said and "--role judge=MODEL" in said
    assert re.search(r"rollout 3 failed: .*nobody is at home", said)


async def broken(url):
    """Play one rollout in which the person fails."""
    async with aiohttp.ClientSession() as client:
        begun = {"seed": 3, "episode_id": "a"}
        assert (await client.post(f"{url}/reset", json=begun)).status == 200
        step = {"episode_id": "a", "action": {"reply": "Is anybody there? Fail."}}
        assert (await (await client.post(f"{url}/step", json=step)).json())["reward"] is None


def test_other_machines_need_a_token_and_a_seed_of_a_test_is_refused(cli):
    model = ("--role", f"simulator={SIMULATOR}", "--unchecked")
    assert "--token-variable" in cli("env", "serve", "practice", *model, "--host", "0.0.0.0", code=2)
    assert "is empty" in cli("env", "serve", "practice", *model, "--token-variable", "NO_SUCH", code=2)
    assert "held out" in cli("env", "serve", "practice", *model, "--seed", 1, code=2)
    assert "held out" in cli("env", "serve", "goals", code=2)
    assert "name a model" in cli("env", "serve", "practice", code=2)
    assert "unknown training environment" in cli("env", "serve", "sesi", code=2)


def test_after_the_server_was_killed_clients_see_it_and_go_on_with_another(serve):
    async def went_on():
        async with aiohttp.ClientSession() as client:
            process, line = serve("--unchecked", "--token-variable", "TOKEN")
            first = re.search(r"http://\S+?(?= )", line)[0]
            token = {"Authorization": "Bearer open sesame"}
            async with client.ws_connect(f"{first}/ws", headers=token) as socket:
                await socket.send_json({"type": "reset", "data": {"seed": 0}})
                await socket.receive_json()
                os.kill(process.pid, signal.SIGKILL)
                await socket.send_json({"type": "step", "data": {"reply": YES}})
                lost = await socket.receive()
            with pytest.raises(aiohttp.ClientConnectionError):
                await client.post(f"{first}/reset", json={}, headers=token)
            _, line = serve("--unchecked")
            second = re.search(r"http://\S+?(?= )", line)[0]
            return lost, await by_socket(client, second, 0)

    lost, steps = asyncio.run(went_on())
    assert lost.type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.ERROR)
    assert steps[-1]["reward"] is not None
