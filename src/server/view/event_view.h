/* event_view.h: an event with its words: what is told of it, and what decides whom it concerns. Made from an effect and the
 * state it happened in: the server's for what happens now (show_event), another one for the past told again
 * (event_replay.h). As bytes it goes through the pipe of the process that does that. */
#ifndef REEVE_EVENT_VIEW_H
#define REEVE_EVENT_VIEW_H

#include "effect.h"
#include "state_view.h"
#include "position.h"

struct notice {
    struct wire_event event;
    enum event_kind kind;
    uint64_t flow;    /* 0 = of none */
    uint32_t ordinal; /* of its job; UINT32_MAX = of the flow as a whole */
    struct slice tenant;
};

/* Words are in the lens's arena, or lie in the state. */
void notice_make(const struct lens *l, const struct effect *e, struct notice *ret);
struct position notice_position(const struct notice *n);
const char *notice_kind_word(enum event_kind kind);
/* UINT32_MAX = there is no such kind. */
uint32_t notice_kind_by_word(struct slice word);

void notice_encode(const struct notice *n, struct buf *out);
/* Words point into the bytes. False: they are none. */
bool notice_decode(struct slice bytes, struct notice *ret);

#endif
