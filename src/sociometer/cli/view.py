"""`sociometer view`: runs in the browser."""

import sys
from pathlib import Path

import click

from sociometer.cli.options import StoreParameter, json_option, store_path
from sociometer.cli.output import option, print_text
from sociometer.cli.project import find_project, project_option
from sociometer.core.errors import ExitCode
from sociometer.instruments import cards, load
from sociometer.store.place import StorePlace
from sociometer.web.serving import Place
from sociometer.web.view.app import serve_view


def place_options(port: int) -> list[click.Parameter]:
    """Where a server listens."""
    return [
        option("--port", "Port to listen on; 0 means any free port.", type=click.IntRange(0, 65_535), default=port),
        option(
            "--host",
            "Address to listen on; use a non-loopback address only behind a reverse proxy with TLS.",
            default="127.0.0.1",
        ),
        option("--public-url", "Address that browsers use, if the server is behind a proxy.", default=""),
    ]


def who_can_open(place: Place) -> str:
    """A sentence for the owner of a server that only this machine reaches; empty for another one."""
    if not place.is_local:
        return ""
    return (
        "Only this machine can open these links. For other machines, put a reverse proxy with TLS in front and give"
        " --public-url https://ADDRESS, the address that browsers use. "
    )


def _view(
    stores: tuple[StorePlace, ...],
    port: int,
    host: str,
    public_url: str,
    open_it: bool,
    no_project: bool,
    as_json: bool,
) -> int:
    told: list[str] = []

    def tell(link: str) -> None:
        first = not told
        told.append(link)
        if as_json:
            click.echo(f'{{"link": "{link}"}}')
        else:
            click.echo(f"Open {link}" if first else f"The link was used. For another browser: {link}")
            if first:
                print_text("The link works once. Press Ctrl-C to stop the server.", err=True)
        sys.stdout.flush()
        if first and open_it:
            click.launch(link)

    project = None if no_project or stores else find_project(Path())
    paths = stores or (store_path(project.store if project else None),)
    serve_view([path.absolute() for path in paths], load, cards(), Place(host, port, public_url), tell)
    return int(ExitCode.OK)


command = click.Command(
    "view",
    callback=_view,
    params=[
        option(
            "--store stores",
            "Store file or postgresql://USER@HOST/DATABASE; repeat for several [default: SOCIOMETER_STORE, then"
            " sociometer.toml, then the file in your data folder].",
            type=StoreParameter(),
            metavar="FILE|URL",
            envvar="SOCIOMETER_STORE",
            multiple=True,
        ),
        *place_options(8765),
        project_option(),
        option("--open open_it", "Open the link in the browser.", is_flag=True),
        json_option(),
    ],
    help="Show runs in the browser: live progress, scores, figures, transcripts, and runs side by side.",
)
