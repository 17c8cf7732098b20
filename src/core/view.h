/* view.h: reading the state. Nothing here changes anything; all of it is for answers, effects and checks. */
#ifndef REEVE_VIEW_H
#define REEVE_VIEW_H

#include "effect.h"

struct state;
struct live;
struct limits;

struct flow_view {
    flow_id id;
    struct slice name, tenant, principal, trace;
    enum flow_state state;
    bool paused, more, cancelling;
    bool settling; /* a long consequence is not yet through */
    enum unwinding unwinding;
    uint32_t undo_count; /* compensations that were entered and have not been made */
    uint32_t job_count;
    const uint32_t *by_state; /* [JOB_STATE_COUNT] */
    wall_time created, finished;
};

struct job_view {
    struct job_ref ref;
    struct slice name;
    enum job_state state;
    enum job_cause cause;
    uint32_t attempt;      /* number of the last one, 0 = never dispatched */
    uint32_t used;         /* of its budget */
    uint32_t parent_count; /* in its own flow */
    uint32_t parents_open;
    wall_time since;       /* in this state */
    wall_time due;         /* of a waiting job */
    const struct options *options;
    struct slice body;     /* rendered, if it was */
    struct slice body_hash;
    struct slice result, result_hash, constraints;
    uint32_t worker;       /* number of the last one, 0 = none */
    enum stop_cause stop;
    question_id question;  /* open one */
    uint32_t root;         /* ordinal of the job that dragged it down, or UINT32_MAX */
    bool dead_letter;
    bool has_undo;         /* it has a compensation */
    uint32_t undoes;       /* ordinal of the job it is the compensation of, or UINT32_MAX */
};

struct question_view {
    question_id id;
    uint32_t revision;
    enum gate gate;
    struct job_ref job;
    struct slice hash;
    wall_time asked, deadline;
    uint32_t votes, quorum;
    bool four_eyes;
    struct slice role;
};

struct worker_view {
    uint32_t number;  /* never reused */
    struct slice id;
    uint64_t incarnation;
    const struct worker_info *info;
    bool draining, attached;
    uint32_t active; /* attempts it holds */
};

bool view_flow(const struct state *s, flow_id id, struct flow_view *ret);
bool view_job(const struct state *s, struct job_ref ref, struct job_view *ret);
bool view_job_by_name(const struct state *s, flow_id flow, struct slice name, struct job_view *ret);
/* The parents of a job in its own flow, as ordinals, into `ret` (at most `max`); the count. */
uint32_t view_parents(const struct state *s, struct job_ref ref, uint32_t *ret, uint32_t max);
bool view_question(const struct state *s, question_id id, struct question_view *ret);
bool view_worker(const struct state *s, const struct live *l, uint32_t number, struct worker_view *ret);
uint32_t view_worker_by_id(const struct state *s, struct slice id); /* its number, 0 = not known */
/* What an EFFECT_ASSIGN must carry; false when the attempt is no longer open (the effect is then dropped). */
bool view_attempt(const struct state *s, const struct attempt_effect *a, struct job_view *ret);

typedef void (*view_flow_fn)(void *ctx, flow_id id);
typedef void (*view_job_fn)(void *ctx, const struct job_view *job);
typedef void (*view_question_fn)(void *ctx, const struct question_view *q);
typedef void (*view_worker_fn)(void *ctx, const struct worker_view *w);
void view_each_flow(const struct state *s, view_flow_fn each, void *ctx); /* in order of ids */
uint64_t view_flow_last(const struct state *s); /* the highest number given to a flow so far */
void view_each_job(const struct state *s, flow_id flow, view_job_fn each, void *ctx); /* in order of ordinals */
void view_each_question(const struct state *s, view_question_fn each, void *ctx);
void view_each_worker(const struct state *s, const struct live *l, view_worker_fn each, void *ctx);
void view_each_dead_letter(const struct state *s, view_job_fn each, void *ctx);

