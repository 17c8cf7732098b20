/* state.h: the durable state of one shard. Changed by apply alone, rebuilt by replay, compared by digest.
 *
 * Two kinds of members live here. *Facts* are in the digest and in snapshots. *Indices* (marked so) follow from the
 * facts: queues, tables, timers, counters; a snapshot leaves them out and loading builds them anew. Inside, things
 * point at each other by 32-bit pool index; no index ever leaves the process.
 *
 *   tenants ──< flows ──< jobs >── profiles >── classes (queues of ready jobs)
 *                           │          └──────< quotas (concurrency keys, rates)
 *                           │
 *                           ├── runs >── workers        (DISPATCHED, RUNNING)
 *                           └── questions               (HELD, CHECKING)
 */
#ifndef REEVE_STATE_H
#define REEVE_STATE_H

#include "arena.h"
#include "bytes.h"
#include "directory_state.h"
#include "effect.h"
#include "heap.h"
#include "ids.h"
#include "job.h"
#include "map.h"
#include "numset.h"
#include "options.h"
#include "pool.h"
#include "record.h"
#include "rules.h"
#include "service_version.h"
#include "slot_note.h"
#include "store_state.h"
#include "tally.h"
#include "vec.h"
#include "wtime.h"

#define NO_ORDINAL UINT32_MAX

enum job_flag {
    JOBF_TIMED = 1,       /* its time gate was computed: `due` holds, no second delay */
    JOBF_UNTOLD = 2,      /* ended, and its children have not all been visited yet */
    JOBF_DEAD = 4,        /* on the dead-letter list */
    JOBF_FOREIGN = 8,     /* index: has foreign children (flow.foreign) */
    JOBF_PARKED = 16,     /* index: ready, taken out of its queue because its flow may not dispatch */
    JOBF_PREFER_OVER = 32, /* index: its preferences were dropped */
    JOBF_LATE = 64,       /* quarantined after its children were told that it succeeded */
    JOBF_APPROVE = 128,   /* a policy verdict asks for an approval that the spec does not */
};
#define JOBF_FACTS (JOBF_TIMED | JOBF_UNTOLD | JOBF_DEAD | JOBF_LATE | JOBF_APPROVE)

/* What a job is to an expansion (expand.h). Follows from other facts. */
enum part {
    PART_NONE,
    PART_CHILD,  /* one of the children of a foreach job */
    PART_WHOLE,  /* the foreach job itself, while its children may begin */
    PART_ENDING, /* the foreach job, while those of its children that began before it was called off end */
};

struct job {
    uint32_t flow;    /* 0 in a free slot */
    uint32_t ordinal;
    uint32_t profile;
    union {
        uint32_t last_child; /* index: position + 1 in flow.edges of the newest edge; the edges form a ring */
        uint32_t expansion;  /* index: PART_CHILD has no edges: the expansion it is of */
    };
    const uint8_t *text;   /* its message as recorded: u32 length, then rec_job bytes; in the flow's arena, unaligned */
    wall_time since;       /* in this state */
    wall_time due;         /* WAITING with JOBF_TIMED: when it may go on */
    uint32_t parents_open; /* edges not yet satisfied */
    uint32_t next, prev;   /* index: ready queue of its class, parked list, or dead-letter list */
    uint32_t timer;        /* index: position in the timer heap */
    uint32_t link;         /* by state: READY class (index), DISPATCHED/RUNNING run, HELD/CHECKING question */
    uint32_t note;         /* newest of its attempts, attempt_notes.h; 0 = it never had one */
    uint32_t extra;        /* struct extra, 0 = none */
    uint32_t root;         /* ordinal of the job that dragged it down; NO_ORDINAL */
    uint32_t attempt;      /* number of the last attempt */
    uint32_t done_attempt; /* number of the last attempt that ended by its worker's word */
    uint16_t used;         /* failed attempts of the present budget */
    uint8_t state;
    uint8_t cause;
    uint8_t flags;
    uint8_t gates;         /* questions already passed */
    uint8_t part;          /* index: enum part */
};

