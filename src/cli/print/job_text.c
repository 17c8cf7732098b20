/* job_text.c: see job_text.h. */
#include "job_text.h"

struct slice job_text_state(const struct wire_job_view *v) {
    return wire_is_upstream_failed(v) ? SLICE(WIRE_UPSTREAM_FAILED) : v->state;
}

/* A verdict of the server itself: of `when`, of a template or of `foreach`; people's end a job as denied. */
static struct slice cause_text(const struct wire_job_view *v) {
    if (!slice_eq(v->cause, SLICE("verdict"))) return v->cause;
    if (slice_eq(v->state, SLICE("skipped"))) return SLICE("when");
    return slice_eq(v->state, SLICE("failed")) ? SLICE("expression") : v->cause;
}

void job_text_end(const struct wire_job_view *v, struct buf *to) {
    if (v->exit_code != 0)
        buf_printf(to, "exit %u", v->exit_code);
    else if (v->signal != 0)
        buf_printf(to, "signal %u", v->signal);
    else
        buf_put_slice(to, cause_text(v));
}

static void put_count(struct buf *to, const char **lead, uint32_t count, const char *word) {
    if (count == 0) return;
    buf_printf(to, "%s%u %s", *lead, count, word);
    *lead = ", ";
}

/* Those that have not begun wait while the job is open, and never will when it is over. */
void job_text_items(const struct wire_job_view *v, struct buf *to) {
    const char *lead = ": ", *rest = out_state_is_end(v->state) ? "not started" : "waiting";
    uint32_t over = v->items_begun - v->items_open;
    buf_printf(to, "%u items", v->items);
    put_count(to, &lead, over > v->items_bad ? over - v->items_bad : 0, "succeeded");
    put_count(to, &lead, v->items_bad, "failed");
    put_count(to, &lead, v->items_open, "under way");
    put_count(to, &lead, v->items - v->items_begun, rest);
}

void job_text_brief(const struct wire_job_view *v, struct buf *to) {
    if (v->items > 0)
        job_text_items(v, to);
    else if (v->root.len > 0)
        buf_printf(to, "because of %.*s", SLICE_FMT(v->root));
    else
        job_text_end(v, to);
}

/* "it is running" is no reason, but for what its worker says of it. */
static void put_wait(const struct wire_job_view *v, struct buf *to) {
    char until[OUT_TIME_BYTES];
    if (slice_eq(v->code, SLICE("nothing")) && v->reason.len == 0) return;
    buf_put_slice(to, v->waits_for);
    if (v->due_ms != 0) buf_printf(to, ", until %s", out_time(v->due_ms, until));
}

void job_text_reason(const struct wire_job_view *v, struct buf *to) {
    if (v->items == 0 && v->waits_for.len > 0) {
        put_wait(v, to);
        return;
    }
    job_text_brief(v, to);
    if (v->items == 0 && v->root.len == 0 && v->reason.len > 0)
        buf_printf(to, "%s%.*s", to->len > 0 ? ": " : "", SLICE_FMT(v->reason));
}

const char *job_text_took(const struct wire_job_view *v, int64_t now_ms, char text[OUT_TIME_BYTES]) {
    if (v->started_ms == 0) return out_age(0, 0, text);
    return out_took(v->started_ms, v->ended_ms != 0 ? v->ended_ms : now_ms, text);
}
