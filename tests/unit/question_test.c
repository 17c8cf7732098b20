/* question_test.c: gates, and every verdict on each of them. */
#include "engine_fixture.h"

static const struct job_ref job = {{1}, 0};

static void submit_gates(struct fixture *r, uint8_t gates) {
    struct options o = fixture_options();
    o.gates = gates;
    const char *jobs[] = {"a", "b: a"};
    assert_ok(fixture_submit(r, &o, jobs, 2));
}

/* A job that stands before its output gate. */
static void submit_checking(struct fixture *r) {
    submit_gates(r, GATE_BIT(GATE_OUTPUT));
    assert_ok(fixture_attach(r, "w", 1, 1));
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){
        .worker = SLICE("w"), .incarnation = 1, .job = job, .attempt = 1, .result = SLICE("secret")};
    assert_ok(fixture_command(r, &cmd));
    assert_int_equal(fixture_state(r, 1, 0), JOB_CHECKING);
}

static struct question_view question(const struct fixture *r, struct job_ref ref) {
    struct question_view q;
    assert_true(view_question(engine_state(r->engine), fixture_job(r, ref.flow.v, ref.ordinal).question, &q));
    return q;
}

static enum err vote(struct fixture *r, const char *who, enum verdict verdict) {
    r->principal = who;
    enum err e = fixture_verdict(r, job, verdict, NULL);
    r->principal = "tester";
    return e;
}

/* ---- the gates, one after the other ---- */

static void gates_are_asked_in_order(void **state) {
    struct fixture *r = *state;
    submit_gates(r, 0x3f);
    assert_ok(fixture_attach(r, "w", 1, 1));
    const enum gate order[] = {GATE_CONDITION, GATE_RENDER, GATE_POLICY, GATE_APPROVAL, GATE_EXTERNAL};
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(fixture_state(r, 1, 0), JOB_HELD);
        assert_int_equal(question(r, job).gate, order[i]);
        assert_int_equal(question(r, job).id.v, i + 1);
        fixture_check_digests(r);
        assert_ok(fixture_verdict(r, job, VERDICT_ALLOW, i == 1 ? "rendered" : NULL));
    }
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
    assert_true(slice_eq(fixture_job(r, 1, 0).body, SLICE("rendered")));
    assert_int_equal(fixture_job(r, 1, 0).body_hash.ptr[0], 9);
    assert_ok(fixture_done(r, "w", 1, job, 1, OUTCOME_OK));
    assert_int_equal(question(r, job).gate, GATE_OUTPUT);
    assert_ok(fixture_verdict(r, job, VERDICT_ALLOW, NULL));
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
    assert_int_equal(fixture_state(r, 1, 1), JOB_HELD); /* now it is the child's turn */
}

/* What an approver is asked about after rendering is the rendered body. */
static void rendering_changes_the_hash(void **state) {
    struct fixture *r = *state;
    submit_gates(r, GATE_BIT(GATE_RENDER) | GATE_BIT(GATE_APPROVAL));
    struct cmd_verdict before = fixture_answer(r, job, VERDICT_ALLOW);
    static uint8_t submitted[32];
    memcpy(submitted, before.hash.ptr, 32);
    assert_ok(fixture_verdict(r, job, VERDICT_ALLOW, "rendered"));
    struct cmd_verdict answer = fixture_answer(r, job, VERDICT_ALLOW);
    assert_int_equal(answer.hash.ptr[0], 9);
    answer.hash = slice_of(submitted, 32);
    assert_refused(r, fixture_send_verdict(r, &answer), ERR_STALE, "has changed");
}

static void rendering_that_changes_nothing(void **state) {
    struct fixture *r = *state;
    submit_gates(r, GATE_BIT(GATE_RENDER));
    assert_ok(fixture_verdict(r, job, VERDICT_ALLOW, NULL));
    assert_true(slice_eq(fixture_job(r, 1, 0).body, SLICE("body")));
}

/* ---- which verdict answers which gate ---- */

