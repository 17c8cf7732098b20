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
void server_view_worker(struct server *s, const struct worker_view *v, struct wire_worker_view *ret);
void server_view_demand(struct server *s, const struct demand_view *v, struct wire_demand_row *ret);

/* Files that a job left (rec_artifacts as the state keeps them), as wire_kept. */
struct tlv_list server_view_artifacts(struct server *s, struct slice artifacts);

#endif
