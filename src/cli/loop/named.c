/* named.c: see named.h. */
#include "named.h"

#include <ctype.h>
#include <stdio.h>

#include "hex.h"
#include "ids.h"
#include "out.h"

#define PAGE 50u
#define PAGE_MAX 1000u
#define PAGES_MAX 100u
#define CANDIDATES_SHOWN 4u

/* ---- what the table says ---- */

static struct slice next_place(const char **at) {
    *at += strspn(*at, " ");
    struct slice place = slice_of(*at, strcspn(*at, " "));
    *at += place.len;
    return place;
}

static struct slice without_marks(struct slice place) {
    while (place.len > 0 && strchr("[]. ", place.ptr[place.len - 1]) != NULL) place.len--;
    while (place.len > 0 && place.ptr[0] == '[') place = slice_of(place.ptr + 1, place.len - 1);
    return place;
}

/* `[FLOW] FILE` with one argument: what may be left out is left out from the beginning. */
struct slice named_place(const struct cli_verb *verb, int at, int count) {
    const char *text = verb->args;
    struct slice places[8] = {{0}};
    int places_count = 0, skip = 0, required = 0;
    for (struct slice p; places_count < 8 && (p = next_place(&text)).len > 0;) places[places_count++] = p;
    for (int i = 0; i < places_count; i++) required += places[i].ptr[0] != '[';
    while (required > 0 && skip < places_count - count && places[skip].ptr[0] == '[') skip++;
    if (places_count == 0) return (struct slice){0};
    struct slice last = places[places_count - 1];
    bool repeats = last.len > 3 && memmem(last.ptr, last.len, "...", 3) != NULL;
    if (at + skip >= places_count) return repeats ? without_marks(last) : (struct slice){0};
    return without_marks(places[at + skip]);
}

bool named_has(struct slice place, const char *word) {
    size_t len = strlen(word);
    for (size_t at = 0; at + len <= place.len; at++) {
        bool begins = at == 0 || place.ptr[at - 1] == '|';
        bool ends = at + len == place.len || place.ptr[at + len] == '|';
        if (begins && ends && memcmp(place.ptr + at, word, len) == 0) return true;
    }
    return false;
}

/* ---- flows ---- */

/* A text that only an id can be. Ids may be typed with i, l and o for 1 and 0, which makes words of them: `fix` is f1x
 * when no flow has that name. */
static bool is_id(struct slice text, bool *ret_whole) {
    char own[FLOW_TEXT_BYTES];
    uint32_t shard = 0;
    flow_id id;
    if (!flow_parse(text, &shard, &id)) return false;
    flow_text(shard, id, own);
    *ret_whole = shard == 0 && strlen(own) == text.len && strncasecmp(own, (const char *)text.ptr, text.len) == 0;
    return true;
}

static bool is_wanted(const struct cli *c, const struct wire_flow_view *v, struct slice name) {
    if (name.len > 0) return slice_eq(v->name, name);
    return v->schedule.len == 0 && slice_eq(v->principal, slice_str(c->client.principal));
}

/* The newest flow of that name; without a name, the newest that this user submitted. Its id is in the arena of the
 * command; empty: there is none. */
static enum err newest(struct cli *c, struct slice name, struct slice *ret, struct wire_flow_view *ret_view) {
    struct wire_list m = {.what = WIRE_LIST_FLOWS, .most = PAGE, .name = name};
    *ret = (struct slice){0};
    for (uint32_t pages = 0; pages < PAGES_MAX; pages++) {
        struct client_frame f;
        enum err e = client_ask(&c->client, WIRE_LIST, &m, &f, c->why);
        if (e != ERR_OK) return e;
        const struct wire_listed *page = f.message;
        const struct wire_flow_view *list = page->flows.at;
        for (uint32_t i = 0; i < page->flows.count; i++) {
            if (!is_wanted(c, &list[i], name)) continue;
            *ret = arena_slice(&c->arena, list[i].flow);
            *ret_view = list[i];
            return ERR_OK;
        }
        if (page->cursor.len == 0) return ERR_OK;
        m.cursor = arena_slice(&c->arena, page->cursor);
        m.most = PAGE_MAX;
        client_forget(&c->client);
    }
    return ERR_OK;
}

static bool is_changing(const struct cli_verb *verb) {
    static const char *const words[] = {"cancel", "retry", "discard", "rerun", "pause", "resume", "add", "complete"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(verb->words, words[i]) == 0) return true;
    return false;
}

