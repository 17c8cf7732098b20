/* view.h: reading the state. Nothing here changes anything; all of it is for answers, effects and checks. */
#ifndef REEVE_VIEW_H
#define REEVE_VIEW_H

#include "effect.h"

struct state;
struct live;
struct limits;
struct slot_note;
struct service_version;

struct flow_view {
    flow_id id;
    struct slice name, tenant, principal, trace;
    enum flow_state state;
    bool paused, more, cancelling;
    bool settling;   /* a long consequence is not yet through */
    bool of_service; /* made by the engine for one version of a service */
    enum unwinding unwinding;
    enum compensate_on compensate_on;
    uint32_t undo_count; /* compensations that were entered and have not been made */
    uint32_t job_count;
    const uint32_t *by_state; /* [JOB_STATE_COUNT] */
    uint32_t upstream_failed; /* of the failed ones: failed only because of another */
    wall_time created, finished;
    struct slice schedule; /* that made it; empty = a submit did */
    wall_time slot;
    struct slice zone; /* of the slot; empty = UTC */
    struct flow_source source;
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
    wall_time since; /* in this state */
    wall_time due;   /* of a waiting job */
    const struct options *options;
    struct slice body; /* rendered, if it was */
    struct slice body_hash;
    struct slice result, result_hash, constraints;
    uint32_t worker; /* number of the last one, 0 = none */
    enum stop_cause stop;
    question_id question; /* open one */
    uint32_t root;        /* ordinal of the job that dragged it down, or UINT32_MAX */
    bool dead_letter;
    bool has_undo;          /* it has a compensation */
    bool has_items;         /* it has `foreach`, or is the item of one */
    struct slice cache_key; /* empty = it is not memoised */
    struct job_ref from;    /* whose result it was given; flow 0 = it has its own, or none yet */
    uint32_t undoes;        /* ordinal of the job it is the compensation of, or UINT32_MAX */
    uint32_t item;          /* of a child: its index; people know it as name[item]. UINT32_MAX = it is no child */
    uint32_t whole;         /* of a child: ordinal of its foreach job, whose name, body and constraints it has */
    struct slice items;     /* of a child: hash of the blob that holds the items */
    struct slice artifacts; /* as the state keeps them: view_artifacts reads them */
    struct slice undo_body; /* of its compensation */
    uint32_t begun;         /* external: the attempt that began what is done outside; 0 = none yet */
    bool heard;             /* external: a word has come, and counts when the open attempt has ended */
};

struct expansion_view {    /* of a foreach job that got its items */
    uint32_t first, count; /* ordinals of its children */
    struct slice items;
    uint32_t begun, under_way, bad, allowed;
    bool called_off; /* no more begin */
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
    uint32_t number; /* never reused */
    struct slice id;
    uint64_t incarnation;
    const struct worker_info *info;
    bool draining, attached;
    uint32_t active;                   /* attempts it holds */
    uint32_t cpu_percent, gpu_percent; /* by its last heartbeat */
    uint32_t cpu_milli, gpus;          /* of what `info` offers, given to attempts */
    uint64_t memory_bytes;             /* likewise */
    const uint64_t *resources;         /* likewise, beside info->resources */
};

/* Flows left memory because the history was durable up to here; 0 = none did. */
uint64_t view_history_lsn(const struct state *s);
bool view_flow(const struct state *s, flow_id id, struct flow_view *ret);
bool view_has_services(const struct state *s);
bool view_is_of_service(const struct state *s, flow_id id);                     /* a version of one; cheap */
bool view_job(const struct state *s, struct job_ref ref, struct job_view *ret); /* also of children to come */
/* Of what `view_job` tells the two by which most jobs are passed over; much cheaper. */
bool view_job_state(const struct state *s, struct job_ref ref, enum job_state *ret_state, enum job_cause *ret_cause);
bool view_calls(const struct state *s, struct job_ref ref); /* an external job that has attempts; cheap */
bool view_job_by_name(const struct state *s, flow_id flow, struct slice name, struct job_view *ret);
/* The files that a job left, or that a kept result has: of rec_artifact, the list in `arena`. */
struct tlv_list view_artifacts(struct slice artifacts, struct arena *arena);
/* False for jobs that are no foreach jobs, or have no items yet. */
bool view_expansion(const struct state *s, struct job_ref ref, struct expansion_view *ret);
/* The parents of a job in its own flow, as ordinals, into `ret` (at most `max`); the count. */
uint32_t view_parents(const struct state *s, struct job_ref ref, uint32_t *ret, uint32_t max);
bool view_question(const struct state *s, question_id id, struct question_view *ret);
bool view_worker(const struct state *s, const struct live *l, uint32_t number, struct worker_view *ret);
uint32_t view_worker_by_id(const struct state *s, struct slice id); /* its number, 0 = not known */
bool view_pool_is_paused(const struct state *s, struct slice name);
bool view_has_topic(const struct state *s, struct slice name);      /* it was mapped to pools */
/* What an EFFECT_ASSIGN must carry; false when the attempt is no longer open (the effect is then dropped). */
bool view_attempt(const struct state *s, const struct attempt_effect *a, struct job_view *ret);

