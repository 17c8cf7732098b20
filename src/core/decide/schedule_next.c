/* schedule_next.c: see schedule_next.h. */
#include "schedule_next.h"

#include "panic.h"

static int64_t next_slot(const struct state *s, const struct live *l, uint32_t schedule, bool fires) {
    const struct schedule *sc = schedule_at(s, schedule);
    REQUIRE(sc->key != NULL);
    const struct live_schedule *known = l ? live_schedule_get(l, s, schedule) : NULL;
    if (sc->end_ms && sc->after_ms >= sc->end_ms) return TIME_NEVER;
    if (sc->cause) return TIME_NEVER; /* the clock does not start it */
    if (known == NULL) return SLOTS_UNKNOWN;
    const int64_t *at = (const int64_t *)(const void *)known->slots.at;
    for (uint32_t i = 0; i < known->slots.count; i++)
        if (at[i] > sc->after_ms && !(fires && live_slot_excluded(known, at[i]))) return at[i];
    return known->last ? TIME_NEVER : SLOTS_UNKNOWN;
}

int64_t schedule_next(const struct state *s, const struct live *l, uint32_t schedule) {
    return next_slot(s, l, schedule, false);
}

int64_t schedule_next_firing(const struct state *s, const struct live *l, uint32_t schedule) {
    return next_slot(s, l, schedule, true);
}

const char *schedule_refusal(const struct state *s, const struct limits *limits, const struct schedule *sc) {
    if (s->flows.count >= (uint64_t)limits->flows_max) return "flows_max";
    if ((uint64_t)s->ended[ENDED_CLEAN].count + s->ended[ENDED_DEAD].count >= (uint64_t)limits->ended_flows_max)
        return "ended_flows_max";
    if ((uint64_t)s->jobs.count + sc->job_count > (uint64_t)limits->jobs_max) return "jobs_max";
    if ((uint64_t)s->profiles.count + sc->profile_count > (uint64_t)limits->profiles_max) return "profiles_max";
    if (s->classes.count >= (uint64_t)limits->classes_max) return "classes_max";
    if ((uint64_t)s->questions.count + sc->question_count > (uint64_t)limits->questions_max) return "questions_max";
    const struct tenant *t = tenant_at(s, sc->tenant);
    if (t->flows >= limits_tenant_flows_max(limits)) return "flows_tenant_share";
    if (t->queued_max && t->queued + sc->job_count > t->queued_max) return "queued";
    if (t->bytes_max && t->queued_bytes + sc->job_bytes > t->bytes_max) return "bytes";
    return NULL;
}
