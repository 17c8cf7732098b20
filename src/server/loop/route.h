/* route.h: a request is checked (requests.h) and given to what serves it. */
#ifndef REEVE_ROUTE_H
#define REEVE_ROUTE_H

#include "arena.h"
#include "command.h"
#include "effect.h"
#include "lane.h"
#include "wire.h"

struct server;
struct session;

struct request {
    struct session *session;
    uint8_t op;
    uint32_t id;
    struct slice body;   /* as it came, if it came as a message of the wire: see request_bytes */
    const void *message; /* the struct of its opcode */
    struct arena *arena; /* until it is served */
    bool only_item;      /* the answer tells one item of a list and nothing else: the rest need not be made */
};

/* Serves one request, inside a pass of the engine. */
void route_serve(struct server *s, const struct lane_entry *entry);

/* As dialect_ops.decode, for entries whose body is that of a frame. */
bool request_decode(struct server *s, const struct lane_entry *e, struct request *r);
/* Its message as a body of a frame, for who goes on with it later: the memory of a request ends with it. */
struct bytes *request_bytes(const struct request *r);

/* What serves each opcode; by file. */
void request_hello(struct server *s, struct request *r); /* a second one */
void request_nothing(struct server *s, struct request *r);
void request_ping(struct server *s, struct request *r);
void request_goodbye(struct server *s, struct request *r);
void request_stop(struct server *s, struct request *r);

void req_submit(struct server *s, struct request *r);
/* The CMD_SUBMIT that makes this flow. */
CHECKED enum err req_flow_command(struct server *s, const struct request *r, const struct wire_flow *flow,
                                  struct command *ret, struct why *why);
void req_add(struct server *s, struct request *r);
void req_targets(struct server *s, struct request *r); /* cancel, retry, discard, rerun */
void req_pause(struct server *s, struct request *r);
void req_verdict(struct server *s, struct request *r);

void req_get(struct server *s, struct request *r);
void req_list(struct server *s, struct request *r);
void req_why(struct server *s, struct request *r);
void req_dead(struct server *s, struct request *r);
void req_audit(struct server *s, struct request *r);
void req_launch(struct server *s, struct request *r);
void req_stats(struct server *s, struct request *r);
void req_metrics(struct server *s, struct request *r);

void req_kv_change(struct server *s, struct request *r);
void req_kv_get(struct server *s, struct request *r);
void req_kv_watch(struct server *s, struct request *r);

void req_pool(struct server *s, struct request *r);
void req_topic(struct server *s, struct request *r);
void req_tenant(struct server *s, struct request *r);
void req_limit(struct server *s, struct request *r);
void req_limit_ls(struct server *s, struct request *r);
void req_drain(struct server *s, struct request *r);
void req_service_set(struct server *s, struct request *r);
void req_service_ls(struct server *s, struct request *r);
void req_schedule_set(struct server *s, struct request *r);
void req_schedule_change(struct server *s, struct request *r);
void req_schedule_ls(struct server *s, struct request *r);
void req_login_new(struct server *s, struct request *r); /* web_session.c */
void req_token_new(struct server *s, struct request *r);
void req_token_revoke(struct server *s, struct request *r);
void req_token_ls(struct server *s, struct request *r);

/* What a worker says of itself, as the engine calls it. */
struct worker_info req_worker_info(const struct server *s, struct arena *a, const struct wire_worker_info *w);
void req_attach(struct server *s, struct request *r);
void req_heartbeat(struct server *s, struct request *r);
void req_credit(struct server *s, struct request *r);
void req_detach(struct server *s, struct request *r);
void req_started(struct server *s, struct request *r);
void req_health(struct server *s, struct request *r);
void req_progress(struct server *s, struct request *r);
void req_done(struct server *s, struct request *r);
/* Ends whose logs are durable by now. */

#endif
