/* decide_memo.c: who is given a kept result, and which results are kept. */
#include "decide.h"
#include "flow.h"
#include "flow_lists.h"
#include "memo.h"
#include "mutant.h"
#include "panic.h"

#define DROPS_MAX 512u /* entries that make room for one; small ones for a large one */

static bool is_alive(const struct decision *d, const struct memo *m) {
    return memo_has_entry(m) && (m->expires.ms > d->in->wall.ms || MUTANT(memo_expired_served));
}

static void record_dropped(struct decision *d, const struct memo *m) {
    struct rec_memo_dropped *rec = &decide_record(d, REC_MEMO_DROPPED, NULL)->body.as_REC_MEMO_DROPPED;
    rec->head.tenant = bytes_slice(tenant_at(d->state, m->tenant)->name);
    rec->key = memo_key(m);
}

/* The oldest entries of the tenant go until there is room. False when the result is too large, or they would be too
 * many; then nothing is recorded. */
static bool make_room(struct decision *d, const struct memo *own, uint64_t cost) {
    const struct state *s = d->state;
    const struct tenant *t = tenant_at(s, own->tenant);
    const uint64_t most = (uint64_t)d->limits->memo_tenant_max, bytes_most = (uint64_t)d->limits->memo_tenant_bytes_max;
    uint64_t replaced = memo_has_entry(own) ? memo_cost(bytes_slice(own->result), bytes_slice(own->artifacts)) : 0;
    uint64_t count = t->memo_count - (replaced > 0), bytes = t->memo_bytes - replaced;
    uint32_t drop_count = 0;
    struct memo **drops = ARENA_ARRAY(d->arena, struct memo *, DROPS_MAX);
    for (uint32_t i = t->memo_oldest; count >= most || bytes + cost > bytes_most; i = memo_at(s, i)->newer) {
        if (i == 0 || drop_count == DROPS_MAX) return false;
        if (memo_at(s, i) == own) continue;
        count--;
        bytes -= memo_cost(bytes_slice(memo_at(s, i)->result), bytes_slice(memo_at(s, i)->artifacts));
        drops[drop_count++] = memo_at(s, i);
    }
    for (uint32_t i = 0; i < drop_count; i++) record_dropped(d, drops[i]);
    return true;
}

static void keep(struct decision *d, const struct job *j, const struct memo *m) {
    const struct extra *x = extra_at(d->state, j->extra);
    if (!make_room(d, m, memo_cost(x->result, x->artifacts))) return;
    struct job_ref ref = job_ref_of(d->state, j);
    int64_t ms = job_options(d->state, j)->cache_ms;
    struct rec_memo_kept *rec = &decide_record(d, REC_MEMO_KEPT, NULL)->body.as_REC_MEMO_KEPT;
    rec->flow = ref.flow.v;
    rec->ordinal = ref.ordinal;
    rec->expires_ms = d->in->wall.ms + (ms ? ms : d->limits->memo_ms);
}

static void hit(struct decision *d, const struct job *j, const struct memo *m) {
    struct job_ref ref = job_ref_of(d->state, j);
    struct rec_memo_hit *rec = &decide_record(d, REC_MEMO_HIT, NULL)->body.as_REC_MEMO_HIT;
    rec->flow = ref.flow.v;
    rec->ordinal = ref.ordinal;
    rec->from_flow = m->from.flow.v;
    rec->from_ordinal = m->from.ordinal;
}

bool decide_memo(struct decision *d, struct state *indices) {
    REQUIRE(indices == d->state);
    uint32_t first = indices->asking.head;
    if (first == 0) return false;
    uint32_t job = memo_job_at(indices, first)->job;
    const struct job *j = job_at(indices, job);
    REQUIRE(memo_job_at(indices, first)->is_listed);
    REQUIRE(j->state == JOB_READY || j->state == JOB_SUCCEEDED);
    const struct memo *m = memo_at(indices, memo_job_at(indices, first)->memo);
    const struct flow *f = flow_at(indices, j->flow);
    if (j->state == JOB_SUCCEEDED) {
        if (!flow_is_leaving(f)) keep(d, j, m);
        memo_unask(indices, j);
        return true;
    }
    int64_t deadline_ms = job_options(indices, j)->deadline_ms;
    bool late = deadline_ms > 0 && deadline_ms <= d->in->wall.ms; /* its timer has yet to come to it */
    if (flow_is_settling(f))
        memo_put_off(indices, job); /* it may be called off by what is under way */
    else if (is_alive(d, m) && !late)
        hit(d, j, m);
    else
        memo_wait(indices, job);
    return true;
}

void decide_memo_timer(struct decision *d, uint32_t memo) {
    REQUIRE(memo_has_entry(memo_at(d->state, memo)));
    record_dropped(d, memo_at(d->state, memo));
}
