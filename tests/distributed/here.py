"""A stand-in for Ray: tasks run at once, in this process, on copies of what they are given."""

import pickle
from contextlib import contextmanager

from unitless.distributed import keyed, sharded


class Ref:
    """What a task returned."""

    def __init__(self, value):
        self.value = value


class Here:
    """As much of Ray as is used."""

    class exceptions:
        RayTaskError = RayError = ()

    def remote(self, function):
        """A task."""
        return Task(function)

    def put(self, value):
        """A reference to a copy."""
        return Ref(pickle.loads(pickle.dumps(value)))

    def get(self, ref):
        """A copy of what a reference stands for."""
        return pickle.loads(pickle.dumps(ref.value))

    def wait(self, refs, num_returns, timeout):
        """The last ones are done first: the order must not matter."""
        return refs[-num_returns:], refs[:-num_returns]

    def cluster_resources(self):
        """One core."""
        return {"CPU": 1.0}


class Task:
    """A function that is called by `remote`."""

    def __init__(self, function, returns=1):
        self.function, self.returns = function, returns

    def options(self, num_returns, **_):
        """How many things it returns."""
        return Task(self.function, num_returns)

    def remote(self, *arguments):
        """References to what it returns."""
        found = self.function(
            *(each.value if isinstance(each, Ref) else each for each in arguments)
        )
        found = pickle.loads(pickle.dumps(found))
        return Ref(found) if self.returns == 1 else [Ref(each) for each in found]


@contextmanager
def running(address=None, workers=None):
    """In place of `cluster.running`."""
    yield Here()


def stay_here(monkeypatch):
    """No Ray from now on."""
    monkeypatch.setattr(sharded, "running", running)
    monkeypatch.setattr(keyed, "running", running)
