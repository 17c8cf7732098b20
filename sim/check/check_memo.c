/* check_memo.c: whoever is given a result is given one that a job of its own tenant with its own key really left, that
 * was kept and whose time is not over, and that nobody has judged unfit since. */
#include "check_memo.h"

#include <stdlib.h>

#include "panic.h"

struct memo_event { /* a result was kept, or judged unfit */
    uint64_t flow;
    uint32_t ordinal;
    uint64_t lsn;
    bool is_kept;
    int64_t expires_ms;
};

struct memo_notes {
    struct memo_event *events;
    uint32_t count;
};

void *check_memo_new(void) {
    struct memo_notes *n = calloc(1, sizeof *n);
    REQUIRE(n != NULL);
    return n;
}

void check_memo_free(void *notes) {
    struct memo_notes *n = notes;
    free(n->events);
    free(n);
}

#define NAME "job %llu/%u"

static void note(struct memo_notes *n, const struct memo_event *event) {
    n->events = check_grow(n->events, n->count, sizeof *n->events);
    n->events[n->count++] = *event;
}

static bool ran_well(const struct check_job *j) {
    for (uint32_t i = 0; i < j->attempt_count; i++) {
        if (j->attempts[i].ended_lsn != 0 && j->attempts[i].outcome == TO_OK) return true;
    }
    return false;
}

/* The last thing that was said about the result of a job. */
static const struct memo_event *last_word(const struct memo_notes *n, uint64_t flow, uint32_t ordinal) {
    for (uint32_t i = n->count; i > 0; i--) {
        if (n->events[i - 1].flow == flow && n->events[i - 1].ordinal == ordinal) return &n->events[i - 1];
    }
    return NULL;
}

static bool hit(const struct memo_notes *n, const struct check_history *h, const struct trace_entry *e, char *text) {
    const struct trace_memo *r = &e->as.memo;
    unsigned long long from = r->from_flow;
    const struct check_flow *own = check_history_flow(h, r->flow), *other = check_history_flow(h, r->from_flow);
    const struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    const struct check_job *source = check_history_job(h, r->from_flow, r->from_ordinal);
    if (j == NULL || source == NULL) return check_object(text, "a result from or for a job that is not there");
    if (!ran_well(source))
        return check_object(text, "the result of " NAME " is given away, it has none", from, r->from_ordinal);
    if (!check_bytes_equal(own->tenant, (struct trace_bytes){other->tenant.at, other->tenant.len}))
        return check_object(text, "the result of " NAME " is given to another tenant", from, r->from_ordinal);
    bool known = !j->is_rekeyed && !source->is_rekeyed;
    struct trace_bytes key = {source->cache_key.at, source->cache_key.len};
    if (known && (key.len == 0 || !check_bytes_equal(j->cache_key, key)))
        return check_object(text, "the result of " NAME " is given to a job with another key", from, r->from_ordinal);
    const struct memo_event *word = last_word(n, r->from_flow, r->from_ordinal);
    if (word == NULL || !word->is_kept)
        return check_object(text, "the result of " NAME " is given away, it was %s", from, r->from_ordinal,
                            word ? "quarantined" : "not kept");
    if (word->expires_ms <= e->time_ms)
        return check_object(text, "the result of " NAME " is given away %lld ms after its time", from, r->from_ordinal,
                            (long long)(e->time_ms - word->expires_ms));
    return true;
}

/* A verdict on a job that was given its result is one on that result. */
static void judged(struct memo_notes *n, const struct check_history *h, const struct trace_entry *e) {
    const struct trace_verdict_on *r = &e->as.verdict;
    const struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    if (r->gate != TG_OUTPUT || (r->verdict != TV_QUARANTINE && r->verdict != TV_DENY) || j == NULL) return;
    bool given = j->given_lsn != 0 && !check_history_was_reset(check_history_flow(h, r->flow), j->given_lsn, e->lsn);
    note(n, &(struct memo_event){.flow = given ? j->from_flow : r->flow,
                                 .ordinal = given ? j->from_ordinal : r->ordinal,
                                 .lsn = e->lsn});
}

bool check_memo_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    struct memo_notes *n = notes;
    if (trace_is_record(e->kind) && e->replayed) return true;
    const struct trace_memo *r = &e->as.memo;
    switch ((int)e->kind) {
    case TR_MEMO_KEPT: note(n, &(struct memo_event){r->flow, r->ordinal, e->lsn, true, r->expires_ms}); return true;
    case TR_MEMO_HIT: return hit(n, h, e, text);
    case TR_VERDICT: judged(n, h, e); return true;
    case TW_RESTARTED:
        while (n->count > 0 && n->events[n->count - 1].lsn > e->as.restarted.head) n->count--;
        return true;
    default: return true;
    }
}
