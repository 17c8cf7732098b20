/* engine_fixture.h: an engine with nothing around it, for tests: every batch is durable at once, or when the test says
 * so. */
#ifndef REEVE_ENGINE_FIXTURE_H
#define REEVE_ENGINE_FIXTURE_H

#include "test.h"

#include "engine.h"
#include "limit.h"
#include "vec.h"
#include "view.h"

struct fixture {
    struct engine *engine;
    struct limits limits;
    struct inputs in;
    uint64_t epoch;
    bool hold;          /* batches are taken but not reported durable */
    uint64_t taken_lsn; /* of the batch that is held back; 0 = none */
    struct buf journal; /* every batch so far, for fixture_replay */
    struct vec batches; /* of struct batch; records point into journal by offset */
    struct vec effects; /* of struct effect that left */
    struct arena kept;  /* what changes and messages among them say */
    struct reply reply; /* the last answer */
    uint64_t token;
    uint64_t answered; /* token of the last answer */
    uint64_t jobs_assigned;
    const char *tenant;      /* whose submits these are; "acme" */
    enum compensate_on compensate_on; /* of these submits, so the next two */
    int64_t timeout_ms, late_after_ms;
    const char *principal;   /* who sends the commands; "tester" */
    struct engine *follower; /* restored from an earlier snapshot, fed with the batches since; NULL = none yet */
    uint32_t follower_batches;
};

void fixture_init(struct fixture *r);
void fixture_fini(struct fixture *r);
/* One pass with one command; returns the answer's error (ERR_UNKNOWN while it is held back). */
enum err fixture_command(struct fixture *r, struct command *cmd);
/* A pass without a command, after `ms` have gone by. */
void fixture_tick(struct fixture *r, int64_t ms);
/* Takes the open batch, makes it durable unless held, collects effects. */
void fixture_flush(struct fixture *r);

/* Submits jobs given as "name", "name: parent parent", … with the options; returns the error, the flow in r->reply.
 * "name@2" takes the third of several option sets, "name~1" has a compensation with the second, a parent "7/name" is
 * one of flow 7. */
enum err fixture_submit(struct fixture *r, const struct options *o, const char *const *jobs, uint32_t count);
enum err fixture_submit_sets(struct fixture *r, const struct options *sets, uint32_t set_count, const char *const *jobs,
                             uint32_t count, bool more);
enum err fixture_submit_key(struct fixture *r, const char *key, uint8_t hash_byte, int64_t key_ms);
enum err fixture_add(struct fixture *r, uint64_t flow, const struct options *o, const char *const *jobs, uint32_t count,
                     bool more);
enum err fixture_attach(struct fixture *r, const char *worker, uint64_t incarnation, uint32_t slots);
enum err fixture_attach_as(struct fixture *r, const char *worker, uint64_t incarnation, const struct worker_info *info);
enum err fixture_attach_holding(struct fixture *r, const char *worker, uint64_t incarnation,
                                const struct held_attempt *held, uint32_t count);
enum err fixture_heartbeat(struct fixture *r, const char *worker, uint64_t incarnation, uint32_t credit,
                           uint32_t cpu_percent, uint32_t gpu_percent);
enum err fixture_detach(struct fixture *r, const char *worker, uint64_t incarnation);
enum err fixture_drain(struct fixture *r, const char *worker, bool on); /* by an operator */
enum err fixture_drain_itself(struct fixture *r, const char *worker);
enum err fixture_done(struct fixture *r, const char *worker, uint64_t incarnation, struct job_ref job, uint32_t attempt,
                      enum outcome outcome);
enum err fixture_started(struct fixture *r, const char *worker, uint64_t incarnation, struct job_ref job,
                         uint32_t attempt);