struct limit_view {
    bool is_set;
    uint32_t width, taken;               /* of a key */
    uint64_t rate_milli, burst;          /* of a rate */
    uint64_t level;                      /* of a rate: millionths of a token, at the time of the last batch */
    uint32_t running_max, running;       /* of a tenant; 0 = no limit, so in the next two */
    uint64_t queued_max, queued;
    uint64_t bytes_max, bytes;
};
/* False when the tenant, or the name among its keys or rates, is not known. */
bool view_limit(const struct state *s, struct slice tenant, enum limit_kind kind, struct slice name,
                struct limit_view *ret);

struct state_counts {
    uint64_t flows, flows_running, jobs, workers, questions, keys, dead_letters;
    uint64_t store_keys;    /* with those whose memory is yet to be given back */
    uint64_t limits;        /* keys and rates known */
    uint64_t by_state[JOB_STATE_COUNT];
    uint64_t stale_refused; /* messages of an earlier time, since the start of this process */
    uint64_t bytes;         /* memory held by pools, tables and flows */
    uint64_t reserved_bytes; /* of journal, promised to accepted work */
};
void view_counts(const struct state *s, const struct live *l, struct state_counts *ret);

/* The one reason why a job is not running, the first of this list that holds. */
#define BLOCK_TABLE(X)                                                                                     \
    X(BLOCK_NOTHING, "nothing", "it is running, or over")                                                  \
    X(BLOCK_SETTLING, "settling", "a long consequence of an earlier change is still being worked through") \
    X(BLOCK_PARENTS, "parents", "it waits for other jobs")                                                 \
    X(BLOCK_TIME, "time", "it waits for a time")                                                           \
    X(BLOCK_QUESTION, "question", "someone must answer first")                                             \
    X(BLOCK_PAUSED, "paused", "its flow, pool or tenant is paused")                                        \
    X(BLOCK_KEY_LIMIT, "key_limit", "one of its concurrency keys is taken as often as it is wide")         \
    X(BLOCK_RATE_LIMIT, "rate_limit", "one of its rates has no token left")                                \
    X(BLOCK_TENANT_LIMIT, "tenant_limit", "its tenant has as many attempts running as it may")             \
    X(BLOCK_NO_POOL_MAPPING, "no_pool_mapping", "its topic leads to no pool")                              \
    X(BLOCK_POOL_INACTIVE, "pool_inactive", "its pool takes no jobs")                                      \
    X(BLOCK_NO_WORKERS, "no_workers", "no worker of its pool is attached")                                 \
    X(BLOCK_CAPABILITY, "capability", "no attached worker offers what it asks for")                        \
    X(BLOCK_PREFERENCE, "preference", "it waits for the worker or pool it prefers")                        \
    X(BLOCK_OVERLOADED, "pool_overloaded", "all workers that could take it are overloaded")                \
    X(BLOCK_CAPACITY, "capacity", "all workers that could take it are full")                               \
    X(BLOCK_QUEUE, "queue", "a worker is free, others come first")                                         \
    X(BLOCK_STOPPING, "stopping", "its worker was told to stop it and has not confirmed")                  \
    X(BLOCK_START, "start", "its worker has it and has not said that it runs")

enum block {
#define X(block, word, text) block,
    BLOCK_TABLE(X)
#undef X
    BLOCK_COUNT
};
const char *block_word(enum block b);
const char *block_text(enum block b);

struct why_job {
    enum block block;
    uint32_t parents_open;     /* parents */
    struct job_ref parent;     /* parents: the first open one of its own flow, ordinal UINT32_MAX = in another flow */
    wall_time until;           /* time, preference, question, rate: when it ends by itself; TIME_NEVER */
    struct slice limit;        /* key_limit, rate_limit: its name */
    question_id question;
    uint32_t worker;           /* stopping, start */
};
bool view_why(const struct state *s, const struct live *l, const struct limits *limits, struct job_ref ref,
              struct why_job *ret);

#endif
