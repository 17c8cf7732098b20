/* titan_view.h: the state in Titan's words (req_titan.c, titan_stats.c). All of it uses s->frame_arena. */
#ifndef REEVE_TITAN_VIEW_H
#define REEVE_TITAN_VIEW_H

#include "server_impl.h"
#include "titan_session.h"

const char *titan_status_word(const struct server *s, const struct job_view *job);

/* The port that a worker has for Titan's clients: the label `titan.port`, or one made of its number, which it keeps. */
uint32_t titan_port_of(const struct worker_view *w);
/* What the label `capability` says, as Java writes a list: [GPU, HIGH_MEM]. */
struct slice titan_skills_of(struct server *s, const struct worker_view *w);
bool titan_serves(const struct server *s, const struct worker_view *w); /* jobs of Titan's tenant */

struct slice titan_stats_text(struct server *s);
struct slice titan_stats_as_json(struct server *s);
struct slice titan_service_ids(struct server *s); /* [a, b] */
/* titan_dags.c */
struct slice titan_dags_as_json(struct server *s);                              /* empty = it is too long */
uint32_t titan_dag_ids(struct server *s, struct slice dag, struct slice **ret); /* of its jobs; 0 = there is none */
uint32_t titan_services_on(struct server *s, uint32_t worker);

#endif
