/* show.c: see show.h. */
#include "show.h"

#include <stdio.h>

#include "ids.h"
#include "view_history.h"

#define RESULT_SHORT 8192u /* a longer result is told with details only: a page of a thousand fits a frame */

/* Who has to answer, and whether anyone here does. */
static const char *const gate_texts[GATE_COUNT] = {
    [GATE_CONDITION] = "its `when` has to be evaluated, which this server cannot do yet",
    [GATE_EXPANSION] = "its `foreach` has to be evaluated, which this server cannot do yet",
    [GATE_RENDER] = "its templates have to be filled in, which this server cannot do yet",
    [GATE_POLICY] = "a policy has to allow it, and none is asked by this server yet",
    [GATE_APPROVAL] = "a person has to approve it",
    [GATE_EXTERNAL] = "it waits for a word from outside",
    [GATE_OUTPUT] = "its output has to be judged, and nobody is asked by this server yet",
    [GATE_SERVICE] = "the service that it deploys is not healthy yet",
};

void show_reason(struct server *s, const struct why_job *reason, struct wire_reason *ret) {
    struct question_view q;
    ret->code = slice_str(block_word(reason->block));
    ret->text = slice_str(block_text(reason->block));
    if (reason->block != BLOCK_QUESTION || !view_question(server_state(s), reason->question, &q)) return;
    ret->gate = slice_str(gate_words[q.gate]);
    ret->text = slice_str(gate_texts[q.gate]);
}

struct slice show_flow_name(struct server *s, flow_id id) {
    char *text = arena_alloc(&s->show, FLOW_TEXT_BYTES);
    flow_text(s->options.shard, id, text);
    return slice_str(text);
}

