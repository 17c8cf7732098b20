/* crash_check.c: what was acknowledged is looked for, byte by byte; what ran is counted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash_impl.h"
#include "osdigest.h"
#include "panic.h"

#define SAMPLE 30u     /* of what was found before, each round */
#define END_MS 60000   /* for a flow to end when nobody is killed any more */
#define RUNS_MAX 4000u /* of the jobs of a flow */

static bool worker_died_since(const struct crash *c, uint32_t round) {
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

/* It ended as it was seen to end, and if well, its output is whole. */
static enum err log_is_there(struct crash *c, const struct crash_item *item, bool *ret, struct why *why) {
    char state[16] = "";
    enum err e = flow_is_there(c, item, state, ret, why);
    if (e != ERR_OK || !*ret) return e;
    *ret = (strcmp(state, "succeeded") == 0) == item->succeeded;
    for (char job = 'a'; job <= 'b' && e == ERR_OK && *ret && item->succeeded && crash_is_work(c, item->number); job++)
        e = output_is_there(c, item, job, ret, why);
    return e;
}

static enum err item_check(struct crash *c, struct crash_item *item, struct why *why) {
    bool there = false;
    enum err e = ERR_OK;
    if (item->round == UINT32_MAX) return ERR_OK; /* it is missed already */
    client_forget(&c->lab.client);
    switch ((enum crash_kind)item->kind) {
    case CRASH_FLOW: e = flow_is_there(c, item, NULL, &there, why); break;
    case CRASH_BLOB: e = blob_is_there(c, item->number, &there, why); break;
    case CRASH_KEY: e = key_is_there(c, item->number, &there, why); break;
    case CRASH_LOG: e = log_is_there(c, item, &there, why); break;
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
            if (to->kind != CRASH_LOG || to->succeeded || crash_attempts(c, to->number) == 1) continue;
            c->bad_ends++;
            crash_tell(c, "flow %s with attempts left was seen to fail", to->id);
        }
        items->count = 0;
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
        e = item_check(c, vec_at(&c->items, (uint32_t)(crash_draw(&c->random) % c->checked)), why);
    for (; c->checked < c->items.count && e == ERR_OK; c->checked++)
        e = item_check(c, vec_at(&c->items, c->checked), why);
    return e;
}

/* ---- in the end ---- */

/* Notes of its runs: "a 1", one line each. No attempt twice; and no job twice when no worker died meanwhile, or it may
 * run only once. */
static void runs_check(struct crash *c, const struct crash_item *flow, bool succeeded) {
    char path[BENCH_PATH_MAX + 40], line[32];
    uint32_t runs[2] = {0};
    uint8_t seen[2][RUNS_MAX / 2] = {{0}};
    bool once = crash_attempts(c, flow->number) == 1 || !worker_died_since(c, flow->round);
    snprintf(path, sizeof path, "%s/ran/%llu", c->lab.dir, (unsigned long long)flow->number);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        unsigned job = (unsigned)(line[0] - 'a');
        unsigned long attempt = strtoul(line + 1, NULL, 10);
        if (job > 1 || attempt >= RUNS_MAX / 2) continue;
        c->jobs_run++;
        bool again = seen[job][attempt] > 0 || (once && runs[job] > 0);
        seen[job][attempt] = 1;
        runs[job]++;
        if (!again) continue;
        c->run_twice++;
        crash_tell(c, "run twice: job %c of flow %s, attempt %lu", (char)('a' + job), flow->id, attempt);
    }
    if (f != NULL) fclose(f);
    if (!succeeded || (runs[0] > 0 && runs[1] > 0)) return;
    c->bad_ends++;
    crash_tell(c, "flow %s succeeded, and a job of it never ran", flow->id);
}

/* All flows come to an end. Badly only if they ran on a worker that died, and may not be tried again. */
static enum err end_check(struct crash *c, struct crash_item *flow, struct why *why) {
    struct wire_name name = {slice_str(flow->id)};
    struct wire_wait m = {.targets = {&name, 1}, .timeout_ms = END_MS};
    struct client_frame got;
    client_forget(&c->lab.client);
    enum err e = client_ask(&c->lab.client, WIRE_WAIT, &m, &got, why);
    if (e != ERR_OK) return e;
    const struct wire_waited *w = got.message;
    const struct wire_job_view *over = w->over.at;
    if (w->over.count == 0) return why_set(why, ERR_STATE, "flow %s does not end within %d s", flow->id, END_MS / 1000);
    bool succeeded = slice_eq(over->state, SLICE("succeeded"));
    if (!succeeded && (crash_attempts(c, flow->number) > 1 || !worker_died_since(c, flow->round))) {
        c->bad_ends++;
        crash_tell(c, "flow %s ended as %.*s, and no worker was killed meanwhile", flow->id, SLICE_FMT(over->state));
    }
    if (!crash_is_work(c, flow->number)) return ERR_OK;
    runs_check(c, flow, succeeded);
    struct crash_item end = *flow;
    end.kind = CRASH_LOG;
    end.succeeded = succeeded;
    return item_check(c, &end, why);
}

enum err crash_check_all(struct crash *c, struct why *why) {
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < c->items.count && e == ERR_OK; i++) e = item_check(c, vec_at(&c->items, i), why);
    /* A server that has forgotten does not know its worker either: nothing would end. */
    for (uint32_t i = 0; i < c->items.count && e == ERR_OK && crash_is_good(c); i++) {
        struct crash_item *item = vec_at(&c->items, i);
        if (item->kind != CRASH_FLOW || item->round == UINT32_MAX) continue;
        e = end_check(c, item, why);
    }
    return e;
}
