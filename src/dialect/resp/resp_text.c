/* resp_text.c: commands about keys that hold a text or a number. */
#include "resp_impl.h"

/* ---- times to end ---- */

/* A number and its unit as a moment; false: it was refused. A moment of the past stays one: the key is to go. */
static bool take_moment(struct resp_ask *x, struct slice text, bool seconds, bool from_now, int64_t *ret) {
    int64_t number = 0;
    if (!resp_integer(x, text, &number)) return false;
    bool fits = number > 0 && !(seconds && __builtin_mul_overflow(number, INT64_C(1000), &number)) &&
                !(from_now && __builtin_add_overflow(number, x->now.ms, &number)) && number < TIME_NEVER;
    if (!fits) resp_errorf(&x->out, "ERR invalid expire time in '%s' command", x->command->name);
    *ret = number;
    return fits;
}

/* EX, PX, EXAT or PXAT at *at, with its number. */
static bool is_moment(struct slice word, bool *ret_seconds, bool *ret_from_now) {
    *ret_seconds = resp_is(word, "ex") || resp_is(word, "exat");
    *ret_from_now = resp_is(word, "ex") || resp_is(word, "px");
    return *ret_seconds || *ret_from_now || resp_is(word, "pxat");
}

/* ---- set ---- */

struct setting {
    int64_t expires_ms;
    enum store_if condition;
    bool keeps, gets;
};

static bool take_options(struct resp_ask *x, struct setting *ret) {
    for (uint32_t i = 3; i < x->count; i++) {
        struct slice word = x->args[i];
        bool seconds, from_now;
        if (resp_is(word, "nx") && ret->condition != STORE_IF_PRESENT) {
            ret->condition = STORE_IF_ABSENT;
        } else if (resp_is(word, "xx") && ret->condition != STORE_IF_ABSENT) {
            ret->condition = STORE_IF_PRESENT;
        } else if (resp_is(word, "get")) {
            ret->gets = true;
        } else if (resp_is(word, "keepttl") && ret->expires_ms == 0) {
            ret->keeps = true;
        } else if (is_moment(word, &seconds, &from_now) && !ret->keeps && ret->expires_ms == 0 && i + 1 < x->count) {
            if (!take_moment(x, x->args[++i], seconds, from_now, &ret->expires_ms)) return false;
        } else {
            resp_syntax(x);
            return false;
        }
    }
    return true;
}

static void put_value(struct resp_ask *x, bool there, const struct item_view *v) {
    char room[24];
    if (there)
        resp_bulk(&x->out, resp_value(v, room));
    else
        resp_nil(&x->out);
}

/* The change that gives a key a value; one that would end in the past deletes it. */
static void fill_set(struct resp_ask *x, const struct setting *o, const struct store_entry *entry,
                     struct cmd_store *ret) {
    bool is_over = o->expires_ms != 0 && o->expires_ms <= x->now.ms;
    *ret = (struct cmd_store){.op = is_over ? STORE_DELETE : STORE_SET,
                              .entries = entry,
                              .entry_count = 1,
                              .condition = o->condition,
                              .expires_ms = is_over ? 0 : o->expires_ms,
                              .keep_expiry = o->keeps};
}

/* The old value is said before the change: the view points into the state. If that is refused, it is taken back. */
static void set_and_get(struct resp_ask *x, const struct setting *o, const struct store_entry *entry) {
    struct item_view v;
    struct cmd_store change;
    struct reply r;
    bool there;
    if (!resp_look_text(x, entry->key, &there, &v)) return;
    size_t before = x->out.to->len;
    put_value(x, there, &v);
    fill_set(x, o, entry, &change);
    if (resp_try(x, &change, &r) == ERR_OK || r.err == ERR_CONFLICT) return;
    buf_cut(x->out.to, before);
    resp_refused(x, &r);
}

void resp_do_set(struct resp_ask *x) {
    struct setting o = {0};
    struct store_entry entry = {x->args[1], x->args[2]};
    struct cmd_store change;
    struct reply r;
    if (!take_options(x, &o)) return;
    if (o.gets) {
        set_and_get(x, &o, &entry);
        return;
    }
    fill_set(x, &o, &entry, &change);
    if (resp_try(x, &change, &r) == ERR_OK)
        resp_simple(&x->out, "OK");
    else if (r.err == ERR_CONFLICT)
        resp_nil(&x->out);
    else
        resp_refused(x, &r);
}

