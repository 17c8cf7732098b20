/* external.c: see external.h. Everything but the first three is part of apply. */
#include "external.h"

#include "attempt.h"
#include "attempt_notes.h"
#include "flow.h"
#include "job_transition.h"
#include "panic.h"

const struct external *external_of(const struct state *s, const struct job *j) {
    return j->extra ? extra_at(s, j->extra)->external : NULL;
}

int64_t external_deadline_ms(const struct state *s, const struct job *j) {
    const struct external *x = external_of(s, j);
    int64_t own = job_options(s, j)->deadline_ms;
    int64_t until = x != NULL && x->begun ? x->until.ms : 0;
    if (own == 0 || until == 0) return own + until;
    return own < until ? own : until;
}

int64_t external_again_ms(const struct state *s, const struct job *j, wall_time now) {
    const struct options *o = job_options(s, j);
    const struct external *x = external_of(s, j);
    int64_t until = x != NULL && x->begun ? x->until.ms : now.ms + o->approval_ms;
    if (o->poll_ms == 0) return until;
    int64_t next = now.ms + doubled_ms(o->poll_ms, o->poll_cap_ms, x != NULL ? x->polls : 0);
    return next < until ? next : until;
}

static struct external *external_make(struct state *s, struct job *j) {
    struct extra *x = job_extra(s, j);
    if (x->external == NULL) x->external = ARENA_NEW(&flow_at(s, j->flow)->arena, struct external);
    return x->external;
}

/* ---- its end ---- */

static void settle(struct state *s, uint32_t job, enum external_word word, struct slice result,
                   struct slice result_hash, struct slice reason) {
    REQUIRE(word == WORD_DONE || word == WORD_FAILED);
    struct job *j = job_at(s, job);
    REQUIRE(j->extra != 0);
    extra_at(s, j->extra)->external = NULL; /* nothing is open outside any more */
    if (word == WORD_DONE) {
        job_succeed(s, job, result, result_hash);
        return;
    }
    note_verdict(s, j, reason);
    job_finish(s, job, JOB_FAILED, CAUSE_VERDICT);
}

static void wait_on(struct state *s, uint32_t job, const struct rec_ended *rec) {
    struct job *j = job_at(s, job);
    REQUIRE(rec->again_ms > 0);
    REQUIRE(rec->attempt <= j->attempt);
    struct external *x = external_make(s, j);
    if (x->begun == 0) {
        x->begun = rec->attempt;
        x->until.ms = s->now.ms + job_options(s, j)->approval_ms;
    } else {
        x->polls++;
    }
    job_forgive(s, j); /* it is well as far as anyone knows: retries are for what goes wrong in a row */
    j->due.ms = rec->again_ms;
    j->flags |= JOBF_TIMED;
    j->flags &= (uint8_t)~JOBF_PREFER_OVER;
    job_move(s, job, JOB_WAITING, CAUSE_NONE);
}

bool external_ended(struct state *s, uint32_t job, const struct rec_ended *rec) {
    const struct external *x = external_of(s, job_at(s, job));
    if (x != NULL && x->word != WORD_NONE) {
        settle(s, job, (enum external_word)x->word, x->result, x->result_hash, x->reason);
        return true;
    }
    if (rec->again_ms == 0) return false;
    wait_on(s, job, rec);
    return true;
}

/* ---- a word from outside ---- */

bool external_may_hear(const struct state *s, const struct job *j) {
    const struct external *x = external_of(s, j);
    if (!job_options(s, j)->calls || job_state_is_terminal(j->state)) return false;
    if (x != NULL && x->word != WORD_NONE) return false;
    if (job_state_is_active(j->state)) return true; /* it may be told before we hear that it was begun */
    return x != NULL && (j->state == JOB_WAITING || j->state == JOB_READY); /* without a word: it was begun */
}

void external_hear(struct state *s, uint32_t job, const struct rec_verdict *rec) {
    struct job *j = job_at(s, job);
    REQUIRE(external_may_hear(s, j));
    enum external_word word = rec->verdict == VERDICT_ALLOW ? WORD_DONE : WORD_FAILED;
    if (!job_state_is_active(j->state)) {
        settle(s, job, word, rec->result, rec->result_hash, rec->reason);
        return;
    }
    struct arena *arena = &flow_at(s, j->flow)->arena;
    struct external *x = external_make(s, j);
    x->word = (uint8_t)word;
    x->result = arena_slice(arena, rec->result);
    x->result_hash = arena_slice(arena, rec->result_hash);
    x->reason = arena_slice(arena, rec->reason);
}
