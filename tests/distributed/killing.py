"""Learners whose pickled form kills the worker process that loads it, a given number of times."""

import os
import signal


def deadly(base, folder, times=1):
    """Return a learner that kills the first `times` worker processes that load it.

    `folder` gets a file per death; the process that made the learner is never killed. A worker that
    survives gets a learner of the class `base` itself.
    """
    folder.mkdir()
    home = os.getpid()
    where = str(folder)

    def loaded():
        if os.getpid() == home:
            return kind()
        if len(os.listdir(where)) < times:
            open(os.path.join(where, str(os.getpid())), "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return base()

    own = {"__reduce__": lambda self: (loaded, ()), "__module__": "__main__"}
    kind = type(base.__name__, (base,), own)
    return kind()
