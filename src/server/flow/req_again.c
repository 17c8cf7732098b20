/* req_again.c: the file that a flow was submitted from: shown as it was, and submitted once more with other
 * parameters. */
#include "call.h"
#include "flow_file.h"
#include "flow_source.h"
#include "history_request.h"
#include "requests.h"
#include "target.h"
#include "view_history.h"

static enum err again_flow(struct server *s, const struct request *r, struct flow_view *ret, struct why *why) {
    const struct wire_again *m = r->message;
    flow_id id = {0};
    enum err e = target_flow(s, r->session, m->flow, &id, why);
    if (e != ERR_OK) return history_request_explain(s, r->session, m->flow, e, why);
    return view_flow(server_state(s), id, ret) ? ERR_OK : ERR_NOT_FOUND;
}

static enum err again_read(struct server *s, const struct request *r, const struct flow_view *flow,
                           struct wire_flow *ret_flow, struct flow_source *ret_source, struct vec *puts,
                           struct why *why) {
    const struct wire_again *m = r->message;
    const struct label *labels = NULL;
    uint32_t count = view_labels(server_state(s), flow->id, r->arena, &labels);
    struct wire_pair *pairs = ARENA_ARRAY(r->arena, struct wire_pair, count + 1);
    for (uint32_t i = 0; i < count; i++) pairs[i] = (struct wire_pair){labels[i].key, labels[i].value};
    struct wire_flow from = {.name = flow->name,
                             .labels = {pairs, count},
                             .params = flow->source.params,
                             .source_name = flow->source.name,
                             .compensate_on = (uint8_t)flow->compensate_on};
    enum err e = flow_source_read(s, flow, r->arena, &from.source, why);
    if (e == ERR_OK) e = flow_file_read_again(s, r, &from, m->params, ret_flow, why);
    if (e != ERR_OK) return e;
    ret_flow->check = m->check;
    e = flow_source_take(s, r, ret_flow, flow->tenant, ret_source, puts, why);
    ret_source->again_of = flow->id.v;
    return e;
}

HANDLER(req_again) {
    struct wire_flow made;
    struct flow_source source;
    struct flow_view flow;
    struct command cmd;
    struct why why = {{0}};
    struct vec puts;
    vec_init(&puts, sizeof(struct blob_put *));
    enum err e = again_flow(s, r, &flow, &why);
    if (e == ERR_OK) e = again_read(s, r, &flow, &made, &source, &puts, &why);
    if (flow_source_wait(s, r, &puts, e == ERR_BUSY)) return;
    if (e == ERR_OK) e = req_flow_made(s, r, &made, &cmd, &why);
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    cmd.tenant = flow.tenant;
    cmd.as.submit.source = source;
    call_command(s, r, c, 0, &cmd);
}

HANDLER(req_source_get) {
    const struct wire_source_get *m = r->message;
    struct wire_source_got got = {.lsn = engine_lsn(server_shard(s)->engine)};
    struct wire_source source = {0};
    struct flow_view flow;
    struct why why = {{0}};
    flow_id id = {0};
    enum err e = target_flow(s, r->session, m->flow, &id, &why);
    if (e != ERR_OK) e = history_request_explain(s, r->session, m->flow, e, &why);
    if (e == ERR_OK && !view_flow(server_state(s), id, &flow)) e = ERR_NOT_FOUND;
    if (e == ERR_OK) e = flow_source_read(s, &flow, r->arena, &source, &why);
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    got.name = flow.source.name;
    got.params = flow.source.params;
    got.text = source.text;
    call_show(s, r, WIRE_SOURCE_GOT, &got);
}
