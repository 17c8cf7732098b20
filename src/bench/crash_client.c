/* crash_client.c: clients of the crash test: flows, blobs, keys, one request after the other, until the server is gone.
 * Only what was answered is noted as acknowledged. */
#include <stdio.h>
#include <string.h>

#include "crash_impl.h"
#include "hash.h"
#include "osdigest.h"
#include "panic.h"

#define HEAVY_BYTES 700u
#define BODY_BYTES_MAX (2u * HEAVY_BYTES * CRASH_HEAP_FLOWS)
#define WAIT_MS 3000 /* for the end of a flow; a worker that was killed is back long before */

/* ---- content ---- */

uint64_t crash_draw(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15u;
    return hash_mix(*state);
}

static uint64_t chance_of(const struct crash *c, uint64_t number) {
    return hash_mix(number + c->seed * 0x9e3779b97f4a7c15u);
}

size_t crash_text(const struct crash *c, uint64_t number, size_t most, char *ret) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    uint64_t state = chance_of(c, number);
    size_t len = (size_t)snprintf(ret, most, "number %llu ", (unsigned long long)number);
    while (len < most) ret[len++] = letters[crash_draw(&state) % (sizeof letters - 1)];
    return most;
}

size_t crash_blob_bytes(const struct crash *c, uint64_t number) {
    uint64_t chance = chance_of(c, number);
    return (chance & 15u) == 0 ? CRASH_TEXT_MAX : 100 + (chance >> 8) % 4000; /* large ones are files of their own */
}

bool crash_is_work(const struct crash *c, uint64_t number) {
    return number < CRASH_HEAP && (chance_of(c, number) & 3u) == 0;
}

uint32_t crash_attempts(const struct crash *c, uint64_t number) {
    return (chance_of(c, number) & 4u) == 0 ? 1 : 1000;
}

size_t crash_output(const struct crash *c, uint64_t number, char job, char *ret) {
    size_t len = crash_text(c, number * 2 + (job == 'b'), 100 + (chance_of(c, number) >> 8) % 1000, ret);
    ret[len++] = '\n';
    return len;
}

/* ---- noting ---- */

void crash_note(struct crash_client *k, enum crash_kind kind, uint64_t number, struct slice id, bool succeeded) {
    struct crash_item *item = vec_push(&k->items);
    *item =
        (struct crash_item){.number = number, .round = k->crash->round, .kind = (uint8_t)kind, .succeeded = succeeded};
    snprintf(item->id, sizeof item->id, "%.*s", SLICE_FMT(id));
}

/* ---- flows ---- */

/* A job notes that it runs, prints, and one in three takes its time. */
static struct slice shell_body(const struct crash *c, uint64_t number, char job, struct buf *out) {
    static const char *const pauses[] = {"", "", "; sleep 0.03"};
    char text[2048], shell[4096];
    size_t len = crash_output(c, number, job, text) - 1, from = out->len;
    snprintf(shell, sizeof shell, "echo %c $REEVE_ATTEMPT >>%s/ran/%llu; echo '%.*s'%s", job, c->lab.dir,
             (unsigned long long)number, (int)len, text, pauses[(number + (uint64_t)job) % 3]);
    struct wire_run run = {.shell = slice_str(shell)};
    tlv_encode(&wire_run_desc, &run, out);
    ENSURE(!out->full);
    return slice_of(out->at + from, out->len - from);
}

/* Of a job that does nothing: only its size counts. */
static struct slice heavy_body(const struct crash *c, uint64_t number, struct buf *out) {
    char text[HEAVY_BYTES];
    size_t from = out->len;
    struct wire_arg argv[] = {{slice_of(text, crash_text(c, number, sizeof text, text))}};
    struct wire_run run = {.argv = {argv, 1}};
    tlv_encode(&wire_run_desc, &run, out);
    ENSURE(!out->full);
    return slice_of(out->at + from, out->len - from);
}

static struct slice name_of(struct arena *arena, uint64_t number) {
    char *name = arena_alloc(arena, 32);
    snprintf(name, 32, "crash-%llu", (unsigned long long)number);
    return slice_str(name);
}

static void flow_make(const struct crash *c, uint64_t number, struct arena *arena, struct buf *bodies,
                      struct wire_flow *ret) {
    static const uint32_t first[] = {0};
    bool work = crash_is_work(c, number);
    struct wire_options *options = ARENA_NEW(arena, struct wire_options);
    struct wire_job *jobs = ARENA_ARRAY(arena, struct wire_job, 2);
    *options = (struct wire_options){.kind = work ? WIRE_JOB_COMMAND : WIRE_JOB_NOOP,
                                     .attempts_max = crash_attempts(c, number),
                                     .backoff_base_ms = 1,
                                     .backoff_cap_ms = 1,
                                     .backoff_jitter_ms = 1};
    jobs[0] = (struct wire_job){.name = SLICE("a")};
    jobs[1] = (struct wire_job){.name = SLICE("b"), .parents = {first, 1}};
    for (uint32_t i = 0; work && i < 2; i++) jobs[i].body = shell_body(c, number, (char)('a' + i), bodies);
    if (number >= CRASH_HEAP) jobs[0].body = heavy_body(c, number, bodies);
    struct slice name = name_of(arena, number);
    *ret = (struct wire_flow){.name = name, .key = name, .part = {{options, 1}, {jobs, work ? 2 : 1}, false}};
}

