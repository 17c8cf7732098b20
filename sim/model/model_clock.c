/* model_clock.c: the clock was wrong and is set right.
 *
 * The rule, from the text (ADR 0116): what waits keeps the rest of its wait, so if it was noted by the wrong clock
 * it moves along; a moment that somebody named stays; what is over moves only if it would lie in the future; a
 * schedule goes on from the right time at the latest. Kept results end when their records said. */
#include "model.h"
#include "model_job.h"
#include "model_schedule.h"

struct clock_move {
    int64_t from_ms, by_ms, now_ms;
};

static bool waits(const struct clock_move *v, int64_t ms) {
    return ms >= v->from_ms;
}

static void move_due(const struct clock_move *v, struct model_job *j) {
    if (!j->waits_for_time || !waits(v, j->due_most_ms)) return;
    bool sure = waits(v, j->due_least_ms); /* else nobody knows on which side of `from` the jitter put it */
    if (sure || v->by_ms < 0) j->due_least_ms += v->by_ms;
    if (sure || v->by_ms > 0) j->due_most_ms += v->by_ms;
    if (j->due_least_ms < j->spec.not_before_ms) j->due_least_ms = j->spec.not_before_ms;
    if (j->due_most_ms < j->spec.not_before_ms) j->due_most_ms = j->spec.not_before_ms;
}

static void move_job(const struct clock_move *v, struct model_job *j) {
    bool over = trace_is_terminal(j->state);
    if (over ? j->since_ms > v->now_ms : waits(v, j->since_ms)) j->since_ms += v->by_ms;
    if (j->submit_ms > v->now_ms) j->submit_ms += v->by_ms;
    if (!over && j->begun && waits(v, j->until_ms)) j->until_ms += v->by_ms;
    if (!over) move_due(v, j);
    for (uint32_t i = 0; i < j->child_count; i++) move_job(v, &j->children[i]);
}

bool model_clock(struct model *m, const struct trace_clock *r, char *text) {
    struct clock_move v = {r->from_ms, r->by_ms, m->time_ms + r->by_ms};
    if (r->by_ms == 0) return model_object(text, "the clock moves by nothing");
    if (r->by_ms < 0 && r->from_ms != v.now_ms) return model_object(text, "the clock falls and moves something else");
    for (uint32_t i = 0; i < m->flow_count; i++)
        for (uint32_t k = 0; k < m->flows[i].job_count; k++) move_job(&v, &m->flows[i].jobs[k]);
    for (uint32_t i = 0; i < m->flow_count; i++)
        if (waits(&v, m->flows[i].began_ms)) m->flows[i].began_ms += v.by_ms;
    for (uint32_t i = 0; i < m->service_count; i++) {
        struct model_service *s = &m->services[i];
        if (waits(&v, s->since_ms)) s->since_ms += v.by_ms;
        if (s->overlaps && waits(&v, s->previous_since_ms)) s->previous_since_ms += v.by_ms;
        if (waits(&v, s->deployed_ms)) s->deployed_ms += v.by_ms;
    }
    model_schedule_clock(m, v.now_ms);
    m->time_ms = v.now_ms;
    return true;
}