static void every_pair_of_gate_and_verdict(void **state) {
    struct fixture *r = *state;
    /* what becomes of the job; STATE_COUNT = refused */
    const enum job_state no = JOB_STATE_COUNT, go = JOB_READY, held = JOB_HELD;
    const enum job_state table[GATE_OUTPUT][VERDICT_COUNT] = {
        /*                 allow deny        constrain hold again quarantine redact fail */
        [GATE_CONDITION] = {go, JOB_SKIPPED, no, no, held, no, no, JOB_FAILED},
        [GATE_RENDER] = {go, JOB_DENIED, no, no, held, no, no, JOB_FAILED},
        [GATE_POLICY] = {go, JOB_DENIED, go, held, held, no, no, no},
        [GATE_APPROVAL] = {go, JOB_DENIED, no, no, held, no, no, no},
        [GATE_EXTERNAL] = {go, JOB_DENIED, no, no, held, no, no, no},
    };
    uint64_t flow = 0;
    for (uint32_t gate = 0; gate < GATE_OUTPUT; gate++)
        for (uint32_t v = 0; v < VERDICT_COUNT; v++) {
            submit_gates(r, GATE_BIT(gate));
            struct job_ref at = ref_of(++flow, 0);
            struct cmd_verdict answer = fixture_answer(r, at, (enum verdict)v);
            answer.again_ms = r->in.wall.ms + 1000;
            if (table[gate][v] == no) {
                assert_refused(r, fixture_send_verdict(r, &answer), ERR_INVALID, "does not answer");
            } else {
                assert_ok(fixture_send_verdict(r, &answer));
                assert_int_equal(fixture_state(r, flow, 0), table[gate][v]);
            }
            if (table[gate][v] == JOB_DENIED) assert_int_equal(fixture_job(r, flow, 0).cause, CAUSE_VERDICT);
            if (table[gate][v] == JOB_DENIED) assert_int_equal(fixture_state(r, flow, 1), JOB_FAILED);
            if (table[gate][v] == JOB_SKIPPED) assert_int_equal(fixture_state(r, flow, 1), JOB_SKIPPED);
        }
}

static void verdicts_on_an_output(void **state) {
    struct fixture *r = *state;
    const enum job_state ends[VERDICT_COUNT] = {
        [VERDICT_ALLOW] = JOB_SUCCEEDED,  [VERDICT_DENY] = JOB_DENIED,     [VERDICT_CONSTRAIN] = JOB_SUCCEEDED,
        [VERDICT_HOLD] = JOB_STATE_COUNT, [VERDICT_AGAIN] = JOB_CHECKING,  [VERDICT_QUARANTINE] = JOB_QUARANTINED,
        [VERDICT_REDACT] = JOB_SUCCEEDED, [VERDICT_FAIL] = JOB_STATE_COUNT};
    assert_ok(fixture_attach(r, "w", 1, 20));
    for (uint32_t v = 0; v < VERDICT_COUNT; v++) {
        submit_gates(r, GATE_BIT(GATE_OUTPUT));
        struct job_ref at = ref_of(v + 1, 0);
        struct command cmd = {.kind = CMD_DONE};
        cmd.as.attempt = (struct cmd_attempt){
            .worker = SLICE("w"), .incarnation = 1, .job = at, .attempt = 1, .result = SLICE("secret")};
        assert_ok(fixture_command(r, &cmd));
        assert_int_equal(fixture_flow(r, v + 1).by_state[JOB_CHECKING], 1);
        struct cmd_verdict answer = fixture_answer(r, at, (enum verdict)v);
        answer.again_ms = r->in.wall.ms;
        answer.payload = SLICE("****");
        enum err e = fixture_send_verdict(r, &answer);
        assert_int_equal(e, ends[v] == JOB_STATE_COUNT ? ERR_INVALID : ERR_OK);
        if (e == ERR_OK) assert_int_equal(fixture_state(r, v + 1, 0), ends[v]);
    }
    assert_true(slice_eq(fixture_job(r, VERDICT_REDACT + 1, 0).result, SLICE("****")));
    assert_true(slice_eq(fixture_job(r, VERDICT_ALLOW + 1, 0).result, SLICE("secret")));
    assert_true(slice_eq(fixture_job(r, VERDICT_CONSTRAIN + 1, 0).constraints, SLICE("****")));
    assert_int_equal(fixture_state(r, VERDICT_QUARANTINE + 1, 1), JOB_FAILED);
}

