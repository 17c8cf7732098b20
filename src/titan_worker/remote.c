/* remote.c: see remote.h. */
#include "remote.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base64.h"
#include "bytes.h"
#include "hash.h"
#include "panic.h"
#include "titan_job.h"
#include "wtime.h"

#define RUNS_MAX 100000u
#define FRAME_BYTES_MAX (10u << 20) /* of a frame that Titan takes */
#define CALL_MS 30000
#define AGAIN_MS 500
#define FORGOTTEN_MAX 3u /* so often in a row it did not count a job that it was given */
#define JOB_NAME_MAX 512u
#define CRASH_PAUSE_MS 4000 /* a service that crashed is unknown to its worker for 3 s, and is then started again */

enum step { STEP_STAGE, STEP_RUN, STEP_RUNNING };

struct remote_run {
    uint64_t id; /* first: never 0 while in use */
    struct proc_handler handler;
    char name[JOB_NAME_MAX];
    bool is_service;
    enum step step;
    struct bytes *stage, *order; /* bodies of its two requests; no first one for an archive */
    uint8_t order_op;
    bool is_asking;   /* one of them is under way, or a stop */
    bool is_stopping; /* it is to end */
    int64_t again_ms; /* when the next request is due; TIME_NEVER = none is */
    int64_t running_ms;
    int64_t unknown_ms; /* since when its worker has said so, of a service that is to end; 0 = it has not */
    uint32_t forgotten;
    uint64_t fed_bytes; /* of its output, so far */
    uint32_t fed_crc;
};

static struct remote *of(struct proc *p) {
    return (struct remote *)p;
}

static int64_t now_of(const struct remote *r) {
    return r->clock->mono(r->clock).ms;
}

static struct remote_run *find(const struct remote *r, uint64_t id) {
    uint32_t index = map_get(&r->by_id, id);
    return index != 0 ? pool_at(&r->runs, index) : NULL;
}

static struct remote_run *by_name(const struct remote *r, struct slice name) {
    for (uint32_t i = 1; i <= r->runs.high; i++) {
        struct remote_run *u = pool_at(&r->runs, i);
        if (u->id != 0 && slice_eq(slice_str(u->name), name)) return u;
    }
    return NULL;
}

static void forget(struct remote *r, struct remote_run *u) {
    bytes_free(u->stage);
    bytes_free(u->order);
    pool_free(&r->runs, map_del(&r->by_id, u->id));
}

/* ---- output and end ---- */

static void feed(struct remote_run *u, enum proc_stream stream, struct slice text) {
    if (text.len > 0) u->handler.output(u->handler.ctx, (proc_id){u->id}, stream, text);
}

static void say(struct remote_run *u, struct slice text) {
    feed(u, PROC_ERR, text);
    if (text.len > 0 && text.ptr[text.len - 1] != '\n') feed(u, PROC_ERR, SLICE("\n"));
}

static void end(struct remote *r, struct remote_run *u, uint32_t exit_code, uint32_t number) {
    struct proc_handler handler = u->handler;
    struct proc_usage usage = {0};
    proc_id id = {u->id};
    forget(r, u);
    handler.ended(handler.ctx, id, exit_code, number, &usage);
}

bool remote_output(struct remote *r, struct slice job, struct slice text) {
    struct remote_run *u = by_name(r, job);
    if (u == NULL) return false;
    feed(u, PROC_OUT, text);
    feed(u, PROC_OUT, SLICE("\n"));
    u->fed_crc = crc32c(crc32c(u->fed_crc, text.ptr, text.len), "\n", 1);
    u->fed_bytes += text.len + 1;
    u->forgotten = 0; /* it is over there, perhaps, and on its way to us */
    return true;
}

/* All of its output comes once more with its end. What was not told before is told now: batches may still be on their
 * way, on connections of their own, and what comes later than the end is of no attempt. */
static void feed_rest(struct remote_run *u, struct slice whole) {
    struct slice rest = whole;
    size_t before = u->fed_bytes < whole.len ? (size_t)u->fed_bytes : whole.len;
    bool is_begin = crc32c(0, whole.ptr, before) == u->fed_crc || before < u->fed_bytes; /* a line end was added */
    if (is_begin)
        rest = slice_of(whole.ptr + before, whole.len - before);
    else
        say(u, SLICE("[reeve: lines came in another order; the whole output follows]"));
    feed(u, PROC_OUT, rest);
    if (rest.len > 0 && rest.ptr[rest.len - 1] != '\n') feed(u, PROC_OUT, SLICE("\n"));
}

