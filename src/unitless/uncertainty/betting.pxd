cdef struct Coin:
    double events       # rows in which the event happened
    double rows
    double wealth       # the initial wealth is 1

cdef double stake(const Coin* coin, double rate) noexcept nogil
cdef void settle(Coin* coin, double rate, bint happened) noexcept nogil
