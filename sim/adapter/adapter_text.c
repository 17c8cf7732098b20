/* adapter_text.c: records in one line each, for people who read a run (adapter_record.h). */
#include <stdio.h>

#include "adapter_record.h"

struct adapter_line {
    char *out;
    size_t len;
    const char *word; /* what happened */
};

#define BYTES(b) (int)(b).len, (b).len ? (const char *)(b).at : ""

static const char *const words[] = {
    [TR_OPENED] = "opened",
    [TR_SUBMITTED] = "submitted",
    [TR_ADDED] = "added",
    [TR_CANCELLED] = "cancelled",
    [TR_PAUSED] = "paused",
    [TR_RETRIED] = "retried",
    [TR_DISCARDED] = "discarded",
    [TR_RERUN] = "rerun",
    [TR_FORGOTTEN] = "forgotten",
    [TR_CONTINUED] = "continued",
    [TR_WORKER] = "worker",
    [TR_WORKER_DRAIN] = "drain",
    [TR_WORKER_GONE] = "gone",
    [TR_ASSIGNED] = "assigned",
    [TR_STARTED] = "started",
    [TR_STOPPING] = "stopping",
    [TR_ENDED] = "ended",
    [TR_DUE] = "due",
    [TR_FLOW_DUE] = "flow due",
    [TR_VERDICT] = "verdict",
    [TR_KEY_EXPIRED] = "key expired",
    [TR_OTHER] = "other",
    [TR_LIMIT] = "limit",
    [TR_STORE] = "store",
    [TR_SERVICE] = "service",
    [TR_SCALED] = "scaled",
    [TR_HEALTH] = "health",
    [TR_EXPANDED] = "expanded",
    [TR_POLICY] = "policy",
    [TR_CHECKPOINT] = "checkpoint",
    [TR_REVOKED] = "revoked",
    [TR_SCHEDULE] = "schedule",
    [TR_SCHEDULE_REMOVED] = "schedule removed",
    [TR_SCHEDULE_PAUSED] = "schedule paused",
    [TR_SCHEDULE_SLOT] = "slot",
    [TR_SCHEDULE_BACKFILL] = "backfill",
    [TR_MEMO_KEPT] = "kept",
    [TR_MEMO_HIT] = "hit",
    [TR_MEMO_DROPPED] = "dropped",
    [TR_CLOCK] = "clock",
    [TR_IDENTITY] = "identity",
};

static void attempt_text(const struct adapter_line *l, const struct trace_attempt *a, bool is_over) {
    static const char *const outcomes[] = {
        [TO_OK] = "ok", [TO_EXIT] = "exit", [TO_LOST] = "lost", [TO_STOPPED] = "stopped", [TO_REFUSED] = "refused"};
    snprintf(l->out, l->len, "%s %lu/%u#%u %.*s%s", l->word, (unsigned long)a->flow, a->ordinal, a->attempt,
             BYTES(a->worker), is_over ? outcomes[a->outcome] : "");
}

static void jobs_text(const struct adapter_line *l, const struct trace_jobs *j) {
    int at = snprintf(l->out, l->len, "%s flow %lu, %u jobs%s", l->word, (unsigned long)j->flow, j->job_count,
                      j->more ? ", more" : "");
    if (j->schedule.len)
        snprintf(l->out + at, l->len - (size_t)at, ", slot %ld (%d) of %.*s", (long)j->slot_ms, (int)j->fire,
                 BYTES(j->schedule));
}

static void limit_text(const struct adapter_line *l, const struct trace_limit *m) {
    snprintf(l->out, l->len, "%s %.*s %.*s: width %u, rate %lu burst %lu, running %u, queued %lu%s", l->word,
             BYTES(m->tenant), BYTES(m->name), m->width, (unsigned long)m->rate_milli, (unsigned long)m->burst,
             m->running, (unsigned long)m->queued, m->clear ? ", cleared" : "");
}

static void schedule_text(const struct adapter_line *l, const struct trace_schedule *s) {
    snprintf(l->out, l->len, "%s %.*s every %ld after %ld until %ld, catch-up %d, overlap %d", l->word, BYTES(s->name),
             (long)s->every_ms, (long)s->after_ms, (long)s->end_ms, (int)s->catch_up, (int)s->overlap);
}

static void slot_text(const struct adapter_line *l, const struct trace_slot *s) {
    snprintf(l->out, l->len, "%s %.*s: what %d, %lu until %ld, on=%d", l->word, BYTES(s->name), (int)s->what,
             (unsigned long)s->count, (long)s->slot_ms, s->on);
}

