/* dialect.h: how a connection speaks. The server knows dialects by this table and by nothing else; which there are is
 * listed in assembly/dialects.c.
 *
 * A request goes through a dialect twice: `received` finds a whole one in the bytes that come and puts an entry for it
 * into its lane (session_enqueue); `decode` makes the message of it when it is served. The bytes stay where they came
 * until then, so a request is decoded once. What answers it goes through the dialect once: `tell` for a message that
 * may leave now; `make` and `made` for an answer that is made now and leaves when the state that it tells of is
 * durable; `frames` for several messages that were held as frames of the wire. */
#ifndef REEVE_DIALECT_H
#define REEVE_DIALECT_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "net.h"
#include "slice.h"
#include "sniff.h"
#include "vec.h"
#include "wire.h"

struct arena;
struct event_stream_ops;
struct lane_entry;
struct request;
struct request_row;
struct sample;
struct server;
struct session;
struct store_effect;

#define SNIFF_BIT(what) (1u << (what))

struct dialect_ops {
    const char *name;    /* in messages */
    uint8_t spoken;      /* enum spoken: in records */
    uint32_t first;      /* first bytes that choose it, as SNIFF_BITs; 0 = its listener speaks nothing else */
    uint32_t misfits;    /* first bytes that nobody at the listener speaks, and that it answers */
    bool on_shared_port; /* first bytes choose it there; else it has a listener of its own */

    /* A session begins to speak it. Sets n->dialect_state. False: the session was ended. */
    bool (*open)(struct server *s, struct session *n);
    void (*closed)(struct server *s, struct session *n); /* the session goes: what hangs on it is freed */

    /* ---- in ---- */

    /* Bytes came, behind those that wait in n->in. The session may be gone afterwards. */
    void (*received)(struct server *s, struct session *n, struct slice bytes);
    /* The message of a request whose turn has come, into r->message; memory is r->arena. False: it was refused, which
     * was said, or nobody waits for it any more. NULL = it puts nothing into lanes. */
    bool (*decode)(struct server *s, const struct lane_entry *e, struct request *r);

    /* ---- out; the session stays ---- */

    void (*tell)(struct server *s, struct session *n, enum wire_op op, uint8_t flags, uint32_t request,
                 const void *message);
    void (*frames)(struct server *s, struct session *n, struct slice frames);
    /* The whole answer to a request, valid until something else is made. False or NULL: it is held as a frame. */
    bool (*make)(struct server *s, struct session *n, uint32_t request, enum wire_op op, const void *message,
                 struct slice *ret);
    void (*made)(struct server *s, struct session *n, uint32_t request, struct slice made);
    const struct event_stream_ops *events; /* how events are told (event_stream.h); NULL = as messages of the wire */
    /* A key changed, or a message was published, that the session watches by this number. NULL = as a message. */
    void (*changed)(struct server *s, struct session *n, uint64_t watch, const struct store_effect *x);
    /* The last words before the session is ended. */
    void (*refuse)(struct server *s, struct session *n, uint32_t request, enum err e, const char *text);
    void (*misfit)(struct server *s, struct session *n, const char *text); /* the same for first bytes of `misfits` */
    /* Everything that was sent is out; `resumes`: the session was not read until now. NULL = does not care. */
    void (*drained)(struct server *s, struct session *n, bool resumes);

    /* ---- about a session; NULL = none, no ---- */

    bool (*is_idle)(const struct session *n);          /* between two requests, each of which says who it is of */
    uint64_t (*memory_bytes)(const struct session *n); /* held for it, beside n->in and the lanes */
    uint64_t (*part_bytes)(const struct session *n);   /* of a request that has not come as a whole, beside n->in */

    /* ---- about all of them; NULL = nothing ---- */

    void (*measure)(const struct server *s, struct sample *ret);
    /* What a worker can, as this dialect's jobs ask for it: its capabilities and more. False: nothing more. */
    bool (*capabilities)(const struct server *s, struct arena *a, const struct wire_worker_info *w,
                         struct tlv_list *ret);

    /* A question of its own, which no other dialect asks: its opcode and its row (requests.h); NULL = none. */
    uint8_t own_op;
    const struct request_row *own_row;
};

/* What a dialect has for all its connections is the state of a part of the server (part.h), which it brings along. How
 * it is set up is its own affair, too: the program gives the server a list, and the dialect finds its line in it. */
struct dialect_setting {
    const struct dialect_ops *dialect; /* NULL = the end of the list */
    const void *options;               /* of the dialect's own type */
};
const void *dialect_options(const struct server *s, const struct dialect_ops *d); /* NULL = it has none */

/* All of them; the last is NULL. */
extern const struct dialect_ops *const server_dialects[];

#endif
