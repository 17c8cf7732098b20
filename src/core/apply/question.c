/* question.c: questions that a job stands before, and what verdicts do. See question.h.
 *
 * A job passes its gates in a fixed order (gates_in_order): condition, expansion, render, policy, approval, external.
 * One question is open at a time; a yes sets the bit of its gate in job.gates and job_advance looks for the next one.
 * The output gate comes after the run, in state CHECKING.
 *
 * A worked example: a job with a policy gate and an approval by two people.
 *
 *      its parents are done      WAITING -> HELD      question 8, policy, revision 1
 *      verdict AGAIN at 12:00    HELD                 question 8, revision 2: an answer to revision 1 is stale
 *      verdict CONSTRAIN         HELD                 gates {policy}, constraints kept; question 9, approval
 *      verdict ALLOW by ann      HELD                 1 of 2 voices
 *      verdict ALLOW by bob      HELD -> READY        gates {policy approval}
 *      the policy changes        READY                its permission has lapsed: at its turn REVOKED, not ASSIGNED
 *      REVOKED                   READY -> HELD        gates {}; question 10, policy
 *      verdict DENY              HELD -> DENIED       a dead letter, with the reason
 *
 * Guarantees: job and question point at each other while the question is open; ids rise and are never reused; a closed
 * question has no timer. An open question costs no worker slot.
 *
 * Must not: judge an answer. Whether a verdict fits its question, its revision and its hash is decided before
 * (decide_people.c). */
#include "question.h"

#include "attempt_notes.h"
#include "effects.h"
#include "flow.h"
#include "hash.h"
#include "job_transition.h"
#include "memo.h"
#include "mutant.h"
#include "panic.h"
#include "saga.h"
#include "service.h"
#include "timer.h"

struct slice question_hash(const struct state *s, const struct question *q, struct arena *arena) {
    REQUIRE(q->id != 0); /* it is open */
    const struct job *j = job_at(s, q->job);
    const struct extra *x = j->extra ? extra_at(s, j->extra) : NULL;
    if (q->gate == GATE_OUTPUT) return x ? x->result_hash : slice_of(NULL, 0);
    if (x && x->body_hash.len) return x->body_hash;
    struct rec_job rec;
    job_record(j, arena, &rec);
    return rec.body_hash;
}

wall_time question_due(const struct state *s, const struct question *q) {
    bool asleep = q->again.ms > s->now.ms && q->again.ms < q->deadline.ms;
    return asleep ? q->again : q->deadline;
}

bool policy_is_later(const struct state *s, const struct job *j) {
    if (MUTANT(grant_kept)) return false;
    return s->policy > (j->extra ? extra_at(s, j->extra)->policy : 0);
}

void policy_lapse(struct state *s, struct job *j) {
    REQUIRE(policy_has_lapsed(s, j));
    j->gates &= (uint8_t) ~(GATE_BIT(GATE_POLICY) | GATE_BIT(GATE_APPROVAL));
    j->flags &= (uint8_t)~JOBF_APPROVE;
    if (j->extra == 0) return;
    extra_at(s, j->extra)->constraints = slice_of(NULL, 0);
    extra_at(s, j->extra)->policy = 0;
}

bool question_is_soft(const struct state *s, const struct job *j, enum gate gate) {
    return gate == GATE_POLICY && job_undoes(s, j) != 0;
}

struct question_effect question_effect_of(const struct state *s, const struct question *q) {
    REQUIRE(q->gate < GATE_COUNT);
    return (struct question_effect){
        .question = {q->id}, .revision = q->revision, .gate = q->gate, .job = job_ref_of(s, job_at(s, q->job))};
}

void question_open(struct state *s, uint32_t job, enum gate gate) {
    struct job *j = job_at(s, job);
    const struct options *o = job_options(s, j);
    REQUIRE(j->state == (gate == GATE_OUTPUT ? JOB_CHECKING : JOB_HELD));
    REQUIRE(j->link == 0);
    REQUIRE((unsigned)gate < GATE_COUNT);
    uint32_t index = pool_alloc(&s->questions);
    ENSURE(index != 0);
    struct question *q = question_at(s, index);
    q->id = ++s->question_last;
    q->job = job;
    q->revision = 1;
    q->gate = (uint8_t)gate;
    q->asked = s->now;
    bool soft = question_is_soft(s, j, gate);
    bool expires = (gate == GATE_APPROVAL || gate == GATE_EXTERNAL || soft) && o->approval_ms > 0;
    q->deadline.ms = expires ? s->now.ms + o->approval_ms : TIME_NEVER;
    if (gate == GATE_SERVICE) q->deadline.ms = s->now.ms + o->healthy_within_ms;
    if (gate == GATE_APPROVAL && o->quorum > 1)
        q->voters = ARENA_ARRAY(&flow_at(s, j->flow)->arena, uint64_t, o->quorum);
    j->link = index;
    map_put(&s->question_by_id, q->id, index);
    question_link(s, index);
    timer_set(s, TIMER_QUESTION, index, question_due(s, q));
    ENSURE(q->deadline.ms >= s->now.ms);
    if (gate == GATE_SERVICE) return; /* nobody outside is asked */
    struct question_effect effect = question_effect_of(s, q);
    emit_question(s, &effect);
}