static void memo_text(const struct adapter_line *l, const struct trace_memo *m) {
    snprintf(l->out, l->len, "%s %lu/%u from %lu/%u until %ld", l->word, (unsigned long)m->flow, m->ordinal,
             (unsigned long)m->from_flow, m->from_ordinal, (long)m->expires_ms);
}

static void verdict_text(const struct adapter_line *l, const struct trace_verdict_on *v) {
    snprintf(l->out, l->len, "%s %d on question %lu.%u about %lu/%u", l->word, (int)v->verdict,
             (unsigned long)v->question, v->revision, (unsigned long)v->flow, v->ordinal);
}

static void job_text(const struct adapter_line *l, uint64_t flow, uint32_t ordinal) {
    snprintf(l->out, l->len, "%s %lu/%u", l->word, (unsigned long)flow, ordinal);
}

/* Those whose facts are few. */
static void short_text(const struct adapter_line *l, const struct trace_entry *e) {
    if (e->kind == TR_WORKER || e->kind == TR_WORKER_DRAIN || e->kind == TR_WORKER_GONE)
        snprintf(l->out, l->len, "%s %.*s incarnation %lu", l->word, BYTES(e->as.worker.worker),
                 (unsigned long)e->as.worker.incarnation);
    else if (e->kind == TR_DUE)
        snprintf(l->out, l->len, "%s %lu/%u (%d)", l->word, (unsigned long)e->as.due.flow, e->as.due.ordinal,
                 (int)e->as.due.due);
    else if (e->kind == TR_FLOW_DUE)
        snprintf(l->out, l->len, "%s %lu: %s", l->word, (unsigned long)e->as.flow_due.flow,
                 e->as.flow_due.is_deadline ? "late" : "timed out");
    else if (e->kind == TR_EXPANDED)
        snprintf(l->out, l->len, "%s %lu/%u into %u", l->word, (unsigned long)e->as.expanded.flow,
                 e->as.expanded.ordinal, e->as.expanded.count);
    else if (e->kind == TR_SERVICE)
        snprintf(l->out, l->len, "%s %.*s %.*s is to be %d", l->word, BYTES(e->as.service.tenant),
                 BYTES(e->as.service.name), (int)e->as.service.desired);
    else if (e->kind == TR_SCALED)
        snprintf(l->out, l->len, "%s %.*s %.*s to %u from %u", l->word, BYTES(e->as.scaled.tenant),
                 BYTES(e->as.scaled.name), e->as.scaled.replicas, e->as.scaled.from);
    else if (e->kind == TR_HEALTH)
        snprintf(l->out, l->len, "%s %lu/%u#%u %s", l->word, (unsigned long)e->as.health.flow, e->as.health.ordinal,
                 e->as.health.attempt, e->as.health.healthy ? "good" : "bad");
    else if (e->kind == TR_POLICY)
        snprintf(l->out, l->len, "%s is at version %lu", l->word, (unsigned long)e->as.policy.version);
    else if (e->kind == TR_IDENTITY)
        snprintf(l->out, l->len, "%s (%d) %.*s", l->word, (int)e->as.identity.what, BYTES(e->as.identity.id));
    else if (e->kind == TR_CLOCK)
        snprintf(l->out, l->len, "%s moves by %ld ms", l->word, (long)e->as.clock.by_ms);
    else if (e->kind == TR_OPENED || e->kind == TR_PAUSED || e->kind == TR_KEY_EXPIRED || e->kind == TR_STORE ||
             e->kind == TR_OTHER)
        snprintf(l->out, l->len, "%s", l->word);
    else
        job_text(l, e->as.job.flow, e->as.job.ordinal);
}

const char *adapter_record_text(const struct trace_entry *e, char *out, size_t len) {
    if (!trace_is_record(e->kind)) return "no record";
    struct adapter_line l = {out, len, words[e->kind]};
    if (e->kind >= TR_ASSIGNED && e->kind <= TR_ENDED)
        attempt_text(&l, &e->as.attempt, e->kind == TR_ENDED);
    else if (e->kind == TR_SUBMITTED || e->kind == TR_ADDED)
        jobs_text(&l, &e->as.jobs);
    else if (e->kind == TR_LIMIT)
        limit_text(&l, &e->as.limit);
    else if (e->kind == TR_SCHEDULE)
        schedule_text(&l, &e->as.schedule);
    else if (e->kind > TR_SCHEDULE && e->kind <= TR_SCHEDULE_BACKFILL)
        slot_text(&l, &e->as.slot);
    else if (e->kind >= TR_MEMO_KEPT && e->kind <= TR_MEMO_DROPPED)
        memo_text(&l, &e->as.memo);
    else if (e->kind == TR_VERDICT)
        verdict_text(&l, &e->as.verdict);
    else
        short_text(&l, e);
    return out;
}
