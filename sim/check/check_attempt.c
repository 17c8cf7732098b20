/* check_attempt.c: attempts as records, as real processes and as acknowledged completions. */
#include "check_attempt.h"

#include <stdlib.h>

#include "panic.h"

struct attempt_process { /* every one that ever began */
    uint64_t flow;
    uint32_t ordinal;
    uint32_t attempt;
    uint64_t fence;
};

struct completion { /* a worker said "done" */
    uint64_t call;
    uint64_t flow;
    uint32_t ordinal;
    uint32_t attempt;
    enum trace_outcome outcome;
    bool accepted; /* and was told that this was news */
};

struct attempt_notes {
    struct attempt_process *processes;
    uint32_t process_count;
    struct completion *completions;
    uint32_t completion_count;
};

void *check_attempt_new(void) {
    struct attempt_notes *n = calloc(1, sizeof *n);
    REQUIRE(n != NULL);
    return n;
}

void check_attempt_free(void *notes) {
    struct attempt_notes *n = notes;
    free(n->processes);
    free(n->completions);
    free(n);
}

#define NAME "%llu/%u#%u"
#define NAME_OF(r) (unsigned long long)(r)->flow, (r)->ordinal, (r)->attempt

static bool assigned(const struct check_history *h, const struct trace_entry *e, char *text) {
    const struct trace_attempt *r = &e->as.attempt;
    const struct check_flow *f = check_history_flow(h, r->flow);
    const struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    if (j == NULL) return check_object(text, NAME " is of no known job", NAME_OF(r));
    uint64_t budget = (uint64_t)j->retries + 1, used = 0;
    for (uint32_t i = 0; i < j->attempt_count; i++) {
        const struct check_attempt *a = &j->attempts[i];
        if (a->attempt >= r->attempt) return check_object(text, NAME " comes after #%u", NAME_OF(r), a->attempt);
        if (a->ended_lsn == 0) return check_object(text, NAME " given away while #%u is open", NAME_OF(r), a->attempt);
        bool free = (a->outcome == TO_LOST || a->outcome == TO_STOPPED) && a->attempt <= j->free_losses;
        if (!check_history_was_reset(f, a->assigned_lsn, e->lsn) && !free) used++;
        if (a->again) used = 0; /* it went well: what goes wrong in a row counts */
    }
    if (used >= budget)
        return check_object(text, NAME " is beyond its budget of %llu", NAME_OF(r), (unsigned long long)budget);
    return true;
}

static bool ended(const struct check_history *h, const struct trace_attempt *r, char *text) {
    const struct check_attempt *a = check_history_attempt(h, r->flow, r->ordinal, r->attempt);
    if (a == NULL) return check_object(text, NAME " ended and was never given away", NAME_OF(r));
    if (a->ended_lsn != 0) return check_object(text, NAME " ended twice", NAME_OF(r));
    return true;
}

static bool began(struct attempt_notes *n, const struct check_history *h, const struct trace_process *r, char *text) {
    const struct check_attempt *a = check_history_attempt(h, r->flow, r->ordinal, r->attempt);
    if (a == NULL || a->assigned_lsn > h->durable_lsn)
        return check_object(text, NAME " runs and is not durably assigned", NAME_OF(r));
    if (!check_bytes_equal(a->worker, r->worker) || a->incarnation != r->incarnation)
        return check_object(text, NAME " runs on a worker it was not given to", NAME_OF(r));
    for (uint32_t i = 0; i < n->process_count; i++) {
        const struct attempt_process *p = &n->processes[i];
        if (p->flow != r->flow || p->ordinal != r->ordinal) continue;
        if (p->attempt == r->attempt) return check_object(text, NAME " was run twice", NAME_OF(r));
        bool known = p->fence != 0 && r->fence != 0;
        if (known && (p->attempt < r->attempt) != (p->fence < r->fence))
            return check_object(text, NAME " has a fence out of order with that of #%u", NAME_OF(r), p->attempt);
    }
    n->processes = check_grow(n->processes, n->process_count, sizeof *n->processes);
    n->processes[n->process_count++] = (struct attempt_process){r->flow, r->ordinal, r->attempt, r->fence};
    return true;
}

static void asked(struct attempt_notes *n, const struct trace_asked *a) {
    if (a->ask != TQ_DONE) return;
    n->completions = check_grow(n->completions, n->completion_count, sizeof *n->completions);
    n->completions[n->completion_count++] = (struct completion){
        .call = a->call, .flow = a->flow, .ordinal = a->ordinal, .attempt = a->attempt, .outcome = a->outcome};
}

static bool accepted(struct attempt_notes *n, const struct check_history *h, struct completion *c,
                     const struct trace_answered *r, char *text) {
    const struct check_attempt *a = check_history_attempt(h, c->flow, c->ordinal, c->attempt);
    if (a == NULL || a->ended_lsn == 0 || a->ended_lsn > r->lsn)
        return check_object(text, NAME ": its end was acknowledged and is not recorded", NAME_OF(c));
    if (a->outcome != c->outcome && !a->again) /* how a poll says "not yet" is its own business */
        return check_object(text, NAME ": one end was acknowledged, another is recorded", NAME_OF(c));
    for (uint32_t i = 0; !r->repeated && i < n->completion_count; i++) {
        const struct completion *o = &n->completions[i];
        if (o->accepted && o->flow == c->flow && o->ordinal == c->ordinal && o->attempt == c->attempt)
            return check_object(text, NAME ": two ends were news", NAME_OF(c));
    }
    c->accepted = !r->repeated;
    return true;
}

static bool answered(struct attempt_notes *n, const struct check_history *h, const struct trace_answered *r,
                     char *text) {
    for (uint32_t i = n->completion_count; i > 0 && r->answer == TN_OK; i--) {
        if (n->completions[i - 1].call == r->call) return accepted(n, h, &n->completions[i - 1], r, text);
    }
    return true;
}

bool check_attempt_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    struct attempt_notes *n = notes;
    if (trace_is_record(e->kind) && e->replayed) return true;
    switch ((int)e->kind) {
    case TR_ASSIGNED: return assigned(h, e, text);
    case TR_ENDED: return ended(h, &e->as.attempt, text);
    case TW_PROCESS: return began(n, h, &e->as.process, text);
    case TA_ASKED: asked(n, &e->as.asked); return true;
    case TA_ANSWERED: return answered(n, h, &e->as.answered, text);
    default: return true;
    }
}