struct slice show_job_name(struct server *s, const struct job_view *v) {
    size_t room = FLOW_TEXT_BYTES + v->name.len + 16;
    char *text = arena_alloc(&s->show, room);
    flow_text(s->options.shard, v->ref.flow, text);
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

static struct tlv_list show_names(struct server *s, const struct tlv_list *names) {
    struct wire_name *list = ARENA_ARRAY(&s->show, struct wire_name, names->count ? names->count : 1);
    const struct name_item *items = names->at;
    for (uint32_t i = 0; i < names->count; i++) list[i].name = items[i].name;
    return (struct tlv_list){list, names->count};
}

static struct tlv_list show_labels(struct server *s, const struct tlv_list *labels) {
    struct wire_pair *list = ARENA_ARRAY(&s->show, struct wire_pair, labels->count ? labels->count : 1);
    const struct label *items = labels->at;
    for (uint32_t i = 0; i < labels->count; i++) list[i] = (struct wire_pair){items[i].key, items[i].value};
    return (struct tlv_list){list, labels->count};
}

void show_flow(struct server *s, const struct flow_view *v, struct wire_flow_view *ret) {
    struct wire_amount *states = ARENA_ARRAY(&s->show, struct wire_amount, JOB_STATE_COUNT);
    uint32_t count = 0;
    for (uint32_t i = 0; i < JOB_STATE_COUNT; i++)
        if (v->by_state[i] > 0)
            states[count++] = (struct wire_amount){slice_str(job_state_word((enum job_state)i)), v->by_state[i]};
    *ret = (struct wire_flow_view){.flow = show_flow_name(s, v->id),
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
                                   .states = {states, count}};
    const struct label *labels = NULL;
    uint32_t label_count = view_labels(server_state(s), v->id, &s->show, &labels);
    struct wire_pair *pairs = ARENA_ARRAY(&s->show, struct wire_pair, label_count + 1);
    for (uint32_t i = 0; i < label_count; i++) pairs[i] = (struct wire_pair){labels[i].key, labels[i].value};
    ret->labels = (struct tlv_list){pairs, label_count};
    if (v->unwinding != UNWIND_NONE) ret->unwinding = slice_str(unwinding_words[v->unwinding]);
}

static struct tlv_list show_parents(struct server *s, const struct job_view *v) {
    uint32_t count = v->parent_count;
    uint32_t *ordinals = ARENA_ARRAY(&s->show, uint32_t, count ? count : 1);
    struct wire_name *list = ARENA_ARRAY(&s->show, struct wire_name, count ? count : 1);
    (void)view_parents(server_state(s), v->ref, ordinals, count);
    for (uint32_t i = 0; i < count; i++) {
        struct job_view parent;
        if (view_job(server_state(s), (struct job_ref){v->ref.flow, ordinals[i]}, &parent)) list[i].name = parent.name;
    }
    return (struct tlv_list){list, count};
}

/* The last one's end is the job's own; the others are told with details only. */
static void show_attempts(struct server *s, const struct job_view *v, bool details, struct wire_job_view *ret) {
    struct attempt_view *list = NULL;
    uint32_t count = view_attempts(server_state(s), v->ref, &s->show, &list);
    const struct attempt_view *last = count > 0 && !list[count - 1].is_open ? &list[count - 1] : NULL;
    if (last != NULL && last->attempt == v->attempt && last->outcome != OUTCOME_OK) {
        ret->exit_code = last->exit_code;
        ret->signal = last->signal;
        ret->reason = last->reason;
    }
    if (!details || count == 0) return;
    struct wire_attempt_view *shown = ARENA_ARRAY(&s->show, struct wire_attempt_view, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct attempt_view *a = &list[i];
        shown[i] = (struct wire_attempt_view){.attempt = a->attempt,
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
    }
    ret->attempts = (struct tlv_list){shown, count};
}

void show_job(struct server *s, const struct job_view *v, bool details, struct wire_job_view *ret) {
    const struct options *o = v->options;
    struct worker_view worker;
    struct job_view root;
    *ret = (struct wire_job_view){.job = show_job_name(s, v),
                                  .state = slice_str(job_state_word(v->state)),
                                  .kind = slice_str(wire_job_kind_words[o->kind]),
                                  .attempt = v->attempt,
                                  .attempts_max = o->retries + 1,
                                  .since_ms = shown_ms(v->since),
                                  .due_ms = v->state == JOB_WAITING ? shown_ms(v->due) : 0,
                                  .pool = o->demand.pool,
                                  .question = v->question.v,
                                  .dead_letter = v->dead_letter};
    if (v->cause != CAUSE_NONE) ret->cause = slice_str(job_cause_word(v->cause));
    if (view_worker(server_state(s), NULL, v->worker, &worker)) ret->worker = worker.id;
    show_attempts(s, v, details, ret);
    if (v->root != UINT32_MAX && view_job(server_state(s), (struct job_ref){v->ref.flow, v->root}, &root))
        ret->root = show_job_name(s, &root);
    /* Output that is being judged is for those who judge it. */
    bool fits = details || v->result.len <= RESULT_SHORT;
    if (v->state != JOB_CHECKING && fits) {
        ret->result = v->result;
        ret->result_hash = v->result_hash;
    }
    if (!details) return;
    ret->parents = show_parents(s, v);
    ret->body = v->body;
    ret->body_hash = v->body_hash;
}

void show_question(struct server *s, const struct question_view *v, struct wire_question_view *ret) {
    struct job_view job;
    *ret = (struct wire_question_view){.question = v->id.v,
                                       .revision = v->revision,
                                       .gate = slice_str(gate_words[v->gate]),
                                       .hash = v->hash,
                                       .asked_ms = v->asked.ms,
                                       .deadline_ms = shown_ms(v->deadline),
                                       .votes = v->votes,
                                       .quorum = v->quorum,
                                       .four_eyes = v->four_eyes,
                                       .role = v->role};
    if (!view_job(server_state(s), v->job, &job)) return;
    ret->job = show_job_name(s, &job);
    ret->body = job.body;
}

void show_worker(struct server *s, const struct worker_view *v, struct wire_worker_view *ret) {
    *ret = (struct wire_worker_view){.worker = v->id,
                                     .incarnation = v->incarnation,
                                     .pool = v->info->pool,
                                     .build = v->info->build,
                                     .attached = v->attached,
                                     .draining = v->draining,
                                     .permanent = v->info->permanent,
                                     .slots = v->info->slots,
                                     .active = v->active,
                                     .capabilities = show_names(s, &v->info->capabilities),
                                     .labels = show_labels(s, &v->info->labels)};
}

void show_event(struct server *s, const struct effect *e, struct wire_event *ret) {
    const struct event *v = &e->as.event;
    struct job_view job;
    *ret = (struct wire_event){.lsn = e->lsn, .ordinal = e->ordinal, .time_ms = v->time.ms, .attempt = v->attempt};
    switch (v->kind) {
    case EVENT_FLOW:
        ret->kind = SLICE("flow");
        ret->target = show_flow_name(s, v->job.flow);
        ret->to = slice_str(flow_state_words[v->flow_state]);
        break;
    case EVENT_JOB:
        ret->kind = SLICE("job");
        ret->target = view_job(server_state(s), v->job, &job) ? show_job_name(s, &job) : show_flow_name(s, v->job.flow);
        ret->from = slice_str(job_state_word(v->from));
        ret->to = slice_str(job_state_word(v->to));
        ret->due_ms = v->due_ms;
        break;
    case EVENT_WORKER: ret->kind = SLICE("worker"); break;
    case EVENT_SERVICE:
        ret->kind = SLICE("service");
        if (view_job(server_state(s), v->job, &job)) ret->target = show_job_name(s, &job);
        ret->to = v->healthy ? SLICE("healthy") : SLICE("unhealthy");
        break;
    }
    if (v->kind == EVENT_JOB && v->cause != CAUSE_NONE) ret->cause = slice_str(job_cause_word(v->cause));
}
