/* attempt_notes.c: see attempt_notes.h. */
#include "attempt_notes.h"

#include "objects.h"
#include "panic.h"
#include "utf8.h"

static bool has_facts(const struct state *s, const struct job *j) {
    return flow_at(s, j->flow)->rules >= NOTE_RULES;
}

static void chain_free(struct state *s, uint32_t note) {
    while (note) {
        struct attempt_note *n = attempt_note_at(s, note);
        REQUIRE(n->is_used);
        uint32_t older = n->older;
        bytes_free(n->facts);
        pool_free(&s->notes, note);
        note = older;
    }
}

void note_free_all(struct state *s, struct job *j) {
    chain_free(s, j->note);
    j->note = 0;
}

/* The newest ones stay. */
static void chain_cut(struct state *s, uint32_t note) {
    struct attempt_note *n = attempt_note_at(s, note);
    for (uint32_t kept = 1; kept < NOTES_PER_JOB && n->older; kept++) n = attempt_note_at(s, n->older);
    chain_free(s, n->older);
    n->older = 0;
}

static struct attempt_note *push(struct state *s, struct job *j, uint32_t attempt, uint32_t worker_number) {
    uint32_t index = pool_alloc(&s->notes);
    ENSURE(index != 0);
    struct attempt_note *n = attempt_note_at(s, index);
    *n = (struct attempt_note){.is_used = 1, .attempt = attempt, .worker = worker_number, .older = j->note};
    j->note = index;
    chain_cut(s, index);
    return n;
}

void note_open(struct state *s, struct job *j, uint32_t attempt, uint32_t worker_number) {
    REQUIRE(attempt > 0);
    REQUIRE(worker_number > 0);
    if (!has_facts(s, j)) note_free_all(s, j); /* the last worker is all that is kept */
    (void)push(s, j, attempt, worker_number);
}

static struct bytes *encode(struct state *s, const struct snap_attempt *o) {
    buf_clear(&s->head_bytes);
    tlv_encode(&snap_attempt_desc, o, &s->head_bytes);
    ENSURE(!s->head_bytes.full);
    return bytes_new(buf_slice(&s->head_bytes));
}

void note_close(struct state *s, struct job *j, const struct run *run, enum stop_cause stop,
                const struct rec_ended *rec) {
    if (!has_facts(s, j)) return;
    REQUIRE(j->note != 0);
    struct attempt_note *n = attempt_note_at(s, j->note);
    REQUIRE(n->facts == NULL);
    struct snap_attempt o = {.attempt = n->attempt,
                             .worker = n->worker,
                             .worker_id = bytes_slice(worker_at(s, run->worker)->id),
                             .outcome = rec->outcome,
                             .stop = (uint8_t)stop,
                             .exit_code = rec->exit_code,
                             .signal = rec->signal,
                             .assigned_ms = run->assigned.ms,
                             .started_ms = run->started.ms,
                             .ended_ms = s->now.ms - s->ended_ago_ms,
                             .log_bytes = rec->log_bytes,
                             .log_cut_bytes = rec->log_cut_bytes,
                             .reason = utf8_cut(rec->reason, NOTE_REASON_BYTES),
                             .usage = rec->usage};
    n->facts = encode(s, &o);
}

void note_verdict(struct state *s, struct job *j, struct slice reason) {
    if (!has_facts(s, j) || reason.len == 0) return;
    struct snap_attempt o = {.attempt = j->attempt,
                             .outcome = OUTCOME_REFUSED,
                             .ended_ms = s->now.ms,
                             .reason = utf8_cut(reason, NOTE_REASON_BYTES)};
    push(s, j, j->attempt, 0)->facts = encode(s, &o);
}

uint32_t note_facts(const struct state *s, const struct job *j, struct arena *arena, struct snap_attempt **ret) {
    uint32_t count = 0;
    for (uint32_t i = j->note; i; i = attempt_note_at(s, i)->older) count += attempt_note_at(s, i)->facts != NULL;
    *ret = count ? ARENA_ARRAY(arena, struct snap_attempt, count) : NULL;
    uint32_t at = count;
    for (uint32_t i = j->note; i; i = attempt_note_at(s, i)->older) {
        const struct attempt_note *n = attempt_note_at(s, i);
        if (n->facts == NULL) continue;
        enum err e = tlv_decode(&snap_attempt_desc, bytes_slice(n->facts), TLV_STRICT, arena, &(*ret)[--at], NULL);
        ENSURE(e == ERR_OK);
    }
    return count;
}

bool note_load(struct state *s, struct job *j, const struct snap_job *o) {
    const struct snap_attempt *list = o->attempts.at;
    uint32_t last = 0, last_worker = 0;
    if (o->attempts.count > NOTES_PER_JOB || (o->attempts.count && !has_facts(s, j))) return false;
    for (uint32_t i = 0; i < o->attempts.count; i++) {
        bool is_verdict = list[i].worker == 0; /* after the attempt of its number, if there was one */
        if (list[i].attempt < last || (list[i].attempt == last && !is_verdict) || list[i].attempt > o->attempt)
            return false;
        last = list[i].attempt;
        if (!is_verdict) last_worker = list[i].worker;
        push(s, j, last, list[i].worker)->facts = encode(s, &list[i]);
    }
    if (last == o->attempt) return o->worker == last_worker;
    if (o->worker) (void)push(s, j, o->attempt, o->worker); /* open, or of a time without facts */
    return true;
}
