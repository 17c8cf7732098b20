/* crash_check.c: what was acknowledged is looked for, byte by byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash_impl.h"
#include "osdigest.h"

#define SAMPLE 30u /* of what was found before, each round */

bool crash_worker_died_since(const struct crash *c, uint32_t round) {
    for (uint32_t i = 0; i < c->worker_deaths.count; i++)
        if (*(const uint32_t *)vec_at(&c->worker_deaths, i) >= round) return true;
    return false;
}

/* ---- one thing each: is it there, as it was said? ---- */

static enum err not_there(enum err e, bool *ret) {
    *ret = false;
    return e == ERR_NOT_FOUND || e == ERR_UNKNOWN_NAME ? ERR_OK : e;
}

/* Ids may be given again when a server has lost its past: the name tells. `state` may be NULL. */
static enum err flow_is_there(struct crash *c, const struct crash_item *item, char state[16], bool *ret,
                              struct why *why) {
    struct wire_get m = {.target = slice_str(item->id)};
    struct client_frame got;
    char name[32];
    enum err e = client_ask(&c->lab.client, WIRE_GET, &m, &got, why);
    if (e != ERR_OK) return not_there(e, ret);
    const struct wire_got *g = got.message;
    snprintf(name, sizeof name, "crash-%llu", (unsigned long long)item->number);
    *ret = got.op == WIRE_GOT && slice_eq(g->flow.name, slice_str(name));
    if (state != NULL) snprintf(state, 16, "%.*s", SLICE_FMT(g->flow.state));
    return ERR_OK;
}

static enum err blob_is_there(struct crash *c, uint64_t number, bool *ret, struct why *why) {
    struct client *client = &c->lab.client;
    char *text = arena_alloc(&client->arena, CRASH_TEXT_MAX);
    size_t bytes = crash_text(c, number, crash_blob_bytes(c, number), text), at = 0;
    uint8_t hash[DIGEST_BYTES];
    struct client_frame got;
    osdigest()->whole(osdigest(), slice_of(text, bytes), hash);
    struct wire_blob_get m = {.hash = slice_of(hash, sizeof hash)};
    enum err e = client_ask(client, WIRE_BLOB_GET, &m, &got, why);
    if (e != ERR_OK) return not_there(e, ret);
    *ret = true;
    for (;;) {
        const struct wire_blob_data *data = got.message;
        *ret = *ret && data->data.len <= bytes - at && memcmp(data->data.ptr, text + at, data->data.len) == 0;
        at += *ret ? data->data.len : 0;
        if (!(got.flags & FRAME_MORE)) break;
        e = client_answer(client, got.request, &got, why);
        if (e != ERR_OK) return e;
    }
    *ret = *ret && at == bytes;
    return ERR_OK;
}

static enum err key_read(struct crash *c, const char *key, struct slice *ret_value, struct why *why) {
    struct wire_kv_key keys[] = {{slice_str(key)}};
    struct wire_kv_get m = {.keys = {keys, 1}};
    struct client_frame got;
    enum err e = client_ask(&c->lab.client, WIRE_KV_GET, &m, &got, why);
    if (e != ERR_OK) return e;
    const struct wire_kv_items *list = got.message;
    const struct wire_kv_item *item = list->items.at;
    *ret_value = list->items.count == 1 ? item->value : (struct slice){0};
    return ERR_OK;
}

static enum err key_is_there(struct crash *c, uint64_t number, bool *ret, struct why *why) {
    char key[40], text[40];
    struct slice value;
    snprintf(key, sizeof key, "crash/%llu", (unsigned long long)number);
    enum err e = key_read(c, key, &value, why);
    if (e != ERR_OK) return not_there(e, ret);
    *ret = slice_eq(value, slice_of(text, crash_text(c, number, sizeof text, text)));
    return ERR_OK;
}

