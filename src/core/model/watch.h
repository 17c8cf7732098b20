/* watch.h: who wants to hear of changes in the store and of messages on channels. Volatile, part of live.h: a watch
 * ends with its session or with the process, and whoever watches again reads first.
 *
 * A watch is of one key or channel, or of all that begin with a prefix, in one namespace. What happens leaves the
 * engine as one effect, if anyone watches; watches_each then tells whom to send it to, so that a thousand watchers cost
 * the engine no more than one. */
#ifndef REEVE_WATCH_H
#define REEVE_WATCH_H

#include <stdbool.h>

#include "bytes.h"
#include "ids.h"
#include "map.h"
#include "pool.h"
#include "record.h"
#include "slice.h"

enum watch_kind { WATCH_KEY, WATCH_CHANNEL, WATCH_KIND_COUNT };

struct watch {
    struct bytes *text;  /* kind, prefix or not, namespace, pattern; NULL in a free slot */
    uint64_t session;
    uint64_t id;         /* chosen by the session, unique in it */
    uint32_t next, prev; /* watches of the same text */
    uint32_t next_own, prev_own; /* of the same session */
};

struct watch_session {
    uint64_t number;
    uint32_t first; /* watch */
    uint32_t count;
};

struct watches {
    struct pool all;      /* of watch */
    struct pool sessions; /* of watch_session */
    struct index by_text; /* first watch of each text */
    struct map by_session;
    struct map by_flow; /* how many watch something in the namespace of a flow */
    uint32_t prefix_lengths[WATCH_KIND_COUNT][STORE_KEY_BYTES_MAX + 1]; /* how many watch a prefix of that length */
};

struct watch_where { /* a namespace */
    struct slice tenant;
    flow_id flow;
};

void watches_init(struct watches *w);
void watches_fini(struct watches *w);
void watches_add(struct watches *w, uint64_t session, uint64_t id, enum watch_kind kind, struct watch_where where,
                 struct slice pattern, bool prefix);
void watches_remove(struct watches *w, uint64_t session, uint64_t id); /* nothing happens when there is none */
void watches_end(struct watches *w, uint64_t session);
bool watches_has(const struct watches *w, uint64_t session, uint64_t id);
uint32_t watches_of(const struct watches *w, uint64_t session);

/* Each watch that a change of this key, or a message on this channel, is for. A change without a key is the end of a
 * whole namespace and reaches all who watch any key of it. Returns how many there are; `each` may be NULL. */
typedef void (*watch_fn)(void *ctx, uint64_t session, uint64_t id);
uint32_t watches_each(const struct watches *w, enum watch_kind kind, struct watch_where where, struct slice text,
                      watch_fn each, void *ctx);

#endif
