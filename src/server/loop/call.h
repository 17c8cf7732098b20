/* call.h: requests on their way through the engine. A request about several things is several commands, each with a
 * token of its own; its answer is put together from theirs and leaves when the last of them may.
 *
 * A refusal that follows from the state (no such flow) is gated like everything else: it rides on a CMD_READ. */
#ifndef REEVE_CALL_H
#define REEVE_CALL_H

#include "arena.h"
#include "bytes.h"
#include "command.h"
#include "effect.h"
#include "net.h"
#include "requests.h"
#include "wire.h"

struct shard;

#define CALL_PARTS_MAX (1u << 20)

struct part { /* what became of one thing of a request */
    enum err err;
    bool refused; /* before the engine saw it */
    bool repeated;
    uint32_t job_count;
    flow_id flow;
    int64_t number;
    uint64_t version;
    uint32_t lease_ms;
    struct slice text;   /* of a refusal */
    struct slice target; /* as the request named it */
    struct wire_attempt attempt;
};

struct call {
    uint64_t number; /* first: never 0 while in use */
    conn_id conn;
    uint32_t request;
    uint8_t op;
    uint32_t part_count, answered;
    struct part one; /* the only part, mostly */
    struct part *parts;
    struct arena arena;
    bool is_read;
    bool is_made;       /* what is held are no frames, but what its dialect has made of the answer */
    bool is_list;       /* its answer lists what became of each, also of one alone */
    bool more;          /* and there are others */
    struct bytes *held; /* of a read: the frames, made when it was decided; perhaps none */
    uint64_t sent_ms;   /* of a heartbeat */
};

/* NULL: too many are under way, and the request was answered so. */
struct call *call_open(struct server *s, const struct request *r, uint32_t part_count);
/* Gives the command of one part to the engine, with the caller's name and tenant. Returns what was decided. */
enum err call_command(struct server *s, const struct request *r, struct call *c, uint32_t part, struct command *cmd);
void call_refuse(struct server *s, const struct request *r, struct call *c, uint32_t part, enum err e,
                 const char *text);
/* The answer of a read: frames made from the present state, held until that is durable. */
void call_read(struct server *s, const struct request *r, struct call *c, struct slice frames);
/* The same for an answer of one message, made at once into what the caller's dialect sends. */
void call_show(struct server *s, const struct request *r, enum wire_op op, const void *message);
/* The answer to the command of this call that the engine was just given: made now, sent when that is durable. If it was
 * refused, the refusal is said instead. */
void call_hold(struct server *s, const struct request *r, struct call *c, enum wire_op op, const void *message);
/* The same for an answer that is there already, as the caller's dialect sends it. */
void call_hold_made(const struct request *r, struct call *c, struct slice made);
/* A call with one part that is refused; for requests that found out before they opened one. */
void call_fail(struct server *s, const struct request *r, enum err e, const char *text);

void call_answered(struct shard *h, uint64_t token, uint64_t lsn, const struct reply *reply);
void call_free_all(struct shard *h);

#endif
