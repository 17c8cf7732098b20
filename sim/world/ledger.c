/* ledger.c: see ledger.h. */
#include "ledger.h"

#include "panic.h"
#include "world.h"

void ledger_init(struct ledger *l, struct serverhost *server) {
    *l = (struct ledger){.server = server};
    vec_init(&l->entries, sizeof(struct ledger_entry));
}

void ledger_fini(struct ledger *l) {
    vec_fini(&l->entries);
}

void ledger_clear(struct ledger *l) {
    l->entries.count = 0;
}

static struct ledger_entry *find(struct ledger *l, uint64_t flow, uint32_t ordinal, uint32_t attempt) {
    for (uint32_t i = 0; i < l->entries.count; i++) {
        struct ledger_entry *e = vec_at(&l->entries, i);
        if (e->job.flow.v == flow && e->job.ordinal == ordinal && e->attempt == attempt) return e;
    }
    return NULL;
}

/* The worker of a lost attempt was told to stop it, is a later incarnation, or has been silent for a lease. */
static void judge_lost(struct ledger *l, const struct ledger_entry *e) {
    const struct serverhost *s = l->server;
    int64_t silent_ms = world_mono(s->w).ms - s->heard_ms[e->node];
    if (e->stopping || s->incarnations[e->node] > e->incarnation) return;
    if (s->lapsed[e->node] || silent_ms >= s->w->plan.limits.lease_ms) return;
    world_red(s->w, "lease", "%lu/%u#%u was taken from worker %u, %ld ms after its last word (lease %ld ms)",
              (unsigned long)e->job.flow.v, e->job.ordinal, e->attempt, e->node, (long)silent_ms,
              (long)s->w->plan.limits.lease_ms);
}

static void stopping(struct ledger *l, struct ledger_entry *e, const struct trace_entry *t, bool judging) {
    bool late = e->owed && t->lsn > e->owed_lsn;
    if (judging && late && t->as.attempt.stop == TX_DISPATCH_TIMEOUT) {
        world_red(l->server->w, "dispatch",
                  "%lu/%u#%u was never sent again to worker %u, which attached without it",
                  (unsigned long)e->job.flow.v, e->job.ordinal, e->attempt, e->node);
    }
    e->stopping = true;
}

void ledger_called_off(struct ledger *l, uint64_t flow) {
    for (uint32_t i = 0; i < l->entries.count; i++) {
        struct ledger_entry *e = vec_at(&l->entries, i);
        if (e->job.flow.v == flow) e->stopping = true;
    }
}

void ledger_record(struct ledger *l, const struct trace_entry *t, bool judging) {
    const struct trace_attempt *a = &t->as.attempt;
    if (t->kind == TR_ASSIGNED) {
        struct ledger_entry *e = vec_push(&l->entries);
        *e = (struct ledger_entry){
            .job = {{a->flow}, a->ordinal},
            .attempt = a->attempt,
            .node = worker_node(slice_of(a->worker.at, a->worker.len)),
            .incarnation = a->incarnation,
        };
        return;
    }
    if (t->kind == TR_CANCELLED) ledger_called_off(l, t->as.job.flow);
    if (t->kind != TR_STOPPING && t->kind != TR_ENDED) return;
    struct ledger_entry *e = find(l, a->flow, a->ordinal, a->attempt);
    if (e == NULL) return; /* the model objects to that */
    if (t->kind == TR_STOPPING) {
        stopping(l, e, t, judging);
        return;
    }
    if (judging && a->outcome == TO_LOST) judge_lost(l, e);
    *e = *(struct ledger_entry *)vec_at(&l->entries, l->entries.count - 1);
    l->entries.count--;
}

void ledger_restarted(struct ledger *l) {
    for (uint32_t i = 0; i < l->entries.count; i++)
        ((struct ledger_entry *)vec_at(&l->entries, i))->owed = false;
}

static bool is_listed(const struct cmd_attach *attach, const struct ledger_entry *e) {
    for (uint32_t i = 0; i < attach->held_count; i++) {
        const struct held_attempt *h = &attach->held[i];
        if (h->job.flow.v == e->job.flow.v && h->job.ordinal == e->job.ordinal && h->attempt == e->attempt)
            return true;
    }
    return false;
}

void ledger_attached(struct ledger *l, uint32_t node, const struct cmd_attach *attach) {
    for (uint32_t i = 0; i < l->entries.count; i++) {
        struct ledger_entry *e = vec_at(&l->entries, i);
        if (e->node != node || e->incarnation != attach->incarnation || is_listed(attach, e)) continue;
        e->owed = true;
        e->owed_lsn = engine_lsn(l->server->engine);
    }
}

void ledger_sent(struct ledger *l, struct job_ref job, uint32_t attempt) {
    struct ledger_entry *e = find(l, job.flow.v, job.ordinal, attempt);
    if (e) e->owed = false;
}
