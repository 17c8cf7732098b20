/* requests.h: a request from its lane to what serves it, and who may send what, decided in one place.
 *
 * One row per message that a client or a worker sends (assembly/request_table.h): the roles that may send it, whose
 * things it names, what must have happened before, and what serves it. What a message looks like, its lane and its
 * answer are in the table of the wire (wire.h).
 *
 * Every request goes through request_check before anything of it is served, by whatever dialect it came: those of the
 * native wire, of HTTP and of agents arrive as messages (request_serve); a dialect that has no messages names the row
 * whose rights it uses, and one with a question of its own has a row for it (dialect_ops.own_row). The rule for things
 * is one: what belongs to another tenant is answered like what is not there. */
#ifndef REEVE_REQUESTS_H
#define REEVE_REQUESTS_H

#include "arena.h"
#include "auth.h"
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

/* ---- roles ---- */

#define CAN_LOOK (ROLE_BIT(ROLE_VIEWER) | ROLE_BIT(ROLE_INSPECT) | ROLE_BIT(ROLE_SUBMITTER) | ROLE_BIT(ROLE_APPROVER))
#define CAN_SUBMIT ROLE_BIT(ROLE_SUBMITTER)
#define CAN_APPROVE ROLE_BIT(ROLE_APPROVER)
#define CAN_OPERATE ROLE_BIT(ROLE_OPERATOR)
#define CAN_WORK ROLE_BIT(ROLE_WORKER)
#define CAN_JOB ROLE_BIT(ROLE_JOB) /* of its own flow, and of its tenant's store and blobs */
#define CAN_CALL_BACK ROLE_BIT(ROLE_CALLBACK)
#define CAN_ADMIN ROLE_BIT(ROLE_ADMIN) /* may send everything, so it is named where nobody else may */
#define CAN_ALL (CAN_LOOK | CAN_OPERATE | CAN_WORK | CAN_JOB)
#define CAN_EVERYONE (CAN_ALL | CAN_CALL_BACK)

/* ---- whose things ---- */

enum request_names {
    NAMES_NOTHING,     /* nothing that is there: it makes, or lists, things of the caller's tenant */
    NAMES_OWN,         /* things that are looked for in the caller's tenant only: keys, blobs, schedules, services; or
                          on its connection only: streams, uploads */
    NAMES_FLOWS,       /* flows and jobs, found by target.h: those of others are not there */
    NAMES_LIST,        /* a list: of a flow, as above, or of a worker */
    NAMES_QUESTION,    /* a question, or the job that stands before it */
    NAMES_WORKER,      /* a worker: that of another tenant is not there; a worker's token names itself only */
    NAMES_PAUSED,      /* a flow, as above; a tenant or a pool */
    NAMES_TENANT,      /* a tenant: a token of one names no other */
    NAMES_STANDARD,    /* the tenant of workers that are started here */
    NAMES_EXTERNAL,    /* an external job: by role, or by its own token */
    NAMES_DEMAND,      /* demand: a worker's token names its kind of worker */
    NAMES_ATTEMPTS,    /* attempts of the attached worker: the engine fences all others */
    NAMES_ALL_TENANTS, /* what all tenants share */
    NAMES_COUNT
};

/* ---- rows ---- */

#define REQUEST_NEEDS_ATTACH 1u /* the words of a worker, on a connection that the engine has attached */

typedef void (*request_fn)(struct server *s, struct request *r);

struct request_row {
    uint32_t roles; /* 0: there is no such request */
    enum request_names names;
    uint8_t flags;
    request_fn serve;
};

const struct request_row *request_row(uint8_t opcode); /* NULL = nobody sends it (assembly/request_table.c) */

/* ---- checks ---- */

/* Whether someone with these roles may send this opcode. An administrator may send everything. */
bool role_may(uint32_t roles, uint8_t opcode);
/* What can be said before the message is looked at, and does not follow from the state: is there such a request, has
 * the caller its role, is its token still valid, is it attached. */
CHECKED enum err request_may(const struct server *s, const struct session *n, uint8_t opcode, struct why *why);
/* All of it: request_may, whether the attempt that a job's token is of is still open, and whether the things that the
 * message names are there for the caller. `message`: the struct of the opcode; NULL for a dialect without messages,
 * which names nothing of others. Whoever serves it then sets `checked` of the server to its connection, and back. */
CHECKED enum err request_check(struct server *s, const struct session *n, uint8_t opcode, const void *message,
                               struct why *why);

/* ---- serving ---- */

/* Decodes, checks and serves one request, inside a pass of the engine. */
void request_serve(struct server *s, const struct lane_entry *entry);

/* As dialect_ops.decode, for entries whose body is that of a frame. */
bool request_decode(struct server *s, const struct lane_entry *e, struct request *r);
/* Its message as a body of a frame, for who goes on with it later: the memory of a request ends with it. */
struct bytes *request_bytes(const struct request *r);

/* What serves an opcode: a row of REQUEST_TABLE (request_table.h) names it, and it is declared there and nowhere
 * else. */
#define HANDLER(name)                               \
    void name(struct server *s, struct request *r); \
    void name(struct server *s, struct request *r)

/* The CMD_SUBMIT that makes this flow. */
CHECKED enum err req_flow_made(struct server *s, const struct request *r, const struct wire_flow *flow,
                               struct command *ret, struct why *why); /* of one that was read: its jobs are there */
CHECKED enum err req_flow_command(struct server *s, const struct request *r, const struct wire_flow *flow,
                                  struct command *ret, struct why *why);
/* The CMD_SUBMIT of jobs that were submitted before and are kept as they were recorded. */
CHECKED enum err req_flow_kept(struct server *s, const struct request *r, const struct rec_submitted *kept,
                               struct command *ret, struct why *why);
/* What a worker says of itself, as the engine calls it. */
struct worker_info req_worker_info(const struct server *s, struct arena *a, const struct wire_worker_info *w);

#endif
