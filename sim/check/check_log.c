/* check_log.c: the journal seen from outside.
 *
 * It remembers, for each LSN, the checksum and time of the record, what is durable and the highest LSN that anyone
 * outside has learnt something from. */
#include "check_log.h"

#include <stdlib.h>

#include "panic.h"

struct line {
    uint64_t sum;
    int64_t time_ms;
    int64_t clock_ms; /* by so much the clock was set after it */
    uint64_t epoch;
};

struct log_notes {
    struct line *lines; /* of record i + 1 */
    uint32_t count;
    uint64_t durable_lsn;
    uint64_t revealed_lsn;
    uint64_t epoch;
    uint64_t released_epoch;
};

void *check_log_new(void) {
    struct log_notes *n = calloc(1, sizeof *n);
    REQUIRE(n != NULL);
    return n;
}

void check_log_free(void *notes) {
    struct log_notes *n = notes;
    free(n->lines);
    free(n);
}

static bool replayed(const struct log_notes *n, const struct trace_entry *e, char *text) {
    unsigned long long lsn = e->lsn;
    if (e->lsn == 0 || e->lsn > n->count) return check_object(text, "record %llu was never written", lsn);
    const struct line *l = &n->lines[e->lsn - 1];
    if (l->sum != 0 && e->sum != 0 && l->sum != e->sum)
        return check_object(text, "record %llu came back as another one", lsn);
    if (l->time_ms != e->time_ms) return check_object(text, "record %llu came back with another time", lsn);
    return true;
}

static bool recorded(struct log_notes *n, const struct trace_entry *e, char *text) {
    unsigned long long lsn = e->lsn;
    const struct line *last = n->count > 0 ? &n->lines[n->count - 1] : NULL;
    if (e->lsn != (uint64_t)n->count + 1) return check_object(text, "record %llu follows record %u", lsn, n->count);
    if (last != NULL && e->time_ms < last->time_ms + last->clock_ms)
        return check_object(text, "time falls at record %llu", lsn);
    if (e->epoch < n->epoch) return check_object(text, "the epoch falls at record %llu", lsn);
    if (e->kind == TR_OPENED && e->as.opened.epoch != e->epoch)
        return check_object(text, "record %llu opens another epoch than its batch has", lsn);
    n->lines = check_grow(n->lines, n->count, sizeof *n->lines);
    n->lines[n->count++] = (struct line){
        .sum = e->sum,
        .time_ms = e->time_ms,
        .clock_ms = e->kind == TR_CLOCK ? e->as.clock.by_ms : 0,
        .epoch = e->epoch,
    };
    n->epoch = e->epoch;
    return true;
}

static bool durable(struct log_notes *n, uint64_t lsn, char *text) {
    if (lsn > n->count) return check_object(text, "record %llu durable before it exists", (unsigned long long)lsn);
    if (lsn < n->durable_lsn) return check_object(text, "the durable mark falls to %llu", (unsigned long long)lsn);
    n->durable_lsn = lsn;
    return true;
}

static bool revealed(struct log_notes *n, const char *what, uint64_t lsn, char *text) {
    if (lsn > n->durable_lsn)
        return check_object(text, "%s left at record %llu, durable is %llu", what, (unsigned long long)lsn,
                            (unsigned long long)n->durable_lsn);
    if (lsn > n->revealed_lsn) n->revealed_lsn = lsn;
    return true;
}

static bool released(struct log_notes *n, const struct trace_released *r, char *text) {
    if (r->epoch != 0 && r->epoch < n->released_epoch) return check_object(text, "a message of an earlier epoch left");
    if (r->epoch > n->released_epoch) n->released_epoch = r->epoch;
    return revealed(n, "an effect", r->lsn, text);
}

static bool restarted(struct log_notes *n, const struct trace_restarted *r, char *text) {
    unsigned long long head = r->head;
    if (r->head < n->revealed_lsn)
        return check_object(text, "only %llu records came back, %llu were revealed", head,
                            (unsigned long long)n->revealed_lsn);
    if (r->head < n->durable_lsn)
        return check_object(text, "only %llu records came back, %llu were durable", head,
                            (unsigned long long)n->durable_lsn);
    if (r->head > n->count) return check_object(text, "%llu records came back, %u were written", head, n->count);
    if (r->epoch <= n->epoch) return check_object(text, "the epoch did not rise at a restart");
    n->count = (uint32_t)r->head;
    n->durable_lsn = r->head;
    n->epoch = r->epoch;
    return true;
}

bool check_log_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    struct log_notes *n = notes;
    (void)h;
    if (trace_is_record(e->kind)) return e->replayed ? replayed(n, e, text) : recorded(n, e, text);
    switch ((int)e->kind) {
    case TW_DURABLE: return durable(n, e->as.durable.lsn, text);
    case TW_RELEASED: return released(n, &e->as.released, text);
    case TA_ANSWERED: return revealed(n, "an answer", e->as.answered.lsn, text);
    case TW_SEEN: return revealed(n, "a read", e->as.seen.lsn, text);
    case TW_RESTARTED: return restarted(n, &e->as.restarted, text);
    default: return true;
    }
}
