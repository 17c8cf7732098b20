/* event_blocks.h: events as the bytes that clients get. A block is a run of events; what a client of some form gets
 * for them is made when the first one asks and shared by all: who wants everything is sent the block as it is, who
 * wants some of it the pieces that concern it.
 *
 * A tape is the latest blocks, in order and without holes. */
#ifndef REEVE_EVENT_BLOCKS_H
#define REEVE_EVENT_BLOCKS_H

#include "event_view.h"
#include "event_wording.h"
#include "vec.h"

#define EVENT_BLOCK_EVENTS 256u

/* Which words, in which frames. Another kind of client is another line here. */
/*     form            wording              frame */
#define EVENT_FORM_TABLE(X)                                               \
    X(EVENT_FORM_WEBSOCKET, &event_format_wording, EVENT_FRAME_WEBSOCKET) \
    X(EVENT_FORM_SSE, &event_format_wording, EVENT_FRAME_SSE)

enum event_form {
#define X(form, wording, frame) form,
    EVENT_FORM_TABLE(X)
#undef X
        EVENT_FORM_COUNT
};

enum event_frame {
    EVENT_FRAME_WEBSOCKET, /* a text message each */
    EVENT_FRAME_SSE,       /* id:, event:, data: */
};

const struct event_wording *event_blocks_wording(enum event_form form);
/* Puts one message into its frame; nothing for an empty one. `at` may be NULL: it has no position. */
void event_frame_put(enum event_form form, const char *type, const struct position *at, struct slice text,
                     struct buf *out);

/* ---- blocks ---- */

struct event_block;

struct event_block *event_block_new(void);
void event_block_free(struct event_block *b);
void event_block_add(struct event_block *b,
                     const struct event_view *n); /* words are copied; at most EVENT_BLOCK_EVENTS */
uint32_t event_block_count(const struct event_block *b);
bool event_block_is_full(const struct event_block *b);
const struct event_view *event_block_at(const struct event_block *b, uint32_t i);
struct position event_block_last(const struct event_block *b); /* not empty */
/* The bytes of the events from `first` up to `end`, valid until the block grows or is freed. */
struct slice event_block_bytes(struct event_block *b, enum event_form form, uint32_t first, uint32_t end);

/* ---- the tape ---- */

struct event_blocks {
    struct vec blocks;    /* struct event_block * */
    uint64_t first, next; /* numbers of the first event, and of the one behind the last */
};

void event_blocks_init(struct event_blocks *t);
void event_blocks_fini(struct event_blocks *t);
void event_blocks_clear(struct event_blocks *t, uint64_t next); /* empty; the next event has this number */
void event_blocks_push(struct event_blocks *t, const struct event_view *n);
/* The block with event `number`, and its place in there; NULL = it is not on the tape. */
struct event_block *event_blocks_find(const struct event_blocks *t, uint64_t number, uint32_t *ret_index);
void event_blocks_trim(struct event_blocks *t, uint64_t number); /* blocks that end at or before it */

#endif
