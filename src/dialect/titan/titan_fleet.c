/* titan_fleet.c: see titan_fleet.h. The workers themselves are driven beside the server (titan_worker/titan_peers.h):
 * for it they are workers like all others, in a pool of their own. */
#include "titan_fleet.h"

#include "server_impl.h"
#include "session.h"
#include "titan_flow.h"
#include "titan_session.h"

#define ANSWER_BYTES_MAX 256u
#define QUIET_MS 1000 /* whoever has said nothing by then only looked whether we are there */

void titan_fleet_frame(struct server *s, struct session *n, const struct titan_frame *f) {
    struct buf text;
    const struct titan_options *o = titan_of(s)->options;
    if (o->worker == NULL) {
        titan_sayf(s, n, "UNKNOWN_OPCODE: %d", (int8_t)f->opcode);
        return;
    }
    buf_init(&text, ANSWER_BYTES_MAX);
    o->worker(o->worker_ctx, n->conn, n->address, f->opcode, f->body, &text);
    titan_say(s, n, buf_slice(&text));
    buf_fini(&text);
}

conn_id titan_fleet_pending(struct server *s) {
    conn_id first = {UINT64_MAX};
    int64_t now = s->world.clock->mono(s->world.clock).ms;
    for (uint32_t i = 1; i <= titan_of(s)->talks.high; i++) {
        const struct titan_talk *t = pool_at(&titan_of(s)->talks, i);
        const struct session *n = session_of(s, t->conn);
        if (n == NULL || t->has_served || t->busy || t->conn.v >= first.v) continue;
        if (n->in.len > 0 || now - t->since_ms < QUIET_MS) first = t->conn;
    }
    return first;
}

void titan_fleet_topic(struct server *s) {
    static const struct name_item pools[] = {{{(const uint8_t *)"default", 7}}, {{(const uint8_t *)"titan", 5}}};
    struct command cmd = {.kind = CMD_TOPIC, .principal = SLICE(TITAN_PRINCIPAL)};
    if (view_has_topic(server_state(s), SLICE(TITAN_TOPIC))) return; /* its owner may have changed it */
    cmd.as.topic = (struct cmd_topic){SLICE(TITAN_TOPIC), pools, sizeof pools / sizeof pools[0]};
    server_command(s, (conn_id){0}, 0, &cmd);
}
