/* check_policy.c: see check_policy.h. */
#include "check_policy.h"

#include <stdlib.h>

#include "panic.h"

struct policy_change {
    uint64_t lsn;
    uint64_t version;
};

struct grant { /* a verdict of the policy that let a job pass */
    uint64_t lsn;
    uint64_t flow;
    uint32_t ordinal;
    uint64_t version;
};

struct policy_notes {
    struct policy_change *changes;
    uint32_t change_count;
    struct grant *grants;
    uint32_t grant_count;
};

void *check_policy_new(void) {
    struct policy_notes *n = calloc(1, sizeof *n);
    REQUIRE(n != NULL);
    return n;
}

void check_policy_free(void *notes) {
    struct policy_notes *n = notes;
    free(n->changes);
    free(n->grants);
    free(n);
}

static void note_change(struct policy_notes *n, struct policy_change change) {
    n->changes = check_grow(n->changes, n->change_count, sizeof *n->changes);
    n->changes[n->change_count++] = change;
}

static void note_grant(struct policy_notes *n, const struct trace_entry *e) {
    const struct trace_verdict_on *r = &e->as.verdict;
    bool passes = r->verdict == TV_ALLOW || r->verdict == TV_CONSTRAIN || r->verdict == TV_HOLD;
    if (r->gate != TG_POLICY || !passes) return;
    n->grants = check_grow(n->grants, n->grant_count, sizeof *n->grants);
    n->grants[n->grant_count++] = (struct grant){e->lsn, r->flow, r->ordinal, r->policy};
}

/* The last word of the policy about a job; NULL = none. */
static const struct grant *last_grant(const struct policy_notes *n, uint64_t flow, uint32_t ordinal) {
    for (uint32_t i = n->grant_count; i > 0; i--) {
        if (n->grants[i - 1].flow == flow && n->grants[i - 1].ordinal == ordinal) return &n->grants[i - 1];
    }
    return NULL;
}

static bool assigned(const struct policy_notes *n, const struct check_history *h, const struct trace_attempt *r,
                     char *text) {
    const struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    if (j == NULL || !(j->gates & TRACE_GATE_BIT(TG_POLICY)) || n->change_count == 0) return true;
    uint64_t in_force = n->changes[n->change_count - 1].version;
    const struct grant *g = last_grant(n, r->flow, r->ordinal);
    if (g != NULL && g->version >= in_force) return true;
    return check_object(text, "job %llu/%u#%u begins by version %llu of the policy, in force is %llu",
                        (unsigned long long)r->flow, r->ordinal, r->attempt, (unsigned long long)(g ? g->version : 0),
                        (unsigned long long)in_force);
}

static void take_back(struct policy_notes *n, uint64_t head) {
    while (n->change_count > 0 && n->changes[n->change_count - 1].lsn > head) n->change_count--;
    while (n->grant_count > 0 && n->grants[n->grant_count - 1].lsn > head) n->grant_count--;
}

bool check_policy_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    struct policy_notes *n = notes;
    if (trace_is_record(e->kind) && e->replayed) return true;
    switch ((int)e->kind) {
    case TR_POLICY: note_change(n, (struct policy_change){e->lsn, e->as.policy.version}); return true;
    case TR_VERDICT: note_grant(n, e); return true;
    case TR_ASSIGNED: return assigned(n, h, &e->as.attempt, text);
    case TW_RESTARTED: take_back(n, e->as.restarted.head); return true;
    default: return true;
    }
}