static bool cut(struct slice *in, struct slice *ret) {
    const uint8_t *bar = in->len > 0 ? memchr(in->ptr, '|', in->len) : NULL;
    if (bar == NULL) return false;
    *ret = slice_of(in->ptr, (size_t)(bar - in->ptr));
    *in = slice_of(bar + 1, in->len - ret->len - 1);
    return true;
}

static uint32_t number_of(struct slice text, uint32_t otherwise) {
    uint32_t n = 0;
    if (text.len == 0 || text.len > 9) return otherwise;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return otherwise;
        n = n * 10 + (uint32_t)(text.ptr[i] - '0');
    }
    return n;
}

bool remote_complete(struct remote *r, struct slice job, struct slice rest) {
    struct remote_run *u = by_name(r, job);
    struct slice status = {0}, word = {0}, code = {0};
    if (u == NULL) return false;
    if (u->is_service) return true; /* its deployment, which was answered */
    if (!cut(&rest, &status)) status = rest, rest = SLICE("");
    bool is_good = slice_eq(status, SLICE("COMPLETED"));
    struct slice whole = rest;
    bool has_code = cut(&whole, &word) && (slice_eq(word, SLICE("COMPLETED")) || slice_eq(word, SLICE("FAILED"))) &&
                    cut(&whole, &code);
    if (has_code)
        feed_rest(u, whole);
    else if (!is_good || u->fed_bytes == 0)
        say(u, rest);
    uint32_t exit_code = number_of(code, is_good ? 0 : 1);
    if (!is_good && exit_code == 0) exit_code = 1;
    end(r, u, exit_code, u->is_stopping && !is_good ? SIGTERM : 0);
    return true;
}

bool remote_gone(struct remote *r, struct slice job) {
    struct remote_run *u = by_name(r, job);
    if (u == NULL) return false;
    end(r, u, u->is_stopping ? 0 : 1, u->is_stopping ? SIGTERM : 0);
    return true;
}

void remote_counted(struct remote *r, uint32_t active, int64_t asked_ms) {
    for (uint32_t i = 1; i <= r->runs.high; i++) {
        struct remote_run *u = pool_at(&r->runs, i);
        if (u->id == 0 || u->is_service || u->step != STEP_RUNNING || u->running_ms >= asked_ms) continue;
        u->forgotten = active == 0 ? u->forgotten + 1 : 0;
        if (u->forgotten < FORGOTTEN_MAX) continue;
        say(u, SLICE("[reeve: its worker was started again, and does not know of it]"));
        end(r, u, 0, SIGKILL);
    }
}

/* ---- requests ---- */

static bool has(struct slice text, const char *part) {
    size_t len = strlen(part);
    for (size_t i = 0; i + len <= text.len; i++)
        if (memcmp(text.ptr + i, part, len) == 0) return true;
    return false;
}

static void again(struct remote *r, struct remote_run *u) {
    u->again_ms = now_of(r) + AGAIN_MS;
}

static void running(struct remote *r, struct remote_run *u) {
    u->step = STEP_RUNNING;
    u->running_ms = now_of(r);
    u->again_ms = u->is_stopping ? 0 : TIME_NEVER;
}

static void staged(struct remote *r, struct remote_run *u, const struct exchange_end *said) {
    if (said->answer == NULL) {
        again(r, u);
    } else if (has(said->answer->body, "FILE_SAVED")) {
        u->step = STEP_RUN;
        u->again_ms = 0;
    } else {
        say(u, said->answer->body);
        end(r, u, 1, 0);
    }
}

/* What was sent and not answered may run: it is not asked for twice. */
static void ordered(struct remote *r, struct remote_run *u, const struct exchange_end *said) {
    struct slice text = said->answer != NULL ? said->answer->body : SLICE("");
    if (said->answer == NULL && !said->was_sent) {
        again(r, u);
    } else if (said->answer == NULL) {
        running(r, u);
    } else if (has(text, "ERROR_WORKER_SATURATED")) {
        again(r, u);
    } else if (u->is_service ? has(text, "DEPLOYED_SUCCESS") || has(text, "SERVICE_ALREADY_RUNNING")
                             : has(text, "JOB_ACCEPTED")) {
        running(r, u);
    } else {
        say(u, text);
        end(r, u, said->answer->opcode == TITAN_ERROR || u->is_service ? 1 : 0, 0); /* else it ran while we waited */
    }
}

