/* event_view.c: see event_view.h. */
#include "event_view.h"

#include "tlv.h"

#define KIND_COUNT 4u
#define ARENA_BYTES_MAX 65536u

static const char *const kind_words[KIND_COUNT] = {
    [EVENT_FLOW] = "flow", [EVENT_JOB] = "job", [EVENT_WORKER] = "worker", [EVENT_SERVICE] = "service"};

const char *event_view_kind_word(enum event_kind kind) {
    return kind_words[kind];
}

uint32_t event_view_kind_by_word(struct slice word) {
    for (uint32_t i = 0; i < KIND_COUNT; i++)
        if (slice_eq(word, slice_str(kind_words[i]))) return i;
    return UINT32_MAX;
}

struct position event_view_position(const struct event_view *n) {
    return (struct position){n->event.lsn, n->event.ordinal};
}

/* Of the attempt that the event is about; when the job has gone on to another since, nobody knows any more. */
static struct slice worker_of(const struct state_view *l, const struct event *v, const struct job_view *job) {
    struct worker_view w;
    bool known = v->attempt != 0 && v->attempt == job->attempt && view_worker(l->state, NULL, job->worker, &w);
    return known ? w.id : (struct slice){0};
}

static void make_job(const struct state_view *l, const struct event *v, struct event_view *ret) {
    struct job_view job;
    struct wire_event *to = &ret->event;
    to->from = slice_str(job_state_word(v->from));
    to->to = slice_str(job_state_word(v->to));
    to->due_ms = v->due_ms;
    if (v->cause != CAUSE_NONE) to->cause = slice_str(job_cause_word(v->cause));
    bool there = view_job(l->state, v->job, &job);
    to->target = there ? state_view_job_name(l, &job) : state_view_flow_name(l, v->job.flow);
    if (there) to->worker = worker_of(l, v, &job);
}

static void make_worker(const struct state_view *l, const struct event *v, struct event_view *ret) {
    struct worker_view w;
    if (view_worker(l->state, NULL, v->worker, &w)) ret->event.target = ret->event.worker = w.id;
    ret->event.to = v->gone ? SLICE("gone") : v->draining ? SLICE("draining") : SLICE("ready");
}

void event_view_make(const struct state_view *l, const struct effect *e, struct event_view *ret) {
    const struct event *v = &e->as.event;
    struct job_view job;
    struct flow_view flow;
    *ret = (struct event_view){.kind = v->kind, .ordinal = UINT32_MAX};
    ret->event = (struct wire_event){.lsn = e->lsn,
                                     .ordinal = e->ordinal,
                                     .kind = slice_str(kind_words[v->kind]),
                                     .time_ms = v->time.ms,
                                     .attempt = v->attempt};
    if (v->kind != EVENT_WORKER) {
        ret->flow = v->job.flow.v;
        bool is_there = view_flow(l->state, v->job.flow, &flow);
        if (is_there) ret->tenant = flow.tenant;
        if (is_there && v->kind == EVENT_FLOW && flow.schedule.len > 0) {
            ret->event.schedule = flow.schedule;
            ret->event.slot_ms = flow.slot.ms;
        }
    }
    switch (v->kind) {
    case EVENT_FLOW:
        ret->event.target = state_view_flow_name(l, v->job.flow);
        ret->event.to = slice_str(flow_state_words[v->flow_state]);
        if (v->news == NEWS_STAGE) ret->event.cause = slice_str(flow_stage_words[v->stage]);
        if (v->news == NEWS_TIMED_OUT) ret->event.cause = SLICE("flow_timeout");
        if (v->news == NEWS_LATE) ret->event.cause = SLICE("flow_late");
        break;
    case EVENT_JOB:
        ret->ordinal = v->job.ordinal;
        make_job(l, v, ret);
        break;
    case EVENT_WORKER: make_worker(l, v, ret); break;
    case EVENT_SERVICE:
        ret->ordinal = v->job.ordinal;
        if (view_job(l->state, v->job, &job)) ret->event.target = state_view_job_name(l, &job);
        ret->event.to = v->healthy ? SLICE("healthy") : SLICE("unhealthy");
        break;
    }
}

void event_view_encode(const struct event_view *n, struct buf *out) {
    buf_put_u8(out, (uint8_t)n->kind);
    buf_put_varint(out, n->flow);
    buf_put_varint(out, n->ordinal);
    buf_put_str(out, n->tenant);
    tlv_encode(&wire_event_desc, &n->event, out);
}

bool event_view_decode(struct slice bytes, struct event_view *ret) {
    struct cursor c = cursor_of(bytes);
    struct why why;
    struct arena none; /* an event has no lists */
    uint8_t kind = cursor_u8(&c);
    ret->flow = cursor_varint(&c);
    ret->ordinal = (uint32_t)cursor_varint(&c);
    ret->tenant = cursor_str(&c);
    if (c.bad || kind >= KIND_COUNT) return false;
    ret->kind = (enum event_kind)kind;
    arena_init(&none, 4096, ARENA_BYTES_MAX);
    enum err e = tlv_decode(&wire_event_desc, slice_of(c.at, cursor_left(&c)), TLV_STRICT, &none, &ret->event, &why);
    arena_fini(&none);
    return e == ERR_OK;
}
