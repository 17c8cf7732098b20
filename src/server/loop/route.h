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

/* What serves an opcode. A row of REQUEST_TABLE (request_table.h) names it and declares it; no header does. */
#define HANDLER(name)                               \
    void name(struct server *s, struct request *r); \
    void name(struct server *s, struct request *r)

/* The CMD_SUBMIT that makes this flow. */
CHECKED enum err req_flow_command(struct server *s, const struct request *r, const struct wire_flow *flow,
                                  struct command *ret, struct why *why);
/* What a worker says of itself, as the engine calls it. */
struct worker_info req_worker_info(const struct server *s, struct arena *a, const struct wire_worker_info *w);

#endif
