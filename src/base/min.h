/* min.h: the smaller of two numbers, by their type: a macro would evaluate an argument twice or lose its sign. */
#ifndef REEVE_MIN_H
#define REEVE_MIN_H

#include <stdint.h>

static inline uint32_t min_u32(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Of times, too: TIME_NEVER is the largest. */
static inline int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

#endif
