/* model_limit.c: see model_limit.h. Counted anew each time. */
#include "model_limit.h"

#include <stdlib.h>
#include <string.h>

#include "panic.h"

static bool is_text(struct model_text a, struct trace_bytes b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static struct model_room *room_of(const struct model *m, struct trace_bytes tenant) {
    for (uint32_t i = 0; i < m->room_count; i++) {
        if (is_text(m->rooms[i].tenant, tenant)) return &m->rooms[i];
    }
    return NULL;
}

void model_limit_set(struct model *m, const struct trace_limit *r) {
    if (r->kind != TL_TENANT) return;
    struct model_room *room = room_of(m, r->tenant);
    if (room == NULL) {
        m->rooms = realloc(m->rooms, (m->room_count + 1) * sizeof *m->rooms);
        REQUIRE(m->rooms != NULL);
        room = &m->rooms[m->room_count++];
        *room = (struct model_room){.tenant = model_text_copy(r->tenant)};
    }
    room->queued = r->clear ? 0 : r->queued;
    room->bytes = r->clear ? 0 : r->bytes;
}

bool model_limit_has_room(const struct model *m, struct trace_bytes tenant, uint64_t jobs, uint64_t bytes) {
    const struct model_room *room = room_of(m, tenant);
    if (room == NULL || jobs == 0) return true;
    bool has_bytes = bytes > 0; /* children of a foreach job have none */
    for (uint32_t i = 0; i < m->flow_count; i++) {
        const struct model_flow *f = &m->flows[i];
        if (f->forgotten || !is_text(f->tenant, tenant)) continue;
        for (uint32_t k = 0; k < f->job_count; k++) {
            for (uint32_t c = 0; c < f->jobs[k].child_count; c++)
                jobs += !trace_is_terminal(f->jobs[k].children[c].state);
            if (trace_is_terminal(f->jobs[k].state)) continue;
            jobs++;
            bytes += f->jobs[k].spec.message_bytes;
        }
    }
    return (room->queued == 0 || jobs <= room->queued) && (room->bytes == 0 || !has_bytes || bytes <= room->bytes);
}

void model_limits_free(struct model *m) {
    for (uint32_t i = 0; i < m->room_count; i++) free(m->rooms[i].tenant.at);
    free(m->rooms);
}
