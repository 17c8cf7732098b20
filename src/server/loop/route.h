/* route.h: a request is checked (requests.h) and given to what serves it. */
#ifndef REEVE_ROUTE_H
#define REEVE_ROUTE_H

#include "server_impl.h"

/* Serves one request, inside a pass of the engine. */
void route_serve(struct server *s, const struct lane_entry *entry);

/* What serves each opcode; by file. */
void request_hello(struct server *s, struct request *r); /* a second one */
void request_nothing(struct server *s, struct request *r);
void request_ping(struct server *s, struct request *r);
void request_goodbye(struct server *s, struct request *r);
void request_stop(struct server *s, struct request *r);

void ask_submit(struct server *s, struct request *r);
/* The CMD_SUBMIT that makes this flow. */
CHECKED enum err ask_flow_command(struct server *s, const struct request *r, const struct wire_flow *flow,
                                  struct command *ret, struct why *why);
void ask_add(struct server *s, struct request *r);
void ask_targets(struct server *s, struct request *r); /* cancel, retry, discard, rerun */
void ask_pause(struct server *s, struct request *r);
void ask_verdict(struct server *s, struct request *r);

void ask_get(struct server *s, struct request *r);
void ask_list(struct server *s, struct request *r);
void ask_why(struct server *s, struct request *r);
void ask_dead(struct server *s, struct request *r);
void audit_init(struct server *s);
void audit_fini(struct server *s); /* waits for those that are being read */
void ask_audit(struct server *s, struct request *r);
void ask_launch(struct server *s, struct request *r);
void ask_stats(struct server *s, struct request *r);
void ask_metrics(struct server *s, struct request *r);

void ask_kv_change(struct server *s, struct request *r);
void ask_kv_get(struct server *s, struct request *r);
void ask_kv_watch(struct server *s, struct request *r);
void ask_store_effect(struct server *s, const struct effect *e); /* a change or a message that someone watches */
bool ask_kv_stop(struct server *s, struct request *r, uint32_t request);

void ask_pool(struct server *s, struct request *r);
void ask_topic(struct server *s, struct request *r);
void ask_tenant(struct server *s, struct request *r);
void ask_limit(struct server *s, struct request *r);
void ask_limit_ls(struct server *s, struct request *r);
void ask_drain(struct server *s, struct request *r);
void ask_service_set(struct server *s, struct request *r);
void ask_service_ls(struct server *s, struct request *r);
void ask_schedule_set(struct server *s, struct request *r);
void ask_schedule_change(struct server *s, struct request *r);
void ask_schedule_ls(struct server *s, struct request *r);
void ask_login_new(struct server *s, struct request *r); /* web_session.c */
void ask_token_new(struct server *s, struct request *r);
void ask_token_revoke(struct server *s, struct request *r);
void ask_token_ls(struct server *s, struct request *r);

/* What a worker says of itself, as the engine calls it. */
struct worker_info ask_worker_info(const struct server *s, struct arena *a, const struct wire_worker_info *w);
void ask_attach(struct server *s, struct request *r);
void ask_heartbeat(struct server *s, struct request *r);
void ask_credit(struct server *s, struct request *r);
void ask_detach(struct server *s, struct request *r);
void ask_started(struct server *s, struct request *r);
void ask_health(struct server *s, struct request *r);
void ask_progress(struct server *s, struct request *r);
void ask_done(struct server *s, struct request *r);
/* Ends whose logs are durable by now. */
void ask_done_again(struct server *s);

#endif
