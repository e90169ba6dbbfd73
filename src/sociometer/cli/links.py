"""Prints the links of commands that open pages for others: the link for them, and the owner's own."""

import sys
from collections.abc import Callable

import click
import msgspec


def link_teller(who: str, how_to_stop: str, as_json: bool) -> Callable[[str, str], None]:
    """Prints both links when the page opens, and a new one for the owner each time the last was used.

    As JSON each pair is one line, because the server continues and its caller reads line by line.
    """
    told = False

    def tell(link: str, owner: str) -> None:
        nonlocal told
        if as_json:
            click.echo(msgspec.json.encode({"link": link, "owner": owner}))
        elif told:
            click.echo(f"The owner's link was used. For another browser: {owner}")
        else:
            click.echo(f"Link for {who}: {link}")
            click.echo(f"Link for you (works once): {owner}")
            click.echo(how_to_stop, err=True)
        told = True
        sys.stdout.flush()

    return tell
