"""For libraries that leave streams open: the garbage of a call is collected while warnings of it are ignored."""

import gc
import warnings
from contextlib import contextmanager


@contextmanager
def left_open():
    """Collects only what is new, since a look through all that a test run has loaded takes most of a second."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.disable()
        try:
            yield
        finally:
            gc.collect(0)
            gc.enable()
