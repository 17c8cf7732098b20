/* rig.h: an engine with nothing around it, for tests: every batch is durable at once, or when the test says so. */
#ifndef REEVE_RIG_H
#define REEVE_RIG_H

#include "test.h"

#include "engine.h"
#include "vec.h"
#include "view.h"

struct rig {
    struct engine *engine;
    struct limits limits;
    struct inputs in;
    uint64_t epoch;
    bool hold;              /* batches are taken but not reported durable */
    uint64_t taken_lsn;     /* of the batch that is held back; 0 = none */
    struct buf journal;     /* every batch so far, for rig_replay */
    struct vec batches;     /* of struct batch; records point into journal by offset */
    struct vec effects;     /* of struct effect that left */
    struct arena kept;      /* what changes and messages among them say */
    struct reply reply;     /* the last answer */
    uint64_t token;
    uint64_t answered;      /* token of the last answer */
    uint64_t jobs_assigned;
};

void rig_init(struct rig *r);
void rig_fini(struct rig *r);
/* One pass with one command; returns the answer's error (ERR_UNKNOWN while it is held back). */
enum err rig_command(struct rig *r, struct command *cmd);
/* A pass without a command, after `ms` have gone by. */
void rig_tick(struct rig *r, int64_t ms);
/* Takes the open batch, makes it durable unless held, collects effects. */
void rig_flush(struct rig *r);

/* Submits jobs given as "name" or "name: parent parent"; returns the error, the flow is in r->reply. */
enum err rig_submit(struct rig *r, const struct options *o, const char *const *jobs, uint32_t count);
enum err rig_attach(struct rig *r, const char *worker, uint64_t incarnation, uint32_t slots);
enum err rig_done(struct rig *r, const char *worker, uint64_t incarnation, struct job_ref job, uint32_t attempt,
                  enum outcome outcome);
enum err rig_started(struct rig *r, const char *worker, uint64_t incarnation, struct job_ref job, uint32_t attempt);
enum err rig_cancel(struct rig *r, struct job_ref job);
enum job_state rig_state(const struct rig *r, uint64_t flow, uint32_t ordinal);
struct job_view rig_job(const struct rig *r, uint64_t flow, uint32_t ordinal);
/* Ends every open attempt OK until nothing is running any more. */
void rig_run_all(struct rig *r, const char *worker, uint64_t incarnation);

/* A second engine from the journal so far; and one from a snapshot of the present engine. Their digests must agree. */
struct engine *rig_replay(const struct rig *r);
struct engine *rig_reload(const struct rig *r);
void rig_check_digests(const struct rig *r);
/* Throws the engine away and takes over from the journal, as after a crash. */
void rig_crash(struct rig *r);

#define assert_digests_equal(a, b)                        \
    do {                                                  \
        struct digest da_ = engine_digest(a);             \
        struct digest db_ = engine_digest(b);             \
        assert_int_equal(da_.lo, db_.lo);                 \
        assert_int_equal(da_.hi, db_.hi);                 \
    } while (0)

#endif
