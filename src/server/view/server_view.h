/* server_view.h: views of the state as messages for people and programs. Everything is put into the arena of the frame.
 * */
#ifndef REEVE_SERVER_VIEW_H
#define REEVE_SERVER_VIEW_H

#include "server_impl.h"
#include "view_demand.h"

struct slice server_view_flow_name(struct server *s, flow_id id);
struct slice server_view_job_name(struct server *s,
                                  const struct job_view *v); /* flow/name, of a child flow/name[item] */
void server_view_flow(struct server *s, const struct flow_view *v, struct wire_flow_view *ret);
void server_view_job(struct server *s, const struct job_view *v, bool details, struct wire_job_view *ret);
void server_view_node(struct server *s, const struct job_view *v, struct wire_job_view *ret); /* state_view_node */
void server_view_question(struct server *s, const struct question_view *v, struct wire_question_view *ret);
/* What an external job waits for, in the words of its author, and when it is asked. */
void server_view_external(struct server *s, const struct job_view *job, const struct why_job *reason,
                          struct wire_reason *ret);
/* What the service that it deploys said last. */
void server_view_health(struct server *s, const struct job_view *job, struct wire_reason *ret);
/* What its worker says that it waits for. */
void server_view_words(struct server *s, const struct job_view *job, struct wire_reason *ret);
void server_view_reason(struct server *s, const struct why_job *reason, struct wire_reason *ret); /* words alone */
/* How a job that is over ended, in a sentence. */
struct slice server_view_end(struct server *s, const struct wire_job_view *v);
void server_view_worker(struct server *s, const struct worker_view *v, struct wire_worker_view *ret);
/* The text of BLOCK_CAPABILITY or BLOCK_NO_WORKERS, and what the job asks for that nobody has. */
struct slice server_view_asked(struct server *s, const struct job_view *job, enum block block);
void server_view_demand(struct server *s, const struct demand_view *v, struct wire_demand_row *ret);

/* Files that a job left (rec_artifacts as the state keeps them), as wire_kept. */
struct tlv_list server_view_artifacts(struct server *s, struct slice artifacts);

#endif
