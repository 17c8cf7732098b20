/* retention.c: see retention.h. */
#include "retention.h"

#include "mutant.h"
#include "panic.h"

/* Flows without dead letters are kept for convenience alone: when they are many, the history has to do. */
static int64_t kept_ms(const struct state *s, const struct limits *limits, enum ended kind) {
    REQUIRE(kind != ENDED_NO);
    if (kind == ENDED_DEAD) return limits->dead_letter_ms;
    return s->ended[kind].count > (uint64_t)limits->ended_flows_kept ? 0 : limits->retention_ms;
}

/* The first of a list, if the history has it. */
static uint32_t head_of(const struct state *s, const struct live *l, enum ended kind) {
    uint32_t flow = s->ended[kind].head;
    if (flow == 0 || flow_at(s, flow)->is_working) return 0;
    ENSURE(flow_at(s, flow)->ended == kind);
    bool known = flow_at(s, flow)->settled_lsn <= l->projected_lsn;
    return known || (MUTANT(forgot_unprojected) && l->projected_lsn) ? flow : 0;
}

uint32_t retention_next(const struct state *s, const struct live *l, const struct limits *limits, wall_time now) {
    for (enum ended kind = ENDED_CLEAN; kind <= ENDED_DEAD; kind++) {
        uint32_t flow = head_of(s, l, kind);
        if (flow && flow_at(s, flow)->settled.ms + kept_ms(s, limits, kind) <= now.ms) return flow;
    }
    return 0;
}

wall_time retention_due(const struct state *s, const struct live *l, const struct limits *limits) {
    wall_time due = {TIME_NEVER};
    for (enum ended kind = ENDED_CLEAN; kind <= ENDED_DEAD; kind++) {
        uint32_t flow = head_of(s, l, kind);
        if (flow == 0) continue;
        int64_t at = flow_at(s, flow)->settled.ms + kept_ms(s, limits, kind);
        if (at < due.ms) due.ms = at;
    }
    return due;
}
