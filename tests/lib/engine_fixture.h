/* engine_fixture.h: an engine with nothing around it, for tests: every batch is durable at once, or when the test says
 * so. */
#ifndef REEVE_ENGINE_FIXTURE_H
#define REEVE_ENGINE_FIXTURE_H

#include "test.h"

#include "engine.h"
#include "vec.h"
#include "view.h"

struct rig {
    struct engine *engine;
    struct limits limits;
    struct inputs in;
    uint64_t epoch;
    bool hold;          /* batches are taken but not reported durable */
    uint64_t taken_lsn; /* of the batch that is held back; 0 = none */
    struct buf journal; /* every batch so far, for rig_replay */
    struct vec batches; /* of struct batch; records point into journal by offset */
    struct vec effects; /* of struct effect that left */
    struct arena kept;  /* what changes and messages among them say */
    struct reply reply; /* the last answer */
    uint64_t token;
    uint64_t answered; /* token of the last answer */
    uint64_t jobs_assigned;
    const char *tenant;      /* whose submits these are; "acme" */
    const char *principal;   /* who sends the commands; "tester" */
    struct engine *follower; /* restored from an earlier snapshot, fed with the batches since; NULL = none yet */
    uint32_t follower_batches;
};

void rig_init(struct rig *r);
void rig_fini(struct rig *r);
/* One pass with one command; returns the answer's error (ERR_UNKNOWN while it is held back). */
enum err rig_command(struct rig *r, struct command *cmd);
/* A pass without a command, after `ms` have gone by. */
void rig_tick(struct rig *r, int64_t ms);
/* Takes the open batch, makes it durable unless held, collects effects. */
void rig_flush(struct rig *r);

/* Submits jobs given as "name", "name: parent parent", … with the options; returns the error, the flow in r->reply.
 * "name@2" takes the third of several option sets, "name~1" has a compensation with the second, a parent "7/name" is
 * one of flow 7. */
enum err rig_submit(struct rig *r, const struct options *o, const char *const *jobs, uint32_t count);
enum err rig_submit_sets(struct rig *r, const struct options *sets, uint32_t set_count, const char *const *jobs,
                         uint32_t count, bool more);
enum err rig_submit_key(struct rig *r, const char *key, uint8_t hash_byte, int64_t key_ms);
enum err rig_add(struct rig *r, uint64_t flow, const struct options *o, const char *const *jobs, uint32_t count,
                 bool more);
enum err rig_attach(struct rig *r, const char *worker, uint64_t incarnation, uint32_t slots);
enum err rig_attach_as(struct rig *r, const char *worker, uint64_t incarnation, const struct worker_info *info);
enum err rig_attach_holding(struct rig *r, const char *worker, uint64_t incarnation, const struct held_attempt *held,
                            uint32_t count);
enum err rig_heartbeat(struct rig *r, const char *worker, uint64_t incarnation, uint32_t credit, uint32_t cpu_percent,
                       uint32_t gpu_percent);
enum err rig_detach(struct rig *r, const char *worker, uint64_t incarnation);
enum err rig_drain(struct rig *r, const char *worker, bool on); /* by an operator */
enum err rig_drain_itself(struct rig *r, const char *worker);
enum err rig_done(struct rig *r, const char *worker, uint64_t incarnation, struct job_ref job, uint32_t attempt,
                  enum outcome outcome);
enum err rig_started(struct rig *r, const char *worker, uint64_t incarnation, struct job_ref job, uint32_t attempt);
/* As rig_done, for a job that ended by itself with this code. */
enum err rig_exit(struct rig *r, const char *worker, struct job_ref job, uint32_t attempt, uint32_t exit_code);
enum err rig_cancel(struct rig *r, struct job_ref job); /* ordinal UINT32_MAX: the whole flow */
enum err rig_pause(struct rig *r, enum pause_scope scope, uint64_t flow, const char *name, bool on);
enum err rig_retry(struct rig *r, struct job_ref job);
enum err rig_discard(struct rig *r, struct job_ref job);
enum err rig_rerun(struct rig *r, uint64_t flow);
enum err rig_forget(struct rig *r, uint64_t flow);
enum err rig_pool(struct rig *r, const char *name, enum pool_state state, bool refuse_overload, const char *capability);
enum err rig_topic(struct rig *r, const char *name, const char *pool, const char *second_pool);
enum err rig_weight(struct rig *r, const char *tenant, uint32_t weight);
/* Answers the open question of a job, with its revision and hash; the payload may be NULL. */
enum err rig_verdict(struct rig *r, struct job_ref job, enum verdict verdict, const char *payload);
struct cmd_verdict rig_answer(const struct rig *r, struct job_ref job, enum verdict verdict);
enum err rig_send_verdict(struct rig *r, const struct cmd_verdict *verdict);
enum job_state rig_state(const struct rig *r, uint64_t flow, uint32_t ordinal);
struct job_view rig_job(const struct rig *r, uint64_t flow, uint32_t ordinal);
/* Ends every open attempt OK until nothing is running any more. */
void rig_run_all(struct rig *r, const char *worker, uint64_t incarnation);

struct flow_view rig_flow(const struct rig *r, uint64_t flow);
struct why_job rig_why(const struct rig *r, uint64_t flow, uint32_t ordinal);
struct state_counts rig_counts(const struct rig *r);
/* Effects of a kind that left since effects.count was `from`. */
uint32_t rig_effects(const struct rig *r, uint32_t from, enum effect_kind kind);
/* The worker an open attempt of the job is with; "" = none. */
const char *rig_worker_of(const struct rig *r, uint64_t flow, uint32_t ordinal);

/* A second engine from the journal so far; and one from a snapshot of the present engine. Their digests must agree. */
struct engine *rig_replay(const struct rig *r);
struct engine *rig_reload(const struct rig *r);
/* Live, replayed, restored, and restored at the last check plus the batches since. */
void rig_check_digests(struct rig *r);
/* Throws the engine away and takes over from the journal, as after a crash. */
void rig_crash(struct rig *r);

/* For cmocka: every test gets a rig of its own, and ends with equal digests. */
int rig_setup(void **state);
int rig_teardown(void **state);
#define RIG_TEST(test) cmocka_unit_test_setup_teardown(test, rig_setup, rig_teardown)

struct options rig_options(void);
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