/* What few jobs have. Slices lie in the flow's arena. */
struct extra {
    uint32_t child_profile; /* of its children, 0 = it is no foreach job */
    uint32_t expansion;    /* index: of a foreach job that got its items */
    uint32_t undo_profile; /* of its compensation, 0 = none */
    uint32_t undoes;       /* index: rec_job.undoes */
    uint32_t runner_profile; /* of what it deploys, 0 = nothing */
    uint32_t memo;         /* struct memo_job of a job with a cache key, 0 = it has none */
    bool entered;          /* index: it is or was in flow.entered */
    struct slice result, result_hash;
    struct slice artifacts; /* rec_artifacts */
    struct slice constraints;
    struct slice body, body_hash; /* rendered */
    uint64_t policy;       /* version that let it pass, or its compensation; 0 = before any was known */
    struct external *external; /* of an external job, once something was begun or said; external.h */
};

enum external_word { WORD_NONE, WORD_DONE, WORD_FAILED, WORD_COUNT };

struct external {    /* what an external job began, see external.h; in the arena of its flow */
    uint32_t begun;  /* the attempt that began it; whatever is said outside is said about this one */
    uint32_t polls;  /* since then */
    wall_time until; /* when it must be over */
    uint8_t word;    /* enum external_word: said while an attempt is open, and counts when that has ended */
    struct slice result, result_hash, reason;
};

/* The children of one foreach job. One that has not begun costs nothing: it is an index not below `next`. One with
 * nothing to tell (its first attempt succeeded and left no result) costs nothing any more: it is below `next`, and not
 * in `made`. All others are jobs with a struct. */
struct expansion {
    uint32_t job;       /* the foreach job; 0 in a free slot */
    uint32_t first;     /* ordinal of child 0 */
    uint32_t count;
    uint32_t next;
    struct slice items; /* hash of the blob with the items, in the flow's arena */
    uint8_t cause;      /* enum job_cause: why those that have not begun are called off; CAUSE_NONE = they are not */
    uint8_t pass;       /* enum sweep: a pass over all children with a struct that is under way */
    uint32_t pass_next;
    uint32_t confirm_ms; /* SWEEP_CANCEL */
    uint32_t again;      /* no child below this index waits for room */
    bool is_open;       /* the foreach job is past its questions and has not ended */
    bool is_busy;       /* index: on the list of its flow */
    uint32_t busy_next; /* index */
    uint32_t under_way; /* index: children that have begun and not ended */
    uint32_t waiting;   /* index: children that were reset and wait for room: WAITING, one parent open */
    uint32_t bad;       /* index: children with a struct that ended, not well */
    struct map made;    /* index: struct job by the index of the child */
};

/* What a flow with foreach jobs has beside the rest. */
struct fan {
    struct u32vec expansions;      /* by first ordinal, which is the order in which they came */
    uint32_t busy_head, busy_tail; /* index: expansions with something to do, ascending */
};

struct edge { /* index: from a job to a child in the same flow */
    uint32_t child; /* ordinal */
    uint32_t next;  /* position + 1 of the next edge of the ring */
};

struct foreign_edge { /* from a job that is still open to one in another flow */
    uint32_t parent;    /* ordinal */
    uint32_t child_ordinal;
    uint64_t child_flow;
};

struct foreign_seen { /* how a parent in another flow ended, told after the child was recorded */
    uint32_t child;     /* ordinal */
    uint32_t parent_ordinal;
    uint64_t parent_flow;
    uint8_t state;
};

enum sweep { SWEEP_NONE, SWEEP_CANCEL, SWEEP_RERUN, SWEEP_RETRY, SWEEP_RESUME, SWEEP_UNWIND, SWEEP_FORGET,
             SWEEP_TIMEOUT, /* calls the main jobs off */
             SWEEP_STAGE,   /* the jobs of the stage begin, those of the other outcome are skipped */
             SWEEP_COUNT };
