/* simmsg.h: what a client wants, in the words of core/model/command.h, and what it was answered. Clients think in
 * these; simwire turns them into frames and frames into them. Built once in its own arena, never changed after it was
 * sent. */
#ifndef REEVE_SIMMSG_H
#define REEVE_SIMMSG_H

#include "arena.h"
#include "command.h"
#include "effect.h"
#include "limit.h"
#include "view.h"

struct world;

/* What a CMD_READ wants to see; the answer holds it as it was when the command was decided. */
enum read_kind { READ_NOTHING, READ_FLOW, READ_QUESTIONS, READ_DEAD, READ_STORE };

#define READ_KEYS_MAX 4u

struct seen_item { /* of the store */
    bool found;
    struct slice value; /* as trace_store_item has it */
    uint64_t version;
    int64_t expires_ms;
};

struct seen_job { /* also used for dead letters */
    struct job_ref ref;
    enum job_state state;
};

struct seen_question {
    question_id id;
    uint32_t revision;
    enum gate gate;
    struct slice hash;
    struct job_ref job;
};

struct msg {
    struct msg *next, *prev; /* all messages of a world */
    uint32_t refs;
    uint32_t node;    /* of the client */
    uint64_t request; /* of the client's own count; comes back in the answer; 0 = nobody waits */
    struct arena arena;

    struct command cmd;
    bool is_inside; /* for a part of the server to say: it goes by the back door */
    enum read_kind read;
    flow_id read_flow;
    struct slice keys[READ_KEYS_MAX]; /* READ_STORE, and in its answer */
    uint32_t key_count;
    struct seen_item items[READ_KEYS_MAX];

    /* of an answer */
    enum command_kind asked;
    uint64_t call; /* number of the asking, unique in a run; 0 = it was not decided at all */
    uint64_t lsn;  /* of the state it was computed from */
    struct reply reply;
    bool found; /* to a READ_FLOW: it was there */
    bool told;  /* about the store: the judges know of the asking */
    struct seen_job *jobs;
    uint32_t job_count;
    struct seen_question *questions;
    uint32_t question_count;
};

struct msgs { /* all of them */
    struct msg *first;
};

struct msg *simmsg_new(struct msgs *all, uint32_t node);
struct msg *simmsg_ref(struct msg *m);
void simmsg_unref(struct msgs *all, struct msg *m); /* fine with NULL */
void simmsg_fini(struct msgs *all);

#endif
