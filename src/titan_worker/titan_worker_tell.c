/* titan_worker_tell.c: what is told to the master: output as it comes, then the end.
 *
 * Guarantees: one call is under way at a time, so nothing overtakes anything: of a job its lines arrive in order, all
 * of them, and before its end. What was not answered is told again; a master that is away makes jobs wait at their next
 * write, and loses nothing. */
#include <stdio.h>

#include "panic.h"
#include "titan_worker_impl.h"

#define BATCH_LINES 200u /* as Titan's workers do */
#define BATCH_MS 200     /* they wait up to 2 s, and nobody likes to */
#define BATCH_BYTES_MAX (256u << 10)
#define CALL_MS 30000
#define AGAIN_MS 500 /* after a failure; doubles */
#define AGAIN_MS_MAX 5000

void titan_worker_tell_output(struct titan_worker *h, struct titan_worker_task *t, struct slice bytes) {
    if (t->text.len == 0) t->text_ms = titan_worker_now(h);
    buf_put_slice(&t->text, bytes);
    ENSURE(!t->text.full); /* its process waits long before */
    for (size_t i = 0; i < bytes.len; i++) t->lines += bytes.ptr[i] == '\n';
}

/* How much of its text goes into the next batch: whole lines, unless one is longer than a batch, or it is the last. */
static size_t batch_bytes(const struct titan_worker_task *t) {
    size_t most = t->text.len < BATCH_BYTES_MAX ? t->text.len : BATCH_BYTES_MAX, upto = most;
    if (t->is_over && most == t->text.len) return most;
    while (upto > 0 && t->text.at[upto - 1] != '\n') upto--;
    return upto > 0 ? upto : most == BATCH_BYTES_MAX ? most : 0;
}

static bool is_due(const struct titan_worker_task *t, int64_t now) {
    bool is_now =
        t->is_over || t->lines >= BATCH_LINES || t->text.len >= BATCH_BYTES_MAX || now >= t->text_ms + BATCH_MS;
    return t->text.len > 0 && is_now && batch_bytes(t) > 0;
}

static void text_drop(struct titan_worker_task *t, size_t bytes, int64_t now) {
    for (size_t i = 0; i < bytes; i++) t->lines -= t->text.at[i] == '\n';
    memmove(t->text.at, t->text.at + bytes, t->text.len - bytes);
    buf_cut(&t->text, t->text.len - bytes);
    t->text_ms = now;
}

/* ---- what is said ---- */

static void put_batch(struct titan_worker *h, const struct titan_worker_task *t) {
    size_t bytes = batch_bytes(t);
    size_t shown = bytes > 0 && t->text.at[bytes - 1] == '\n' ? bytes - 1 : bytes; /* the master adds it */
    buf_printf(&h->out, "%.*s|", SLICE_FMT(bytes_slice(t->id)));
    buf_put(&h->out, t->text.at, shown);
    h->told_bytes = bytes;
    h->told_op = TITAN_LOG_BATCH;
}

static void put_failure(struct titan_worker *h, const struct titan_worker_task *t) {
    buf_printf(&h->out, "%.*s|FAILED|ERROR: ", SLICE_FMT(bytes_slice(t->id)));
    if (t->refusal.text[0] != 0)
        buf_printf(&h->out, "%s", t->refusal.text);
    else if (t->is_late)
        buf_printf(&h->out, "timed out");
    else if (t->is_stopping)
        buf_printf(&h->out, "cancelled");
    else if (t->signal != 0)
        buf_printf(&h->out, "killed by signal %u", t->signal);
    else
        buf_printf(&h->out, "exit code %u", t->exit_code);
    if (t->head.len > 0) buf_put_u8(&h->out, '\n');
}

