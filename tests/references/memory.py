"""Memory that some work takes."""

import tracemalloc


def peak_memory(work):
    """Largest memory allocated meanwhile, in bytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