static void tell(const struct cli *c, struct slice text, const struct wire_flow_view *v) {
    char age[OUT_TIME_BYTES];
    if (!is_changing(c->verb) || c->json) return;
    out_age(c->world->clock->wall(c->world->clock).ms, v->created_ms, age);
    out_say(stderr, "reeve %s: %.*s is %.*s (%.*s, %.*s, %s old)", c->verb->words, SLICE_FMT(text), SLICE_FMT(v->flow),
            SLICE_FMT(v->name), SLICE_FMT(v->state), age);
}

/* True: the server knows what is meant, or refuses to say; *ret is the whole id, but of a service it stays its name. */
static enum err known(struct cli *c, struct slice text, bool *ret_known, struct slice *ret) {
    struct client_frame f;
    struct why ignored;
    struct wire_get m = {.target = text};
    enum err e = client_ask(&c->client, WIRE_GET, &m, &f, &ignored);
    *ret_known = e != ERR_NOT_FOUND;
    if (e != ERR_OK) return e == ERR_UNKNOWN ? cli_refuse(c, e, "%s", ignored.text) : ERR_OK; /* the verb says it */
    const struct wire_got *got = f.message;
    if (got->jobs.count == 0 && got->flow.flow.len > 0) *ret = arena_slice(&c->arena, got->flow.flow);
    return ERR_OK;
}

static enum err flow_named(struct cli *c, struct slice text, struct slice *ret) {
    bool whole = false, found = false, looks_like_id = is_id(text, &whole);
    struct slice id = {0};
    struct wire_flow_view view = {0};
    if (whole || text.len == 0) return ERR_OK;
    bool is_last = slice_eq(text, SLICE(NAMED_LAST));
    if (text.ptr[0] == '@' && !is_last)
        return cli_refuse(c, ERR_INVALID,
                          "there is no %.*s: expected " NAMED_LAST ", the newest flow that you submitted",
                          SLICE_FMT(text));
    enum err e = is_last || looks_like_id ? ERR_OK : known(c, text, &found, ret);
    if (e != ERR_OK || found) return e;
    e = newest(c, is_last ? (struct slice){0} : text, &id, &view);
    if (e == ERR_FORBIDDEN && !is_last) return ERR_OK; /* the token of a job may see its own flow, and no list */
    if (e == ERR_OK && id.len == 0 && is_last)
        return cli_refuse(c, ERR_NOT_FOUND, NAMED_LAST ": there is no flow that %s submitted", c->client.principal);
    if (e == ERR_OK && id.len > 0) {
        tell(c, text, &view);
        *ret = id;
    }
    return e;
}

struct slice named_flow_quietly(struct cli *c, struct slice text) {
    struct slice id = text;
    struct why ignored, *kept = c->why;
    c->why = &ignored;
    if (flow_named(c, text, &id) != ERR_OK) id = text;
    c->why = kept;
    return id;
}

/* Both parts again; only the flow has other names. */
static enum err target_named(struct cli *c, const char **arg) {
    struct slice flow = slice_of(*arg, strcspn(*arg, "/")), id = flow;
    const char *rest = *arg + flow.len;
    enum err e = flow_named(c, flow, &id);
    if (e != ERR_OK || id.ptr == flow.ptr) return e;
    size_t room = id.len + strlen(rest) + 1;
    char *text = arena_alloc(&c->arena, room);
    snprintf(text, room, "%.*s%s", SLICE_FMT(id), rest);
    *arg = text;
    return ERR_OK;
}

/* ---- workers, blobs ---- */

static const char *text_of(struct cli *c, struct slice s) {
    char *text = arena_alloc(&c->arena, s.len + 1);
    snprintf(text, s.len + 1, "%.*s", SLICE_FMT(s));
    return text;
}

struct candidates {
    struct slice found[CANDIDATES_SHOWN];
    uint32_t count;
};

static void candidate(struct cli *c, struct candidates *all, struct slice text) {
    if (all->count < CANDIDATES_SHOWN) all->found[all->count] = arena_slice(&c->arena, text);
    all->count++;
}

