/* simmsg.c: see simmsg.h. */
#include "simmsg.h"

#include <stdlib.h>

#include "panic.h"

#define MSG_BYTES_MAX ((size_t)64 << 20)

struct msg *simmsg_new(struct msgs *all, uint32_t node) {
    struct msg *m = calloc(1, sizeof *m);
    ENSURE(m != NULL);
    m->refs = 1;
    m->node = node;
    arena_init(&m->arena, 256, MSG_BYTES_MAX);
    m->next = all->first;
    if (all->first) all->first->prev = m;
    all->first = m;
    return m;
}

struct msg *simmsg_ref(struct msg *m) {
    m->refs++;
    return m;
}

void simmsg_unref(struct msgs *all, struct msg *m) {
    if (m == NULL) return;
    REQUIRE(m->refs > 0);
    if (--m->refs > 0) return;
    if (m->prev)
        m->prev->next = m->next;
    else
        all->first = m->next;
    if (m->next) m->next->prev = m->prev;
    arena_fini(&m->arena);
    free(m);
}

void simmsg_fini(struct msgs *all) {
    while (all->first) {
        all->first->refs = 1;
        simmsg_unref(all, all->first);
    }
}
