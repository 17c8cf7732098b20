/* resp_set.c: commands about sets. */
#include "resp_impl.h"

#define MEMBERS_MAX 100000u /* that one answer lists: more would keep all others waiting */

/* Members come and go; which of the two the command's name says. */
void resp_do_sadd(struct resp_ask *x) {
    struct cmd_store change = {.op = x->command->name[1] == 'a' ? STORE_ADD : STORE_REMOVE,
                               .key = x->args[1],
                               .members = x->args + 2,
                               .member_count = x->count - 2};
    struct reply r;
    if (resp_change(x, &change, &r)) resp_number(&x->out, r.number);
}

void resp_do_scard(struct resp_ask *x) {
    struct item_view v;
    bool there;
    if (resp_look_set(x, x->args[1], &there, &v)) resp_number(&x->out, there ? v.members : 0);
}

/* ---- whether ---- */

struct search {
    struct slice wanted;
    bool found;
};

static bool compare(void *arg, struct slice member) {
    struct search *f = arg;
    f->found = slice_eq(member, f->wanted);
    return !f->found;
}

static bool has(const struct resp_ask *x, struct slice member) {
    struct search f = {.wanted = member};
    uint32_t tenant = view_tenant_number(server_state(x->s), x->place.tenant);
    if (resp_is_virtual(x->args[1]) && resp_key_map.members(x->s, tenant, x->args[1], compare, &f)) return f.found;
    return member.len <= STORE_KEY_BYTES_MAX && x->args[1].len <= STORE_KEY_BYTES_MAX &&
           view_member(server_state(x->s), x->now, x->place, x->args[1], member);
}

void resp_do_sismember(struct resp_ask *x) {
    struct item_view v;
    bool there;
    if (resp_look_set(x, x->args[1], &there, &v)) resp_number(&x->out, there && has(x, x->args[2]));
}

void resp_do_smismember(struct resp_ask *x) {
    struct item_view v;
    bool there;
    if (!resp_look_set(x, x->args[1], &there, &v)) return;
    resp_array(&x->out, x->count - 2);
    for (uint32_t i = 2; i < x->count; i++) resp_number(&x->out, there && has(x, x->args[i]));
}

/* ---- all of them ---- */

static bool put_made(void *arg, struct slice member) {
    resp_bulk(arg, member);
    return true;
}

static void put_member(void *ctx, struct slice member) {
    resp_bulk(ctx, member);
}

void resp_do_smembers(struct resp_ask *x) {
    struct store_page page = {.most = MEMBERS_MAX};
    struct item_view v;
    struct slice last;
    bool there;
    if (!resp_look_set(x, x->args[1], &there, &v)) return;
    if (there && v.members > MEMBERS_MAX) {
        resp_errorf(&x->out, "ERR the set has %u members, too many for one answer: use SSCAN", v.members);
        return;
    }
    resp_set(&x->out, there ? v.members : 0);
    if (!there) return;
    x->work += (uint64_t)v.members * RESP_LOOK_WORK;
    uint32_t tenant = view_tenant_number(server_state(x->s), x->place.tenant);
    if (resp_is_virtual(x->args[1]) && resp_key_map.members(x->s, tenant, x->args[1], put_made, &x->out)) return;
    (void)view_members(server_state(x->s), x->now, x->place, x->args[1], &page, put_member, &x->out, &last);
}
