/* titan_gates.h: gates for people that came by Titan's protocol, in step with the keys by which Titan's clients know
 * and decide them. Such a gate is a gate of ours (proto/titan/titan_flow.c); in the store of its tenant it has, as
 * there,
 *
 *     user:titan:hitl:queue        a set: gates that wait
 *     user:titan:hitl:status:ID    WAITING, then APPROVED, REJECTED, TIMEOUT, or CLEARED when it was called off
 *     user:titan:hitl:message:ID   what the person is asked
 *     user:titan:hitl:ts:ID        since when, in ms
 *
 * and, for us alone, while it waits, `titan:gate:ID`: which question these are about.
 *
 *     a question opens   -> WAITING, before anybody who has seen it open can write
 *     APPROVED, REJECTED -> a verdict, in the batch of the change; the first of them counts
 *     a question closes  -> how it ended, before anybody who has seen it closed can read
 *
 * Everything is derived from questions and keys as they are, never from what happened: after a restart all of them are
 * looked at once. See docs/adr/0094. */
#ifndef REEVE_TITAN_GATES_H
#define REEVE_TITAN_GATES_H

#include "arena.h"
#include "effect.h"
#include "vec.h"

struct server;

struct titan_gates {
    struct vec due;     /* struct due (titan_gates.c): what to look at in the next pass */
    bool has_looked;    /* at everything, since the shard was opened */
    bool is_writing;    /* what changes now we change ourselves */
    struct arena arena; /* of one look */
};

void titan_gates_init(struct titan_gates *g);
void titan_gates_fini(struct titan_gates *g);

/* How long an id may be, so that keys can name it. */
size_t titan_gate_id_bytes_max(const struct server *s);

/* For server.c: what leaves the engine, what was changed in the store, and each pass before requests are served. */
void titan_gates_question(struct server *s, const struct question_effect *q);
void titan_gates_event(struct server *s, const struct event *e);
void titan_gates_wrote(struct server *s, const struct command *cmd);
void titan_gates_step(struct server *s);
int64_t titan_gates_next(const struct server *s); /* monotonic; when it wants a pass */

#endif
