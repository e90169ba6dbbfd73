"""`sociometer completion`: prints the script with which a shell completes commands, options, runs and models."""

import click

from sociometer.cli.output import print_json

_PLACES = {
    "bash": 'eval "$(sociometer completion bash)"   # in ~/.bashrc',
    "zsh": 'eval "$(sociometer completion zsh)"   # in ~/.zshrc, after compinit',
    "fish": "sociometer completion fish > ~/.config/fish/completions/sociometer.fish",
}


def _completion(shell: str, as_json: bool) -> None:
    from sociometer.cli.completing import make_shell

    script = make_shell(shell).source()
    if as_json:
        print_json({"shell": shell, "script": script})
    else:
        click.echo(script, nl=False)


command = click.Command(
    "completion",
    callback=_completion,
    params=[
        click.Argument(["shell"], type=click.Choice(tuple(_PLACES))),
        click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON value instead of the script."),
    ],
    help="Print the completion script of SHELL.\n\n\b\n" + "\n".join(_PLACES.values()),
)