/* The output of the last attempt of a job is all that it printed. */
static enum err output_is_there(struct crash *c, const struct crash_item *item, char job, bool *ret, struct why *why) {
    struct client *client = &c->lab.client;
    char name[CRASH_ID_BYTES + 4], text[2048];
    size_t bytes = crash_output(c, item->number, job, text), at = 0;
    struct client_frame got;
    snprintf(name, sizeof name, "%s/%c", item->id, job);
    struct wire_logs m = {.job = slice_str(name)};
    enum err e = client_ask(client, WIRE_LOGS, &m, &got, why);
    if (e != ERR_OK) return not_there(e, ret);
    *ret = true;
    for (;;) {
        const struct wire_log_data *data = got.message;
        const struct wire_log_piece *pieces = data->pieces.at;
        for (uint32_t i = 0; i < data->pieces.count && *ret; i++) {
            *ret = pieces[i].data.len <= bytes - at && memcmp(pieces[i].data.ptr, text + at, pieces[i].data.len) == 0;
            at += pieces[i].data.len;
        }
        if (!(got.flags & FRAME_MORE)) break;
        e = client_answer(client, got.request, &got, why);
        if (e != ERR_OK) return e;
    }
    *ret = *ret && at == bytes;
    return ERR_OK;
}

static enum err limit_is_there(struct crash *c, uint64_t number, bool *ret, struct why *why) {
    struct wire_page m = {.most = 1000};
    struct client_frame got;
    char name[32];
    enum err e = client_ask(&c->lab.client, WIRE_LIMIT_LS, &m, &got, why);
    if (e != ERR_OK) return e;
    const struct wire_limit_list *list = got.message;
    const struct wire_limit_view *limits = list->limits.at;
    snprintf(name, sizeof name, "crash-%llu", (unsigned long long)number);
    *ret = false;
    for (uint32_t i = 0; i < list->limits.count && !*ret; i++)
        *ret = limits[i].set && limits[i].width == number && slice_eq(limits[i].name, slice_str(name));
    return ERR_OK;
}

/* It ended as it was seen to end, and if well, its output is whole. */
static enum err log_is_there(struct crash *c, const struct crash_item *item, bool *ret, struct why *why) {
    char state[16] = "";
    enum err e = flow_is_there(c, item, state, ret, why);
    if (e != ERR_OK || !*ret) return e;
    *ret = (strcmp(state, "succeeded") == 0) == item->succeeded;
    bool has_output = item->succeeded && crash_is_work(c, item->number);
    for (uint32_t i = 0; i < crash_jobs(c, item->number) && e == ERR_OK && *ret && has_output; i++)
        e = output_is_there(c, item, (char)('a' + i), ret, why);
    return e;
}

enum err crash_item_check(struct crash *c, struct crash_item *item, struct why *why) {
    bool there = false;
    enum err e = ERR_OK;
    if (item->round == UINT32_MAX) return ERR_OK; /* it is missed already */
    client_forget(&c->lab.client);
    switch ((enum crash_kind)item->kind) {
    case CRASH_FLOW: e = flow_is_there(c, item, NULL, &there, why); break;
    case CRASH_BLOB: e = blob_is_there(c, item->number, &there, why); break;
    case CRASH_KEY: e = key_is_there(c, item->number, &there, why); break;
    case CRASH_LOG: e = log_is_there(c, item, &there, why); break;
    case CRASH_LIMIT: e = limit_is_there(c, item->number, &there, why); break;
    case CRASH_KINDS: break;
    }
    if (e != ERR_OK || there) return e;
    c->counts[item->kind].lost++;
    crash_tell(c, "lost: of %s number %llu %s, acknowledged in round %u", crash_kind_words[item->kind],
               (unsigned long long)item->number, item->id, item->round + 1);
    item->round = UINT32_MAX;
    return ERR_OK;
}

/* ---- after each restart ---- */

static void gather(struct crash *c) {
    for (uint32_t k = 0; k < CRASH_CLIENTS; k++) {
        struct vec *items = &c->clients[k].items;
        for (uint32_t i = 0; i < items->count; i++) {
            const struct crash_item *from = vec_at(items, i);
            struct crash_item *to = vec_push(&c->items);
            *to = *from;
            c->counts[to->kind].acknowledged++;
            if (to->kind != CRASH_LOG || to->succeeded || !crash_succeeds(c, to->number)) continue;
            if (crash_attempts(c, to->number) == 1) continue;
            c->bad_ends++;
            crash_tell(c, "flow %s with attempts left was seen to fail", to->id);
        }
        items->count = 0;
        if (c->clients[k].twice > 0) crash_tell(c, "made twice: flows that were asked for again under their key");
        c->run_twice += c->clients[k].twice;
        c->clients[k].twice = 0;
    }
}

