/* fifo.h: a queue of 64-bit ids. */
#ifndef REEVE_FIFO_H
#define REEVE_FIFO_H

#include <string.h>

#include "vec.h"

struct fifo {
    struct vec ids; /* uint64_t */
    uint32_t first;
};

static inline void fifo_init(struct fifo *f) {
    vec_init(&f->ids, sizeof(uint64_t));
    f->first = 0;
}

static inline void fifo_fini(struct fifo *f) {
    vec_fini(&f->ids);
}

static inline bool fifo_is_empty(const struct fifo *f) {
    return f->first == f->ids.count;
}

/* What was taken makes room when it is half of all: each id is moved once at most, in the mean. */
static inline void fifo_push(struct fifo *f, uint64_t id) {
    if (f->first > f->ids.count / 2) {
        f->ids.count -= f->first;
        memmove(f->ids.at, f->ids.at + (size_t)f->first * sizeof id, f->ids.count * sizeof id);
        f->first = 0;
    }
    *(uint64_t *)vec_push(&f->ids) = id;
}

static inline bool fifo_pop(struct fifo *f, uint64_t *ret) {
    if (fifo_is_empty(f)) return false;
    *ret = *(uint64_t *)vec_at(&f->ids, f->first++);
    if (fifo_is_empty(f)) f->ids.count = f->first = 0;
    return true;
}

#endif
