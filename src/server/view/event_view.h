/* event_view.h: an event with its words: what is told of it, and what decides whom it concerns. Made from an effect and
 * the state it happened in: the server's for what happens now, another one for the past told again
 * (event_replay.h). As bytes it goes through the pipe of the process that does that. */
#ifndef REEVE_EVENT_VIEW_H
#define REEVE_EVENT_VIEW_H

#include "effect.h"
#include "state_view.h"
#include "position.h"

struct event_view {
    struct wire_event event;
    enum event_kind kind;
    uint64_t flow;    /* 0 = of none */
    uint32_t ordinal; /* of its job; UINT32_MAX = of the flow as a whole */
    struct slice tenant;
};

/* Words are in the lens's arena, or lie in the state. */
void event_view_make(const struct state_view *l, const struct effect *e, struct event_view *ret);
struct position event_view_position(const struct event_view *n);
const char *event_view_kind_word(enum event_kind kind);
/* UINT32_MAX = there is no such kind. */
uint32_t event_view_kind_by_word(struct slice word);

void event_view_encode(const struct event_view *n, struct buf *out);
/* Words point into the bytes. False: they are none. */
bool event_view_decode(struct slice bytes, struct event_view *ret);

#endif
