/* state_view.c: see state_view.h. */
#include "state_view.h"

#include <stdio.h>

#include "late_labels.h"
#include "record.h"
#include "utf8.h"
#include "view_history.h"

#define RESULT_SHORT 8192u /* a longer result is told with details only: a page of a thousand fits a frame */

struct slice state_view_flow_name(const struct state_view *l, flow_id id) {
    char *text = arena_alloc(l->arena, FLOW_TEXT_BYTES);
    flow_text(l->shard, id, text);
    return slice_str(text);
}

struct slice state_view_job_name(const struct state_view *l, const struct job_view *v) {
    size_t room = FLOW_TEXT_BYTES + v->name.len + 16;
    char *text = arena_alloc(l->arena, room);
    flow_text(l->shard, v->ref.flow, text);
    size_t len = strlen(text);
    text[len++] = '/';
    if (v->name.len > 0) memcpy(text + len, v->name.ptr, v->name.len);
    len += v->name.len;
    if (v->item != UINT32_MAX) len += (size_t)snprintf(text + len, room - len, "[%u]", v->item);
    return slice_of(text, len);
}

static int64_t shown_ms(wall_time t) {
    return t.ms == TIME_NEVER ? 0 : t.ms;
}

static struct tlv_list labels_of(const struct state_view *l, flow_id flow) {
    const struct label *labels = NULL;
    uint32_t count = late_labels_get(l->state, flow, l->arena, &labels);
    struct wire_pair *pairs = ARENA_ARRAY(l->arena, struct wire_pair, count + 1);
    for (uint32_t i = 0; i < count; i++) pairs[i] = (struct wire_pair){labels[i].key, labels[i].value};
    return (struct tlv_list){pairs, count};
}

/* What succeeded stays done unless something called for its compensation. */
static void show_not_compensated(const struct flow_view *v, struct wire_flow_view *ret) {
    bool is_bad = v->state == FLOW_FAILED || v->state == FLOW_CANCELLED;
    if (!is_bad || v->unwinding != UNWIND_NONE || v->undo_count == 0) return;
    ret->compensations_not_run = v->undo_count;
    if (v->state == FLOW_CANCELLED)
        ret->not_run_because = SLICE("the flow was cancelled");
    else if (v->compensate_on == COMPENSATE_FATAL)
        ret->not_run_because = SLICE("no failure was fatal; `compensate_on: failure` compensates every failure");
    else
        ret->not_run_because = SLICE("no job failed or timed out");
}

void state_view_flow(const struct state_view *l, const struct flow_view *v, struct wire_flow_view *ret) {
    struct wire_amount *states = ARENA_ARRAY(l->arena, struct wire_amount, JOB_STATE_COUNT);
    uint32_t count = 0;
    for (uint32_t i = 0; i < JOB_STATE_COUNT; i++)
        if (v->by_state[i] > 0)
            states[count++] = (struct wire_amount){slice_str(job_state_word((enum job_state)i)), v->by_state[i]};
    *ret = (struct wire_flow_view){.flow = state_view_flow_name(l, v->id),
                                   .name = v->name,
                                   .state = slice_str(flow_state_words[v->state]),
                                   .principal = v->principal,
                                   .tenant = v->tenant,
                                   .paused = v->paused,
                                   .more = v->more,
                                   .cancelling = v->cancelling,
                                   .created_ms = v->created.ms,
                                   .finished_ms = v->state == FLOW_RUNNING ? 0 : shown_ms(v->finished),
                                   .job_count = v->job_count,
                                   .states = {states, count},
                                   .upstream_failed = v->upstream_failed,
                                   .params = v->source.params,
                                   .source_name = v->source.name,
                                   .source_bytes = v->source.bytes,
                                   .source = v->source.hash};
    if (v->source.again_of != 0) ret->again_of = state_view_flow_name(l, (flow_id){v->source.again_of});
    ret->labels = labels_of(l, v->id);
    if (v->schedule.len > 0) {
        ret->schedule = v->schedule;
        ret->slot_ms = v->slot.ms;
        if (utf8_is_valid(v->cause.key)) ret->trigger = v->cause.key;
        ret->slot = zone_book_slot(l->zones, v->zone, v->slot.ms, l->arena);
    }
    if (v->has_stages) ret->stage = slice_str(flow_stage_words[v->stage]);
    bool has_called = v->called != FLOW_STAGE_MAIN && v->ran[v->called - 1] > 0;
    if (has_called) ret->called = slice_str(flow_stage_words[v->called]);
    ret->timed_out = v->timed_out;
    /* it may have ended before the mark came */
    ret->late = v->late || (v->state != FLOW_RUNNING && v->finished.ms > v->deadline.ms);
    ret->timeout_at_ms = shown_ms(v->timeout);
    ret->deadline_ms = shown_ms(v->deadline);
    if (v->unwinding != UNWIND_NONE) ret->unwinding = slice_str(unwinding_words[v->unwinding]);
    show_not_compensated(v, ret);
}