/* There is one flow of this name. */
static enum err one_of_it(struct crash *c, uint64_t number, struct why *why) {
    char name[32];
    uint32_t count = 0;
    struct client_frame got;
    snprintf(name, sizeof name, "crash-%llu", (unsigned long long)number);
    struct wire_list m = {.what = WIRE_LIST_FLOWS, .name = slice_str(name), .most = 1000};
    enum err e = client_ask(&c->lab.client, WIRE_LIST, &m, &got, why);
    if (e != ERR_OK) return e;
    const struct wire_listed *list = got.message;
    const struct wire_flow_view *flows = list->flows.at;
    for (uint32_t i = 0; i < list->flows.count; i++)
        count += slice_eq(flows[i].name, slice_str(name)); /* not only begins */
    if (count <= 1) return ERR_OK;
    c->run_twice++;
    crash_tell(c, "made twice: there are %u flows %s", count, name);
    return ERR_OK;
}

/* What was asked for and not answered may be there or not. A flow is asked for again, and there is one of it. */
static enum err open_check(struct crash *c, struct crash_client *k, struct why *why) {
    bool there = false;
    uint32_t repeated = 0;
    enum err e = ERR_OK;
    if (!k->is_open) return ERR_OK;
    k->is_open = false;
    client_forget(&c->lab.client);
    if (k->open_kind == CRASH_FLOW)
        e = crash_put_flows(k, &c->lab.client, k->open_number, &repeated, why);
    else if (k->open_kind == CRASH_BLOB)
        e = blob_is_there(c, k->open_number, &there, why);
    else
        e = key_is_there(c, k->open_number, &there, why);
    c->counts[k->open_kind].unanswered += repeated + there;
    return e == ERR_OK && k->open_kind == CRASH_FLOW ? one_of_it(c, k->open_number, why) : e;
}

/* The key that only rises has what was acknowledged last, or what was asked for after it. */
static enum err rising_check(struct crash *c, struct crash_client *k, struct why *why) {
    char key[40], text[40];
    struct slice value;
    snprintf(key, sizeof key, "rising/%u", k->index);
    enum err e = key_read(c, key, &value, why);
    if (e != ERR_OK) return e;
    snprintf(text, sizeof text, "%.*s", SLICE_FMT(value));
    uint64_t found = strtoull(text, NULL, 10);
    if (found < k->kept || found > k->tried) {
        c->counts[CRASH_KEY].lost++;
        crash_tell(c, "lost: key %s is %llu, acknowledged was %llu", key, (unsigned long long)found,
                   (unsigned long long)k->kept);
    }
    k->kept = found;
    return ERR_OK;
}

enum err crash_check_round(struct crash *c, struct why *why) {
    enum err e = ERR_OK;
    client_forget(&c->lab.client);
    for (uint32_t k = 0; k < CRASH_CLIENTS && e == ERR_OK; k++) e = open_check(c, &c->clients[k], why);
    for (uint32_t k = 0; k < CRASH_CLIENTS && e == ERR_OK; k++) e = rising_check(c, &c->clients[k], why);
    gather(c);
    for (uint32_t i = 0; i < SAMPLE && c->checked > 0 && e == ERR_OK; i++)
        e = crash_item_check(c, vec_at(&c->items, (uint32_t)(crash_draw(&c->random) % c->checked)), why);
    for (; c->checked < c->items.count && e == ERR_OK; c->checked++)
        e = crash_item_check(c, vec_at(&c->items, c->checked), why);
    return e;
}

/* ---- in the end ---- */

enum err crash_check_all(struct crash *c, struct why *why) {
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < c->items.count && e == ERR_OK; i++) e = crash_item_check(c, vec_at(&c->items, i), why);
    double last_end = bench_now();
    /* A server that has forgotten does not know its worker either: nothing would end. */
    bool remembers = crash_is_good(c);
    for (uint32_t i = 0; i < c->items.count && e == ERR_OK && remembers; i++) {
        struct crash_item *item = vec_at(&c->items, i);
        if (item->kind != CRASH_FLOW || item->round == UINT32_MAX) continue;
        e = crash_end_check(c, item, &last_end, why);
    }
    return e == ERR_OK && remembers ? crash_brief_check(c, why) : e;
}
