/* titan_jobs.c: what became of a job, its output, and its end. */
#include "server_impl.h"
#include "session.h"
#include "titan_impl.h"
#include "titan_job.h"

#define CANCEL_WAIT_MS 1500
#define LOG_BYTES_MAX ((size_t)TITAN_BODY_BYTES_MAX) /* of one answer */

static void job_ask(struct server *s, struct session *n, struct slice id, titan_told_fn then) {
    struct wire_titan_name name = {id};
    struct wire_titan_get get = {.what = WIRE_TITAN_JOBS, .names = {&name, 1}};
    titan_ask(s, n, WIRE_TITAN_GET, &get, then);
}

static const struct wire_titan_job *job_of(const void *message) {
    return ((const struct wire_titan *)message)->jobs.at;
}

/* ---- status ---- */

static void status_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    (void)more;
    if (!titan_refused(s, n, op, message)) titan_say(s, n, job_of(message)->status);
}

void titan_status(struct server *s, struct session *n, struct slice body) {
    if (body.len > WIRE_TITAN_ID_MAX)
        titan_say(s, n, SLICE("NULL"));
    else
        job_ask(s, n, body, status_told);
}

/* ---- cancel ---- */

struct cancel_work {
    struct slice target;
};

static void over_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    if (!titan_refused(s, n, op, message) && !more) titan_say(s, n, SLICE("CANCELLED"));
}

/* It is said when it is so: whoever asks for the status next, its descendants' too, hears CANCELLED. A job that ignores
 * its signal is not waited for: Titan's dashboard gives an answer two seconds. */
static void cancelled_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct wire_accepted *m = message;
    const struct wire_result *result = m->results.at;
    const struct cancel_work *work = talk_of(n)->work;
    (void)more;
    if (titan_refused(s, n, op, message)) return;
    if (m->results.count > 0 && result->code.len > 0) { /* it ended meanwhile */
        titan_say(s, n, SLICE("NOT_FOUND"));
        return;
    }
    struct wire_name target = {work->target};
    struct wire_wait wait = {.targets = {&target, 1}, .timeout_ms = CANCEL_WAIT_MS};
    titan_ask(s, n, WIRE_WAIT, &wait, over_told);
}

static void cancel_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    (void)more;
    if (titan_refused(s, n, op, message)) return;
    const struct wire_titan_job *job = job_of(message);
    bool open = slice_eq(job->status, SLICE("PENDING")) || slice_eq(job->status, SLICE("RUNNING"));
    if (!open) {
        titan_say(s, n, SLICE("NOT_FOUND"));
        return;
    }
    struct cancel_work *work = ARENA_NEW(&talk_of(n)->arena, struct cancel_work);
    work->target = arena_slice(&talk_of(n)->arena, job->target);
    talk_of(n)->work = work;
    struct wire_name target = {work->target};
    struct wire_targets cancel = {.targets = {&target, 1}, .reason = SLICE("cancelled by Titan's protocol")};
    titan_ask(s, n, WIRE_CANCEL, &cancel, cancelled_told);
}

void titan_cancel(struct server *s, struct session *n, struct slice body) {
    struct slice id = titan_trim(body);
    if (id.len > WIRE_TITAN_ID_MAX)
        titan_say(s, n, SLICE("NOT_FOUND"));
    else
        job_ask(s, n, id, cancel_told);
}

/* ---- logs ---- */

struct logs_work {
    struct slice target;
    uint32_t attempt, attempts; /* the one that is being read; how many there are */
    bool asked; /* for the first of them */
};

static void logs_next(struct server *s, struct session *n);

static void logs_say(struct server *s, struct session *n) {
    struct slice text = buf_slice(&talk_of(n)->text);
    if (talk_of(n)->text.full)
        titan_sayf(s, n, "ERROR: the output is longer than %zu bytes: `reeve logs` has all of it", LOG_BYTES_MAX);
    else {
        if (text.len > 0 && text.ptr[text.len - 1] == '\n') text.len--; /* lines are joined, as there */
        titan_say(s, n, text);
    }
}

static void log_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct wire_log_data *m = message;
    struct buf *text = &talk_of(n)->text;
    bool is_none = op == WIRE_ERROR && slice_eq(((const struct wire_error *)message)->code, SLICE("not_found"));
    if (!is_none && titan_refused(s, n, op, message)) return;
    const struct wire_log_piece *pieces = is_none ? NULL : m->pieces.at; /* none: it has nothing to say */
    for (uint32_t i = 0; !is_none && i < m->pieces.count; i++) buf_put_slice(text, pieces[i].data);
    if (more) return;
    if (text->len > 0 && text->at[text->len - 1] != '\n') buf_put_u8(text, '\n');
    logs_next(s, n);
}

/* All tries, one after the other. What never had one may have a log all the same (deploy_log.h): attempt 0. */
static void logs_next(struct server *s, struct session *n) {
    struct logs_work *w = talk_of(n)->work;
    if (w->asked && (w->attempt == w->attempts || talk_of(n)->text.full)) {
        logs_say(s, n);
        return;
    }
    w->asked = true;
    if (w->attempt < w->attempts) w->attempt++;
    struct wire_logs logs = {.job = w->target, .attempt = w->attempt, .now = true};
    titan_ask(s, n, WIRE_LOGS, &logs, log_told);
}

static void logs_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    (void)more;
    if (titan_refused(s, n, op, message)) return;
    const struct wire_titan_job *job = job_of(message);
    struct logs_work *w = ARENA_NEW(&talk_of(n)->arena, struct logs_work);
    w->target = arena_slice(&talk_of(n)->arena, job->log);
    w->attempts = job->attempts;
    w->asked = w->target.len == 0; /* nobody has that id */
    talk_of(n)->work = w;
    talk_of(n)->text.max = LOG_BYTES_MAX;
    buf_put_slice(&talk_of(n)->text, job->note);
    logs_next(s, n);
}

void titan_logs(struct server *s, struct session *n, struct slice body) {
    struct slice id = titan_trim(body);
    if (id.len > WIRE_TITAN_ID_MAX)
        titan_say(s, n, SLICE(""));
    else
        job_ask(s, n, id, logs_told);
}