/* The whole output goes with the end, as far as a master can read it. */
static void put_end(struct titan_worker *h, const struct titan_worker_task *t) {
    char cut[96] = "";
    bool is_good = t->exit_code == 0 && t->signal == 0 && !t->is_stopping && t->refusal.text[0] == 0;
    h->told_op = TITAN_JOB_COMPLETE;
    if (is_good)
        buf_printf(&h->out, "%.*s|COMPLETED|COMPLETED|0|", SLICE_FMT(bytes_slice(t->id)));
    else
        put_failure(h, t);
    if (t->bytes > t->head.len)
        snprintf(cut, sizeof cut, "\n[reeve: %llu bytes left out here; the log has them]",
                 (unsigned long long)(t->bytes - t->head.len));
    buf_put_slice(&h->out, buf_slice(&t->head));
    buf_put(&h->out, cut, strlen(cut));
}

/* ---- when ---- */

static struct titan_worker_task *by_number(const struct titan_worker *h, uint32_t number) {
    for (uint32_t i = 1; i <= h->tasks.high; i++) {
        struct titan_worker_task *t = pool_at(&h->tasks, i);
        if (t->number == number) return t;
    }
    return NULL;
}

static void told(void *ctx, uint64_t token, const struct exchange_end *end) {
    struct titan_worker *h = ctx;
    struct titan_worker_task *t = by_number(h, h->told_task);
    (void)token;
    h->is_telling = false;
    if (end->answer == NULL) { /* any answer counts */
        int64_t pause = AGAIN_MS << (h->tell_failures < 4 ? h->tell_failures : 4);
        if (h->tell_failures++ == 0)
            titan_worker_log(h, "the master cannot be told: %s; it will be told again", end->failure);
        h->tell_at_ms = titan_worker_now(h) + (pause < AGAIN_MS_MAX ? pause : AGAIN_MS_MAX);
        return;
    }
    h->tell_failures = 0;
    h->tell_at_ms = 0;
    if (t == NULL) return;
    if (h->told_op == TITAN_LOG_BATCH) {
        text_drop(t, h->told_bytes, titan_worker_now(h));
        titan_worker_run_flow(h, t);
    } else {
        titan_worker_run_forget(h, t);
    }
}

/* The one after whom we spoke of last: nobody is kept waiting by somebody who never stops. */
static struct titan_worker_task *next_task(const struct titan_worker *h, int64_t now) {
    struct titan_worker_task *first = NULL, *after = NULL;
    for (uint32_t i = 1; i <= h->tasks.high; i++) {
        struct titan_worker_task *t = pool_at(&h->tasks, i);
        if (t->number == 0 || !(is_due(t, now) || (t->is_over && t->text.len == 0))) continue;
        if (first == NULL || t->number < first->number) first = t;
        if (t->number > h->told_task && (after == NULL || t->number < after->number)) after = t;
    }
    return after != NULL ? after : first;
}

void titan_worker_tell_pass(struct titan_worker *h) {
    int64_t now = titan_worker_now(h);
    if (h->is_telling || now < h->tell_at_ms) return;
    const struct titan_worker_task *t = next_task(h, now);
    if (t == NULL) return;
    buf_clear(&h->out);
    h->told_task = t->number;
    if (t->text.len > 0) {
        put_batch(h, t);
    } else if (t->is_service) {
        h->told_op = TITAN_UNREGISTER_SERVICE;
        buf_put_slice(&h->out, bytes_slice(t->id));
    } else {
        put_end(h, t);
    }
    h->is_telling = true;
    exchange_begin(&h->exchanges, h->o.master, h->told_op, buf_slice(&h->out), CALL_MS, told, h, 0);
}

int64_t titan_worker_tell_next(const struct titan_worker *h) {
    int64_t next = TIME_NEVER;
    if (h->is_telling) return next;
    for (uint32_t i = 1; i <= h->tasks.high; i++) {
        const struct titan_worker_task *t = pool_at(&h->tasks, i);
        if (t->number == 0 || (t->text.len == 0 && !t->is_over)) continue;
        int64_t at = t->is_over || t->lines >= BATCH_LINES ? 0
                     : batch_bytes(t) > 0                  ? t->text_ms + BATCH_MS
                                                           : TIME_NEVER;
        if (at < h->tell_at_ms) at = h->tell_at_ms;
        if (at < next) next = at;
    }
    return next;
}