static void stopped(struct remote *r, struct remote_run *u, const struct exchange_end *said) {
    bool is_unknown = u->is_service && said->answer != NULL && has(said->answer->body, "UNKNOWN_SERVICE");
    if (is_unknown && u->unknown_ms == 0) u->unknown_ms = now_of(r);
    if (said->answer == NULL || (is_unknown && now_of(r) - u->unknown_ms < CRASH_PAUSE_MS))
        again(r, u);
    else
        end(r, u, 0, SIGTERM); /* killed, or not there: either way it does not run */
}

static void told(void *ctx, uint64_t token, const struct exchange_end *said) {
    struct remote *r = ctx;
    struct remote_run *u = find(r, token);
    if (u == NULL) return;
    u->is_asking = false;
    if (u->is_stopping && u->step == STEP_RUNNING)
        stopped(r, u, said);
    else if (u->step == STEP_STAGE)
        staged(r, u, said);
    else
        ordered(r, u, said);
}

static void ask(struct remote *r, struct remote_run *u) {
    uint8_t op = TITAN_STAGE;
    struct slice body = bytes_slice(u->stage);
    u->is_asking = true;
    u->again_ms = TIME_NEVER;
    if (u->step == STEP_RUNNING) {
        op = u->is_service ? TITAN_STOP : TITAN_CANCEL_JOB;
        body = slice_str(u->name);
    } else if (u->step == STEP_RUN) {
        op = u->order_op;
        body = bytes_slice(u->order);
    }
    exchange_begin(r->exchanges, r->address, op, body, CALL_MS, told, r, u->id);
}

void remote_pass(struct remote *r) {
    int64_t now = now_of(r);
    for (uint32_t i = 1; i <= r->runs.high; i++) {
        struct remote_run *u = pool_at(&r->runs, i);
        if (u->id == 0 || u->is_asking || u->again_ms > now) continue;
        if (u->is_stopping && u->step != STEP_RUNNING)
            end(r, u, 0, SIGTERM); /* it was never started */
        else
            ask(r, u);
    }
}

int64_t remote_next(const struct remote *r) {
    int64_t next = TIME_NEVER;
    for (uint32_t i = 1; i <= r->runs.high; i++) {
        const struct remote_run *u = pool_at(&r->runs, i);
        if (u->id != 0 && !u->is_asking && u->again_ms < next) next = u->again_ms;
    }
    return next;
}

/* ---- the port ---- */

static enum err check(const struct proc_source *s, struct why *why) {
    if (s == NULL) return why_set(why, ERR_UNSUPPORTED, "a worker of Titan's runs scripts, archives and services only");
    if (s->beyond != NULL)
        return why_set(why, ERR_UNSUPPORTED, "it asks for %s, and a worker of Titan's has no such thing", s->beyond);
    if (s->args[0] != NULL && (s->is_archive || s->is_service))
        return why_set(why, ERR_UNSUPPORTED, "a worker of Titan's hands no arguments to archives and services");
    for (uint32_t i = 0; s->args[i] != NULL; i++)
        if (s->args[i][0] == 0 || strpbrk(s->args[i], " ;\n") != NULL)
            return why_set(why, ERR_UNSUPPORTED, "a worker of Titan's takes no argument with a blank in it: %s",
                           s->args[i]);
    return ERR_OK;
}

/* Base64 of the file behind what is in `out` already. */
static enum err file_put(struct remote *r, const struct proc_source *s, struct buf *out, struct why *why) {
    struct buf bytes;
    buf_init(&bytes, FRAME_BYTES_MAX);
    enum err e = r->space->ops->read(r->space, s->space, s->file, &bytes, why);
    if (e == ERR_OK) base64_put(out, buf_slice(&bytes));
    if (e == ERR_LIMIT || (e == ERR_OK && out->full))
        e = why_set(why, ERR_LIMIT, "a worker of Titan's takes files up to 7.8 MB");
    buf_fini(&bytes);
    return e;
}

static enum err archive_make(struct remote *r, struct remote_run *u, const struct proc_source *s, struct why *why) {
    struct buf b;
    buf_init(&b, FRAME_BYTES_MAX);
    buf_printf(&b, "%s|%s|", u->name, s->entry);
    if (s->is_service) buf_printf(&b, "%u|", s->port);
    enum err e = s->entry[0] == 0 ? why_set(why, ERR_INVALID, "which file of the archive is to be run was not said")
                                  : file_put(r, s, &b, why);
    u->order_op = s->is_service ? TITAN_START_SERVICE_ARCHIVE : TITAN_RUN_ARCHIVE;
    u->step = STEP_RUN;
    if (e == ERR_OK) u->order = bytes_new(buf_slice(&b));
    buf_fini(&b);
    return e;
}

