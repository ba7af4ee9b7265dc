"""Memory that some work takes."""

import gc
import tracemalloc


def peak_memory(work):
    """Largest memory allocated meanwhile, in bytes.

    With the garbage collector as users have it, which comes more often than in tests.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.set_threshold(*thresholds)
