/* Arithmetic with the same bits whatever the compiler, the processor and the length of a row.

   Fused multiply-adds are written out (`fused`) and the compiler adds none (-ffp-contract=off).
   Sums run in eight lanes: slot k of a row is added to partial sum k % 8. A loop over the eight
   lanes is plain C, which GCC and Clang turn into vector instructions. */
#ifndef UNITLESS_ARITHMETIC_H
#define UNITLESS_ARITHMETIC_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LANES 8

/* Learners square values and divide by the squares: all of it is normal in this range. */
#define MAX_VALUE 0x1p255
#define MIN_VALUE 0x1p-255

/* Numbers that a loop only reads, and numbers that it writes: they never overlap, so that the
   compiler may vectorise the loop. */
typedef const double* __restrict Values;
typedef double* __restrict Room;

static inline double fused(double a, double b, double c) {
    return fma(a, b, c);
}

/* x, at most `limit` away from 0. */
static inline double clipped(double x, double limit) {
    x = x > -limit ? x : -limit;
    return x < limit ? x : limit;
}

/* e^x within 2 ulp, for |x| <= 700.

   e^x = 2^k e^r with k = round(x / ln 2) and |r| <= ln(2) / 2. Adding 1.5 * 2^52 rounds to the
   nearest integer and leaves it in the low bits, from where it goes into the exponent. The
   polynomial is the Chebyshev fit of (e^r - 1 - r) / r^2, in Estrin's order. */
static inline double bounded_exp(double x) {
    const double ROUND = 6755399441055744.0;
    const double LN2_HIGH = 0x1.62e42fefa39efp-1;
    const double LN2_LOW = 0x1.abc9e3b39803fp-56;
    double shifted = fused(x, 1.4426950408889634, ROUND);
    double k = shifted - ROUND;
    double r = fused(k, -LN2_HIGH, x);
    r = fused(k, -LN2_LOW, r);
    double r2 = r * r;
    double r4 = r2 * r2;
    double low = fused(fused(0x1.11111111109b3p-7, r, 0x1.5555555553d63p-5), r2,
                       fused(0x1.5555555555556p-3, r, 0x1.0000000000001p-1));
    double high = fused(fused(0x1.71de0dae63bb3p-19, r, 0x1.a019b90d2ae7ap-16), r2,
                        fused(0x1.a01a01a7c41d5p-13, r, 0x1.6c16c1788bd90p-10));
    double top = fused(0x1.af38a9b0ec855p-26, r, 0x1.289185613a3d6p-22);
    double p = 1.0 + fused(fused(top, r4 * r4, fused(high, r4, low)), r2, r);
    uint64_t bits;
    uint64_t power;
    memcpy(&bits, &p, sizeof bits);
    memcpy(&power, &shifted, sizeof power);
    bits += power << 52;
    memcpy(&p, &bits, sizeof p);
    return p;
}

/* The same for any x, clamped to e^-700 and e^700: finite, normal, and far beyond any loss. */
static inline double fast_exp(double x) {
    return bounded_exp(clipped(x, 700.0));
}

/* The sum of eight lanes, in a fixed order. */
static inline double total(const double* v) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

/* a[0] b[0] + ... + a[n - 1] b[n - 1]; n is a multiple of 8. */
static inline double dot(const double* a, const double* b, ptrdiff_t n) {
    double sum[LANES] = {0};
    for (ptrdiff_t i = 0; i < n; i += LANES) {
        for (int k = 0; k < LANES; k++) {
            sum[k] = fused(a[i + k], b[i + k], sum[k]);
        }
    }
    return total(sum);
}

/* terms[0] + ... + terms[n - 1]; n is a multiple of 8. */
static inline double lane_sum(const double* terms, ptrdiff_t n) {
    double sum[LANES] = {0};
    for (ptrdiff_t i = 0; i < n; i += LANES) {
        for (int k = 0; k < LANES; k++) {
            sum[k] += terms[i + k];
        }
    }
    return total(sum);
}

/* Whether v[0] ... v[n - 1] are finite. */
static inline int all_finite(const double* v, ptrdiff_t n) {
    double zero[LANES] = {0};
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int k = 0; k < LANES; k++) {
            zero[k] += v[i + k] * 0.0; /* NaN if it is infinite or NaN */
        }
    }
    for (; i < n; i++) {
        zero[0] += v[i] * 0.0;
    }
    return total(zero) == 0.0;
}