typedef void (*view_flow_fn)(void *ctx, flow_id id);
typedef void (*view_job_fn)(void *ctx, const struct job_view *job);
typedef void (*view_question_fn)(void *ctx, const struct question_view *q);
typedef void (*view_worker_fn)(void *ctx, const struct worker_view *w);
void view_each_flow(const struct state *s, view_flow_fn each, void *ctx); /* in order of ids */
/* For walks in several turns: the place behind `at` (0 = the beginning) where the next one is, or 0. What is there from
 * the beginning to the end of the walk is seen; what comes meanwhile perhaps. */
uint32_t view_flow_next(const struct state *s, uint32_t at, flow_id *ret);
uint32_t view_tenant_next(const struct state *s, uint32_t at, struct slice *ret);
uint64_t view_flow_last(const struct state *s); /* the highest number given to a flow so far */
void view_each_job(const struct state *s, flow_id flow, view_job_fn each, void *ctx); /* in order of ordinals */
void view_each_question(const struct state *s, view_question_fn each, void *ctx);     /* by id */
/* As view_flow_next, by id. */
uint32_t view_question_next(const struct state *s, uint32_t at, struct question_view *ret);
uint32_t view_question_place(const struct state *s, uint64_t id); /* behind which the next one is; 0 = it is not open */
void view_each_worker(const struct state *s, const struct live *l, view_worker_fn each, void *ctx);
void view_each_dead_letter(const struct state *s, view_job_fn each, void *ctx);
/* As view_flow_next, from the oldest on, or from the newest back. */
uint32_t view_dead_next(const struct state *s, uint32_t at, bool newest, struct job_view *ret);
uint32_t view_dead_place(const struct state *s, struct job_ref ref); /* behind which the next one is; 0 = it is none */
/* What it holds, the oldest first. */
void view_each_run(const struct state *s, uint32_t worker, view_job_fn each, void *ctx);

struct limit_view {
    bool is_set;
    uint32_t width, taken;         /* of a key */
    uint64_t rate_milli, burst;    /* of a rate */
    uint64_t level;                /* of a rate: millionths of a token, at the time of the last batch */
    uint32_t running_max, running; /* of a tenant; 0 = no limit, so in the next two */
    uint64_t queued_max, queued;
    uint64_t bytes_max, bytes;
};
/* False when the tenant, or the name among its keys or rates, is not known. */
bool view_limit(const struct state *s, struct slice tenant, enum limit_kind kind, struct slice name,
                struct limit_view *ret);

struct limit_row {
    struct slice tenant, name;
    enum limit_kind kind;
    struct limit_view view;
};
/* The next behind a place that was returned before, 0 = from the beginning: tenants that have a limit, and all keys and
 * rates that are set or that a job names. 0 = there are no more. */
uint64_t view_limit_next(const struct state *s, uint64_t at, struct limit_row *ret);

struct schedule_view {
    struct slice tenant, name, expression, principal;
    uint64_t revision;
    enum catch_up catch_up;
    enum overlap overlap;
    bool paused;
    wall_time end;        /* TIME_NEVER */
    wall_time after;      /* every slot up to here was dealt with */
    wall_time fired_slot; /* the last that fired; 0 = none */
    flow_id flow;         /* made for it */
    bool running;         /* that flow is not over */
    uint32_t waiting;     /* slots that wait for an earlier flow */
    uint64_t fired, missed, skipped;
    const struct slot_note *notes; /* what became of the last slots, oldest first; state.h */
    uint32_t note_count;
};
bool view_schedule(const struct state *s, struct slice tenant, struct slice name, struct schedule_view *ret);
bool view_schedule_revision(const struct state *s, uint64_t revision, struct schedule_view *ret);
typedef void (*view_schedule_fn)(void *ctx, const struct schedule_view *schedule);
void view_each_schedule(const struct state *s, view_schedule_fn each, void *ctx); /* in order of revisions */

/* As view_flow_next; the jobs of its flows, of rec_job, are in `arena`. */
uint32_t view_schedule_next(const struct state *s, uint32_t at, struct arena *arena, struct slice *ret_tenant,
                            struct tlv_list *ret_jobs);