static struct tlv_list parents_of(const struct state_view *l, const struct job_view *v) {
    uint32_t count = v->parent_count;
    uint32_t *ordinals = ARENA_ARRAY(l->arena, uint32_t, count ? count : 1);
    struct wire_name *list = ARENA_ARRAY(l->arena, struct wire_name, count ? count : 1);
    (void)view_parents(l->state, v->ref, ordinals, count);
    for (uint32_t i = 0; i < count; i++) {
        struct job_view parent;
        if (view_job(l->state, (struct job_ref){v->ref.flow, ordinals[i]}, &parent)) list[i].name = parent.name;
    }
    return (struct tlv_list){list, count};
}

static void show_usage(const struct rec_usage *u, struct wire_attempt_view *ret) {
    ret->cpu_ms = u->cpu_ms;
    ret->memory_bytes_max = u->memory_bytes_max;
    ret->throttled_ms = u->throttled_ms;
    if (u->hit != HIT_NONE) ret->hit = slice_str(hit_words[u->hit]);
    ret->hit_count = u->hit_count;
    ret->unkept = u->unkept;
}

/* The last one's end is the job's own; the others are told with details only. */
static void attempts_of(const struct state_view *l, const struct job_view *v, bool details, struct wire_job_view *ret) {
    struct attempt_view *list = NULL;
    uint32_t count = view_attempts(l->state, v->ref, l->arena, &list);
    const struct attempt_view *last = count > 0 && !list[count - 1].is_open ? &list[count - 1] : NULL;
    if (last != NULL && last->attempt == v->attempt && last->outcome != OUTCOME_OK) {
        ret->exit_code = last->exit_code;
        ret->signal = last->signal;
        ret->reason = last->reason;
    }
    if (count > 0) {
        const struct attempt_view *newest = &list[count - 1];
        ret->started_ms = newest->started.ms != 0 ? newest->started.ms : newest->assigned.ms;
        ret->ended_ms = newest->is_open ? 0 : newest->ended.ms;
    }
    if (!details || count == 0) return;
    struct wire_attempt_view *shown = ARENA_ARRAY(l->arena, struct wire_attempt_view, count);
    uint32_t tries = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct attempt_view *a = &list[i];
        if (a->worker.len == 0) continue; /* a verdict */
        shown[tries++] =
            (struct wire_attempt_view){.attempt = a->attempt,
                                       .worker = a->worker,
                                       .outcome = slice_str(a->is_open ? "open" : outcome_words[a->outcome]),
                                       .exit_code = a->exit_code,
                                       .signal = a->signal,
                                       .assigned_ms = a->assigned.ms,
                                       .started_ms = a->started.ms,
                                       .ended_ms = a->ended.ms,
                                       .log_bytes = a->log_bytes,
                                       .log_cut_bytes = a->log_cut_bytes,
                                       .reason = a->reason};
        show_usage(&a->usage, &shown[tries - 1]);
    }
    ret->attempts = (struct tlv_list){shown, tries};
}

