/* view_history.c: see view_history.h. */
#include "view_history.h"

#include "attempt_notes.h"
#include "flow.h"
#include "flow_lists.h"
#include "job.h"
#include "objects.h"
#include "panic.h"
#include "registry.h"

static struct attempt_view closed_attempt(const struct snap_attempt *o) {
    return (struct attempt_view){.attempt = o->attempt,
                                 .worker = o->worker_id,
                                 .outcome = o->outcome,
                                 .stop = o->stop,
                                 .exit_code = o->exit_code,
                                 .signal = o->signal,
                                 .assigned = {o->assigned_ms},
                                 .started = {o->started_ms},
                                 .ended = {o->ended_ms},
                                 .log_bytes = o->log_bytes,
                                 .log_cut_bytes = o->log_cut_bytes,
                                 .reason = o->reason,
                                 .usage = o->usage};
}

uint32_t view_attempts(const struct state *s, struct job_ref ref, struct arena *arena, struct attempt_view **ret) {
    uint32_t job = job_find(s, ref);
    if (job == 0) return 0;
    const struct job *j = job_at(s, job);
    struct snap_attempt *closed = NULL;
    uint32_t count = note_facts(s, j, arena, &closed);
    *ret = ARENA_ARRAY(arena, struct attempt_view, count + 1);
    for (uint32_t i = 0; i < count; i++) (*ret)[i] = closed_attempt(&closed[i]);
    if (!job_state_is_active(j->state)) return count;
    const struct run *run = run_at(s, j->link);
    ENSURE(run->job == job);
    (*ret)[count] = (struct attempt_view){.attempt = run->attempt,
                                          .worker = bytes_slice(worker_at(s, run->worker)->id),
                                          .is_open = true,
                                          .assigned = run->assigned,
                                          .started = run->started};
    return count + 1;
}

uint32_t view_labels(const struct state *s, flow_id flow, struct arena *arena, const struct label **ret) {
    uint32_t index = flow_find(s, flow);
    struct flow_head head;
    if (index == 0) return 0;
    flow_head_get(flow_at(s, index), arena, &head);
    *ret = head.labels.at;
    return head.labels.count;
}

bool view_ended(const struct state *s, flow_id flow, uint64_t *ret_lsn) {
    uint32_t index = flow_find(s, flow);
    if (index == 0 || flow_at(s, index)->ended == ENDED_NO) return false;
    *ret_lsn = flow_at(s, index)->settled_lsn;
    return true;
}

/* The first of a list that is above, found from its end. */
static uint32_t first_after(const struct state *s, enum ended kind, uint64_t after_lsn) {
    uint32_t first = 0;
    for (uint32_t i = s->ended[kind].tail; i && flow_at(s, i)->settled_lsn > after_lsn; i = flow_at(s, i)->ended_prev)
        first = i;
    return first;
}

void view_each_ended(const struct state *s, uint64_t after_lsn, view_ended_fn each, void *ctx) {
    uint32_t clean = first_after(s, ENDED_CLEAN, after_lsn), dead = first_after(s, ENDED_DEAD, after_lsn);
    while (clean || dead) {
        bool take_clean = clean && (!dead || flow_at(s, clean)->settled_lsn <= flow_at(s, dead)->settled_lsn);
        const struct flow *f = flow_at(s, take_clean ? clean : dead);
        if (take_clean)
            clean = f->ended_next;
        else
            dead = f->ended_next;
        each(ctx, (flow_id){f->id}, f->settled_lsn);
    }
}

uint64_t view_flow_below(const struct state *s, uint64_t before, uint32_t shelves) {
    uint64_t best = 0, found = 0;
    for (uint32_t i = 0; i < FLOW_LIST_COUNT; i++)
        if ((shelves & 1u << i) && numset_below(&s->flow_lists[i], before, &found) && found > best) best = found;
    return best;
}

uint32_t view_ended_after(const struct state *s, uint64_t after_lsn, uint64_t *ret, uint32_t max) {
    uint32_t count = 0;
    for (enum ended kind = ENDED_CLEAN; kind < ENDED_COUNT; kind++)
        for (uint32_t i = s->ended[kind].tail; i && flow_at(s, i)->settled_lsn > after_lsn;
             i = flow_at(s, i)->ended_prev) {
            if (count == max) return max + 1;
            ret[count++] = flow_at(s, i)->id;
        }
    return count;
}