/* Where a flow that is over waits for leaving memory. */
enum ended { ENDED_NO, ENDED_CLEAN, ENDED_DEAD, ENDED_COUNT };
/* Where a flow is found by its number: by its state, or apart when it is over and waits for a service to let it go. */
enum flow_list_id {
    FLOW_LIST_RUNNING,
    FLOW_LIST_SUCCEEDED,
    FLOW_LIST_FAILED,
    FLOW_LIST_CANCELLED,
    FLOW_LIST_KEPT,
    FLOW_LIST_COUNT,
    FLOW_LIST_NONE = FLOW_LIST_COUNT
};

/* What jobs of a flow have to do with each other. A flow whose jobs have nothing to do with each other, like one of one
 * job, shares the empty one (ADR 0102). */
struct flow_graph {
    struct u32vec work;  /* ordinals, oldest first */
    uint32_t work_head;  /* `work` from here on are jobs whose children must be visited */
    uint32_t work_edge;  /* edges of the first of them that are done */
    uint32_t work_at;    /* index: position + 1 of the next edge to visit, 0 = begin with the first of `work` */
    uint32_t undo_active; /* index: jobs with a compensation that have an open attempt */
    uint64_t undo_bytes;  /* index: of journal, for the attempts of the entered compensations */
    struct u32vec entered; /* ordinals of jobs whose compensation is to run if the flow unwinds, oldest first */
    struct vec foreign;  /* of foreign_edge */
    struct vec seen;     /* of foreign_seen */
    struct vec edges;    /* index: of edge */
    struct lean_index names; /* index; unused below FLOW_INDEX_MIN jobs */
    uint32_t named;      /* index: jobs in `names` so far */
};

struct flow {
    uint64_t id;        /* 0 in a free slot */
    uint32_t tenant;
    uint32_t rules;     /* RULES_VERSION it was born under */
    uint8_t state;      /* enum flow_state */
    bool paused, more, cancelling;
    uint8_t sweep;      /* a pass over all jobs that is under way */
    bool of_service;    /* index: it is a version of a service */
    uint32_t sweep_next;
    uint32_t sweep_root; /* SWEEP_RETRY: whose victims are reset */
    uint32_t sweep_confirm_ms; /* SWEEP_CANCEL */
    union {
        const struct flow_graph *graph; /* to read */
        struct flow_graph *own_graph;   /* for flow_graph_own alone */
    };
    uint8_t unwinding;   /* enum unwinding */
    uint8_t compensate_on; /* enum compensate_on */
    uint32_t upstream_failed; /* index: of the failed jobs those that failed because of another, in what was padding */
    wall_time created, finished;
    const uint8_t *head; /* u32 length, then flow_head bytes, in the arena */
    struct arena arena;  /* everything that lives as long as the flow */
    struct u32vec jobs;  /* pool index by ordinal */
    uint32_t first_job;  /* where `jobs` of a flow of one job lies */
    uint32_t parked;     /* index: first job of the parked list */
    uint32_t working;    /* index: next flow with work, 0 = none or last */
    bool is_working;     /* index: on that list */
    uint8_t ended;       /* index: enum ended */
    uint8_t flow_list;   /* index: enum flow_list_id */
    uint32_t ended_next, ended_prev; /* index: that list */
    uint32_t dead_count; /* index: dead letters in it */
    wall_time settled;   /* index: time and LSN of its end, or of the last dead letter's; after a restore not before */
    uint64_t settled_lsn;
    uint32_t schedule;   /* index: the schedule that made it last of all, 0 = none */
    uint32_t by_state[JOB_STATE_COUNT]; /* index; children count in that of their foreach job */
    uint32_t fan;        /* struct fan, 0 = none */
    uint32_t finale;     /* struct finale, 0 = none; in what was padding */
};
#define FLOW_INDEX_MIN 16u

