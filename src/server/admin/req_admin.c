/* req_admin.c: setting things up: pools, topics, tenants, limits, drains, tokens. */
#include <stdio.h>

#include "call.h"
#include "requests.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"
#include "utf8.h"
#include "view_directory.h"

#define LIMITS_PAGE_MAX 1000u

static const struct name_item *names_of(struct arena *a, const struct tlv_list *from) {
    struct name_item *list = ARENA_ARRAY(a, struct name_item, from->count ? from->count : 1);
    const struct wire_name *names = from->at;
    for (uint32_t i = 0; i < from->count; i++) list[i].name = names[i].name;
    return list;
}

static void send_one(struct server *s, struct request *r, struct command *cmd) {
    struct call *c = call_open(s, r, 1);
    if (c != NULL) call_command(s, r, c, 0, cmd);
}

HANDLER(req_pool) {
    const struct wire_pool *m = r->message;
    struct command cmd = {.kind = CMD_POOL};
    cmd.as.pool = (struct cmd_pool){m->name, (enum pool_state)m->state, m->refuse_overload,
                                    names_of(r->arena, &m->capabilities), m->capabilities.count};
    send_one(s, r, &cmd);
}

HANDLER(req_topic) {
    const struct wire_topic *m = r->message;
    struct command cmd = {.kind = CMD_TOPIC};
    cmd.as.topic = (struct cmd_topic){m->name, names_of(r->arena, &m->pools), m->pools.count};
    send_one(s, r, &cmd);
}

HANDLER(req_tenant) {
    const struct wire_tenant *m = r->message;
    struct command cmd = {.kind = CMD_TENANT};
    cmd.as.tenant_set = (struct cmd_tenant){m->name, m->weight};
    send_one(s, r, &cmd);
}

HANDLER(req_limit) {
    const struct wire_limit *m = r->message;
    struct command cmd = {.kind = CMD_LIMIT};
    struct slice own = slice_str(r->session->who.tenant);
    cmd.as.limit = (struct cmd_limit){.tenant = m->tenant.len > 0 ? m->tenant
                                                : own.len > 0     ? own
                                                                  : SLICE("default"),
                                      .kind = (enum limit_kind)m->kind,
                                      .name = m->name,
                                      .clear = m->clear,
                                      .width = m->width,
                                      .rate_milli = m->rate_milli,
                                      .burst = m->burst,
                                      .running = m->running,
                                      .queued = m->queued,
                                      .bytes = m->bytes};
    send_one(s, r, &cmd);
}

static struct wire_limit_view limit_shown(const struct limit_row *row) {
    const struct limit_view *v = &row->view;
    return (struct wire_limit_view){.tenant = row->tenant,
                                    .kind = (uint8_t)row->kind,
                                    .name = row->name,
                                    .set = v->is_set,
                                    .width = row->kind == LIMIT_KEY ? v->width : 0,
                                    .taken = v->taken,
                                    .rate_milli = v->rate_milli,
                                    .burst = v->burst,
                                    .level_milli = v->level / 1000,
                                    .running_max = v->running_max,
                                    .running = v->running,
                                    .queued_max = v->queued_max,
                                    .queued = v->queued,
                                    .bytes_max = v->bytes_max,
                                    .bytes = v->bytes};
}

HANDLER(req_limit_ls) {
    const struct wire_page *m = r->message;
    struct slice own = slice_str(r->session->who.tenant);
    uint32_t most = m->most == 0 || m->most > LIMITS_PAGE_MAX ? LIMITS_PAGE_MAX : m->most, count = 0;
    struct limit_row row;
    uint64_t at = 0, last = 0;
    char cursor[24];
    if (!slice_decimal(m->cursor, &at)) {
        call_fail(s, r, ERR_INVALID, "invalid cursor: it does not come from this server");
        return;
    }
    arena_reset(&s->frame_arena);
    struct wire_limit_view *list = ARENA_ARRAY(&s->frame_arena, struct wire_limit_view, most);
    while (count < most && (at = view_limit_next(server_state(s), at, &row)) != 0) {
        last = at;
        if (own.len == 0 || slice_eq(own, row.tenant)) list[count++] = limit_shown(&row);
    }
    struct wire_limit_list got = {.lsn = engine_lsn(server_shard(s)->engine), .limits = {list, count}};
    snprintf(cursor, sizeof cursor, "%llu", (unsigned long long)last);
    if (at != 0) got.cursor = slice_str(cursor); /* the page is full */
    call_show(s, r, WIRE_LIMIT_LIST, &got);
}

/* It drains by itself when it is told to end, so that nothing stays behind when it is started again. */
static void end_worker(struct server *s, struct request *r, struct slice worker) {
    struct session *n = session_of_worker(s, view_worker_by_id(server_state(s), worker));
    struct wire_drain order = {.worker = worker, .end = true};
    struct wire_accepted done = {.lsn = engine_lsn(server_shard(s)->engine)};
    if (n == NULL) {
        call_fail(s, r, ERR_NOT_FOUND, "the worker is not attached");
        return;
    }
    session_send(s, n, WIRE_DRAIN, 0, 0, &order);
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    buf_clear(&s->out);
    wire_put(&s->out, WIRE_ACCEPTED, FRAME_ANSWER, r->id, &done);
    call_read(s, r, c, buf_slice(&s->out));
}

