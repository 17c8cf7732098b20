/* simnet.h: messages between the nodes of a world, on a network that loses, repeats, delays, reorders and parts
 * them.
 *
 * A message is built once in its own arena and never changed after it was sent, so a repeated one shares its bytes.
 * Nothing is reliable but this: a message that arrives is one that was sent, and what the server sends to a worker on
 * one connection (session) arrives in order and without gaps, as on a stream: after a loss nothing more comes through.
 * The promise about exclusive jobs needs that: a DROP may not be overtaken by the answer to ATTACH. Node 0 is the
 * server. */
#ifndef REEVE_SIMNET_H
#define REEVE_SIMNET_H

#include "arena.h"
#include "command.h"
#include "effect.h"
#include "limit.h"
#include "rng.h"
#include "view.h"

struct world;

#define NET_NODES_MAX 12u
#define NET_SERVER 0u

enum msg_kind { MSG_COMMAND, MSG_ANSWER, MSG_ASSIGN, MSG_STOP, MSG_DROP, MSG_QUESTION };

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
    uint8_t job_kind;
    struct job_ref job;
};

struct msg {
    struct msg *next, *prev; /* all messages of a world */
    uint32_t refs;
    enum msg_kind kind;
    uint32_t from, to;
    uint64_t session; /* connection of a worker it belongs to; later ones make it void */
    uint64_t request; /* of its sender; comes back in the answer */
    bool stale;       /* sent again by a worker that lives in the past: not bound to a session */
    struct arena arena;

    struct command cmd;
    enum read_kind read;
    flow_id read_flow;
    struct slice keys[READ_KEYS_MAX]; /* READ_STORE, and in its answer */
    uint32_t key_count;
    struct seen_item items[READ_KEYS_MAX];

    enum command_kind asked; /* answers: what was asked */
    uint64_t call;           /* answers: number of the asking, unique in a run */
    uint64_t lsn;            /* answers: of the state they were computed from */
    bool told;               /* answers: have arrived once */
    struct reply reply;
    bool found; /* answer to a READ_FLOW: it was there */
    struct seen_job *jobs;
    uint32_t job_count;
    struct seen_question *questions;
    uint32_t question_count;

    uint64_t epoch; /* of the server that sent it */
    struct attempt_effect attempt;
    struct slice body;
    bool exclusive;
};

struct stream { /* from the server to a worker */
    uint64_t session;
    bool broken;
};

struct simnet {
    struct world *w;
    struct rng rng;
    struct msg *first;
    bool cut[NET_NODES_MAX][NET_NODES_MAX]; /* from, to */
    int64_t last_us[NET_NODES_MAX][NET_NODES_MAX];
    struct stream streams[NET_NODES_MAX]; /* by worker */
};

void simnet_init(struct simnet *n, struct world *w, struct rng rng);
void simnet_fini(struct simnet *n);
struct msg *simnet_msg(struct simnet *n, enum msg_kind kind, uint32_t from, uint32_t to);
void simnet_unref(struct simnet *n, struct msg *m);
void simnet_send(struct simnet *n, struct msg *m); /* takes over the caller's reference */
void simnet_part(struct simnet *n);                /* cuts some nodes off, in one direction or both */
void simnet_heal(struct simnet *n);

#endif