/* A number of 64 bits from three others (splitmix64). */
static inline uint64_t hashed(int64_t a, int64_t b, int64_t c) {
    uint64_t z = (uint64_t)a * 0x9E3779B97F4A7C15u + (uint64_t)b * 0xC2B2AE3D27D4EB4Fu +
                 (uint64_t)c * 0x165667B19E3779F9u + 0x27D4EB2F165667C5u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Ask for a cache line before it is needed. */
static inline void prefetch(const void* at) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(at, 0, 3);
#else
    (void)at;
#endif
}

/* The smallest and the largest size of a value that is neither 0 nor NaN; 1 and 0 if none is. */
static inline void extent_of(const double* values, ptrdiff_t n, double* smallest, double* largest) {
    double least[LANES];
    double most[LANES];
    ptrdiff_t i = 0;
    for (int k = 0; k < LANES; k++) {
        least[k] = INFINITY;
        most[k] = 0.0;
    }
    for (; i + LANES <= n; i += LANES) {
        for (int k = 0; k < LANES; k++) {
            double size = fabs(values[i + k]);
            double nonzero = size > 0.0 ? size : INFINITY; /* comparisons with NaN are false */
            most[k] = size > most[k] ? size : most[k];
            least[k] = nonzero < least[k] ? nonzero : least[k];
        }
    }
    for (; i < n; i++) {
        double size = fabs(values[i]);
        double nonzero = size > 0.0 ? size : INFINITY;
        most[0] = size > most[0] ? size : most[0];
        least[0] = nonzero < least[0] ? nonzero : least[0];
    }
    for (int k = 1; k < LANES; k++) {
        most[0] = most[k] > most[0] ? most[k] : most[0];
        least[0] = least[k] < least[0] ? least[k] : least[0];
    }
    *smallest = most[0] > 0 ? least[0] : 1.0;
    *largest = most[0];
}

/* Records of a few fields per coordinate, in groups of eight coordinates, field by field.

   `gather_records` copies the records of a row's coordinates into `own`, slot by slot: slot 0 is
   coordinate 0 (the constant) and slot k is column ids[k - 1], or column k - 1 without ids. Slots
   behind the last value, and columns beyond the `known` coordinates, are zeros. `scatter_records`
   writes them back. The compiler makes one copy of each per number of fields. */
static inline void gather_fields(Values records, ptrdiff_t known, const int* ids, ptrdiff_t n,
                                 ptrdiff_t slots, int fields, Room own) {
    for (int a = 0; a < fields; a++) {
        own[LANES * a] = records[LANES * a];
    }
    for (ptrdiff_t k = 1; k < slots; k++) {
        ptrdiff_t i = k > n ? known : 1 + (ids ? ids[k - 1] : k - 1);
        const double* from = records + (i / LANES) * LANES * fields + i % LANES;
        double* to = own + (k / LANES) * LANES * fields + k % LANES;
        for (int a = 0; a < fields; a++) {
            to[LANES * a] = i < known ? from[LANES * a] : 0.0;
        }
    }
}

static inline void scatter_fields(Room records, const int* ids, ptrdiff_t n, int fields,
                                  Values own) {
    for (int a = 0; a < fields; a++) {
        records[LANES * a] = own[LANES * a];
    }
    for (ptrdiff_t k = 1; k <= n; k++) {
        ptrdiff_t i = 1 + (ids ? ids[k - 1] : k - 1);
        const double* from = own + (k / LANES) * LANES * fields + k % LANES;
        double* to = records + (i / LANES) * LANES * fields + i % LANES;
        for (int a = 0; a < fields; a++) {
            to[LANES * a] = from[LANES * a];
        }
    }
}

#define FOR_FIELDS(call)                    \
    switch (fields) {                       \
        case 1: { enum { F = 1 }; call; break; } \
        case 2: { enum { F = 2 }; call; break; } \
        case 3: { enum { F = 3 }; call; break; } \
        case 4: { enum { F = 4 }; call; break; } \
        case 5: { enum { F = 5 }; call; break; } \
        default: { const int F = fields; call; break; } \
    }

static inline void gather_records(const double* records, ptrdiff_t known, const int* ids,
                                  ptrdiff_t n, ptrdiff_t slots, int fields, double* own) {
    FOR_FIELDS(gather_fields(records, known, ids, n, slots, F, own))
}

static inline void scatter_records(double* records, const int* ids, ptrdiff_t n, int fields,
                                   const double* own) {
    FOR_FIELDS(scatter_fields(records, ids, n, F, own))
}

#endif
