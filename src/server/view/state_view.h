/* state_view.h: flows and jobs of a state as messages. Apart from server_view.h, because the history makes them of
 * another state than the server's, on another thread. Everything is put into the arena, or lies in the state. */
#ifndef REEVE_STATE_VIEW_H
#define REEVE_STATE_VIEW_H

#include "arena.h"
#include "view.h"
#include "wire.h"

struct lens {
    const struct state *state;
    uint32_t shard;
    struct arena *arena;
};

struct slice lens_flow_name(const struct lens *l, flow_id id);
struct slice lens_job_name(const struct lens *l, const struct job_view *v);
void lens_flow(const struct lens *l, const struct flow_view *v, struct wire_flow_view *ret);
struct tlv_list lens_artifacts(const struct lens *l, struct slice artifacts); /* rec_artifacts as wire_kept */
void lens_job(const struct lens *l, const struct job_view *v, bool details, struct wire_job_view *ret);
/* As a node of its flow: what it waits for and its attempts, of the details. */
void lens_node(const struct lens *l, const struct job_view *v, struct wire_job_view *ret);
/* Of what a job with details has, a node leaves out: what it runs and what it left. */
void lens_strip_node(struct wire_job_view *node);

#endif
