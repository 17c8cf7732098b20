/* flow.h: the graph: flows, the jobs in them, and the edges between. */
#ifndef REEVE_FLOW_H
#define REEVE_FLOW_H

#include "state.h"

/* Makes the flow of a submit, without its jobs. */
uint32_t flow_new(struct state *s, const struct rec_submitted *rec, uint32_t tenant);
/* An empty flow with a head as saved; what flow_new and the loader of a snapshot share. */
uint32_t flow_make(struct state *s, uint64_t id, uint32_t tenant, struct slice head, size_t first_chunk_bytes);
struct slice flow_head_bytes(const struct flow *f);
extern const struct flow_graph flow_graph_none;    /* of all flows that have none of their own */
struct flow_graph *flow_graph_own(struct flow *f); /* to write to: its own, made when first asked for */
/* Appends jobs (rec_job) with their edges; ordinals go on. The jobs are WAITING and judged by nobody yet. */
void flow_add_jobs(struct state *s, uint32_t flow, const struct tlv_list *profiles, const struct tlv_list *jobs);
void flow_release_memory(struct flow *f);
/* The same in steps of about `bytes`. True when nothing is left. */
bool flow_release_some(struct flow *f, size_t bytes);
size_t flow_bytes(const struct flow *f);
void flow_head_get(const struct flow *f, struct arena *arena, struct flow_head *ret);

static inline bool flow_is_settling(const struct flow *f) { return f->is_working; }
/* Jobs that have not ended. */
uint32_t flow_open_jobs(const struct flow *f);

/* A job's own words, as recorded. */
struct slice job_text(const struct job *j);
struct slice job_name(const struct job *j);
void job_record(const struct job *j, struct arena *arena, struct rec_job *ret);
/* Ordinal of the job with that name, or NO_ORDINAL. */
uint32_t flow_job_by_name(const struct state *s, const struct flow *f, struct slice name);

/* The piece a job may have beside the rest; made when first asked for. */
struct extra *job_extra(struct state *s, struct job *j);

/* For loading a snapshot: puts a job under the next ordinal; `text` is copied into the flow's arena. */
uint32_t flow_place_job(struct state *s, uint32_t flow, uint32_t profile, struct slice text);
void flow_index_names(struct state *s, struct flow *f);
/* A job that apply itself makes: under the next ordinal, WAITING, judged by nobody yet. */
uint32_t flow_make_job(struct state *s, uint32_t flow, uint32_t profile, const struct rec_job *rec);
void flow_link_parents(struct state *s, uint32_t flow, const struct job *j, const struct tlv_u32s *parents);

#endif
