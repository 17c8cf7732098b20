/* effect.h: what leaves the engine, after it is durable. Effects are hints: whatever a crash swallowed is derived again
 * from the state by resume, so the receiver must take any of them twice. */
#ifndef REEVE_EFFECT_H
#define REEVE_EFFECT_H

#include "bytes.h"
#include "command.h"
#include "wtime.h"

enum effect_kind {
    EFFECT_ANSWER,   /* to the sender of a command */
    EFFECT_EVENT,    /* something happened, for projections and watchers; lost ones are read again from the journal */
    EFFECT_ASSIGN,   /* send the attempt to its worker */
    EFFECT_STOP,     /* tell the worker to stop the attempt (TERM, grace, KILL) and to confirm with DONE */
    EFFECT_DROP,     /* tell the worker that an attempt it holds is not, or no longer, its own: kill it, no answer */
    EFFECT_QUESTION, /* a question is open; someone outside must answer */
    EFFECT_CHANGED,   /* a key of the store that someone watches changed; lost with the watches in a crash */
    EFFECT_PUBLISHED, /* a message on a channel that someone watches */
    EFFECT_SLOTS_WANTED, /* a schedule needs its next slots: CMD_SCHEDULE_SLOTS */
    EFFECT_TOKEN_ENDED,  /* whoever came with the token has to go */
};
#define EFFECT_KIND_COUNT (EFFECT_TOKEN_ENDED + 1)

enum event_kind {
    EVENT_FLOW, /* submitted, grown, finished, … : `flow_state` */
    EVENT_JOB,  /* moved from one state to another */
    EVENT_WORKER,
    EVENT_SERVICE, /* its current version, `job`, became healthy or no longer is */
};

enum flow_state { FLOW_RUNNING, FLOW_SUCCEEDED, FLOW_FAILED, FLOW_CANCELLED, FLOW_STATE_COUNT };
extern const char *const flow_state_words[];

/* Why a flow is told of, beside its state. */
enum flow_news { NEWS_NONE, NEWS_STAGE /* it is in another stage */, NEWS_TIMED_OUT, NEWS_LATE };

struct event { /* its position in the journal is (effect.lsn, effect.ordinal) */
    enum event_kind kind;
    struct job_ref job;
    enum job_state from, to;
    enum job_cause cause;
    uint32_t attempt;
    enum flow_state flow_state;
    enum flow_news news;
    enum flow_stage stage; /* NEWS_STAGE */
    wall_time time;
    int64_t due_ms; /* of a retry */
    bool healthy;   /* of a service */
    uint32_t worker; /* of a worker: its number, see view_worker */
    bool draining, gone; /* of a worker: how it is now */
};

struct attempt_effect {
    uint32_t worker; /* its number, see view_worker */
    uint64_t incarnation;
    struct job_ref job;
    uint32_t attempt;
    uint64_t fence; /* rises over all attempts of all jobs */
    enum stop_cause stop;
};

struct question_effect {
    question_id question;
    uint32_t revision;
    enum gate gate;
    struct job_ref job;
};

/* To whom: engine_watchers. Slices are valid until the next effect is taken. */
struct store_effect {
    struct slice tenant;
    flow_id flow;        /* 0 = the tenant's own namespace */
    struct slice key;    /* or channel; empty: the whole namespace is gone */
    uint64_t version;    /* changed: of the new value; 0 = it is gone */
    struct slice body;   /* published */
    struct bytes *owned; /* key and body */
};

struct slots_effect {
    uint64_t revision; /* names the schedule: view_schedule_revision */
    int64_t after_ms;
    int64_t until_ms; /* no slot after this; TIME_NEVER */
    uint32_t most; /* how many slots may be named */
};

struct effect {
    enum effect_kind kind;
    uint32_t ordinal; /* among the events of its record */
    uint64_t lsn;     /* of the record it comes from; for an answer: of the state it was computed from */
    union {
        struct {
            uint64_t token;
            const struct reply *reply;
        } answer;
        struct event event;
        struct attempt_effect attempt; /* assign, stop, drop */
        struct question_effect question;
        struct store_effect store; /* changed, published */
        struct slots_effect slots;
        char token_id[TOKEN_ID_BYTES]; /* token_ended */
    } as;
};

#endif
