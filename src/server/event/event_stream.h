/* event_stream.h: how a dialect that has its own words for events tells them (dialect_ops.events). */
#ifndef REEVE_EVENT_STREAM_H
#define REEVE_EVENT_STREAM_H

#include "event_blocks.h"

struct server;
struct session;

struct event_stream_ops {
    enum event_form (*form)(const struct session *n);
    void (*begin)(struct server *s, struct session *n); /* before the first event: its request was accepted */
    bool (*is_ending)(const struct session *n);         /* nothing more may be sent */
    void (*end)(struct server *s, struct session *n, const char *why); /* all was told */
    void (*ping)(struct server *s, struct session *n, int64_t period_ms);
};

#endif