/* What a flow with a timeout, a deadline or jobs behind its main ones has beside the rest; see finale.h. */
struct finale {
    uint32_t flow;       /* 0 in a free slot */
    uint32_t timer;      /* index */
    int64_t timeout_ms;  /* of the main jobs; 0 = none */
    wall_time began;     /* since when it counts */
    wall_time deadline;  /* 0 = none */
    uint8_t stage;       /* enum flow_stage: where the flow is */
    uint8_t called;      /* which of the two the main jobs called for; FLOW_STAGE_MAIN = neither, or not yet */
    uint8_t cancelled;   /* 1 + the stage in which the flow was cancelled last; 0 = it was not */
    bool timed_out, late;
    bool is_again;       /* the main jobs start again: what followed their last end is reset by the sweep under way */
    uint32_t by_state[JOB_STAGE_COUNT - 1][JOB_STATE_COUNT]; /* index: of the jobs behind the main ones */
};

struct profile {
    struct bytes *key;   /* index key: u32 tenant, then the encoded options */
    struct arena arena;
    struct options options; /* decoded; slices point into key */
    uint32_t tenant;
    uint32_t refs;       /* jobs, and jobs whose compensation has these options */
    uint32_t class_;     /* its ordinary class, made when first needed */
    uint32_t *quotas;    /* what `options.demand` names, in the arena */
    uint32_t quota_count;
};

/* Index: ready jobs that any worker which fits one of them fits all of them. */
struct class_ {
    struct bytes *key;   /* u32 tenant, u32 priority, u8 pin, pin text length and text, demand bytes */
    struct arena arena;
    struct demand demand; /* decoded; slices point into key */
    struct slice pin;     /* a worker id or a pool name */
    uint8_t pin_kind;     /* enum pin */
    uint32_t tenant;
    uint32_t priority;
    uint32_t head, tail;  /* jobs */
    uint32_t count;
    uint32_t refs;        /* profiles */
    uint32_t next, prev;  /* list of classes with ready jobs, or of those that wait for a quota */
    uint32_t held_by;     /* that quota; 0 = it is on the list of the ready */
    uint32_t *quotas;     /* of its demand; kept alive by the profiles of its jobs */
    uint32_t quota_count;
};
enum pin { PIN_NONE, PIN_WORKER, PIN_POOL };

struct run { /* one open attempt */
    uint32_t job;
    uint32_t worker;
    uint32_t next, prev;  /* list of its worker, by fence */
    uint32_t attempt;
    uint8_t stop;         /* enum stop_cause */
    uint64_t fence;       /* LSN of its ASSIGNED */
    uint64_t incarnation; /* of the worker, when assigned */
    wall_time confirm;    /* told to stop: until when the worker may confirm it */
    wall_time assigned, started; /* for its note; 0 under rules that have none, and before */
};

struct attempt_note {     /* one attempt of a job: attempt_notes.h */
    uint32_t is_used;     /* 0 in a free slot */
    uint32_t attempt;
    uint32_t worker;      /* number; 0 = a verdict ended the job, no worker had it */
    uint32_t older;       /* index of the note before; 0 = none, or it left */
    struct bytes *facts;  /* snap_attempt; NULL while it is open, and under rules that have none */
};

struct worker {
    struct bytes *id;     /* NULL in a free slot */
    uint32_t number;      /* never reused */
    struct bytes *record; /* rec_worker as recorded */
    struct arena arena;
    struct worker_info info; /* decoded; slices point into record */
    uint64_t incarnation;
    bool draining;
    bool drains_itself; /* until it attaches anew: one that ended in the middle of it must not stay useless */
    uint32_t first, last; /* index: runs */
    uint32_t active;      /* index */
    uint32_t cpu_milli, gpus; /* index: taken */
    uint64_t memory_bytes;    /* index: taken */
    uint64_t *resources;      /* index: taken, beside info.resources */
};

struct question {
    uint64_t id;
    uint32_t job;
    uint32_t revision;
    uint8_t gate;
    wall_time asked;
    wall_time deadline;  /* TIME_NEVER */
    wall_time again;     /* not to be asked before */
    uint32_t timer;      /* index */
    uint32_t votes;
    uint64_t *voters;    /* hashes of principals, quorum of them, in the flow's arena */
    uint32_t next, prev; /* index: all open ones, by id */
};

