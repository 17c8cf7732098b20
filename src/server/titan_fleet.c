/* titan_fleet.c: see titan_fleet.h. The workers themselves are driven beside the server (titan/members.h): for it they
 * are workers like all others, in a pool of their own. */
#include "titan_fleet.h"

#include "session.h"
#include "titan_flow.h"

#define ANSWER_BYTES_MAX 256u

void titan_fleet_frame(struct server *s, struct session *n, const struct titan_frame *f) {
    struct buf text;
    if (s->world.titan_worker == NULL) {
        titan_sayf(s, n, "UNKNOWN_OPCODE: %d", (int8_t)f->opcode);
        return;
    }
    buf_init(&text, ANSWER_BYTES_MAX);
    s->world.titan_worker(s->world.titan_worker_ctx, n->conn, n->address, f->opcode, f->body, &text);
    titan_say(s, n, buf_slice(&text));
    buf_fini(&text);
}

void titan_fleet_turn(struct server *s) {
    static const struct name_item pools[] = {{{(const uint8_t *)"default", 7}}, {{(const uint8_t *)"titan", 5}}};
    struct command cmd = {.kind = CMD_TOPIC, .principal = SLICE(TITAN_PRINCIPAL)};
    if (s->options.titan == NULL || s->titan.has_topic) return;
    s->titan.has_topic = true;
    if (view_has_topic(server_state(s), SLICE(TITAN_TOPIC))) return; /* its owner may have changed it */
    cmd.as.topic = (struct cmd_topic){SLICE(TITAN_TOPIC), pools, sizeof pools / sizeof pools[0]};
    server_command(s, (conn_id){0}, 0, &cmd);
}
