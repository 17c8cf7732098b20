/* crash_flow.c: the flows of the crash test, and what is to come of each. All of a flow follows from its number. */
#include <stdio.h>
#include <string.h>

#include "crash_impl.h"
#include "hash.h"
#include "panic.h"

#define HEAVY_BYTES 700u
#define BODY_BYTES_MAX (2u * HEAVY_BYTES * CRASH_HEAP_FLOWS)

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

enum crash_shape crash_shape(const struct crash *c, uint64_t number) {
    static const enum crash_shape shapes[16] = {CRASH_CHAIN, CRASH_CHAIN, CRASH_CHAIN, CRASH_JOIN, CRASH_JOIN,
                                                CRASH_FAIL,  CRASH_LATE,  CRASH_LATE}; /* the rest is idle */
    return number < CRASH_HEAP ? shapes[chance_of(c, number) & 15u] : CRASH_IDLE;
}

bool crash_is_work(const struct crash *c, uint64_t number) {
    enum crash_shape shape = crash_shape(c, number);
    return shape == CRASH_CHAIN || shape == CRASH_JOIN || shape == CRASH_FAIL;
}

uint32_t crash_jobs(const struct crash *c, uint64_t number) {
    static const uint32_t counts[] = {
        [CRASH_IDLE] = 1, [CRASH_CHAIN] = 2, [CRASH_JOIN] = 3, [CRASH_FAIL] = 2, [CRASH_LATE] = 1};
    return counts[crash_shape(c, number)];
}

uint32_t crash_attempts(const struct crash *c, uint64_t number) {
    if ((chance_of(c, number) & 16u) == 0) return 1;
    return crash_shape(c, number) == CRASH_FAIL ? 2 : 1000;
}

bool crash_succeeds(const struct crash *c, uint64_t number) {
    enum crash_shape shape = crash_shape(c, number);
    return shape != CRASH_FAIL && shape != CRASH_LATE;
}

size_t crash_output(const struct crash *c, uint64_t number, char job, char *ret) {
    size_t len = crash_text(c, number * 4 + (uint64_t)(job - 'a'), 100 + (chance_of(c, number) >> 8) % 1000, ret);
    ret[len++] = '\n';
    return len;
}

/* ---- jobs ---- */

/* One in three takes its time. Of a join the second one does, long enough for a third that does not wait to be seen. */
static const char *pause_of(enum crash_shape shape, uint64_t number, char job) {
    if (shape == CRASH_JOIN) return job == 'b' ? "; sleep 0.2" : "";
    return (number + (uint64_t)job) % 3 == 0 ? "; sleep 0.06" : "";
}

/* A job notes that it begins, prints, and notes that it ends. */
static struct slice shell_body(const struct crash *c, uint64_t number, char job, struct buf *out) {
    char text[2048], shell[4096], notes[BENCH_PATH_MAX + 40];
    size_t len = crash_output(c, number, job, text) - 1, from = out->len;
    enum crash_shape shape = crash_shape(c, number);
    snprintf(notes, sizeof notes, "%s/ran/%llu", c->lab.dir, (unsigned long long)number);
    snprintf(shell, sizeof shell, "echo %c $REEVE_ATTEMPT >>%s; echo '%.*s'%s; echo %c $REEVE_ATTEMPT >>%s%s", job,
             notes, (int)len, text, pause_of(shape, number, job), job - 'a' + 'A', notes,
             shape == CRASH_FAIL ? "; exit 1" : "");
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

static void flow_make(const struct crash_client *k, uint64_t number, struct arena *arena, struct buf *bodies,
                      struct wire_flow *ret) {
    const struct crash *c = k->crash;
    static const uint32_t before[] = {0, 1};
    enum crash_shape shape = crash_shape(c, number);
    bool work = crash_is_work(c, number), late = shape == CRASH_LATE;
    uint32_t count = crash_jobs(c, number);
    struct wire_options *options = ARENA_NEW(arena, struct wire_options);
    struct wire_job *jobs = ARENA_ARRAY(arena, struct wire_job, 3);
    *options = (struct wire_options){.kind = work || late ? JOB_COMMAND : JOB_NOOP,
                                     .attempts_max = crash_attempts(c, number),
                                     .backoff_base_ms = 1,
                                     .backoff_cap_ms = 1,
                                     .backoff_jitter_ms = 1};
    if (late) options->demand.pool = SLICE("nobody");
    if (late) options->deadline_ms = k->soon_ms;
    jobs[0] = (struct wire_job){.name = SLICE("a")};
    jobs[1] = (struct wire_job){.name = SLICE("b"), .parents = {before, shape == CRASH_JOIN ? 0 : 1}};
    jobs[2] = (struct wire_job){.name = SLICE("c"), .parents = {before, 2}};
    for (uint32_t i = 0; (work || late) && i < count; i++)
        jobs[i].body = shell_body(c, number, (char)('a' + i), bodies);
    if (number >= CRASH_HEAP) jobs[0].body = heavy_body(c, number, bodies);
    struct slice name = name_of(arena, number);
    *ret = (struct wire_flow){.name = name, .key = name, .part = {{options, 1}, {jobs, count}, false}};
}

/* ---- asking for them ---- */

/* Each flow has an answer of its own. */
static enum err flows_note(struct crash_client *k, uint64_t number, const struct client_frame *got, uint32_t count,
                           uint32_t *ret_repeated, struct why *why) {
    const struct wire_submitted *m = got->message;
    const struct wire_submitted_flow *done = m->flows.at;
    if (got->op != WIRE_SUBMITTED || m->flows.count != count)
        return why_set(why, ERR_INVALID, "a submit was answered by something else");
    for (uint32_t i = 0; i < count; i++) {
        if (done[i].flow.len == 0 && crash_shape(k->crash, number + i) == CRASH_LATE)
            continue; /* its time was over before it was heard of: allowed, and it is not there */
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
    for (uint32_t i = 0; i < count; i++) flow_make(k, number + i, &c->arena, &bodies, &flows[i]);
    struct wire_submit m = {{flows, count}};
    enum err e = client_ask(c, WIRE_SUBMIT, &m, &got, why);
    buf_fini(&bodies);
    return e == ERR_OK ? flows_note(k, number, &got, count, ret_repeated, why) : e;
}