struct key {
    struct bytes *text; /* index key: u32 tenant, then the key */
    uint8_t hash[32];
    uint32_t tenant;
    uint64_t flow;
    uint32_t job_count; /* the first answer */
    wall_time expires;
    uint32_t timer;     /* index */
};

struct tenant {
    struct bytes *name;
    uint32_t weight;
    bool paused;
    uint64_t store_keys;  /* index: of its store, flows included */
    uint64_t store_bytes; /* index: what they cost */
    uint32_t running_max;            /* 0 = no limit, so in the next two */
    uint64_t queued_max, bytes_max;
    uint32_t running;                /* index: open attempts */
    uint64_t queued, queued_bytes;   /* index: jobs that have not ended, and their messages */
    uint32_t memo_oldest, memo_newest; /* index: results kept, a list by age */
    uint64_t memo_count, memo_bytes;   /* index: how many, and what they cost */
    uint32_t flows;                    /* index: in memory */
};

/* A limit with a name, of one tenant: a concurrency key or a rate. It lives while it is set or a profile names it. */
struct quota {
    struct bytes *text;   /* index key: u32 tenant, u8 kind, then the name */
    uint32_t tenant;
    uint8_t kind;         /* LIMIT_KEY or LIMIT_RATE */
    bool is_set;          /* else a key is 1 wide and a rate is free */
    uint32_t width;       /* key */
    uint32_t taken;       /* index: open attempts with this key */
    uint64_t rate_milli, burst; /* rate: see rec_limit */
    uint64_t level;       /* rate: what it held at `filled`, in millionths of a token */
    wall_time filled;
    uint32_t refs;        /* index: profiles that name it */
    uint32_t waiting;     /* index: list of classes that it holds */
    uint32_t timer;       /* index: when its next token comes, while a class waits for one */
};

struct pool_ {
    struct bytes *name;
    struct bytes *record; /* rec_pool as recorded; NULL = never set, seen in a spec or at a worker */
    struct arena arena;
    struct tlv_list capabilities;
    uint8_t state;
    bool refuse_overload;
    bool paused;
};

struct topic {
    struct bytes *name;
    struct bytes *record;
    struct arena arena;
    struct tlv_list pools;
};

struct version {
    uint32_t flow;   /* 0 = none */
    uint32_t number; /* counts the deployments of its service */
};

struct health {         /* of the open attempt of a version, by the last word of its worker */
    struct bytes *note; /* why it is not healthy; NULL = nobody said so */
    wall_time since;    /* of that word, or of the end of the attempt */
    uint32_t port;      /* where that attempt listens; 0 = nobody said so */
    bool healthy;
};

/* See service.h. It lives as long as one of its versions does. */
struct service {
    struct bytes *key;    /* index key: u32 tenant, then the name; NULL in a free slot */
    struct health health; /* of the current version */
    uint32_t tenant;
    uint8_t desired;      /* enum service_desired */
    uint16_t flow_count;  /* index: versions that are not forgotten; those that are over are so with their record */
    uint32_t version_last;
    struct version current;  /* what is to run */
    struct version previous; /* what ran before, while a deployment is under way */
    uint32_t retiring;    /* flow of a version that is not to come back and whose worker has not let it go yet */
    uint32_t deployer;    /* the job that deploys the current version; 0 = it is accepted */
    uint32_t beside;      /* struct two_versions; 0 = one version at most has a process */
    struct vec versions;  /* of service_version, by number, at most SERVICE_VERSIONS */
};
_Static_assert(sizeof(struct service) == 96, "what few services need is in struct two_versions");

/* What a service has beside the rest while two of its versions may have a process. */
struct two_versions {
    uint32_t service;     /* 0 in a free slot */
    bool is_open;         /* the previous version runs on until the deployment of the current one is decided */
    struct health health; /* of the previous version, while it does */
    uint32_t retiring;    /* a second version that is not to come back and whose worker has not let it go yet */
};