/* Why a schedule does not fire now, the first of this list that holds. */
#define SCHEDULE_BLOCK_TABLE(X)                                                                \
    X(SCHEDULE_BLOCK_PAUSED, "paused", "it is paused")                                         \
    X(SCHEDULE_BLOCK_OVERLAP, "overlap", "a slot waits for the end of an earlier flow")        \
    X(SCHEDULE_BLOCK_ROOM, "room", "a slot waits because a limit leaves no room for its flow") \
    X(SCHEDULE_BLOCK_SLOTS, "slots", "its next slots have not been worked out yet")            \
    X(SCHEDULE_BLOCK_OVER, "over", "no slot follows")                                          \
    X(SCHEDULE_BLOCK_TIME, "time", "its next slot has not come")

enum schedule_block {
#define X(block, word, text) block,
    SCHEDULE_BLOCK_TABLE(X)
#undef X
        SCHEDULE_BLOCK_COUNT
};
const char *schedule_block_word(enum schedule_block b);
const char *schedule_block_text(enum schedule_block b);

struct why_schedule {
    enum schedule_block block;
    wall_time next;    /* time: when it fires; TIME_NEVER */
    flow_id flow;      /* overlap */
    const char *limit; /* room: the limit's name; `queued` and `bytes` are the tenant's own */
};
bool view_why_schedule(const struct state *s, const struct live *l, const struct limits *limits, uint64_t revision,
                       struct why_schedule *ret);

/* A result that is kept for jobs with the same cache key. */
struct memo_view {
    struct slice tenant, key;
    struct job_ref from; /* the job that ran; it may have left memory */
    wall_time expires;
    struct slice result, result_hash, artifacts;
};
typedef void (*view_memo_fn)(void *ctx, const struct memo_view *memo);
uint32_t view_memo_next(const struct state *s, uint32_t at, struct memo_view *ret); /* as view_flow_next */
void view_each_memo(const struct state *s, view_memo_fn each, void *ctx);           /* those of a tenant oldest first */

struct service_view {
    struct slice tenant, name;
    enum service_desired desired;
    uint32_t version;          /* that is to run, counted from the first deployment; 0 = none */
    uint32_t previous_version; /* that comes back when the deployment fails; 0 = none, or no deployment is under way */
    bool deploying;
    struct job_ref deployer; /* while deploying */
    struct job_ref runner;   /* its attempts are those of the service; flow 0 = there is no version */
    bool healthy;
    wall_time since;   /* healthy or not */
    uint32_t restarts; /* that count for the time before the next */
    uint32_t port;     /* where it listens; 0 = nobody said so */
    struct slice note; /* why it is not healthy; empty = nobody said so */
    wall_time due;     /* of the next start, while it waits for that; else TIME_NEVER */
    const struct service_version *versions; /* that it remembers, oldest first; service_version.h */
    uint32_t version_count;
};
bool view_service(const struct state *s, struct slice tenant, struct slice name, struct service_view *ret);
/* Of a job that waits until what it deploys is healthy: why that is not, for people; empty = it is another job, or
 * nothing is known. In `arena`. */
struct slice view_trouble(const struct state *s, struct job_ref deployer, struct arena *arena);
typedef void (*view_service_fn)(void *ctx, const struct service_view *v);
void view_each_service(const struct state *s, view_service_fn each, void *ctx);
/* As view_flow_next: a service, and the versions that it remembers. */
uint32_t view_service_next(const struct state *s, uint32_t at, struct service_view *ret);

struct state_counts {
    uint64_t flows, flows_running, jobs, workers, questions, keys, dead_letters;
    uint64_t memos;      /* results kept */
    uint64_t store_keys; /* with those whose memory is yet to be given back */
    uint64_t limits;     /* keys and rates known */
    uint64_t services;
    uint64_t policy;        /* version in force */
    uint64_t flows_ended;   /* over, and not yet gone */
    uint64_t projected_lsn; /* how far the history is, as it told this process; 0 = it has not */
    uint64_t by_state[JOB_STATE_COUNT];
    uint64_t stale_refused;  /* messages of an earlier time, since the start of this process */
    uint64_t bytes;          /* memory held by pools, tables and flows */
    uint64_t reserved_bytes; /* of journal, promised to accepted work */
};
void view_counts(const struct state *s, const struct live *l, struct state_counts *ret);

const uint64_t *view_tally(const struct state *s); /* TALLY_COUNT numbers, see tally.h */