/* None: the server is to say so. */
static enum err the_only(struct cli *c, const struct candidates *all, const char *what, const char **arg) {
    struct buf text;
    if (all->count == 0) return ERR_OK;
    buf_init(&text, 1024);
    for (uint32_t i = 0; i < all->count && i < CANDIDATES_SHOWN; i++)
        buf_printf(&text, "%s%.*s", i > 0 ? ", " : "", SLICE_FMT(all->found[i]));
    if (all->count > CANDIDATES_SHOWN) buf_printf(&text, " and more");
    enum err e = ERR_OK;
    if (all->count > 1)
        e = cli_refuse(c, ERR_INVALID, "several %s begin with %s: %.*s", what, *arg, SLICE_FMT(buf_slice(&text)));
    else
        *arg = text_of(c, all->found[0]);
    buf_fini(&text);
    return e;
}

/* A worker is called NAME-3e889a: who types NAME means it, not one that is called NAME2. */
static bool is_called(struct slice id, size_t name_len) {
    const uint8_t *dash = memrchr(id.ptr, '-', id.len);
    return dash != NULL && (size_t)(dash - id.ptr) == name_len;
}

static enum err worker_named(struct cli *c, const char **arg) {
    struct wire_list m = {.what = WIRE_LIST_WORKERS, .most = PAGE_MAX, .name = slice_str(*arg)};
    struct candidates called = {.count = 0}, all = {.count = 0};
    struct client_frame f;
    enum err e = client_ask(&c->client, WIRE_LIST, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_listed *page = f.message;
    const struct wire_worker_view *list = page->workers.at;
    for (uint32_t i = 0; i < page->workers.count; i++) {
        if (slice_eq(list[i].worker, m.name)) return ERR_OK;
        candidate(c, &all, list[i].worker);
        if (is_called(list[i].worker, m.name.len)) candidate(c, &called, list[i].worker);
    }
    return the_only(c, called.count > 0 ? &called : &all, "workers", arg);
}

/* Blobs are listed in the order of their hashes: the page behind the first that could be meant has them all. */
static enum err blob_named(struct cli *c, const char **arg) {
    size_t len = strlen(*arg);
    char cursor[2 * DIGEST_BYTES + 1], digits[2 * DIGEST_BYTES + 1];
    bool is_beginning = len >= NAMED_HASH_DIGITS_LEAST && len < 2 * DIGEST_BYTES;
    if (!is_beginning || (*arg)[strspn(*arg, "0123456789abcdefABCDEF")] != 0) return ERR_OK;
    for (size_t i = 0; i < 2 * DIGEST_BYTES; i++) cursor[i] = i < len ? (char)tolower((*arg)[i]) : '0';
    cursor[2 * DIGEST_BYTES] = 0;
    struct wire_blob_ls m = {.most = CANDIDATES_SHOWN + 1, .cursor = slice_str(cursor)};
    struct candidates all = {.count = 0};
    struct client_frame f;
    enum err e = client_ask(&c->client, WIRE_BLOB_LS, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_blob_list *page = f.message;
    const struct wire_blob_view *list = page->blobs.at;
    for (uint32_t i = 0; i < page->blobs.count; i++) {
        hex_write(list[i].hash, digits);
        if (strncmp(digits, cursor, len) == 0) candidate(c, &all, slice_str(digits));
    }
    if (all.count == 0) return cli_refuse(c, ERR_NOT_FOUND, "there is no blob %s; `reeve blob ls` lists blobs", *arg);
    return the_only(c, &all, "blobs", arg);
}

/* ---- the command line ---- */

static bool is_target(struct slice place) {
    return named_has(place, "FLOW") || named_has(place, "JOB");
}

static enum err one(struct cli *c, struct slice place, const char **arg) {
    if (is_target(place)) return target_named(c, arg);
    if (named_has(place, "WORKER")) return worker_named(c, arg);
    if (named_has(place, "HASH")) return blob_named(c, arg);
    return ERR_OK;
}

enum err named_arguments(struct cli *c) {
    enum err e = ERR_OK;
    for (int i = 0; e == ERR_OK && i < c->arg_count; i++) {
        const char *arg = c->args[i];
        e = one(c, named_place(c->verb, i, c->arg_count), &arg);
        c->args[i] = (char *)(uintptr_t)arg;
    }
    for (uint32_t i = 0; e == ERR_OK && i < c->given_count; i++) {
        const char *what = c->given[i].flag->value;
        if (what != NULL && is_target(slice_str(what))) e = target_named(c, &c->given[i].value);
    }
    client_forget(&c->client);
    return e;
}