struct slot_waiting {
    int64_t slot_ms;
    uint8_t fire; /* FIRE_WAITED or FIRE_BACKFILL */
    bool replaces;
};

struct schedule {
    struct bytes *key;    /* index key: u32 tenant, then the name; NULL in a free slot */
    struct bytes *record; /* rec_schedule as recorded */
    struct slice expression, principal, calendar; /* index: point into record */
    uint64_t revision;    /* LSN of the record that last changed which slots are to come */
    uint32_t tenant;
    uint8_t catch_up, overlap;
    bool paused;
    int64_t end_ms;       /* index, as in record */
    int64_t after_ms;     /* every slot up to here was dealt with: none of them fires again by itself */
    int64_t fired_ms;     /* the last slot that fired; 0 = none */
    uint64_t flow;        /* the flow made last; it may be over or gone */
    uint64_t fired, missed, skipped;
    uint64_t excluded;    /* slots on days that its calendar leaves out */
    uint32_t job_count, profile_count, question_count; /* index: of its flows */
    uint64_t job_bytes;     /* index: of its jobs, as kept */
    uint64_t reserve_bytes; /* index: what one of its flows takes of the journal */
    struct vec waiting;   /* of slot_waiting, next first */
    struct vec notes;     /* of slot_note, oldest first, at most SCHEDULE_NOTES */
    uint32_t timer;       /* index */
    uint32_t cause;       /* of causes; 0 = the clock */
};

struct memo_list { /* of memo_job */
    uint32_t head, tail;
};

/* A cache key of a tenant. It lives while a job has the key or a result is kept under it. */
struct memo {
    struct bytes *key;    /* index key: u32 tenant, then the key; NULL in a free slot */
    uint32_t tenant;
    uint32_t refs;        /* index: jobs that have the key */
    struct memo_list waiting; /* index: ready jobs that found nothing here */
    struct job_ref from;  /* whose result is kept; flow 0 = none is, and what follows means nothing */
    wall_time expires;
    struct bytes *result, *result_hash, *artifacts;
    uint32_t timer;       /* index */
    uint32_t older, newer; /* index: the tenant's list */
};

struct memo_job {
    uint32_t job;
    uint32_t memo;        /* of its key */
    uint32_t next, prev;  /* index: `asking`, or the key's `waiting` */
    bool is_listed;       /* index: on one of them */
    bool is_rendered;     /* the key came with the rendered spec, not with the submit */
    struct job_ref from;  /* whose result it was given; flow 0 = it has its own, or none yet */
};

/* What starts the flows of a schedule in place of the clock; see key_cause.h. */
struct key_cause {
    struct bytes *text;  /* index key: u32 tenant, u8 prefix or not, then the key; NULL in a free slot */
    uint32_t schedule;
    uint32_t next;       /* index: causes with the same text */
    uint32_t first, last; /* key_change that wait, in order */
    uint32_t count;      /* index: of them */
    uint8_t when;        /* index, as in record: KEY_ bits, none of them 0 */
    bool own;            /* index, as in record */
    int64_t start_ms, min_interval_ms; /* index, as in record */
    int64_t started_ms;  /* when it last made a flow; 0 = never */
};

struct key_change {
    struct bytes *text; /* index key: u32 cause, then the key; NULL in a free slot */
    uint32_t next, prev;
    uint32_t count;     /* changes since it began to wait */
    uint8_t how;        /* KEY_ bits that count, of the last of them */
    uint64_t version;   /* of the key after it; 0 = it was gone */
    int64_t changed_ms; /* when that was */
};

struct causes {
    struct pool all, changes;
    struct index by_text, change_by_text;
    struct u32vec prefix_lengths; /* index: how many causes are a prefix of that length */
};

enum timer_kind { TIMER_JOB, TIMER_QUESTION, TIMER_KEY, TIMER_QUOTA, TIMER_ITEM, TIMER_SCHEDULE, TIMER_MEMO,
                  TIMER_FLOW };