void resp_do_setex(struct resp_ask *x) {
    struct setting o = {0};
    struct store_entry entry = {x->args[1], x->args[3]};
    struct cmd_store change;
    struct reply r;
    if (!take_moment(x, x->args[2], x->command->name[0] == 's', true, &o.expires_ms)) return;
    fill_set(x, &o, &entry, &change);
    if (resp_change(x, &change, &r)) resp_simple(&x->out, "OK");
}

void resp_do_setnx(struct resp_ask *x) {
    struct setting o = {.condition = STORE_IF_ABSENT};
    struct store_entry entry = {x->args[1], x->args[2]};
    struct cmd_store change;
    struct reply r;
    fill_set(x, &o, &entry, &change);
    if (resp_try(x, &change, &r) == ERR_OK || r.err == ERR_CONFLICT)
        resp_number(&x->out, r.err == ERR_OK);
    else
        resp_refused(x, &r);
}

void resp_do_getset(struct resp_ask *x) {
    struct setting o = {0};
    struct store_entry entry = {x->args[1], x->args[2]};
    set_and_get(x, &o, &entry);
}

void resp_do_mset(struct resp_ask *x) {
    struct reply r;
    uint32_t count = (x->count - 1) / 2;
    if (x->count % 2 == 0) {
        resp_wrong_arity(x);
        return;
    }
    arena_reset(&x->s->arena);
    struct store_entry *entries = ARENA_ARRAY(&x->s->arena, struct store_entry, count);
    for (uint32_t i = 0; i < count; i++) entries[i] = (struct store_entry){x->args[1 + 2 * i], x->args[2 + 2 * i]};
    struct cmd_store change = {.op = STORE_SET, .entries = entries, .entry_count = count};
    if (resp_change(x, &change, &r)) resp_simple(&x->out, "OK");
}

/* ---- get ---- */

void resp_do_get(struct resp_ask *x) {
    struct item_view v;
    bool there;
    if (resp_look_text(x, x->args[1], &there, &v)) put_value(x, there, &v);
}

void resp_do_mget(struct resp_ask *x) {
    struct item_view v;
    resp_array(&x->out, x->count - 1);
    for (uint32_t i = 1; i < x->count; i++) put_value(x, resp_look(x, x->args[i], &v) && v.kind != ITEM_SET, &v);
}

void resp_do_getdel(struct resp_ask *x) {
    struct item_view v;
    bool there;
    struct reply r;
    struct store_entry entry = {.key = x->args[1]};
    struct cmd_store change = {.op = STORE_DELETE, .entries = &entry, .entry_count = 1};
    if (!resp_look_text(x, x->args[1], &there, &v)) return;
    size_t before = x->out.to->len;
    put_value(x, there, &v);
    if (!there || resp_try(x, &change, &r) == ERR_OK) return;
    buf_cut(x->out.to, before);
    resp_refused(x, &r);
}

void resp_do_getex(struct resp_ask *x) {
    struct item_view v;
    bool there, seconds, from_now;
    struct reply r;
    struct cmd_store change = {.op = STORE_EXPIRE, .key = x->args[1]};
    bool persists = x->count == 3 && resp_is(x->args[2], "persist");
    bool moves = x->count == 4 && is_moment(x->args[2], &seconds, &from_now);
    if (x->count != 2 && !persists && !moves) {
        resp_syntax(x);
        return;
    }
    if (moves && !take_moment(x, x->args[3], seconds, from_now, &change.expires_ms)) return;
    if (!resp_look_text(x, x->args[1], &there, &v)) return;
    size_t before = x->out.to->len;
    put_value(x, there, &v);
    if (!there || x->count == 2 || resp_try(x, &change, &r) == ERR_OK) return;
    buf_cut(x->out.to, before);
    resp_refused(x, &r);
}

void resp_do_strlen(struct resp_ask *x) {
    struct item_view v;
    char room[24];
    bool there;
    if (resp_look_text(x, x->args[1], &there, &v)) resp_number(&x->out, there ? (int64_t)resp_value(&v, room).len : 0);
}

