/* blobs.c: see blobs.h. What is under way of an attempt is in its `transfer`; the request id says to whom an answer
 * belongs. */
#include "blobs.h"

#include <stdio.h>

#include "panic.h"

#define PART_BYTES (256u * 1024u)
#define KEPT_MAX 256u /* artifacts of one attempt: as many as DONE may name */

static void ask(struct agent *a, struct attempt *t, enum wire_op op, const void *message) {
    (void)map_del(&a->by_request, t->transfer.request);
    t->transfer.request = connection_request(a);
    map_put(&a->by_request, t->transfer.request, t->index);
    connection_send(a, op, t->transfer.request, message);
}

void blobs_stop(struct agent *a, struct attempt *t) {
    (void)map_del(&a->by_request, t->transfer.request);
    t->transfer.step = TRANSFER_NONE;
    t->transfer.request = 0;
}

static struct transfer_item *item_add(struct attempt *t, const char *inside) {
    struct transfer_item *i = vec_push(&t->transfer.items);
    snprintf(i->inside, sizeof i->inside, "%s", inside);
    return i;
}

static struct transfer_item *item_now(const struct attempt *t) {
    return t->transfer.next < t->transfer.items.count ? vec_at(&t->transfer.items, t->transfer.next) : NULL;
}

/* ---- before the start ---- */

static void fetch_add(struct attempt *t, struct slice hash, const char *inside, bool executable) {
    if (hash.len != sizeof((struct transfer_item *)0)->hash) return;
    struct transfer_item *i = item_add(t, inside);
    memcpy(i->hash, hash.ptr, hash.len);
    i->is_executable = executable;
}

void blobs_input_name(uint32_t number, char ret[32]) {
    snprintf(ret, 32, "input-%u.json", number);
}

static void fetch_ask(struct agent *a, struct attempt *t) {
    const struct transfer_item *i = item_now(t);
    struct wire_blob_get get = {.hash = slice_of(i->hash, sizeof i->hash), .offset = t->transfer.offset};
    ask(a, t, WIRE_BLOB_GET, &get);
}

static const struct wire_kept *artifact_of(const struct wire_assignment *order, const struct wire_take *take) {
    const struct wire_input *parents = order->inputs.at;
    for (uint32_t i = 0; i < order->inputs.count; i++) {
        const struct wire_kept *files = parents[i].artifacts.at;
        if (!slice_eq(job_setup_short_name(parents[i].job), take->job)) continue;
        for (uint32_t k = 0; k < parents[i].artifacts.count; k++)
            if (slice_eq(files[k].name, take->name)) return &files[k];
    }
    return NULL;
}

enum err blobs_check(const struct wire_assignment *order, const struct wire_run *run, struct why *why) {
    const struct wire_take *takes = run->inputs.at;
    for (uint32_t i = 0; i < run->inputs.count; i++)
        if (artifact_of(order, &takes[i]) == NULL)
            return why_set(why, ERR_NOT_FOUND, "its input %.*s is missing: %.*s has no artifact %.*s",
                           SLICE_FMT(takes[i].path), SLICE_FMT(takes[i].job), SLICE_FMT(takes[i].name));
    return ERR_OK;
}

bool blobs_fetch(struct agent *a, struct attempt *t, const struct wire_assignment *order, const struct wire_run *run) {
    const struct wire_file *files = run->files.at;
    const struct wire_input *inputs = order->inputs.at;
    char name[TRANSFER_PATH_MAX];
    struct slice script = run->script_name.len > 0 ? run->script_name : SLICE("script");
    snprintf(name, sizeof name, "%.*s", SLICE_FMT(script));
    fetch_add(t, run->script_hash, name, true);
    fetch_add(t, run->stdin_hash, "stdin", false);
    for (uint32_t i = 0; i < run->files.count; i++) {
        snprintf(name, sizeof name, "work/%.*s", SLICE_FMT(files[i].path));
        fetch_add(t, files[i].hash, name, files[i].executable);
    }
    const struct wire_take *takes = run->inputs.at;
    for (uint32_t i = 0; i < run->inputs.count; i++) {
        snprintf(name, sizeof name, "work/%.*s", SLICE_FMT(takes[i].path));
        fetch_add(t, artifact_of(order, &takes[i])->hash, name, false);
    }
    for (uint32_t i = 0; i < order->inputs.count; i++) {
        blobs_input_name(i, name);
        if (inputs[i].result.len == 0) fetch_add(t, inputs[i].result_hash, name, false);
    }
    if (t->transfer.items.count == 0) return false;
    t->transfer.step = TRANSFER_FETCH;
    if (a->connection.state == CONNECTION_UP) fetch_ask(a, t);
    return true;
}