struct state {
    uint32_t shard;
    uint64_t epoch;
    uint64_t lsn;       /* of the last record applied */
    wall_time now;      /* of the last batch */
    uint64_t seed;      /* of the last batch; not a fact */
    uint32_t rules;     /* of the last batch: flows born now keep them; not a fact */
    uint64_t flow_last; /* numbers handed out */
    uint64_t question_last;
    uint32_t worker_last;
    uint64_t policy;    /* version in force; 0 = none was told */
    uint64_t history_lsn; /* flows left memory because the history was durable up to here; 0 = none did */
    uint64_t tally[TALLY_COUNT]; /* enum tally */
    struct checkpoint checkpoint; /* the newest; nothing follows from it */

    struct pool flows, jobs, extras, profiles, classes, runs, workers, questions, keys, tenants, pools, topics;
    struct store store;
    struct pool quotas;
    struct pool services, besides;
    struct pool expansions, fans, finales;
    struct pool schedules;
    struct causes causes;
    struct pool memos, memo_jobs;
    struct pool notes;
    struct directory directory;

    /* Indices from here on. */
    struct map flow_by_id, question_by_id, worker_by_number;
    struct index profile_by_key, class_by_key, key_by_text, worker_by_id, tenant_by_name, pool_by_name, topic_by_name;
    struct index quota_by_text;
    struct index service_by_name;
    struct map service_by_flow; /* by id of the flow */
    struct map leaving_by_id; /* flows that are no longer in flow_by_id and not yet freed */
    struct u32vec buried;     /* flows that are gone (their id is 0) and have memory to give back */
    struct ended_list { uint32_t head, tail, count; } ended[ENDED_COUNT];
    struct numset flow_lists[FLOW_LIST_COUNT]; /* numbers of the flows in flow_by_id */
    struct index schedule_by_name;
    struct map schedule_by_revision;
    struct index memo_by_key;
    struct memo_list asking;  /* jobs with a cache key that became ready or succeeded since decide last looked */
    struct heap timers;
    uint32_t flow_recent, worker_recent, profile_recent, tenant_recent; /* of the last record */
    uint32_t ready_classes;          /* list of classes with ready jobs */
    uint32_t working_head, working_tail; /* flows with work left, oldest first */
    uint32_t fresh_head, fresh_tail;     /* flows that the present record gave work */
    uint32_t unwind_head;                /* flows of the present record that unwind when all cascades are through */
    struct u32vec deploying;             /* jobs of the present record that deploy when nothing unwinds any more */
    uint32_t dead_head, dead_tail;   /* dead-letter list */
    uint32_t question_head, question_tail;
    uint64_t dead_count;
    uint64_t by_state[JOB_STATE_COUNT];
    uint64_t reserved_bytes;
    uint64_t placement; /* rises whenever workers, pools or topics change */

    struct effects *effects; /* where apply puts what happens; NULL during replay */
    uint32_t event_ordinal;  /* events of the present record */
    uint32_t budget;         /* jobs the present record may still visit */
    int64_t ended_ago_ms;    /* of the attempt that the present record ends; else 0 */
    struct arena scratch;    /* of the present record */
    struct buf head_bytes;   /* room to encode a flow_head, kept from one submit to the next */
};

/* Bytes of journal that one attempt may still need: assigned, started, stopping, ended without a result. */
#define ATTEMPT_RECORD_BYTES 256u

/* What is kept of a submit beside its jobs. */
struct flow_head {
    struct slice name, principal, trace;
    struct tlv_list labels;
    struct slice schedule; /* that made it; empty = a submit did */
    int64_t slot_ms;
    struct slice zone; /* of the slot; empty = UTC */
    struct flow_source source;
    struct flow_cause cause;
};
extern const struct tlv_desc flow_head_desc;

void state_init(struct state *s, uint32_t shard);
void state_fini(struct state *s);
size_t state_bytes(const struct state *s);