static void constraints_are_kept_apart(void **state) {
    struct fixture *r = *state;
    submit_gates(r, GATE_BIT(GATE_POLICY) | GATE_BIT(GATE_APPROVAL));
    assert_ok(fixture_verdict(r, job, VERDICT_CONSTRAIN, "{\"net\":false}"));
    assert_int_equal(question(r, job).hash.ptr[0], 7); /* the approver is asked about the spec as it was sent */
    assert_true(slice_eq(fixture_job(r, 1, 0).constraints, SLICE("{\"net\":false}")));
    assert_true(slice_eq(fixture_job(r, 1, 0).body, SLICE("body")));
}

static void a_policy_may_ask_for_an_approval(void **state) {
    struct fixture *r = *state;
    submit_gates(r, GATE_BIT(GATE_POLICY));
    assert_ok(fixture_verdict(r, job, VERDICT_HOLD, NULL));
    assert_int_equal(question(r, job).gate, GATE_APPROVAL);
    fixture_check_digests(r);
    assert_int_equal(question(r, job).deadline.ms, r->in.wall.ms + r->limits.approval_ms);
    assert_ok(fixture_verdict(r, job, VERDICT_ALLOW, NULL));
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
}

/* ---- people ---- */

static void a_quorum_of_people_allows(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_APPROVAL);
    o.quorum = 3;
    o.approval_role = SLICE("boss");
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    assert_true(slice_eq(question(r, job).role, SLICE("boss")));
    assert_ok(vote(r, "ann", VERDICT_ALLOW));
    assert_refused(r, vote(r, "ann", VERDICT_ALLOW), ERR_CONFLICT, "ann has already voted");
    assert_ok(vote(r, "bob", VERDICT_ALLOW));
    fixture_crash(r); /* voices survive */
    assert_int_equal(question(r, job).votes, 2);
    assert_refused(r, vote(r, "bob", VERDICT_ALLOW), ERR_CONFLICT, "bob");
    fixture_check_digests(r);
    assert_ok(vote(r, "cid", VERDICT_ALLOW));
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
}

static void one_no_is_enough(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_APPROVAL);
    o.quorum = 3;
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    assert_ok(vote(r, "ann", VERDICT_ALLOW));
    assert_ok(vote(r, "bob", VERDICT_DENY));
    assert_int_equal(fixture_state(r, 1, 0), JOB_DENIED);
}

static void four_eyes_excludes_the_submitter(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_APPROVAL);
    o.four_eyes = true;
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    assert_refused(r, vote(r, "tester", VERDICT_ALLOW), ERR_FORBIDDEN, "the submitter of the flow");
    assert_refused(r, vote(r, "", VERDICT_ALLOW), ERR_UNAUTHENTICATED, "needs a name");
    assert_ok(vote(r, "ann", VERDICT_ALLOW));
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
}

static void a_no_needs_no_four_eyes(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_APPROVAL);
    o.four_eyes = true;
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    assert_ok(vote(r, "tester", VERDICT_DENY));
    assert_int_equal(fixture_state(r, 1, 0), JOB_DENIED);
}

/* ---- time ---- */

static void no_answer_in_time_is_a_no(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_APPROVAL);
    o.approval_ms = 60000;
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    o.gates = GATE_BIT(GATE_EXTERNAL);
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    o.gates = GATE_BIT(GATE_POLICY); /* closed: waits until someone answers */
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    fixture_tick(r, 59999);
    assert_int_equal(fixture_state(r, 1, 0), JOB_HELD);
    fixture_check_digests(r);
    fixture_tick(r, 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_DENIED);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_NO_VERDICT);
    assert_int_equal(fixture_state(r, 2, 0), JOB_DENIED);
    assert_int_equal(fixture_state(r, 3, 0), JOB_HELD);
}