void resp_do_append(struct resp_ask *x) {
    struct item_view v;
    struct reply r;
    char room[24];
    bool there;
    if (!resp_look_text(x, x->args[1], &there, &v)) return;
    struct slice old = there ? resp_value(&v, room) : (struct slice){0}, more = x->args[2];
    arena_reset(&x->s->arena);
    uint8_t *both = arena_space(&x->s->arena, old.len + more.len + 1);
    if (old.len > 0) memcpy(both, old.ptr, old.len);
    if (more.len > 0) memcpy(both + old.len, more.ptr, more.len);
    struct store_entry entry = {x->args[1], slice_of(both, old.len + more.len)};
    struct cmd_store change = {.op = STORE_SET, .entries = &entry, .entry_count = 1, .keep_expiry = true};
    if (resp_change(x, &change, &r)) resp_number(&x->out, (int64_t)entry.value.len);
}

/* ---- numbers ---- */

void resp_do_incr(struct resp_ask *x) {
    bool down = x->command->name[0] == 'd';
    struct cmd_store change = {.op = STORE_INCREASE, .key = x->args[1], .number = 1};
    struct item_view v;
    struct reply r;
    if (x->count == 3 && !resp_integer(x, x->args[2], &change.number)) return;
    if (down && change.number == INT64_MIN) {
        resp_error(&x->out, "ERR decrement would overflow");
        return;
    }
    if (down) change.number = -change.number;
    enum err e = resp_try(x, &change, &r);
    bool there = e != ERR_OK && resp_look(x, x->args[1], &v);
    if (e == ERR_OK)
        resp_number(&x->out, r.number);
    else if (e == ERR_STATE && there && v.kind != ITEM_SET)
        resp_error(&x->out, "ERR value is not an integer or out of range");
    else if (e == ERR_LIMIT && there)
        resp_error(&x->out, "ERR increment or decrement would overflow");
    else
        resp_refused(x, &r);
}

/* ---- compare and set ---- */

/* What a change with a condition came to: `yes`, or 0 because the condition did not hold. */
static void conditional(struct resp_ask *x, const struct cmd_store *change, bool by_version) {
    struct item_view v;
    struct reply r;
    bool there;
    if (!resp_look_text(x, x->args[1], &there, &v)) return;
    if (resp_try(x, change, &r) == ERR_OK)
        resp_number(&x->out, by_version ? (int64_t)r.version : 1);
    else if (r.err == ERR_CONFLICT)
        resp_number(&x->out, 0);
    else
        resp_refused(x, &r);
}

void resp_do_cas(struct resp_ask *x) {
    struct store_entry entry = {x->args[1], x->args[3]};
    struct cmd_store change = {.op = STORE_SET,
                               .entries = &entry,
                               .entry_count = 1,
                               .condition = STORE_IF_VALUE,
                               .value = x->args[2],
                               .keep_expiry = true};
    conditional(x, &change, false);
}

void resp_do_casver(struct resp_ask *x) {
    struct store_entry entry = {x->args[1], x->args[3]};
    int64_t version = 0;
    if (!resp_integer(x, x->args[2], &version)) return;
    struct cmd_store change = {.op = STORE_SET,
                               .entries = &entry,
                               .entry_count = 1,
                               .condition = STORE_IF_VERSION,
                               .version = (uint64_t)version,
                               .keep_expiry = true};
    conditional(x, &change, true);
}

void resp_do_cad(struct resp_ask *x) {
    struct store_entry entry = {.key = x->args[1]};
    struct cmd_store change = {
        .op = STORE_DELETE, .entries = &entry, .entry_count = 1, .condition = STORE_IF_VALUE, .value = x->args[2]};
    conditional(x, &change, false);
}

void resp_do_getver(struct resp_ask *x) {
    struct item_view v;
    bool there;
    if (!resp_look_text(x, x->args[1], &there, &v)) return;
    if (!there) {
        resp_nil_array(&x->out);
        return;
    }
    resp_array(&x->out, 2);
    put_value(x, true, &v);
    resp_number(&x->out, (int64_t)v.version);
}
