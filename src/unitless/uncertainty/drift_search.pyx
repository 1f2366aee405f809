"""The loop over losses of a `DriftDetector`; `drift` explains it."""

from libc.math cimport log

from unitless.core.pointers cimport numbers_in

cdef enum:
    EVERY = 8       # rows between two starts, and between two looks
    MOST_STARTS = 128
    FIRST = 32      # rows before the first start that is tested
    PER_AGE = 4     # kept starts per power of two of their age

cdef double RHO_OF_DRIFT = 16.0          # rows of the variance before, at which bets are best
cdef double LARGEST_LOSS = 1e150     # of a loss, so that squares are finite


cdef struct Start:
    double row          # rows before it, since the losses were last lower
    double sum_before   # of their losses
    double variance     # of them
    double rows         # since then
    double sum
    double squares


cdef struct Stream:
    double rows
    double sum
    double squares
    double starts       # how many are kept


FIELDS, STREAM_FIELDS, STRIDE, ROOM = 6, 4, EVERY, MOST_STARTS


def search(starts, stream, losses, double alpha, Py_ssize_t at):
    """Take in losses from the place `at` on; the place after an alarm and its start, or (-1, -1)."""
    cdef Start* own = <Start*>numbers_in(starts)
    cdef Stream* all = <Stream*>numbers_in(stream)
    cdef const double* x = numbers_in(losses)
    cdef Py_ssize_t rows = len(losses)
    cdef Py_ssize_t t, k
    cdef Py_ssize_t found = -1
    cdef double loss
    with nogil:
        for t in range(at, rows):
            loss = x[t] if x[t] == x[t] else 0.0
            loss = min(max(loss, -LARGEST_LOSS), LARGEST_LOSS)
            if <long long>all.rows % EVERY == 0:
                begin(own, all)
            for k in range(<Py_ssize_t>all.starts):
                own[k].rows += 1
                own[k].sum += loss
                own[k].squares += loss * loss
            all.rows += 1
            all.sum += loss
            all.squares += loss * loss
            if <long long>all.rows % EVERY == 0:
                found = look(own, all, alpha)
                if found >= 0:
                    break
    if found < 0:
        return -1, -1
    return t + 1, found


cdef void begin(Start* own, Stream* all) noexcept nogil:
    """Begin a confidence sequence at the next row, and drop some of the older ones."""
    cdef Py_ssize_t count = <Py_ssize_t>all.starts
    cdef Py_ssize_t kept = 0
    cdef Py_ssize_t k, run
    cdef int level, last = -1
    cdef double mean
    run = 0
    for k in range(count):  # the oldest first
        level = level_of(all.rows - own[k].row)
        run = run + 1 if level == last else 1
        last = level
        if run % 2 == 0 and crowded(own, count, level, all.rows):
            continue
        own[kept] = own[k]
        kept += 1
    if kept == MOST_STARTS:
        kept -= 1
    own[kept].row = all.rows
    own[kept].sum_before = all.sum
    own[kept].rows = 0
    own[kept].sum = 0
    own[kept].squares = 0
    if all.rows > 0:
        mean = all.sum / all.rows
        own[kept].variance = max(all.squares / all.rows - mean * mean, 0.0)
    all.starts = kept + 1


cdef bint crowded(const Start* own, Py_ssize_t count, int level, double rows) noexcept nogil:
    """Whether more starts than are kept have an age with that power of two."""
    cdef Py_ssize_t same = 0
    cdef Py_ssize_t i
    for i in range(count):
        same += level_of(rows - own[i].row) == level
    return same > PER_AGE


cdef int level_of(double age) noexcept nogil:
    cdef int level = 0
    while age >= 2:
        age /= 2
        level += 1
    return level


cdef Py_ssize_t look(Start* own, Stream* all, double alpha) noexcept nogil:
    """The start since when losses are larger; -1 without one. Where they are smaller, begin anew."""
    cdef double most = 0.0
    cdef double least = 0.0
    cdef double evidence
    cdef Py_ssize_t up = -1
    cdef Py_ssize_t down = -1
    cdef Py_ssize_t k
    for k in range(<Py_ssize_t>all.starts):
        evidence = excess_of(&own[k], -log(alpha))
        if evidence > most:
            most = evidence
            up = k
        elif evidence < least:
            least = evidence
            down = k
    if up < 0 and down >= 0:
        forget_before(own, all, down)
    return up


cdef double excess_of(const Start* start, double nats) noexcept nogil:
    """The logarithm of the wealth above that of an alarm, negative for smaller losses; else 0."""
    cdef double before, pairs, moved, spread, rho, log_wealth
    if start.row < FIRST or start.rows == 0 or start.variance <= 0:
        return 0.0
    before = start.sum_before / start.row
    pairs = start.row * start.rows / (start.row + start.rows)
    moved = pairs * (start.sum / start.rows - before)
    spread = start.squares - before * (2 * start.sum - start.rows * before)
    spread = pairs * (2 * start.variance + max(spread, 0.0) / start.rows) / 3
    rho = RHO_OF_DRIFT * start.variance
    log_wealth = moved * moved / (2 * (spread + rho)) - log(spread / rho + 1) / 2
    if log_wealth <= nats:
        return 0.0
    return log_wealth - nats if moved > 0 else nats - log_wealth


cdef void forget_before(Start* own, Stream* all, Py_ssize_t place) noexcept nogil:
    """Losses are smaller since that start: what came before it is no comparison for later ones."""
    cdef double row = own[place].row
    cdef double sum = own[place].sum_before
    cdef double mean
    cdef Py_ssize_t count = <Py_ssize_t>all.starts
    cdef Py_ssize_t k
    cdef Start* moved
    all.rows = own[place].rows
    all.sum = own[place].sum
    all.squares = own[place].squares
    for k in range(place + 1, count):
        moved = &own[k - place - 1]
        moved[0] = own[k]
        moved.row -= row
        moved.sum_before -= sum
        mean = moved.sum_before / moved.row
        moved.variance = max((all.squares - moved.squares) / moved.row - mean * mean, 0.0)
    all.starts = count - place - 1
