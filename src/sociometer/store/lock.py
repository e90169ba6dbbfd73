"""A lock that lets one process at a time play a run; it ends with the process."""

import os
from pathlib import Path
from types import TracebackType

from sociometer.core.errors import StoreError
from sociometer.store.sqlite import storage_errors

try:
    import fcntl
except ImportError:  # Windows has no flock: there, two processes on one run are not told apart.
    fcntl = None  # type: ignore[assignment]


def lock_path(store: Path, run: str) -> Path:
    """The path of the lock of a run."""
    return store.with_name(store.name + ".locks") / f"{run}.lock"


class RunLock:
    """Held while a run is played; the error `in_use` names the process that holds it."""

    def __init__(self, store: Path, run: str, in_use: str = "") -> None:
        self._path = lock_path(store, run)
        self._in_use = (
            in_use or f"run {run} is in progress in process {{holder}}; wait for it, or stop it and resume the run."
        )
        self._handle: int | None = None

    def __enter__(self) -> "RunLock":
        handle = self._open()
        while not self._is_mine(handle):
            # The one who held it has just removed the file: what was locked is no longer the run's lock.
            os.close(handle)
            handle = self._open()
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode("ascii"))
        self._handle = handle
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            if fcntl is not None:
                self._path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = None

    def _open(self) -> int:
        with storage_errors(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.read(handle, 64).decode("ascii", "replace").strip() or "unknown"
                os.close(handle)
                raise StoreError(self._in_use.format(holder=holder)) from None
        return handle

    def _is_mine(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), self._path.stat())
        except FileNotFoundError:
            return False


def is_played(store: Path, run: str) -> bool:
    """Whether a process is playing the run now; the check writes nothing, so it works on a full disk."""
    try:
        handle = os.open(lock_path(store, run), os.O_RDONLY)
    except OSError:
        return False
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