/* As fixture_done, for a job that ended by itself with this code. */
enum err fixture_exit(struct fixture *r, const char *worker, struct job_ref job, uint32_t attempt, uint32_t exit_code);
enum err fixture_cancel(struct fixture *r, struct job_ref job); /* ordinal UINT32_MAX: the whole flow */
enum err fixture_pause(struct fixture *r, enum pause_scope scope, uint64_t flow, const char *name, bool on);
enum err fixture_retry(struct fixture *r, struct job_ref job);
enum err fixture_discard(struct fixture *r, struct job_ref job);
enum err fixture_rerun(struct fixture *r, uint64_t flow);
enum err fixture_forget(struct fixture *r, uint64_t flow);
enum err fixture_pool(struct fixture *r, const char *name, enum pool_state state, bool refuse_overload,
                      const char *capability);
enum err fixture_topic(struct fixture *r, const char *name, const char *pool, const char *second_pool);
enum err fixture_weight(struct fixture *r, const char *tenant, uint32_t weight);
/* Answers the open question of a job, with its revision and hash; the payload may be NULL. */
enum err fixture_verdict(struct fixture *r, struct job_ref job, enum verdict verdict, const char *payload);
struct cmd_verdict fixture_answer(const struct fixture *r, struct job_ref job, enum verdict verdict);
enum err fixture_send_verdict(struct fixture *r, const struct cmd_verdict *verdict);
enum job_state fixture_state(const struct fixture *r, uint64_t flow, uint32_t ordinal);
struct job_view fixture_job(const struct fixture *r, uint64_t flow, uint32_t ordinal);
/* Ends every open attempt OK until nothing is running any more. */
void fixture_run_all(struct fixture *r, const char *worker, uint64_t incarnation);

struct flow_view fixture_flow(const struct fixture *r, uint64_t flow);
struct why_job fixture_why(const struct fixture *r, uint64_t flow, uint32_t ordinal);
struct state_counts fixture_counts(const struct fixture *r);
/* Effects of a kind that left since effects.count was `from`. */
uint32_t fixture_effects(const struct fixture *r, uint32_t from, enum effect_kind kind);
/* The worker an open attempt of the job is with; "" = none. */
const char *fixture_worker_of(const struct fixture *r, uint64_t flow, uint32_t ordinal);

/* A second engine from the journal so far; and one from a snapshot of the present engine. Their digests must agree. */
struct engine *fixture_replay(const struct fixture *r);
struct engine *fixture_reload(const struct fixture *r);
/* Live, replayed, restored, and restored at the last check plus the batches since. */
void fixture_check_digests(struct fixture *r);
/* Throws the engine away and takes over from the journal, as after a crash. */
void fixture_crash(struct fixture *r);

/* For cmocka: every test gets a rig of its own, and ends with equal digests. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

struct options fixture_options(void);
static inline struct job_ref ref_of(uint64_t flow, uint32_t ordinal) {
    return (struct job_ref){{flow}, ordinal};
}

#define assert_ok(call)                                                \
    do {                                                               \
        enum err got_ = (call);                                        \
        if (got_ != ERR_OK) fail_msg("%s: %s", #call, err_word(got_)); \
    } while (0)

/* The command is refused with that code and a text that says `word`, and nothing was recorded. */
#define assert_refused(r, call, code, word)                                                         \
    do {                                                                                            \
        uint64_t lsn_ = engine_lsn((r)->engine);                                                    \
        enum err got_ = (call);                                                                     \
        if (got_ != (code)) fail_msg("%s: %s", #call, err_word(got_));                              \
        if (!strstr((r)->reply.why.text, word)) fail_msg("%s: \"%s\"", #call, (r)->reply.why.text); \
        assert_int_equal(engine_lsn((r)->engine), lsn_);                                            \
    } while (0)

#define assert_digests_equal(a, b)            \
    do {                                      \
        struct digest da_ = engine_digest(a); \
        struct digest db_ = engine_digest(b); \
        assert_int_equal(da_.lo, db_.lo);     \
        assert_int_equal(da_.hi, db_.hi);     \
    } while (0)

#endif