static void fetch_hear(struct agent *a, struct attempt *t, const struct frame *f, const struct wire_blob_data *data) {
    struct why why = {{0}};
    const struct transfer_item *i = item_now(t);
    if (data->offset != t->transfer.offset) return; /* of a request that was given up */
    enum err e = a->w.space->ops->write_at(a->w.space, t->space, i->inside, t->transfer.offset, data->data,
                                           i->is_executable, &why);
    if (e != ERR_OK) {
        blobs_stop(a, t);
        run_fetched(a, t, why.text);
        return;
    }
    t->transfer.offset += data->data.len;
    if (f->flags & FRAME_MORE) return;
    t->transfer.offset = 0;
    t->transfer.next++;
    if (item_now(t) != NULL) {
        fetch_ask(a, t);
        return;
    }
    blobs_stop(a, t);
    t->transfer.items.count = t->transfer.next = 0;
    run_fetched(a, t, NULL);
}

/* ---- after the end ---- */

struct gathering {
    struct attempt *t;
    struct slice name;
    uint32_t count;
};

/* A pattern may fit several: each is kept under its own path. */
static void gather_one(void *ctx, const char *inside) {
    struct gathering *g = ctx;
    if (g->t->transfer.items.count >= KEPT_MAX) return;
    struct transfer_item *i = item_add(g->t, inside);
    if (g->count++ == 0 && g->name.len > 0)
        snprintf(i->name, sizeof i->name, "%.*s", SLICE_FMT(g->name));
    else
        snprintf(i->name, sizeof i->name, "%s", inside + strlen("work/"));
}

bool blobs_gather(struct agent *a, struct attempt *t, const struct wire_run *run, struct why *why) {
    const struct wire_artifact *list = run->artifacts.at;
    for (uint32_t k = 0; k < run->artifacts.count; k++) {
        char pattern[TRANSFER_PATH_MAX];
        struct gathering g = {t, list[k].name, 0};
        snprintf(pattern, sizeof pattern, "work/%.*s", SLICE_FMT(list[k].path));
        a->w.space->ops->match(a->w.space, t->space, pattern, gather_one, &g);
        if (g.count > 0 || list[k].optional) continue;
        (void)why_set(why, ERR_NOT_FOUND, "its artifact %.*s is missing: the job wrote no such file",
                      SLICE_FMT(list[k].path));
        return false;
    }
    return true;
}

void blobs_keep_result(struct attempt *t, const char *inside) {
    item_add(t, inside)->is_result = true;
}

static void keep_failed(struct agent *a, struct attempt *t, const char *why) {
    blobs_stop(a, t);
    run_kept(a, t, why);
}

static void keep_begin(struct agent *a, struct attempt *t) {
    struct wire_blob_begin begin = {0}; /* the server hashes it anyway, and knows it when it has it */
    struct why why = {{0}};
    t->transfer.step = TRANSFER_BEGIN;
    t->transfer.offset = 0;
    /* So that one that is too long is refused before it is sent. */
    if (a->w.space->ops->size(a->w.space, t->space, item_now(t)->inside, &begin.bytes, &why) != ERR_OK) {
        keep_failed(a, t, why.text);
        return;
    }
    ask(a, t, WIRE_BLOB_BEGIN, &begin);
}

bool blobs_keep(struct agent *a, struct attempt *t) {
    if (item_now(t) == NULL) return false;
    t->transfer.step = TRANSFER_BEGIN;
    if (a->connection.state == CONNECTION_UP) keep_begin(a, t);
    return true;
}

