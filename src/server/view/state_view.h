/* state_view.h: flows and jobs of a state as messages. Apart from server_view.h, because the history makes them of
 * another state than the server's, on another thread. Everything is put into the arena, or lies in the state. */
#ifndef REEVE_STATE_VIEW_H
#define REEVE_STATE_VIEW_H

#include "arena.h"
#include "view.h"
#include "wire.h"
#include "zone_book.h"

struct state_view {
    const struct state *state;
    uint32_t shard;
    struct arena *arena;
    struct zone_book *zones; /* NULL: slots are told in UTC */
};

struct slice state_view_flow_name(const struct state_view *l, flow_id id);
struct slice state_view_job_name(const struct state_view *l, const struct job_view *v);
void state_view_flow(const struct state_view *l, const struct flow_view *v, struct wire_flow_view *ret);
struct tlv_list state_view_artifacts(const struct state_view *l,
                                     struct slice artifacts); /* rec_artifacts as wire_kept */
void state_view_job(const struct state_view *l, const struct job_view *v, bool details, struct wire_job_view *ret);
/* As a node of its flow: what it waits for and its attempts, of the details. */
void state_view_node(const struct state_view *l, const struct job_view *v, struct wire_job_view *ret);
/* Of what a job with details has, a node leaves out: what it runs and what it left. */
void state_view_strip_node(struct wire_job_view *node);

#endif
