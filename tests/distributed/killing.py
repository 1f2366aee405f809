"""Learners whose pickled form kills the worker process that loads it, a given number of times."""

import os
import signal


def deadly(base, folder, times=1):
    """Return a learner that kills the first `times` worker processes that load it.

    `folder` gets a file per death; the process that made the learner is never killed.
    """
    folder.mkdir()
    home = os.getpid()
    where = str(folder)

    def load(self, state):
        if hasattr(base, "__setstate__"):
            base.__setstate__(self, state)
        else:
            self.__dict__.update(state)
        if os.getpid() != home and len(os.listdir(where)) < times:
            open(os.path.join(where, str(os.getpid())), "w").close()
            os.kill(os.getpid(), signal.SIGKILL)

    return type(base.__name__, (base,), {"__setstate__": load, "__module__": "__main__"})()


def as_plain(model, base):
    """Return the model with a learner of the class that can be saved."""
    model.learner.__class__ = base
    return model
