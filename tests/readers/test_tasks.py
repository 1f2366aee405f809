"""Work that either a thread of the pool does, or whoever needs its result."""

import threading
from concurrent.futures import ThreadPoolExecutor

from unitless.readers.sparse import Task


def test_what_nobody_has_begun_is_done_by_whoever_needs_it():
    busy, free, by = threading.Event(), threading.Event(), []
    with ThreadPoolExecutor(1) as pool:
        first = Task(pool, lambda: (busy.set(), free.wait(), "first")[-1])
        busy.wait()
        second = Task(pool, lambda: by.append(threading.current_thread()) or "second")
        assert not first.help()  # somebody is at it
        assert not first.done
        assert second.result() == "second"
        assert by == [threading.current_thread()]
        free.set()
        assert first.result() == "first"


def test_work_is_done_once():
    done = []
    with ThreadPoolExecutor(1) as pool:
        tasks = [Task(pool, lambda k=k: done.append(k) or k) for k in range(200)]
        for task in reversed(tasks):
            task.help()
        assert [task.result() for task in tasks] == list(range(200))
    assert sorted(done) == list(range(200))
