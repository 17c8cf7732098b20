/* flow_row.c: see flow_row.h. */
#include "flow_row.h"

#include <stdio.h>

#include "panic.h"
#include "utf8.h"

#define MESSAGE_BYTES_MAX ((size_t)1 << 30)
#define JOBS_TEXT_BYTES 16384u /* names of jobs that a flow is found by; a large flow is found by its first ones */
#define ERRORS_TEXT_BYTES 4096u
#define PART_BYTES ((size_t)8 << 20) /* a part with so much has no more jobs, so that one fits a frame */

void flow_row_init(struct flow_row *r) {
    *r = (struct flow_row){0};
    buf_init(&r->message, MESSAGE_BYTES_MAX);
    buf_init(&r->jobs, JOBS_TEXT_BYTES);
    buf_init(&r->errors, ERRORS_TEXT_BYTES);
}

void flow_row_fini(struct flow_row *r) {
    buf_fini(&r->message);
    buf_fini(&r->jobs);
    buf_fini(&r->errors);
}

void flow_row_begin(struct flow_row *r, flow_id flow, uint64_t lsn) {
    r->flow = flow;
    r->lsn = lsn;
    r->next = r->part = 0;
    buf_clear(&r->jobs);
    buf_clear(&r->errors);
}

/* A line of its own, as far as there is room. */
static void put_line(struct buf *b, struct slice text) {
    if (text.len == 0 || b->full || b->len + 1 >= b->max) return;
    buf_put_slice(b, utf8_cut(text, b->max - b->len - 1));
    buf_put_u8(b, '\n');
}

static void put_words(struct flow_row *r, struct slice name, const struct wire_job_view *v) {
    put_line(&r->jobs, name);
    if (slice_eq(v->cause, SLICE("upstream"))) return; /* the root says it */
    put_line(&r->errors, v->reason);
    char end[40] = "";
    if (v->exit_code != 0) snprintf(end, sizeof end, "exit %u", v->exit_code);
    if (v->signal != 0) snprintf(end, sizeof end, "signal %u", v->signal);
    put_line(&r->errors, end[0] != 0 ? slice_str(end) : v->cause);
}

bool flow_row_part(struct flow_row *r, const struct state_view *l, const struct flow_view *flow,
                   struct history_part *ret) {
    struct job_view job;
    REQUIRE(flow->id.v == r->flow.v);
    uint32_t left = flow->job_count - r->next, count = 0;
    uint32_t most = left < FLOW_ROW_PART_JOBS ? left : FLOW_ROW_PART_JOBS;
    struct wire_job_view *list = ARENA_ARRAY(l->arena, struct wire_job_view, most + 1);
    for (size_t bytes = 0; count < most && bytes < PART_BYTES; count++) {
        ENSURE(view_job(l->state, (struct job_ref){r->flow, r->next + count}, &job));
        state_view_job(l, &job, true, &list[count]);
        put_words(r, job.name, &list[count]);
        bytes += job.body.len + job.result.len;
    }
    struct wire_got m = {.lsn = r->lsn, .jobs = {list, count}};
    buf_clear(&r->message);
    tlv_encode(&wire_got_desc, &m, &r->message);
    ENSURE(!r->message.full);
    *ret = (struct history_part){.flow = r->flow.v, .lsn = r->lsn, .number = r->part++, .body = buf_slice(&r->message)};
    r->next += count;
    return r->next == flow->job_count;
}

void flow_row_head(struct flow_row *r, const struct state_view *l, const struct flow_view *flow,
                   struct history_row *ret) {
    struct wire_flow_view head;
    REQUIRE(flow->id.v == r->flow.v);
    state_view_flow(l, flow, &head);
    head.archived = true;
    buf_clear(&r->message);
    tlv_encode(&wire_flow_view_desc, &head, &r->message);
    const struct wire_pair *labels = head.labels.at;
    size_t room = 1;
    for (uint32_t i = 0; i < head.labels.count; i++) room += labels[i].key.len + labels[i].value.len + 2;
    char *lines = arena_alloc(l->arena, room);
    size_t len = 0;
    for (uint32_t i = 0; i < head.labels.count; i++)
        len += (size_t)snprintf(lines + len, room - len, "%.*s=%.*s\n", SLICE_FMT(labels[i].key),
                                SLICE_FMT(labels[i].value));
    *ret = (struct history_row){.flow = r->flow.v,
                                .lsn = r->lsn,
                                .created_ms = head.created_ms,
                                .finished_ms = head.finished_ms,
                                .tenant = head.tenant,
                                .name = head.name,
                                .state = head.state,
                                .schedule = head.schedule,
                                .labels = slice_of(lines, len),
                                .jobs = buf_slice(&r->jobs),
                                .errors = buf_slice(&r->errors),
                                .head = buf_slice(&r->message)};
}
