/* event_blocks.h: events as the bytes that clients get. A block is a run of events; what a client of some form gets
 * for them is made when the first one asks and shared by all: who wants everything is sent the block as it is, who
 * wants some of it the pieces that concern it.
 *
 * A tape is the latest blocks, in order and without holes. */
#ifndef REEVE_EVENT_BLOCKS_H
#define REEVE_EVENT_BLOCKS_H

#include "dialect.h"
#include "event_view.h"
#include "vec.h"

#define TAPE_BLOCK_EVENTS 256u

/* Which words, in which frames. Another kind of client is another line here. */
/*     form            dialect              frame */
#define TAPE_FORM_TABLE(X)                      \
    X(TAPE_WEBSOCKET,  &eventjson_dialect,  TAPE_FRAME_WEBSOCKET) \
    X(TAPE_SSE,        &eventjson_dialect,  TAPE_FRAME_SSE)

enum tape_form {
#define X(form, dialect, frame) form,
    TAPE_FORM_TABLE(X)
#undef X
    TAPE_FORM_COUNT
};

enum tape_frame {
    TAPE_FRAME_WEBSOCKET, /* a text message each */
    TAPE_FRAME_SSE,       /* id:, event:, data: */
};

const struct dialect *tape_dialect(enum tape_form form);
/* Puts one message into its frame; nothing for an empty one. `at` may be NULL: it has no position. */
void tape_frame_put(enum tape_form form, const char *type, const struct position *at, struct slice text,
                    struct buf *out);

/* ---- blocks ---- */

struct tape_block;

struct tape_block *tape_block_new(void);
void tape_block_free(struct tape_block *b);
void tape_block_add(struct tape_block *b, const struct notice *n); /* words are copied; at most TAPE_BLOCK_EVENTS */
uint32_t tape_block_count(const struct tape_block *b);
bool tape_block_is_full(const struct tape_block *b);
const struct notice *tape_block_at(const struct tape_block *b, uint32_t i);
struct position tape_block_last(const struct tape_block *b); /* not empty */
/* The bytes of the events from `first` up to `end`, valid until the block grows or is freed. */
struct slice tape_block_bytes(struct tape_block *b, enum tape_form form, uint32_t first, uint32_t end);

/* ---- the tape ---- */

struct tape {
    struct vec blocks;    /* struct tape_block * */
    uint64_t first, next; /* numbers of the first event, and of the one behind the last */
};

void tape_init(struct tape *t);
void tape_fini(struct tape *t);
void tape_clear(struct tape *t, uint64_t next); /* empty; the next event has this number */
void tape_push(struct tape *t, const struct notice *n);
/* The block with event `number`, and its place in there; NULL = it is not on the tape. */
struct tape_block *tape_find(const struct tape *t, uint64_t number, uint32_t *ret_index);
void tape_trim(struct tape *t, uint64_t number); /* blocks that end at or before it */

#endif