struct tlv_list state_view_artifacts(const struct state_view *l, struct slice artifacts) {
    struct tlv_list files = view_artifacts(artifacts, l->arena);
    const struct rec_artifact *from = files.at;
    struct wire_kept *list = ARENA_ARRAY(l->arena, struct wire_kept, files.count ? files.count : 1);
    for (uint32_t i = 0; i < files.count; i++) list[i] = (struct wire_kept){from[i].name, from[i].hash, from[i].bytes};
    return (struct tlv_list){list, files.count};
}

static void items_of(const struct state_view *l, const struct job_view *v, struct wire_job_view *ret) {
    struct expansion_view x;
    if (!view_expansion(l->state, v->ref, &x)) return;
    ret->items = x.count;
    ret->items_begun = x.begun;
    ret->items_open = x.under_way;
    ret->items_bad = x.bad;
}

/* The number that its last attempt can have: those before it was retried, and those that were lost, count on top. */
static uint32_t attempts_max(const struct job_view *v) {
    bool is_spent = !job_state_is_active(v->state) && v->state != JOB_SUCCEEDED && v->state != JOB_CHECKING &&
                    v->state != JOB_CANCELLED;
    uint32_t counted = v->used + (is_spent ? 0 : 1);
    return v->options->retries + 1 + (v->attempt > counted ? v->attempt - counted : 0);
}

void state_view_job(const struct state_view *l, const struct job_view *v, bool details, struct wire_job_view *ret) {
    const struct options *o = v->options;
    struct worker_view worker;
    struct job_view root;
    *ret = (struct wire_job_view){.job = state_view_job_name(l, v),
                                  .state = slice_str(job_state_word(v->state)),
                                  .kind = slice_str(job_kind_words[o->kind]),
                                  .stage = o->stage ? slice_str(flow_stage_words[o->stage]) : (struct slice){0},
                                  .attempt = v->attempt,
                                  .attempts_max = attempts_max(v),
                                  .since_ms = shown_ms(v->since),
                                  .due_ms = v->state == JOB_WAITING ? shown_ms(v->due) : 0,
                                  .pool = o->demand.pool,
                                  .question = v->question.v,
                                  .dead_letter = v->dead_letter};
    if (v->cause != CAUSE_NONE) ret->cause = slice_str(job_cause_word(v->cause));
    if (view_worker(l->state, NULL, v->worker, &worker)) ret->worker = worker.id;
    attempts_of(l, v, details, ret);
    if (v->state == JOB_HELD && ret->reason.len == 0) ret->reason = view_trouble(l->state, v->ref, l->arena);
    items_of(l, v, ret);
    if (v->root != UINT32_MAX && view_job(l->state, (struct job_ref){v->ref.flow, v->root}, &root))
        ret->root = state_view_job_name(l, &root);
    /* Output that is being judged is for those who judge it. */
    bool fits = details || v->result.len <= RESULT_SHORT;
    if (v->state != JOB_CHECKING && fits) {
        ret->result = v->result;
        ret->result_hash = v->result_hash;
    }
    if (!details) return;
    if (v->state != JOB_CHECKING) ret->artifacts = state_view_artifacts(l, v->artifacts);
    ret->parents = parents_of(l, v);
    ret->body = v->body;
    ret->body_hash = v->body_hash;
}

void state_view_strip_node(struct wire_job_view *node) {
    node->result = node->result_hash = node->body = node->body_hash = (struct slice){0};
    node->artifacts = (struct tlv_list){0};
}

void state_view_node(const struct state_view *l, const struct job_view *v, struct wire_job_view *ret) {
    state_view_job(l, v, true, ret);
    state_view_strip_node(ret);
}