void question_link(struct state *s, uint32_t index) {
    struct question *q = question_at(s, index);
    REQUIRE(q->id != 0);
    REQUIRE((s->question_head == 0) == (s->question_tail == 0));
    REQUIRE(!s->question_tail || question_at(s, s->question_tail)->id < q->id);
    q->prev = s->question_tail;
    q->next = 0;
    *(q->prev ? &question_at(s, q->prev)->next : &s->question_head) = index;
    s->question_tail = index;
}

static void unlink_question(struct state *s, const struct question *q) {
    REQUIRE(s->question_head != 0);
    *(q->prev ? &question_at(s, q->prev)->next : &s->question_head) = q->next;
    *(q->next ? &question_at(s, q->next)->prev : &s->question_tail) = q->prev;
}

void question_close(struct state *s, struct job *j) {
    REQUIRE(j->state == JOB_HELD || j->state == JOB_CHECKING);
    REQUIRE(j->link != 0);
    struct question *q = question_at(s, j->link);
    REQUIRE(job_at(s, q->job) == j);
    uint32_t deployer = q->gate == GATE_SERVICE ? q->job : 0;
    timer_set(s, TIMER_QUESTION, j->link, (wall_time){TIME_NEVER});
    map_del(&s->question_by_id, q->id);
    unlink_question(s, q);
    pool_free(&s->questions, j->link);
    j->link = 0;
    if (deployer) service_give_up(s, deployer);
}

static void ask_again(struct state *s, uint32_t index, int64_t again_ms) {
    struct question *q = question_at(s, index);
    q->revision++;
    q->votes = 0; /* voices were about the earlier revision */
    q->again.ms = again_ms;
    timer_set(s, TIMER_QUESTION, index, question_due(s, q));
    if (q->again.ms > s->now.ms) return; /* the tick asks when the time has come */
    struct question_effect effect = question_effect_of(s, q);
    emit_question(s, &effect);
}

/* True when this voice completes the quorum. */
static bool vote(const struct state *s, struct question *q, struct slice principal) {
    uint32_t quorum = job_options(s, job_at(s, q->job))->quorum;
    if (q->voters) {
        REQUIRE(q->votes < quorum);
        q->voters[q->votes] = hash64(principal.ptr, principal.len, 0);
    }
    q->votes++;
    return q->votes >= quorum;
}

/* Until a policy is told of, nothing is known that a permission could be older than. */
static void keep_policy(struct state *s, struct job *j, enum gate gate, const struct rec_verdict *rec) {
    if (gate == GATE_POLICY && s->policy) job_extra(s, j)->policy = rec->policy;
}

static void keep_payload(struct state *s, uint32_t job, enum gate gate, const struct rec_verdict *rec) {
    struct job *j = job_at(s, job);
    struct arena *arena = &flow_at(s, j->flow)->arena;
    if (gate == GATE_EXTERNAL && (rec->result.len || rec->result_hash.len)) {
        struct extra *x = job_extra(s, j);
        x->result = arena_slice(arena, rec->result);
        x->result_hash = arena_slice(arena, rec->result_hash);
    }
    if (rec->verdict == VERDICT_CONSTRAIN) {
        job_extra(s, j)->constraints = arena_slice(arena, rec->payload);
    } else if (rec->verdict == VERDICT_REDACT) {
        struct extra *x = job_extra(s, j);
        x->result = arena_slice(arena, rec->payload);
        x->result_hash = x->artifacts = slice_of(NULL, 0); /* nobody said which of the files may be seen */
    } else if (gate == GATE_RENDER && rec->payload.len) {
        struct extra *x = job_extra(s, j);
        x->body = arena_slice(arena, rec->payload);
        x->body_hash = arena_slice(arena, rec->payload_hash);
    }
    if (gate == GATE_RENDER && rec->cache_key.len) memo_name(s, job, rec->cache_key, true);
}