static enum err script_make(struct remote *r, struct remote_run *u, const struct proc_source *s, struct why *why) {
    struct buf b;
    buf_init(&b, FRAME_BYTES_MAX);
    buf_printf(&b, "%s-%s|", u->name, s->file);
    enum err e = file_put(r, s, &b, why);
    if (e == ERR_OK) u->stage = bytes_new(buf_slice(&b));
    buf_clear(&b);
    if (s->is_service) {
        u->order_op = TITAN_START_SERVICE;
        buf_printf(&b, "%s-%s|%s|%u", u->name, s->file, u->name, s->port);
    } else {
        u->order_op = TITAN_RUN;
        buf_printf(&b, "%s|%s-%s|", u->name, u->name, s->file);
        for (uint32_t i = 0; s->args[i] != NULL; i++) buf_printf(&b, "%s%s", i > 0 ? " " : "", s->args[i]);
    }
    if (e == ERR_OK && b.full) e = why_set(why, ERR_LIMIT, "its arguments are too long");
    if (e == ERR_OK) u->order = bytes_new(buf_slice(&b));
    buf_fini(&b);
    return e;
}

static enum err op_start(struct proc *p, const struct proc_spec *spec, const struct proc_handler *handler, proc_id *ret,
                         struct why *why) {
    struct remote *r = of(p);
    enum err e = check(spec->source, why);
    if (e != ERR_OK) return e;
    uint32_t index = pool_alloc(&r->runs);
    if (index == 0) return why_set(why, ERR_BUSY, "too many processes");
    struct remote_run *u = pool_at(&r->runs, index);
    *u = (struct remote_run){.id = ++r->last, .handler = *handler, .is_service = spec->source->is_service};
    snprintf(u->name, sizeof u->name, REMOTE_ID_PREFIX "%s", spec->source->space);
    map_put(&r->by_id, u->id, index);
    e = spec->source->is_archive ? archive_make(r, u, spec->source, why) : script_make(r, u, spec->source, why);
    if (e == ERR_OK)
        *ret = (proc_id){u->id};
    else
        forget(r, u);
    return e;
}

static void op_feed(struct proc *p, proc_id id, struct slice bytes) {
    (void)p, (void)id, (void)bytes; /* what has standard input is not started */
}

static void op_feed_end(struct proc *p, proc_id id) {
    (void)p, (void)id;
}

static void op_pause(struct proc *p, proc_id id, bool on) {
    (void)p, (void)id, (void)on; /* nobody can be asked to */
}

/* Whatever the signal is: the worker knows one way to end things. */
static void op_signal(struct proc *p, proc_id id, int number) {
    struct remote_run *u = find(of(p), id.v);
    (void)number;
    if (u == NULL) return;
    u->is_stopping = true;
    if (!u->is_asking) u->again_ms = 0;
}

static void op_kill_at(struct proc *p, proc_id id, int64_t mono_ms) {
    (void)p, (void)id, (void)mono_ms; /* what is to run alone is not started */
}

static enum proc_port op_port_owner(struct proc *p, proc_id id, uint32_t port, struct why *why) {
    (void)p, (void)id, (void)port, (void)why; /* sockets of another machine cannot be seen from here */
    return PROC_PORT_UNKNOWN;
}

static const struct proc_ops ops = {op_start, op_feed, op_feed_end, op_pause, op_signal, op_kill_at, op_port_owner};

void remote_init(struct remote *r, struct clock *clock, struct space *space, struct exchanges *exchanges,
                 const char *address) {
    *r = (struct remote){.proc = {&ops}, .clock = clock, .space = space, .exchanges = exchanges, .address = address};
    pool_init(&r->runs, sizeof(struct remote_run), RUNS_MAX);
    map_init(&r->by_id);
}

void remote_fini(struct remote *r) {
    for (uint32_t i = 1; i <= r->runs.high; i++) {
        struct remote_run *u = pool_at(&r->runs, i);
        if (u->id != 0) forget(r, u);
    }
    pool_fini(&r->runs);
    map_fini(&r->by_id);
}
