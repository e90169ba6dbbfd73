"""`sociometer view`: runs in the browser."""

import sys

import click

from sociometer.cli.options import json_option, store_option, store_path
from sociometer.cli.output import option, print_text
from sociometer.instruments import cards, load
from sociometer.store.place import StorePlace
from sociometer.web.serving import Place
from sociometer.web.view import serve_view


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


def _view(store: StorePlace | None, port: int, host: str, public_url: str, open_it: bool, as_json: bool) -> None:
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

    serve_view(store_path(store).absolute(), load, cards(), Place(host, port, public_url), tell)


command = click.Command(
    "view",
    callback=_view,
    params=[
        store_option(),
        *place_options(8765),
        option("--open open_it", "Open the link in the browser.", is_flag=True),
        json_option(),
    ],
    help="Show runs in the browser: live progress, scores, figures, transcripts, and runs side by side.",
)
