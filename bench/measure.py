"""What a driver measures of itself around its work; prints one JSON line."""

import json
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def measured(requests: int) -> Iterator[dict[str, object]]:
    """Times the work inside; put what should be told beside it (`right`) into the dictionary."""
    told: dict[str, object] = {"requests": requests}
    wall, cpu = time.perf_counter(), _cpu_seconds()
    yield told
    told["wall"] = time.perf_counter() - wall
    told["cpu"] = _cpu_seconds() - cpu
    print("\n" + json.dumps(told), flush=True)


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
