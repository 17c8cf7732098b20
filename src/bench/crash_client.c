/* crash_client.c: clients of the crash test: flows, blobs, keys, one request after the other, until the server is gone.
 * Only what was answered is noted as acknowledged. */
#include <stdio.h>
#include <string.h>

#include "crash_impl.h"

#define WAIT_MS 3000 /* for the end of a flow; a worker that was killed is back long before */

/* ---- noting ---- */

void crash_note(struct crash_client *k, enum crash_kind kind, uint64_t number, struct slice id, bool succeeded) {
    struct crash_item *item = vec_push(&k->items);
    *item =
        (struct crash_item){.number = number, .round = k->crash->round, .kind = (uint8_t)kind, .succeeded = succeeded};
    snprintf(item->id, sizeof item->id, "%.*s", SLICE_FMT(id));
}

/* ---- flows ---- */

/* The same once more, under the same key: there is one of it. */
static enum err ask_again(struct crash_client *k, struct client *c, uint64_t number, struct why *why) {
    uint32_t before = k->items.count, repeated = 0;
    enum err e = crash_put_flows(k, c, number, &repeated, why);
    if (e != ERR_OK) return e;
    uint32_t count = k->items.count - before;
    k->items.count = before; /* they are noted already */
    k->twice += count - repeated;
    return ERR_OK;
}

/* The flow that was acknowledged last is waited for. */
static enum err await_end(struct crash_client *k, struct client *c, uint64_t number, struct why *why) {
    const struct crash_item *item = vec_at(&k->items, k->items.count - 1);
    struct wire_name name = {slice_str(item->id)};
    struct wire_wait m = {.targets = {&name, 1}, .timeout_ms = WAIT_MS};
    struct client_frame got;
    enum err e = client_ask(c, WIRE_WAIT, &m, &got, why);
    if (e != ERR_OK) return e;
    const struct wire_waited *w = got.message;
    const struct wire_job_view *over = w->over.at;
    if (got.op != WIRE_WAITED || w->over.count == 0) return ERR_OK; /* not in time: nothing was said about it */
    char id[CRASH_ID_BYTES];
    snprintf(id, sizeof id, "%s", item->id); /* pushing moves them */
    crash_note(k, CRASH_LOG, number, slice_str(id), slice_eq(over->state, SLICE("succeeded")));
    return ERR_OK;
}

/* ---- blobs and keys ---- */

static enum err put_blob(struct crash_client *k, struct client *c, uint64_t number, struct why *why) {
    struct client_frame got;
    size_t bytes = crash_blob_bytes(k->crash, number);
    char *text = arena_alloc(&c->arena, CRASH_TEXT_MAX);
    struct wire_blob_put m = {.data = slice_of(text, crash_text(k->crash, number, bytes, text))};
    enum err e = client_ask(c, WIRE_BLOB_PUT, &m, &got, why);
    if (e == ERR_OK) crash_note(k, CRASH_BLOB, number, SLICE(""), false);
    return e;
}

static enum err set(struct client *c, const struct wire_kv_change *m, struct why *why) {
    struct client_frame got;
    return client_ask(c, WIRE_KV_CHANGE, m, &got, why);
}

/* What is there is not set if it has to be absent. One that is set all the same is found as lost. */
static enum err refused_key(struct client *c, const char *key, struct why *why) {
    struct wire_kv_entry entry = {slice_str(key), SLICE("another value")};
    struct wire_kv_change m = {.op = WIRE_KV_SET, .entries = {&entry, 1}, .condition = WIRE_KV_IF_ABSENT};
    enum err e = set(c, &m, why);
    return e == ERR_CONFLICT ? ERR_OK : e;
}

/* Of its own accord it is gone soon; it is refused when its time was over before it was heard of. */
static enum err brief_key(struct client *c, uint64_t number, struct why *why) {
    char key[40];
    snprintf(key, sizeof key, CRASH_BRIEF "%llu", (unsigned long long)number);
    struct wire_kv_entry entry = {slice_str(key), SLICE("soon gone")};
    int64_t soon_ms = crash_wall_ms() + CRASH_SOON_MS;
    struct wire_kv_change m = {.op = WIRE_KV_SET, .entries = {&entry, 1}, .expires_ms = soon_ms};
    enum err e = set(c, &m, why);
    return e == ERR_INVALID ? ERR_OK : e;
}

/* Two keys at once: one that is new, and one that only rises. */
static enum err put_key(struct crash_client *k, struct client *c, uint64_t number, struct why *why) {
    char keys[2][40], values[2][40];
    k->tried++;
    snprintf(keys[0], sizeof keys[0], "crash/%llu", (unsigned long long)number);
    snprintf(keys[1], sizeof keys[1], "rising/%u", k->index);
    (void)crash_text(k->crash, number, sizeof values[0], values[0]);
    snprintf(values[1], sizeof values[1], "%llu", (unsigned long long)k->tried);
    struct wire_kv_entry entries[] = {{slice_str(keys[0]), slice_of(values[0], sizeof values[0])},
                                      {slice_str(keys[1]), slice_str(values[1])}};
    struct wire_kv_change m = {.op = WIRE_KV_SET, .entries = {entries, 2}};
    enum err e = set(c, &m, why);
    if (e != ERR_OK) return e;
    k->kept = k->tried;
    crash_note(k, CRASH_KEY, number, SLICE(""), false);
    k->is_open = false;
    return crash_draw(&k->random) % 2 == 0 ? refused_key(c, keys[0], why) : brief_key(c, number, why);
}

/* ---- one after the other ---- */

static enum err one_request(struct crash_client *k, struct client *c, struct why *why) {
    static const enum crash_kind kinds[] = {CRASH_FLOW, CRASH_FLOW, CRASH_FLOW, CRASH_BLOB, CRASH_KEY};
    uint64_t number = ++k->count * CRASH_CLIENTS + k->index;
    uint32_t repeated = 0;
    k->open_kind = kinds[crash_draw(&k->random) % (sizeof kinds / sizeof kinds[0])];
    if (k->open_kind == CRASH_FLOW && crash_draw(&k->random) % 4 == 0) number = CRASH_HEAP + number * CRASH_HEAP_FLOWS;
    k->open_number = number;
    k->soon_ms = crash_wall_ms() + CRASH_SOON_MS;
    k->is_open = true;
    enum err e = k->open_kind == CRASH_FLOW   ? crash_put_flows(k, c, number, &repeated, why)
                 : k->open_kind == CRASH_BLOB ? put_blob(k, c, number, why)
                                              : put_key(k, c, number, why);
    if (e != ERR_OK) return e;
    k->is_open = false;
    crash_answered(k->crash);
    if (k->open_kind != CRASH_FLOW) return ERR_OK;
    if (crash_draw(&k->random) % 8 == 0) e = ask_again(k, c, number, why);
    return e == ERR_OK && crash_is_work(k->crash, number) ? await_end(k, c, number, why) : e;
}

/* ---- the thread ---- */

void *crash_client_run(void *ctx) {
    struct crash_client *k = ctx;
    struct lab *l = &k->crash->lab;
    struct client_place where = {
        .data = l->data, .server = l->address, .token = l->admin, .build = k->crash->bench.build};
    struct client c;
    enum err e = client_open(&c, &where, &k->why);
    if (e != ERR_OK) return NULL; /* it was killed sooner than that */
    while (e == ERR_OK && !atomic_load(&k->crash->stop)) {
        client_forget(&c);
        e = one_request(k, &c, &k->why);
    }
    client_close(&c);
    k->error = e == ERR_UNKNOWN ? ERR_OK : e; /* unknown is what a dead server leaves */
    return NULL;
}