HANDLER(req_drain) {
    const struct wire_drain *m = r->message;
    struct command cmd = {.kind = CMD_DRAIN};
    bool is_worker = r->session->attach != ATTACH_NONE;
    struct slice own = bytes_slice(r->session->worker);
    struct slice worker = m->worker.len == 0 && is_worker ? own : m->worker;
    if (m->end) {
        end_worker(s, r, worker);
        return;
    }
    cmd.as.worker = (struct cmd_worker){.worker = worker, .on = !m->undo, .own = is_worker && slice_eq(worker, own)};
    send_one(s, r, &cmd);
}

/* ---- tokens ---- */

static enum err caller_of(const struct wire_token_new *m, struct caller *ret, struct why *why) {
    const struct wire_name *roles = m->roles.at;
    if (m->name.len == 0 || m->name.len >= AUTH_NAME_MAX || m->tenant.len >= AUTH_NAME_MAX)
        return why_set(why, ERR_INVALID, "a token needs a name of 1 to %u bytes", AUTH_NAME_MAX - 1);
    for (struct slice left = m->name; left.len > 0;) {
        size_t shown = utf8_shown(left);
        if (shown == 0) return why_set(why, ERR_INVALID, "the name of a token contains a control character");
        left = slice_of(left.ptr + shown, left.len - shown);
    }
    if (m->kind == KIND_JOB || m->kind >= KIND_COUNT)
        return why_set(why, ERR_INVALID, "a token is of a person, a service, an agent or a worker");
    *ret = (struct caller){.expires_ms = m->expires_ms, .kind = m->kind};
    snprintf(ret->name, sizeof ret->name, "%.*s", SLICE_FMT(m->name));
    snprintf(ret->tenant, sizeof ret->tenant, "%.*s", SLICE_FMT(m->tenant));
    for (uint32_t i = 0; i < m->roles.count; i++) {
        uint32_t bit = role_by_word(roles[i].name);
        if (bit == 0)
            return why_set(
                why, ERR_UNKNOWN_NAME,
                "there is no role `%.*s`; expected admin, operator, submitter, approver, inspect, viewer or worker",
                SLICE_FMT(roles[i].name));
        ret->roles |= bit;
    }
    return ERR_OK;
}

static void send_identity(struct server *s, const struct request *r, struct call *c, uint32_t part,
                          const struct cmd_identity *what) {
    struct command cmd = {.kind = CMD_IDENTITY};
    cmd.as.identity = *what;
    (void)call_command(s, r, c, part, &cmd);
}

HANDLER(req_token_new) {
    const struct wire_token_new *m = r->message;
    struct caller who;
    struct minted_token t;
    struct why why = {{0}};
    enum err e = caller_of(m, &who, &why);
    if (e != ERR_OK) {
        session_error(s, r->session, r->id, e, why.text);
        return;
    }
    auth_mint(&s->auth, &t);
    struct rec_token_info info = auth_token_info(&t, &who, engine_now(server_shard(s)->engine));
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    send_identity(s, r, c, 0, &(struct cmd_identity){.op = IDENTITY_TOKEN_SET, .tokens = &info, .token_count = 1});
    struct wire_token_given got = {
        .lsn = engine_lsn(server_shard(s)->engine), .id = slice_str(t.id), .token = slice_str(t.text)};
    call_hold(s, r, c, WIRE_TOKEN_GIVEN, &got);
}

HANDLER(req_token_revoke) {
    const struct wire_targets *m = r->message;
    const struct wire_name *names = m->targets.at;
    struct call *c = call_open(s, r, m->targets.count);
    if (c == NULL) return;
    c->is_list = true;
    for (uint32_t i = 0; i < m->targets.count; i++) c->parts[i].target = arena_slice(&c->arena, names[i].name);
    for (uint32_t i = 0; i < m->targets.count; i++)
        send_identity(s, r, c, i, &(struct cmd_identity){.op = IDENTITY_TOKEN_END, .id = names[i].name});
    if (m->targets.count == 0) call_refuse(s, r, c, 0, ERR_INVALID, "expected the id of a token");
}

static struct wire_token_view token_shown(const struct auth *a, struct arena *arena, const struct token_view *t) {
    struct wire_name *roles = ARENA_ARRAY(arena, struct wire_name, ROLE_COUNT);
    uint32_t n = 0;
    for (uint32_t k = 0; k < ROLE_COUNT; k++)
        if (t->roles & ROLE_BIT(k)) roles[n++].name = slice_str(role_words[k]);
    return (struct wire_token_view){.id = t->id,
                                    .name = t->name,
                                    .tenant = t->tenant,
                                    .roles = {roles, n},
                                    .kind = (uint8_t)t->kind,
                                    .created_ms = t->created_ms,
                                    .expires_ms = t->expires_ms,
                                    .used_ms = auth_used_ms(a, t->id)};
}

HANDLER(req_token_ls) {
    const struct state *state = server_state(s);
    uint32_t most = view_token_count(state), count = 0;
    struct wire_token_view *list = ARENA_ARRAY(r->arena, struct wire_token_view, most + 1);
    struct token_view t;
    for (uint32_t at = 0; (at = view_token_next(state, at, &t)) != 0;)
        list[count++] = token_shown(&s->auth, r->arena, &t);
    struct wire_token_list got = {.lsn = engine_lsn(server_shard(s)->engine), .tokens = {list, count}};
    call_show(s, r, WIRE_TOKEN_LIST, &got);
}