static void deny(struct state *s, uint32_t job, enum gate gate, const struct rec_verdict *rec) {
    REQUIRE(job_at(s, job)->link == 0); /* the question is closed */
    enum job_cause cause = rec->head.principal.len ? CAUSE_VERDICT : CAUSE_NO_VERDICT;
    if (gate == GATE_SERVICE) {
        note_verdict(s, job_at(s, job), rec->trouble);
        job_finish(s, job, JOB_FAILED, CAUSE_UNHEALTHY);
        return;
    }
    /* a condition that does not hold is no failure, nor is a compensation that a policy forbids */
    if (gate == GATE_OUTPUT) memo_taint(s, job_at(s, job));
    bool skip = gate == GATE_CONDITION || question_is_soft(s, job_at(s, job), gate);
    note_verdict(s, job_at(s, job), rec->reason);
    job_finish(s, job, skip ? JOB_SKIPPED : JOB_DENIED, cause);
    if (rec->fatal) saga_fail(s, job);
}

static void pass(struct state *s, uint32_t job, enum gate gate) {
    struct job *j = job_at(s, job);
    REQUIRE(gate != GATE_SERVICE); /* health is its worker's word */
    REQUIRE(gate != GATE_EXPANSION); /* items come by expand_answer */
    if (gate == GATE_OUTPUT) {
        job_finish(s, job, JOB_SUCCEEDED, CAUSE_NONE);
        return;
    }
    j->gates |= GATE_BIT(gate);
    job_advance(s, job);
}

/* A question that is about to be closed by this. */
static void count_answer(struct state *s, const struct question *q, const struct rec_verdict *rec) {
    const struct flow *f = flow_at(s, job_at(s, q->job)->flow);
    bool denies = rec->verdict == VERDICT_DENY, by_someone = rec->head.principal.len > 0;
    if (q->gate == GATE_OUTPUT) tally_add(s, f, TALLY_OUTPUTS, 1);
    if (q->gate == GATE_POLICY && denies) tally_add(s, f, TALLY_POLICY_DENIED, 1);
    if (q->gate != GATE_APPROVAL) return;
    tally_add(s, f, !denies ? TALLY_APPROVED : by_someone ? TALLY_REJECTED : TALLY_EXPIRED, 1);
    tally_time(s, f, TALLY_APPROVAL, s->now.ms - q->asked.ms);
}

void question_answer(struct state *s, uint32_t index, const struct rec_verdict *rec) {
    struct question *q = question_at(s, index);
    uint32_t job = q->job;
    struct job *j = job_at(s, job);
    REQUIRE(q->id == rec->question);
    REQUIRE(j->link == index);
    enum gate gate = q->gate;
    switch ((enum verdict)rec->verdict) {
    case VERDICT_AGAIN: ask_again(s, index, rec->again_ms); return;
    case VERDICT_ALLOW:
    case VERDICT_CONSTRAIN:
    case VERDICT_REDACT:
        keep_payload(s, job, gate, rec);
        keep_policy(s, j, gate, rec);
        if (gate == GATE_APPROVAL && !vote(s, q, rec->head.principal)) return;
        count_answer(s, q, rec);
        question_close(s, j);
        pass(s, job, gate);
        return;
    case VERDICT_HOLD:
        question_close(s, j);
        j->flags |= JOBF_APPROVE;
        keep_policy(s, j, gate, rec);
        pass(s, job, gate);
        return;
    case VERDICT_DENY:
        count_answer(s, q, rec);
        question_close(s, j);
        if (MUTANT(false_condition_runs) && gate == GATE_CONDITION)
            pass(s, job, gate);
        else
            deny(s, job, gate, rec);
        return;
    case VERDICT_FAIL:
        question_close(s, j);
        note_verdict(s, j, rec->reason);
        job_finish(s, job, JOB_FAILED, CAUSE_VERDICT);
        return;
    case VERDICT_QUARANTINE:
        count_answer(s, q, rec);
        question_close(s, j);
        note_verdict(s, j, rec->reason);
        memo_taint(s, j);
        job_finish(s, job, JOB_QUARANTINED, CAUSE_VERDICT);
        if (rec->fatal) saga_fail(s, job);
        return;
    case VERDICT_COUNT: break;
    }
    PANIC("a verdict of no kind");
}