static void asked_again_later(void **state) {
    struct fixture *r = *state;
    submit_gates(r, GATE_BIT(GATE_POLICY));
    struct cmd_verdict again = fixture_answer(r, job, VERDICT_AGAIN), old = again;
    again.again_ms = r->in.wall.ms - 1;
    assert_refused(r, fixture_send_verdict(r, &again), ERR_INVALID, "ask again");
    again.again_ms = r->in.wall.ms + r->limits.delay_ms_max + 1;
    assert_refused(r, fixture_send_verdict(r, &again), ERR_INVALID, "ask again");
    again.again_ms = r->in.wall.ms + 5000;
    assert_ok(fixture_send_verdict(r, &again));
    assert_int_equal(question(r, job).revision, 2);
    old.verdict = VERDICT_ALLOW;
    assert_refused(r, fixture_send_verdict(r, &old), ERR_STALE, "revision 2, not 1");
    fixture_check_digests(r);
    uint32_t from = r->effects.count;
    fixture_tick(r, 4999);
    assert_int_equal(fixture_effects(r, from, EFFECT_QUESTION), 0);
    fixture_crash(r);
    assert_int_equal(fixture_effects(r, 0, EFFECT_QUESTION), 0); /* not before its time, restart or not */
    fixture_tick(r, 1);
    assert_int_equal(fixture_effects(r, 0, EFFECT_QUESTION), 1);
    from = r->effects.count;
    again = fixture_answer(r, job, VERDICT_AGAIN);
    again.again_ms = r->in.wall.ms; /* at once */
    assert_ok(fixture_send_verdict(r, &again));
    assert_int_equal(fixture_effects(r, from, EFFECT_QUESTION), 1);
}

static void asking_again_keeps_the_deadline(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_APPROVAL);
    o.approval_ms = 10000;
    o.quorum = 2;
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    assert_ok(vote(r, "ann", VERDICT_ALLOW));
    struct cmd_verdict again = fixture_answer(r, job, VERDICT_AGAIN);
    again.again_ms = r->in.wall.ms + 60000; /* beyond the deadline */
    assert_ok(fixture_send_verdict(r, &again));
    assert_int_equal(question(r, job).votes, 0); /* voices were about what was asked before */
    fixture_tick(r, 10000);
    assert_int_equal(fixture_state(r, 1, 0), JOB_DENIED);
}

/* ---- what is refused ---- */

static void verdicts_are_fenced_and_checked(void **state) {
    struct fixture *r = *state;
    static uint8_t other[32] = {1};
    static char large[70000];
    submit_gates(r, GATE_BIT(GATE_POLICY));
    struct cmd_verdict good = fixture_answer(r, job, VERDICT_ALLOW), bad;
#define REFUSED(code, word, ...)                                      \
    do {                                                              \
        bad = good;                                                   \
        __VA_ARGS__;                                                  \
        assert_refused(r, fixture_send_verdict(r, &bad), code, word); \
    } while (0)
    REFUSED(ERR_STALE, "revision", bad.revision = 2);
    REFUSED(ERR_STALE, "has changed", bad.hash = slice_of(other, 32));
    REFUSED(ERR_STALE, "has changed", bad.hash = slice_of(NULL, 0));
    REFUSED(ERR_INVALID, "32 bytes", bad.hash = SLICE("x"));
    REFUSED(ERR_INVALID, "32 bytes", bad.payload_hash = SLICE("x"));
    REFUSED(ERR_INVALID, "no such verdict", bad.verdict = VERDICT_COUNT);
    REFUSED(ERR_NOT_FOUND, "no such question", bad.question.v = 99);
    REFUSED(ERR_LIMIT, "reason_bytes_max", bad.reason = slice_of(large, 1025));
    REFUSED(ERR_LIMIT, "payload", bad.payload = slice_of(large, 65537));
    REFUSED(ERR_LIMIT, "payload", bad.verdict = VERDICT_CONSTRAIN, bad.payload = slice_of(large, 16385));
    REFUSED(ERR_LIMIT, "payload", bad.verdict = VERDICT_REDACT, bad.payload = slice_of(large, 65537));
#undef REFUSED
    struct command cmd = {.kind = CMD_VERDICT, .tenant = SLICE("other")};
    cmd.as.verdict = good;
    assert_refused(r, fixture_command(r, &cmd), ERR_NOT_FOUND, "no flow");
    static uint8_t kept[32];
    memcpy(kept, good.hash.ptr, 32);
    good.hash = slice_of(kept, 32);
    assert_ok(fixture_send_verdict(r, &good));
    assert_refused(r, fixture_send_verdict(r, &good), ERR_STALE, "closed");
}

