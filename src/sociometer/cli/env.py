"""`sociometer env serve`: a training environment for trainers in other processes."""

import os
from collections.abc import Mapping
from typing import Any

import click
from aiohttp import web
from msgspec import structs

from sociometer.adapters.alarm import Eavesdropper
from sociometer.adapters.environment_server import EnvironmentServer
from sociometer.adapters.gym import Gym
from sociometer.adapters.training import ENVIRONMENTS, Choices, Environment, environment_named
from sociometer.cli.options import chosen_settings, parse_roles, setting_options
from sociometer.cli.output import Group, option, print_text
from sociometer.core.config import model_label
from sociometer.core.errors import UsageError, hint, unknown
from sociometer.instruments import card_of
from sociometer.instruments.sage.passport import kept_passport

_LOCAL = ("127.0.0.1", "::1", "localhost")


def _serve(environment: Environment, values: Mapping[str, Any]) -> None:
    roles, held_out = parse_roles(values.get("roles", ())), values.get("held_out")
    token = os.environ.get(values["token_variable"], "")
    if wrong := roles.keys() - {"simulator", "judge"}:
        raise unknown("role", min(wrong), ("simulator", "judge"))
    if values["token_variable"] and not token:
        raise UsageError(f"the variable {values['token_variable']} of --token-variable is empty or not set.")
    if values["host"] not in _LOCAL and not token:
        raise UsageError(f"--host {values['host']} opens the server to other machines; give --token-variable NAME.")
    if held_out and "simulator" not in roles:
        raise UsageError("--held-out needs a simulator to compare with: --role simulator=MODEL.")
    settings = chosen_settings(card_of(environment.instrument).setting, values)
    choices = Choices(seed=values["seed"], settings=settings, data=values.get("data", ""), **roles)
    gym, heard = Gym(environment.name, choices), None
    if held_out:
        other = Gym(environment.name, structs.replace(choices, simulator=held_out))
        heard = Eavesdropper(other, lambda line: print_text(line, err=True))
    for model in filter(None, (roles.get("simulator"), held_out)):
        _check_person(model_label(model), unchecked=values["unchecked"])
    if environment.task == "practice" and "judge" not in roles:
        print_text("No judge: talks without a fact reward what the simulator likes; give --role judge=MODEL.", err=True)
    app = EnvironmentServer(gym, token=token, eavesdropper=heard).application()
    web.run_app(app, host=values["host"], port=values["port"], access_log=None, print=click.echo, shutdown_timeout=2)


def _check_person(simulator: str, *, unchecked: bool) -> None:
    """Show the passport of a simulator; a UsageError without one, or if it is no person, unless the user goes on."""
    found = kept_passport(simulator)
    said = found.line if found else f"{simulator} has no passport, which says whether it is fit to play the person."
    if not unchecked and (found is None or found.verdict == "not a person"):
        make = hint("sage passport --role", f"simulator={simulator}")
        raise UsageError(f"{said} Make one with '{make}', or go on without: --unchecked.")
    print_text(said, err=True)


class _Environments(Group):
    """A command for each environment, with the settings of its instrument."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(ENVIRONMENTS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        environment = environment_named(cmd_name)
        declared = card_of(environment.instrument).setting
        people = [
            option(
                "--role roles", "Model in a role: simulator=MODEL, judge=MODEL.", multiple=True, metavar="ROLE=MODEL"
            ),
            option("--held-out", "Simulator that hears every talk too, for the alarm.", default="", metavar="MODEL"),
            option("--unchecked", "Go on with a simulator that has no passport or is no person.", is_flag=True),
        ]
        trees = [option("--data", "Folder with your own trees.", default="", type=click.Path())]
        params = [
            *{"sage": people, "socialeval": trees}.get(environment.instrument, ()),
            option("--seed", "Seed of the items; lower ones are for tests.", type=int, default=Choices().seed),
            option("--port", "Port to listen on; 0 means any free port.", type=click.IntRange(0, 65_535), default=8770),
            option("--host", "Address to listen on; other machines need a token.", default=_LOCAL[0]),
            option("--token-variable", "Environment variable with the clients' token.", default="", metavar="NAME"),
            *setting_options(tuple(one for one in declared if one.name in environment.settings)),
        ]
        serve, text = (lambda **given: _serve(environment, given)), f"Serve {environment.help}."
        return click.Command(cmd_name, callback=serve, params=params, help=text)


command = Group(
    "env",
    commands=[_Environments("serve", help="Serve a training environment by OpenEnv and the Open Reward Standard.")],
    help="Serve a training environment to trainers in other processes.",
)
