/* resp_scan.c: many keys or members: all of them, or in pages.
 *
 * Pages go in the order of the texts, and a page begins behind a text; a cursor of Redis is a number. So the server
 * remembers what the last numbers that it gave away stood for (bookmarks). Whoever comes with one that has been pushed
 * out by so many others is told to begin again, and never misses a key in silence. */
#include "hash.h"
#include "pattern.h"
#include "resp_impl.h"
#include "store_number.h"

#define KEYS_MAX 100000u /* that one command looks at: more would keep all others waiting */
#define PAGE_STANDARD 10u
#define PAGE_MAX 10000u

/* ---- bookmarks ---- */

static uint64_t mixed(const struct resp_ask *x, struct slice set) {
    return hash64(set.ptr, set.len, hash64(x->place.tenant.ptr, x->place.tenant.len, 1));
}

bool resp_bookmark_find(struct resp_ask *x, struct slice cursor, struct slice set, struct slice *ret) {
    int64_t number = 0;
    *ret = (struct slice){0};
    if (!store_number(cursor, &number) || number < 0) {
        resp_error(&x->out, "ERR invalid cursor");
        return false;
    }
    if (number == 0) return true;
    const struct resp_bookmark *all = resps_of(x->s)->bookmarks;
    const struct resp_bookmark *b = all != NULL ? &all[(uint64_t)number % RESP_BOOKMARKS] : NULL;
    if (b == NULL || b->number != (uint64_t)number || b->mixed != mixed(x, set)) {
        resp_error(&x->out, "ERR this cursor is not known, or not any more: begin again with 0");
        return false;
    }
    *ret = bytes_slice(b->where);
    return true;
}

uint64_t resp_bookmark_put(struct resp_ask *x, struct slice where, struct slice set) {
    struct resps *all = resps_of(x->s);
    if (all->bookmarks == NULL) all->bookmarks = ARENA_ARRAY(&x->s->birth, struct resp_bookmark, RESP_BOOKMARKS);
    uint64_t number = ++all->bookmark_last;
    struct resp_bookmark *b = &all->bookmarks[number % RESP_BOOKMARKS];
    bytes_free(b->where);
    *b = (struct resp_bookmark){.number = number, .where = bytes_new(where), .mixed = mixed(x, set)};
    return number;
}

/* ---- gathering ---- */

struct found {
    struct vec texts; /* struct slice, into the state */
    struct slice pattern;
    bool any, texts_only, sets_only;
    uint64_t work, work_max;
    bool is_over;      /* there was no time for all */
    struct slice last; /* that there was time for */
};

static void found_init(struct found *f, const struct resp_ask *x) {
    uint64_t used = x->work - x->began;
    vec_init(&f->texts, sizeof(struct slice));
    f->work_max = used < RESP_WORK_MAX ? RESP_WORK_MAX - used : 0;
}

/* Whether there is time to look at this one. What comes behind the first that had none is not looked at either. */
static bool has_time(struct found *f, struct slice text) {
    if (f->work >= f->work_max) f->is_over = true;
    if (f->is_over) return false;
    f->work += RESP_LOOK_WORK;
    f->last = text;
    return true;
}

static void found_add(struct found *f, struct slice text) {
    if (!has_time(f, text)) return;
    if (f->any || pattern_matches(f->pattern, text, &f->work)) *(struct slice *)vec_push(&f->texts) = text;
}

static bool is_too_long(struct resp_ask *x, struct slice pattern) {
    if (pattern.len <= PATTERN_BYTES_MAX) return false;
    resp_errorf(&x->out, "ERR a pattern has at most %u bytes", PATTERN_BYTES_MAX);
    return true;
}

static void add_item(void *ctx, const struct item_view *v) {
    struct found *f = ctx;
    if ((f->texts_only && v->kind == ITEM_SET) || (f->sets_only && v->kind != ITEM_SET)) return;
    found_add(f, v->key);
}

static void add_member(void *ctx, struct slice member) {
    found_add(ctx, member);
}

static void put_found(struct resp_ask *x, struct found *f) {
    x->work += f->work;
    for (uint32_t i = 0; i < f->texts.count; i++) resp_bulk(&x->out, *(struct slice *)vec_at(&f->texts, i));
    vec_fini(&f->texts);
}