static void a_quarantine_after_the_end_reaches_children(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    const char *jobs[] = {"a", "b: a", "c: a b"};
    assert_ok(fixture_submit(r, &o, jobs, 3));
    assert_ok(fixture_attach(r, "w", 1, 1));
    struct cmd_verdict late = {.job = job, .verdict = VERDICT_QUARANTINE, .reason = SLICE("leak")};
    assert_refused(r, fixture_send_verdict(r, &late), ERR_STATE, "only a job that succeeded");
    assert_ok(fixture_done(r, "w", 1, job, 1, OUTCOME_OK));
    late.verdict = VERDICT_DENY;
    assert_refused(r, fixture_send_verdict(r, &late), ERR_INVALID, "only be a quarantine");
    late.verdict = VERDICT_QUARANTINE;
    late.job.ordinal = 9;
    assert_refused(r, fixture_send_verdict(r, &late), ERR_NOT_FOUND, "no job number 9");
    late.job = ref_of(7, 0);
    assert_refused(r, fixture_send_verdict(r, &late), ERR_NOT_FOUND, "no flow");
    late.job = job;
    assert_ok(fixture_send_verdict(r, &late));
    assert_int_equal(fixture_state(r, 1, 0), JOB_QUARANTINED);
    assert_int_equal(fixture_state(r, 1, 1), JOB_DISPATCHED); /* what has started goes on */
    assert_int_equal(fixture_state(r, 1, 2), JOB_FAILED);     /* what has not does not */
    assert_int_equal(fixture_job(r, 1, 2).root, 0);
    assert_int_equal(fixture_counts(r).dead_letters, 1);
}

/* A quarantine that comes late and children that run whatever happens: their count of open parents stays right. */
static void late_quarantine_and_children_that_run_anyway(void **state) {
    struct fixture *r = *state;
    struct options sets[2] = {fixture_options(), fixture_options()};
    sets[1].on_upstream = UPSTREAM_RUN;
    const char *jobs[] = {"a", "b", "c@1: a b"};
    assert_ok(fixture_submit_sets(r, sets, 2, jobs, 3, false));
    assert_ok(fixture_attach(r, "w", 1, 2));
    assert_ok(fixture_done(r, "w", 1, job, 1, OUTCOME_OK));
    assert_int_equal(fixture_job(r, 1, 2).parents_open, 1);
    struct cmd_verdict late = {.job = job, .verdict = VERDICT_QUARANTINE};
    assert_ok(fixture_send_verdict(r, &late));
    assert_int_equal(fixture_job(r, 1, 2).parents_open, 1);
    assert_ok(fixture_retry(r, job));
    assert_int_equal(fixture_job(r, 1, 2).parents_open, 2); /* what starts again is waited for again */
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 1), 1, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 2), JOB_WAITING);
    assert_ok(fixture_done(r, "w", 1, job, 2, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 2), JOB_DISPATCHED);
}

static void a_question_goes_with_its_job(void **state) {
    struct fixture *r = *state;
    submit_gates(r, GATE_BIT(GATE_APPROVAL));
    struct cmd_verdict answer = fixture_answer(r, job, VERDICT_ALLOW);
    static uint8_t kept[32];
    memcpy(kept, answer.hash.ptr, 32);
    answer.hash = slice_of(kept, 32);
    assert_ok(fixture_cancel(r, job));
    assert_int_equal(fixture_state(r, 1, 0), JOB_CANCELLED);
    assert_int_equal(fixture_counts(r).questions, 0);
    assert_refused(r, fixture_send_verdict(r, &answer), ERR_STALE, "closed");
    struct question_view q;
    assert_false(view_question(engine_state(r->engine), answer.question, &q));
}

