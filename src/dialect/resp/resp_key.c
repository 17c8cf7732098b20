/* resp_key.c: commands about keys, whatever they hold. */
#include "resp_impl.h"

void resp_do_del(struct resp_ask *x) {
    uint32_t most = (uint32_t)x->s->limits->store_entries_max, count = x->count - 1;
    int64_t gone = 0;
    arena_reset(&x->s->arena);
    struct store_entry *entries = ARENA_ARRAY(&x->s->arena, struct store_entry, count);
    for (uint32_t i = 0; i < count; i++) entries[i].key = x->args[1 + i];
    for (uint32_t i = 0; i < count; i += most) { /* one record may name so many */
        struct cmd_store change = {
            .op = STORE_DELETE, .entries = entries + i, .entry_count = count - i < most ? count - i : most};
        struct reply r;
        if (!resp_change(x, &change, &r)) return;
        gone += r.number;
    }
    resp_number(&x->out, gone);
}

void resp_do_exists(struct resp_ask *x) {
    struct item_view v;
    int64_t there = 0;
    for (uint32_t i = 1; i < x->count; i++) there += resp_look(x, x->args[i], &v);
    resp_number(&x->out, there);
}

void resp_do_type(struct resp_ask *x) {
    struct item_view v;
    bool there = resp_look(x, x->args[1], &v);
    resp_simple(&x->out, !there ? "none" : v.kind == ITEM_SET ? "set" : "string");
}

/* ---- times to end ---- */

struct expire_if {
    bool nx, xx, gt, lt;
};

static bool take_conditions(struct resp_ask *x, struct expire_if *ret) {
    for (uint32_t i = 3; i < x->count; i++) {
        struct slice word = x->args[i];
        bool *which = resp_is(word, "nx")   ? &ret->nx
                      : resp_is(word, "xx") ? &ret->xx
                      : resp_is(word, "gt") ? &ret->gt
                      : resp_is(word, "lt") ? &ret->lt
                                            : NULL;
        if (which == NULL) {
            resp_errorf(&x->out, "ERR Unsupported option %.*s", word.len > 64 ? 64 : (int)word.len,
                        (const char *)word.ptr);
            return false;
        }
        *which = true;
    }
    if (ret->nx && (ret->xx || ret->gt || ret->lt)) {
        resp_error(&x->out, "ERR NX and XX, GT or LT options at the same time are not compatible");
        return false;
    }
    if (ret->gt && ret->lt) {
        resp_error(&x->out, "ERR GT and LT options at the same time are not compatible");
        return false;
    }
    return true;
}

/* TIME_NEVER is later than every time, as Redis sees it. */
static bool holds(const struct expire_if *o, int64_t now_ms, int64_t then_ms) {
    bool ends = now_ms != TIME_NEVER;
    return !(o->nx && ends) && !(o->xx && !ends) && !(o->gt && then_ms <= now_ms) && !(o->lt && then_ms >= now_ms);
}

void resp_do_expire(struct resp_ask *x) {
    bool millis = x->command->name[0] == 'p', at = strstr(x->command->name, "at") != NULL;
    struct cmd_store change = {.op = STORE_EXPIRE, .key = x->args[1]};
    struct expire_if conditions = {0};
    struct item_view v;
    struct reply r;
    int64_t when = 0;
    if (!resp_integer(x, x->args[2], &when) || !take_conditions(x, &conditions)) return;
    if ((!millis && __builtin_mul_overflow(when, INT64_C(1000), &when)) ||
        (!at && __builtin_add_overflow(when, x->now.ms, &when)) || when >= TIME_NEVER) {
        resp_errorf(&x->out, "ERR invalid expire time in '%s' command", x->command->name);
        return;
    }
    if (!resp_look(x, x->args[1], &v) || !holds(&conditions, v.expires.ms, when)) {
        resp_number(&x->out, 0);
        return;
    }
    change.expires_ms = when > 0 ? when : 1; /* of the past: the key goes. 0 would mean never */
    if (resp_change(x, &change, &r)) resp_number(&x->out, r.number);
}

void resp_do_persist(struct resp_ask *x) {
    struct cmd_store change = {.op = STORE_EXPIRE, .key = x->args[1]};
    struct item_view v;
    struct reply r;
    bool ends = resp_look(x, x->args[1], &v) && v.expires.ms != TIME_NEVER;
    if (!ends || resp_change(x, &change, &r)) resp_number(&x->out, ends);
}

void resp_do_ttl(struct resp_ask *x) {
    const char *name = x->command->name;
    bool millis = name[0] == 'p', at = strstr(name, "time") != NULL;
    struct item_view v;
    if (!resp_look(x, x->args[1], &v)) {
        resp_number(&x->out, -2);
        return;
    }
    if (v.expires.ms == TIME_NEVER) {
        resp_number(&x->out, -1);
        return;
    }
    int64_t ms = at ? v.expires.ms : v.expires.ms - x->now.ms;
    resp_number(&x->out, millis ? ms : at ? ms / 1000 : (ms + 500) / 1000);
}
