"""Workers of the quick run: they start at once, and are sent what processes are."""

from pickle import loads

from joblib.externals.loky.backend.reduction import dumps
from joblib.parallel import ThreadingBackend


class SendingBackend(ThreadingBackend):
    """Threads that work on copies: tasks and results are pickled, as for processes."""

    uses_threads = supports_sharedmem = False

    def submit(self, func, callback=None):
        return super().submit(Sent(func), callback)


class Sent:
    """A call of a copy of a function, for a copy of its result."""

    def __init__(self, function):
        self.pickled = dumps(function)

    def __call__(self):
        return loads(dumps(loads(self.pickled)()))
