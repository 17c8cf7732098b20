/* resp_common.c: what the commands of RESP share: numbers, refusals, keys as they stand, changes. */
#include <stdio.h>

#include "resp_impl.h"
#include "store_number.h"

bool resp_is(struct slice word, const char *literal) {
    size_t len = strlen(literal);
    if (word.len != len) return false;
    for (size_t i = 0; i < len; i++) {
        uint8_t c = word.ptr[i];
        if ((c >= 'A' && c <= 'Z' ? c | 0x20 : c) != (uint8_t)literal[i]) return false;
    }
    return true;
}

bool resp_integer(struct resp_ask *x, struct slice text, int64_t *ret) {
    if (store_number(text, ret)) return true;
    resp_error(&x->out, "ERR value is not an integer or out of range");
    return false;
}

void resp_wrong_arity(struct resp_ask *x) {
    resp_errorf(&x->out, "ERR wrong number of arguments for '%s' command", x->command->name);
}

void resp_wrong_type(struct resp_ask *x) {
    resp_error(&x->out, "WRONGTYPE Operation against a key holding the wrong kind of value");
}

void resp_syntax(struct resp_ask *x) {
    resp_error(&x->out, "ERR syntax error");
}

/* ---- keys ---- */

static bool begins(struct slice text, struct slice with) {
    return text.len > with.len && memcmp(text.ptr, with.ptr, with.len) == 0;
}

bool resp_is_virtual(struct slice key) {
    static const char *const facts[] = {"status", "payload", "priority", "delay", "worker", "result"};
    struct slice job = SLICE("job:"), sys = SLICE("system:");
    if (begins(key, sys)) {
        struct slice rest = slice_of(key.ptr + sys.len, key.len - sys.len);
        return slice_eq(rest, SLICE("active_jobs")) || slice_eq(rest, SLICE("live_workers"));
    }
    if (!begins(key, job)) return false;
    size_t colon = key.len;
    while (colon > job.len && key.ptr[colon - 1] != ':') colon--;
    if (colon <= job.len + 1) return false;
    struct slice fact = slice_of(key.ptr + colon, key.len - colon);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (slice_eq(fact, slice_str(facts[i]))) return true;
    return false;
}

static bool count_member(void *arg, struct slice member) {
    (void)member;
    ++*(uint32_t *)arg;
    return true;
}

static bool look_virtual(const struct resp_ask *x, struct slice key, struct item_view *ret) {
    uint32_t tenant = view_tenant_number(server_state(x->s), x->place.tenant), members = 0;
    *ret = (struct item_view){.key = key, .kind = ITEM_TEXT, .expires = {TIME_NEVER}};
    buf_clear(&resps_of(x->s)->made);
    if (resp_key_map.get(x->s, tenant, key, &resps_of(x->s)->made)) {
        ret->value = buf_slice(&resps_of(x->s)->made);
        return true;
    }
    if (!resp_key_map.members(x->s, tenant, key, count_member, &members) || members == 0) return false;
    ret->kind = ITEM_SET;
    ret->members = members;
    return true;
}

bool resp_look(const struct resp_ask *x, struct slice key, struct item_view *ret) {
    if (resp_is_virtual(key) && look_virtual(x, key, ret)) return true;
    if (key.len > STORE_KEY_BYTES_MAX) return false;
    return view_item(server_state(x->s), x->now, x->place, key, ret);
}

struct slice resp_value(const struct item_view *v, char room[24]) {
    _Static_assert(STORE_NUMBER_BYTES <= 24, "a number must fit");
    return v->kind == ITEM_NUMBER ? store_number_text(v->number, room) : v->value;
}

bool resp_look_text(struct resp_ask *x, struct slice key, bool *ret_there, struct item_view *ret) {
    *ret_there = resp_look(x, key, ret);
    if (!*ret_there || ret->kind != ITEM_SET) return true;
    resp_wrong_type(x);
    return false;
}

bool resp_look_set(struct resp_ask *x, struct slice key, bool *ret_there, struct item_view *ret) {
    *ret_there = resp_look(x, key, ret);
    if (!*ret_there || ret->kind == ITEM_SET) return true;
    resp_wrong_type(x);
    return false;
}

/* ---- changes ---- */

enum err resp_try(struct resp_ask *x, const struct cmd_store *change, struct reply *ret) {
    struct command cmd = {.kind = CMD_STORE};
    cmd.tenant = x->place.tenant;
    cmd.principal = slice_str(x->n->who.name);
    cmd.as.store = *change;
    cmd.as.store.by = x->n->job.job.flow;
    server_ask(x->s, x->n->conn, &cmd, ret);
    return ret->err;
}

void resp_refused(struct resp_ask *x, const struct reply *r) {
    const char *code = r->err == ERR_NO_SPACE ? "MISCONF" : r->err == ERR_BUSY ? "OOM" : "ERR";
    if (r->err == ERR_STATE)
        resp_wrong_type(x);
    else
        resp_errorf(&x->out, "%s %s", code, r->why.text);
}

bool resp_change(struct resp_ask *x, const struct cmd_store *change, struct reply *ret) {
    if (resp_try(x, change, ret) == ERR_OK) return true;
    resp_refused(x, ret);
    return false;
}
