"""`--workers`, `--on` and `--lease`: who plays a run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from sociometer.core.errors import UsageError
from sociometer.store.place import StorePlace, StoreUrl

if TYPE_CHECKING:
    from sociometer.engine.workers.launching import Crew

LEASE_SECONDS = 60.0


def crew_options() -> list[click.Parameter]:
    """The options of commands that can start workers."""
    return [
        click.Option(
            ["--workers"],
            type=click.IntRange(1),
            help="Number of processes that play the run together; needs a store on PostgreSQL.",
        ),
        click.Option(
            ["--on"],
            default="",
            metavar="WHERE",
            help="Where to run the workers: 'ray' for Ray on this machine, ray://HOST:PORT for a cluster"
            " [default: processes on this machine].",
        ),
        click.Option(
            ["--worker-resources"],
            default="",
            metavar="NAME=NUMBER,…",
            help="Resources that Ray reserves for each worker, such as num_cpus=2,num_gpus=1 [default: num_cpus=1].",
        ),
        lease_option(),
    ]


def lease_option() -> click.Option:
    """`--lease`, for commands that play on a shared store."""
    return click.Option(
        ["--lease"],
        type=click.FloatRange(1.0),
        default=LEASE_SECONDS,
        show_default=True,
        help="Seconds after which other workers take over the unfinished work of a lost worker.",
    )


def crew_of(place: StorePlace, values: Mapping[str, Any]) -> "Crew | None":
    """The workers that the options ask for; None if this process plays the run itself."""
    count, where = values["workers"], values["on"]
    if not count and not where:
        return None
    if not isinstance(place, StoreUrl):
        raise UsageError(
            "--workers and --on need a store that several processes can share: give --store"
            " postgresql://USER@HOST/DATABASE."
        )
    if not where:
        from sociometer.engine.workers.launching import LocalCrew

        return LocalCrew(place, count)
    if where != "ray" and not where.startswith("ray://"):
        raise UsageError(f"--on must be 'ray' or ray://HOST:PORT, not '{where}'.")
    from sociometer.engine.workers.ray_crew import RayCrew
    from sociometer.instruments import load

    address = "" if where == "ray" else where
    return RayCrew(place, count or 1, load, address, _resources(values["worker_resources"]))


def _resources(given: str) -> dict[str, float]:
    """What each worker reserves, by name."""
    found = {}
    for part in filter(None, given.split(",")):
        name, _, number = part.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            raise UsageError(f"--worker-resources needs NAME=NUMBER, not '{part}'.") from None
    return found