static inline struct key_cause *cause_at(const struct causes *c, uint32_t i) { return pool_at(&c->all, i); }
static inline struct key_change *change_at(const struct causes *c, uint32_t i) { return pool_at(&c->changes, i); }
static inline struct flow *flow_at(const struct state *s, uint32_t i) { return pool_at(&s->flows, i); }
static inline struct job *job_at(const struct state *s, uint32_t i) { return pool_at(&s->jobs, i); }
static inline struct extra *extra_at(const struct state *s, uint32_t i) { return pool_at(&s->extras, i); }
static inline struct profile *profile_at(const struct state *s, uint32_t i) { return pool_at(&s->profiles, i); }
static inline struct class_ *class_at(const struct state *s, uint32_t i) { return pool_at(&s->classes, i); }
static inline struct run *run_at(const struct state *s, uint32_t i) { return pool_at(&s->runs, i); }
static inline struct worker *worker_at(const struct state *s, uint32_t i) { return pool_at(&s->workers, i); }
static inline struct question *question_at(const struct state *s, uint32_t i) { return pool_at(&s->questions, i); }
static inline struct key *key_at(const struct state *s, uint32_t i) { return pool_at(&s->keys, i); }
static inline struct tenant *tenant_at(const struct state *s, uint32_t i) { return pool_at(&s->tenants, i); }
static inline struct pool_ *pool_entry(const struct state *s, uint32_t i) { return pool_at(&s->pools, i); }
static inline struct quota *quota_at(const struct state *s, uint32_t i) { return pool_at(&s->quotas, i); }
static inline struct service *service_at(const struct state *s, uint32_t i) { return pool_at(&s->services, i); }
static inline struct two_versions *beside_at(const struct state *s, uint32_t i) { return pool_at(&s->besides, i); }
static inline struct topic *topic_at(const struct state *s, uint32_t i) { return pool_at(&s->topics, i); }

static inline struct expansion *expansion_at(const struct state *s, uint32_t i) { return pool_at(&s->expansions, i); }
static inline struct fan *fan_at(const struct state *s, uint32_t i) { return pool_at(&s->fans, i); }
static inline struct finale *finale_at(const struct state *s, uint32_t i) { return pool_at(&s->finales, i); }
static inline struct schedule *schedule_at(const struct state *s, uint32_t i) { return pool_at(&s->schedules, i); }
static inline struct memo *memo_at(const struct state *s, uint32_t i) { return pool_at(&s->memos, i); }
static inline struct attempt_note *attempt_note_at(const struct state *s, uint32_t i) {
    return pool_at(&s->notes, i);
}
static inline struct memo_job *memo_job_at(const struct state *s, uint32_t i) { return pool_at(&s->memo_jobs, i); }

static inline const struct options *job_options(const struct state *s, const struct job *j) {
    return &profile_at(s, j->profile)->options;
}
/* Ordinal + 1 of the job that this one is the compensation of; 0 = it is none. */
static inline uint32_t job_undoes(const struct state *s, const struct job *j) {
    return j->extra ? extra_at(s, j->extra)->undoes : 0;
}
uint32_t expand_find_child(const struct state *s, const struct flow *f, uint32_t ordinal); /* expand.h */
static inline uint32_t flow_find(const struct state *s, flow_id id) {
    uint32_t recent = s->flow_recent;
    if (recent && flow_at(s, recent)->id == id.v) return recent;
    return map_get(&s->flow_by_id, id.v);
}
/* Pool index of a job, 0 when there is no such flow or ordinal, or when it is a child without a struct. */
static inline uint32_t job_find(const struct state *s, struct job_ref ref) {
    uint32_t f = flow_find(s, ref.flow);
    if (f == 0) return 0;
    const struct flow *flow = flow_at(s, f);
    if (ref.ordinal < flow->jobs.count) return flow->jobs.at[ref.ordinal];
    return flow->fan ? expand_find_child(s, flow, ref.ordinal) : 0;
}
static inline struct job_ref job_ref_of(const struct state *s, const struct job *j) {
    return (struct job_ref){{flow_at(s, j->flow)->id}, j->ordinal};
}

#endif