/* Each flow has an answer of its own. */
static enum err flows_note(struct crash_client *k, uint64_t number, const struct client_frame *got, uint32_t count,
                           uint32_t *ret_repeated, struct why *why) {
    const struct wire_submitted *m = got->message;
    const struct wire_submitted_flow *done = m->flows.at;
    if (got->op != WIRE_SUBMITTED || m->flows.count != count)
        return why_set(why, ERR_INVALID, "a submit was answered by something else");
    for (uint32_t i = 0; i < count; i++) {
        if (done[i].flow.len == 0)
            return why_set(why, ERR_INVALID, "a flow was refused: %.*s", SLICE_FMT(done[i].message));
        crash_note(k, CRASH_FLOW, number + i, done[i].flow, false);
        *ret_repeated += done[i].repeated;
    }
    return ERR_OK;
}

enum err crash_put_flows(struct crash_client *k, struct client *c, uint64_t number, uint32_t *ret_repeated,
                         struct why *why) {
    uint32_t count = number < CRASH_HEAP ? 1 : CRASH_HEAP_FLOWS;
    struct buf bodies;
    struct client_frame got;
    buf_init(&bodies, BODY_BYTES_MAX);
    (void)buf_space(&bodies, BODY_BYTES_MAX); /* so that it stays where it is */
    buf_clear(&bodies);
    struct wire_flow *flows = ARENA_ARRAY(&c->arena, struct wire_flow, count);
    for (uint32_t i = 0; i < count; i++) flow_make(k->crash, number + i, &c->arena, &bodies, &flows[i]);
    struct wire_submit m = {{flows, count}};
    enum err e = client_ask(c, WIRE_SUBMIT, &m, &got, why);
    buf_fini(&bodies);
    return e == ERR_OK ? flows_note(k, number, &got, count, ret_repeated, why) : e;
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

/* Two keys at once: one that is new, and one that only rises. */
static enum err put_key(struct crash_client *k, struct client *c, uint64_t number, struct why *why) {
    struct client_frame got;
    char keys[2][40], values[2][40];
    k->tried++;
    snprintf(keys[0], sizeof keys[0], "crash/%llu", (unsigned long long)number);
    snprintf(keys[1], sizeof keys[1], "rising/%u", k->index);
    (void)crash_text(k->crash, number, sizeof values[0], values[0]);
    snprintf(values[1], sizeof values[1], "%llu", (unsigned long long)k->tried);
    struct wire_kv_entry entries[] = {{slice_str(keys[0]), slice_of(values[0], sizeof values[0])},
                                      {slice_str(keys[1]), slice_str(values[1])}};
    struct wire_kv_change m = {.op = WIRE_KV_SET, .entries = {entries, 2}};
    enum err e = client_ask(c, WIRE_KV_CHANGE, &m, &got, why);
    if (e != ERR_OK) return e;
    k->kept = k->tried;
    crash_note(k, CRASH_KEY, number, SLICE(""), false);
    return ERR_OK;
}

/* ---- one after the other ---- */

static enum err one_request(struct crash_client *k, struct client *c, struct why *why) {
    static const enum crash_kind kinds[] = {CRASH_FLOW, CRASH_FLOW, CRASH_FLOW, CRASH_BLOB, CRASH_KEY};
    uint64_t number = ++k->count * CRASH_CLIENTS + k->index;
    uint32_t repeated = 0;
    k->open_kind = kinds[crash_draw(&k->random) % (sizeof kinds / sizeof kinds[0])];
    if (k->open_kind == CRASH_FLOW && crash_draw(&k->random) % 4 == 0) number = CRASH_HEAP + number * CRASH_HEAP_FLOWS;
    k->open_number = number;
    k->is_open = true;
    enum err e = k->open_kind == CRASH_FLOW   ? crash_put_flows(k, c, number, &repeated, why)
                 : k->open_kind == CRASH_BLOB ? put_blob(k, c, number, why)
                                              : put_key(k, c, number, why);
    if (e != ERR_OK) return e;
    k->is_open = false;
    bool waits = k->open_kind == CRASH_FLOW && crash_is_work(k->crash, number);
    return waits ? await_end(k, c, number, why) : ERR_OK;
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