static void cancel_while_checking(void **state) {
    struct fixture *r = *state;
    submit_checking(r);
    assert_ok(fixture_cancel(r, job));
    assert_int_equal(fixture_state(r, 1, 0), JOB_CANCELLED);
    assert_int_equal(fixture_state(r, 1, 1), JOB_CANCELLED);
}

/* A parent in another flow that falls takes a held child along. */
static void a_held_child_is_dragged_down(void **state) {
    struct fixture *r = *state;
    struct options sets[2] = {fixture_options(), fixture_options()};
    sets[1].gates = GATE_BIT(GATE_APPROVAL);
    const char *jobs[] = {"a", "b@1: a"};
    assert_ok(fixture_submit_sets(r, sets, 2, jobs, 2, false));
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_done(r, "w", 1, job, 1, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 1), JOB_HELD);
    struct cmd_verdict late = {.job = job, .verdict = VERDICT_QUARANTINE};
    assert_ok(fixture_send_verdict(r, &late));
    assert_int_equal(fixture_state(r, 1, 1), JOB_FAILED);
    assert_int_equal(fixture_counts(r).questions, 0);
}

static void gates_barriers_and_external_jobs_end_by_themselves(void **state) {
    struct fixture *r = *state;
    struct options sets[3] = {fixture_options(), fixture_options(), fixture_options()};
    sets[0].kind = JOB_GATE;
    sets[1].kind = JOB_BARRIER;
    sets[2].kind = JOB_EXTERNAL;
    const char *jobs[] = {"gate", "barrier@1: gate", "external@2: barrier"};
    assert_ok(fixture_submit_sets(r, sets, 3, jobs, 3, false));
    assert_int_equal(fixture_state(r, 1, 0), JOB_HELD);
    assert_ok(fixture_verdict(r, ref_of(1, 0), VERDICT_ALLOW, NULL));
    assert_int_equal(fixture_state(r, 1, 1), JOB_SUCCEEDED);
    assert_int_equal(fixture_state(r, 1, 2), JOB_HELD);
    assert_ok(fixture_verdict(r, ref_of(1, 2), VERDICT_ALLOW, NULL));
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
}

static void count_question(void *ctx, const struct question_view *q) {
    uint64_t *last = ctx;
    assert_true(q->id.v > *last);
    *last = q->id.v;
}

static void questions_are_listed_in_order(void **state) {
    struct fixture *r = *state;
    for (int i = 0; i < 20; i++) submit_gates(r, GATE_BIT(GATE_POLICY));
    for (uint64_t f = 1; f <= 20; f += 3) assert_ok(fixture_verdict(r, ref_of(f, 0), VERDICT_DENY, NULL));
    uint64_t last = 0;
    view_each_question(engine_state(r->engine), count_question, &last);
    assert_int_equal(last, 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(gates_are_asked_in_order),
        FIXTURE_TEST(rendering_changes_the_hash),
        FIXTURE_TEST(rendering_that_changes_nothing),
        FIXTURE_TEST(every_pair_of_gate_and_verdict),
        FIXTURE_TEST(verdicts_on_an_output),
        FIXTURE_TEST(constraints_are_kept_apart),
        FIXTURE_TEST(a_policy_may_ask_for_an_approval),
        FIXTURE_TEST(a_quorum_of_people_allows),
        FIXTURE_TEST(one_no_is_enough),
        FIXTURE_TEST(four_eyes_excludes_the_submitter),
        FIXTURE_TEST(a_no_needs_no_four_eyes),
        FIXTURE_TEST(no_answer_in_time_is_a_no),
        FIXTURE_TEST(asked_again_later),
        FIXTURE_TEST(asking_again_keeps_the_deadline),
        FIXTURE_TEST(verdicts_are_fenced_and_checked),
        FIXTURE_TEST(a_quarantine_after_the_end_reaches_children),
        FIXTURE_TEST(late_quarantine_and_children_that_run_anyway),
        FIXTURE_TEST(a_question_goes_with_its_job),
        FIXTURE_TEST(cancel_while_checking),
        FIXTURE_TEST(a_held_child_is_dragged_down),
        FIXTURE_TEST(gates_barriers_and_external_jobs_end_by_themselves),
        FIXTURE_TEST(questions_are_listed_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
