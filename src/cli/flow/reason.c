/* reason.c: see reason.h. */
#include "reason.h"

#include <stdio.h>

#include "out.h"

#define FAILURES_SHOWN_MAX 3u
#define TAIL_BYTES 400u
#define STILL_LOOKED_MAX 100u /* jobs that stand still: the first that waits for no other speaks for them */

void reason_forget(struct reason *r) {
    r->list_request = r->why_request = 0;
}

void reason_text(const struct wire_reason *r, char *ret, size_t size) {
    bool is_approval = r->question != 0 && slice_eq(r->gate, SLICE("approval"));
    char until[OUT_TIME_BYTES];
    size_t len = (size_t)snprintf(ret, size, "%.*s: %.*s", SLICE_FMT(r->job), SLICE_FMT(r->text));
    if (r->until_ms != 0 && r->question == 0 && len < size)
        len += (size_t)snprintf(ret + len, size - len, ", until %s", out_time(r->until_ms, until));
    if (is_approval && len < size)
        (void)snprintf(ret + len, size - len, "; approve it with `reeve approve %.*s`", SLICE_FMT(r->job));
}

static enum err ask_why(struct cli *c, struct reason *r, struct slice job) {
    struct wire_why m = {job};
    return client_send(&c->client, WIRE_WHY, &m, &r->why_request, c->why);
}

enum err reason_ask(struct cli *c, struct reason *r, struct slice target) {
    struct wire_name still[] = {{SLICE("held")}, {SLICE("ready")}, {SLICE("waiting")}};
    struct wire_list m = {
        .what = WIRE_LIST_JOBS, .flow = target, .states = {still, 3}, .most = STILL_LOOKED_MAX, .items = true};
    if (c->json || r->list_request != 0 || r->why_request != 0) return ERR_OK;
    if (target.len > 0 && memchr(target.ptr, '/', target.len) != NULL) return ask_why(c, r, target);
    return client_send(&c->client, WIRE_LIST, &m, &r->list_request, c->why);
}

static void tell(struct cli *c, struct reason *r, const struct wire_reason *m) {
    char text[sizeof r->told];
    reason_text(m, text, sizeof text);
    if (strcmp(text, r->told) == 0 || slice_eq(m->code, SLICE("nothing"))) return;
    memcpy(r->told, text, sizeof text);
    out_say(stderr, "reeve %s: %s", c->verb->words, text);
}

/* One that is held or ready, else one that waits for its time; what waits for other jobs follows from those. */
static const struct wire_job_view *first_that_waits(const struct wire_listed *page) {
    const struct wire_job_view *jobs = page->jobs.at, *timed = NULL;
    for (uint32_t i = 0; i < page->jobs.count; i++) {
        if (!slice_eq(jobs[i].state, SLICE("waiting"))) return &jobs[i];
        if (timed == NULL && jobs[i].due_ms != 0 && jobs[i].items == 0) timed = &jobs[i];
    }
    return timed;
}

/* What is refused on the side is no reason to stop waiting. */
bool reason_hear(struct cli *c, struct reason *r, const struct client_frame *f) {
    struct why ignored;
    bool is_list = r->list_request != 0 && f->request == r->list_request;
    bool is_why = r->why_request != 0 && f->request == r->why_request;
    if (!is_list && !is_why) return false;
    *(is_list ? &r->list_request : &r->why_request) = 0;
    if (client_refusal(f, &ignored) != ERR_OK) return true;
    if (is_why && f->op == WIRE_REASON) tell(c, r, f->message);
    if (!is_list || f->op != WIRE_LISTED) return true;
    const struct wire_job_view *job = first_that_waits(f->message);
    /* A connection that is lost here is noticed by the next frame. */
    if (job != NULL && ask_why(c, r, job->job) != ERR_OK) r->why_request = 0;
    return true;
}

/* ---- at the end ---- */

/* One write of the job may end inside a line. */
static void print_piece(FILE *to, struct slice rest, bool *at_start) {
    while (rest.len > 0) {
        const uint8_t *end = memchr(rest.ptr, '\n', rest.len);
        size_t len = end != NULL ? (size_t)(end - rest.ptr) : rest.len;
        if (*at_start) fputs("    ", to);
        out_clean(to, slice_of(rest.ptr, len));
        if (end != NULL) fputc('\n', to);
        *at_start = end != NULL;
        len += end != NULL;
        rest = slice_of(rest.ptr + len, rest.len - len);
    }
}

void reason_last_lines(struct cli *c, struct slice job, FILE *to) {
    struct client_frame f;
    bool at_start = true;
    struct why ignored;
    struct wire_logs m = {.job = job, .tail_bytes = TAIL_BYTES};
    enum err e = client_ask(&c->client, WIRE_LOGS, &m, &f, &ignored);
    while (e == ERR_OK && f.op == WIRE_LOG_DATA) {
        const struct wire_log_data *d = f.message;
        const struct wire_log_piece *pieces = d->pieces.at;
        for (uint32_t i = 0; i < d->pieces.count; i++) print_piece(to, pieces[i].data, &at_start);
        if (!(f.flags & FRAME_MORE)) break;
        e = client_answer(&c->client, f.request, &f, &ignored);
    }
    if (!at_start) fputc('\n', to);
}

static void show_failure(struct cli *c, const struct wire_job_view *v) {
    fputs("  ", stderr);
    out_clean(stderr, v->job);
    fprintf(stderr, " %.*s", SLICE_FMT(v->state));
    if (v->exit_code != 0) fprintf(stderr, ", exit code %u", v->exit_code);
    if (v->signal != 0) fprintf(stderr, ", signal %u", v->signal);
    if (v->reason.len > 0) fputs(": ", stderr), out_clean(stderr, v->reason);
    fputc('\n', stderr);
    reason_last_lines(c, v->job, stderr);
}

/* Jobs that failed only because of another are not the news; items that failed are. */
static enum err failures_of(struct cli *c, struct slice flow, uint32_t *ret_more) {
    struct wire_name bad[] = {{SLICE("failed")}, {SLICE("timed_out")}, {SLICE("denied")}, {SLICE("quarantined")}};
    struct client_frame f;
    struct wire_list m = {
        .what = WIRE_LIST_JOBS, .flow = flow, .states = {bad, 4}, .most = 100, .items = true, .apart = true};
    enum err e = client_ask(&c->client, WIRE_LIST, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_listed *page = f.message;
    const struct wire_job_view *jobs = page->jobs.at;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < page->jobs.count; i++) {
        if (jobs[i].items > 0) continue; /* its items say it */
        if (shown++ < FAILURES_SHOWN_MAX) show_failure(c, &jobs[i]);
    }
    *ret_more = shown > FAILURES_SHOWN_MAX ? shown - FAILURES_SHOWN_MAX : 0;
    return ERR_OK;
}

enum err reason_failures(struct cli *c, struct slice target) {
    uint32_t more = 0;
    if (c->json || (target.len > 0 && memchr(target.ptr, '/', target.len) != NULL)) return ERR_OK;
    enum err e = failures_of(c, target, &more);
    if (e == ERR_OK && more > 0)
        out_say(stderr, "  … and %u more; `reeve ls %.*s --state failed` lists them", more, SLICE_FMT(target));
    return e;
}