void resp_do_keys(struct resp_ask *x) {
    struct found f = {.pattern = x->args[1], .any = slice_eq(x->args[1], SLICE("*"))};
    struct store_page page = {.prefix = pattern_prefix(x->args[1]), .most = KEYS_MAX};
    struct slice last;
    if (is_too_long(x, f.pattern)) return;
    found_init(&f, x);
    bool more = page.prefix.len <= STORE_KEY_BYTES_MAX &&
                view_items(server_state(x->s), x->now, x->place, &page, add_item, &f, &last);
    if (more || f.is_over) {
        if (more)
            resp_errorf(&x->out, "ERR more than %u keys would have to be looked at: use SCAN", KEYS_MAX);
        else
            resp_error(&x->out, "ERR matching the pattern with all keys takes too long: use SCAN");
        f.texts.count = 0;
    } else {
        resp_array(&x->out, f.texts.count);
    }
    put_found(x, &f);
}

/* ---- pages ---- */

/* [MATCH pattern] [COUNT n] [TYPE name], from `at` on; false: it was refused. */
static bool take_options(struct resp_ask *x, uint32_t at, bool of_keys, struct found *f, struct store_page *page) {
    f->any = true;
    page->most = PAGE_STANDARD;
    for (; at < x->count; at += 2) {
        struct slice word = x->args[at], value = at + 1 < x->count ? x->args[at + 1] : (struct slice){0};
        int64_t count = 0;
        bool has_value = at + 1 < x->count;
        if (has_value && resp_is(word, "match")) {
            if (is_too_long(x, value)) return false;
            f->pattern = value;
            f->any = slice_eq(value, SLICE("*"));
            page->prefix = pattern_prefix(value);
        } else if (has_value && resp_is(word, "count")) {
            if (!resp_integer(x, value, &count)) return false;
            if (count < 1) break;
            page->most = count > PAGE_MAX ? PAGE_MAX : (uint32_t)count;
        } else if (has_value && of_keys && resp_is(word, "type")) {
            f->sets_only = !resp_is(value, "string");
            f->texts_only = !resp_is(value, "set");
        } else {
            break;
        }
    }
    if (at < x->count) resp_syntax(x);
    return at >= x->count;
}

/* A page may be shorter than was asked for, as in Redis. */
static void put_page(struct resp_ask *x, struct found *f, bool more, struct slice last, struct slice set) {
    char text[STORE_NUMBER_BYTES];
    if (f->is_over) {
        more = true;
        last = f->last;
    }
    uint64_t next = more ? resp_bookmark_put(x, last, set) : 0;
    resp_array(&x->out, 2);
    resp_bulk(&x->out, store_number_text((int64_t)next, text));
    resp_array(&x->out, f->texts.count);
    put_found(x, f);
}

void resp_do_scan(struct resp_ask *x) {
    struct found f = {0};
    struct store_page page = {0};
    struct slice last = {0};
    if (!resp_bookmark_find(x, x->args[1], (struct slice){0}, &page.after)) return;
    if (!take_options(x, 2, true, &f, &page)) return;
    found_init(&f, x);
    f.last = page.after;
    bool more = page.prefix.len <= STORE_KEY_BYTES_MAX &&
                view_items(server_state(x->s), x->now, x->place, &page, add_item, &f, &last);
    put_page(x, &f, more, last, (struct slice){0});
}

/* A set that is made from the state, in one page: its members last no longer than the call that tells them. */
struct made {
    struct found *found;
    struct arena *arena;
};

static bool add_made(void *arg, struct slice member) {
    struct made *m = arg;
    found_add(m->found, arena_slice(m->arena, member));
    return true;
}

static bool gather_made(struct resp_ask *x, struct found *f) {
    struct made m = {f, &x->s->arena};
    uint32_t tenant = view_tenant_number(server_state(x->s), x->place.tenant);
    arena_reset(&x->s->arena);
    return resp_is_virtual(x->args[1]) && resp_key_map.members(x->s, tenant, x->args[1], add_made, &m);
}

void resp_do_sscan(struct resp_ask *x) {
    struct found f = {0};
    struct store_page page = {0};
    struct item_view v;
    struct slice last = {0};
    bool there, more = false;
    if (!resp_bookmark_find(x, x->args[2], x->args[1], &page.after)) return;
    if (!take_options(x, 3, false, &f, &page)) return;
    if (!resp_look_set(x, x->args[1], &there, &v)) return;
    found_init(&f, x);
    f.last = page.after;
    if (there && !gather_made(x, &f) && page.prefix.len <= STORE_KEY_BYTES_MAX)
        more = view_members(server_state(x->s), x->now, x->place, x->args[1], &page, add_member, &f, &last);
    put_page(x, &f, more, last, x->args[1]);
}