/* The next part, or the end. */
static void keep_part(struct agent *a, struct attempt *t) {
    struct buf data;
    struct why why = {{0}};
    buf_init(&data, PART_BYTES);
    enum err e = a->w.space->ops->read_at(a->w.space, t->space, item_now(t)->inside, t->transfer.offset, PART_BYTES,
                                          &data, &why);
    if (e != ERR_OK) {
        keep_failed(a, t, why.text);
    } else if (data.len > 0) {
        struct wire_blob_part part = {t->transfer.upload, t->transfer.offset, buf_slice(&data)};
        t->transfer.step = TRANSFER_PART;
        ask(a, t, WIRE_BLOB_PART, &part);
    } else {
        struct wire_blob_end end = {.upload = t->transfer.upload};
        t->transfer.step = TRANSFER_END;
        ask(a, t, WIRE_BLOB_END, &end);
    }
    buf_fini(&data);
}

static void keep_hear(struct agent *a, struct attempt *t, const struct wire_blob_state *state) {
    struct transfer_item *i = item_now(t);
    t->transfer.upload = state->upload;
    t->transfer.offset = state->offset;
    if (!state->stored) {
        keep_part(a, t);
        return;
    }
    if (state->hash.len != sizeof i->hash) {
        keep_failed(a, t, "the server did not say under which hash it keeps a file");
        return;
    }
    memcpy(i->hash, state->hash.ptr, sizeof i->hash);
    i->bytes = state->offset;
    t->transfer.next++;
    if (item_now(t) != NULL) {
        keep_begin(a, t);
        return;
    }
    blobs_stop(a, t);
    run_kept(a, t, NULL);
}

/* ---- */

static struct attempt *attempt_of(struct agent *a, uint32_t request) {
    uint32_t index = map_get(&a->by_request, request);
    return index ? attempts_at(&a->attempts, index) : NULL;
}

/* What the attempt waits for; empty = nothing any more. */
static void say_words(struct agent *a, struct attempt *t, const char *words) {
    struct wire_progress_item item = {.attempt = t->id, .text = slice_str(words)};
    struct wire_progress message = {{&item, 1}};
    t->transfer.is_held = words[0] != 0;
    connection_send(a, WIRE_PROGRESS, 0, &message);
}

void blobs_held(struct agent *a, uint32_t request, const char *why) {
    struct attempt *t = attempt_of(a, request);
    struct why words;
    if (t == NULL || t->transfer.step == TRANSFER_NONE) return;
    (void)why_set(&words, ERR_OK, "%s a file waits: %s", t->transfer.step == TRANSFER_FETCH ? "fetching" : "keeping",
                  why);
    say_words(a, t, words.text);
}

void blobs_hear(struct agent *a, const struct frame *f, const void *message) {
    struct attempt *t = attempt_of(a, f->request);
    if (t == NULL || t->transfer.step == TRANSFER_NONE) return;
    if (t->transfer.is_held) say_words(a, t, "");
    if (f->opcode == WIRE_BLOB_DATA && t->transfer.step == TRANSFER_FETCH)
        fetch_hear(a, t, f, message);
    else if (f->opcode == WIRE_BLOB_STATE && t->transfer.step != TRANSFER_FETCH)
        keep_hear(a, t, message);
}

void blobs_again(struct agent *a, struct attempt *t) {
    if (t->transfer.step == TRANSFER_NONE || a->connection.state != CONNECTION_UP) return;
    if (t->transfer.step == TRANSFER_FETCH)
        fetch_ask(a, t); /* it goes on where it was */
    else
        keep_begin(a, t); /* an upload belongs to its connection */
}

void blobs_refused(struct agent *a, const struct frame *f, struct slice code, struct slice text) {
    struct attempt *t = attempt_of(a, f->request);
    struct why why;
    if (t == NULL || t->transfer.step == TRANSFER_NONE) return;
    (void)why_set(&why, ERR_OK, "%s a blob: %.*s: %.*s", t->transfer.step == TRANSFER_FETCH ? "fetching" : "keeping",
                  SLICE_FMT(code), SLICE_FMT(text));
    bool is_fetch = t->transfer.step == TRANSFER_FETCH;
    blobs_stop(a, t);
    if (is_fetch)
        run_fetched(a, t, why.text);
    else
        run_kept(a, t, why.text);
}