/* The one reason why a job is not running, the first of this list that holds. */
#define BLOCK_TABLE(X)                                                                          \
    X(BLOCK_NOTHING, "nothing", "it is running")                                                \
    X(BLOCK_SETTLING, "settling", "an earlier change of the flow is still being processed")     \
    X(BLOCK_PARENTS, "parents", "waiting for other jobs")                                       \
    X(BLOCK_CHILDREN, "children", "waiting for its items")                                      \
    X(BLOCK_PARALLEL, "max_parallel", "max_parallel of its foreach job is reached")             \
    X(BLOCK_TIME, "time", "waiting for its start time")                                         \
    X(BLOCK_OUTSIDE, "outside", "waiting for the outside work that it started")                 \
    X(BLOCK_QUESTION, "question", "waiting for an answer")                                      \
    X(BLOCK_PAUSED, "paused", "its flow, pool or tenant is paused")                             \
    X(BLOCK_KEY_LIMIT, "key_limit", "one of its concurrency keys is at its limit")              \
    X(BLOCK_RATE_LIMIT, "rate_limit", "one of its rates is at its limit")                       \
    X(BLOCK_TENANT_LIMIT, "tenant_limit", "its tenant is at its limit of running jobs")         \
    X(BLOCK_NO_POOL_MAPPING, "no_pool_mapping", "its topic is not mapped to a pool")            \
    X(BLOCK_POOL_INACTIVE, "pool_inactive", "its pool accepts no jobs")                         \
    X(BLOCK_NO_WORKERS, "no_workers", "no worker of its pool is attached")                      \
    X(BLOCK_TENANT_WORKERS, "no_tenant_workers", "the workers of its pool serve other tenants") \
    X(BLOCK_CAPABILITY, "capability", "no attached worker has what the job requires")           \
    X(BLOCK_PREFERENCE, "preference", "waiting for the worker or pool that it prefers")         \
    X(BLOCK_OVERLOADED, "pool_overloaded", "all suitable workers are overloaded")               \
    X(BLOCK_CAPACITY, "capacity", "all suitable workers are busy")                              \
    X(BLOCK_QUEUE, "queue", "a worker is free, but other jobs come first")                      \
    X(BLOCK_STOPPING, "stopping", "stop requested; waiting for the worker to confirm")          \
    X(BLOCK_START, "start", "assigned; waiting for the worker to start it")                     \
    X(BLOCK_VERSION, "version", "another version of its service has not stopped yet")           \
    X(BLOCK_HEALTH, "health", "the deployed service is not healthy yet")                        \
    X(BLOCK_STOPPED, "stopped", "its service was stopped by request")                           \
    X(BLOCK_POLICY, "policy", "the policy has changed since it allowed the job: it is asked again before the start")

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
    uint32_t parents_open; /* parents */
    struct job_ref parent; /* of a child: its foreach job; parents: the first open one of its own flow, ordinal
                                  UINT32_MAX = in another flow */
    wall_time until;       /* time, preference, question, rate: when it ends by itself; TIME_NEVER */
    struct slice limit;    /* key_limit, rate_limit: its name */
    question_id question;
    uint32_t worker; /* stopping, start */
    wall_time poll;  /* outside: when it is asked how it is; TIME_NEVER */
};
bool view_why(const struct state *s, const struct live *l, const struct limits *limits, struct job_ref ref,
              struct why_job *ret);

/* BLOCK_CAPABILITY: of the workers that are there for the job, the one that lacks the fewest things it requires. */
enum lack_kind { LACK_CAPABILITY, LACK_LABEL, LACK_CPU, LACK_MEMORY, LACK_GPUS, LACK_RESOURCE };
struct lack {
    enum lack_kind kind;
    struct slice name, value; /* value: of a label */
    uint64_t wanted, offered; /* of an amount; cpu in thousandths */
};
#define LACKS_MAX 4u
struct nearest_view {
    uint32_t worker; /* its number */
    uint32_t count;  /* of all; `lacks` has the first LACKS_MAX */
    struct lack lacks[LACKS_MAX];
};
bool view_nearest(const struct state *s, const struct live *l, const struct limits *limits, struct job_ref ref,
                  struct nearest_view *ret);

/* What the worker says that the job's open attempt waits for, such as room on the server's disk; empty = nothing. */
struct slice view_words(const struct state *s, const struct live *l, struct job_ref ref);
/* How many ready jobs each reason holds back. The first job of a class speaks for all that queue in it; of very many
 * classes only the first are asked, the rest count as BLOCK_QUEUE. */
void view_ready_blocks(const struct state *s, const struct live *l, const struct limits *limits,
                       uint64_t ret[BLOCK_COUNT]);
/* view_why for a service: why it is not running, or not healthy. */
bool view_why_service(const struct state *s, const struct live *l, const struct limits *limits, struct slice tenant,
                      struct slice name, struct why_job *ret);

#endif
