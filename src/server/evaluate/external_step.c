/* external_step.c: see external_step.h. */
#include "external_step.h"

#include "callback_token.h"
#include "expr.h"
#include "job_scope.h"

#define REASON_MAX 1000u

/* ---- the start ---- */

static const struct wire_step *step_of(const struct wire_run *run, uint32_t begun) {
    if (begun == 0 && run->submit.count > 0) return run->submit.at;
    return run->poll.count > 0 ? run->poll.at : NULL;
}

static void refuse(struct server *s, struct wire_assignment *ret, const char *text) {
    ret->refusal = arena_slice(&s->frame_arena, slice_str(text));
    ret->body = (struct slice){0};
}

/* Whoever is told of the job can say when it is over. What a child of a foreach job is told of its item stays. */
static void put_callback(struct server *s, const struct attempt_effect *a, const struct job_view *job,
                         struct wire_assignment *ret) {
    struct callback c = {.job = a->job,
                         .number = a->attempt,
                         .expires_ms = engine_now(server_shard(s)->engine).ms + job->options->run_timeout_ms +
                                       job->options->approval_ms};
    char *token = arena_alloc(&s->frame_arena, CALLBACK_TOKEN_BYTES),
         *url = arena_alloc(&s->frame_arena, CALLBACK_URL_BYTES);
    struct wire_pair *env = ARENA_ARRAY(&s->frame_arena, struct wire_pair, ret->env.count + 2);
    uint32_t count = ret->env.count;
    if (count > 0) memcpy(env, ret->env.at, sizeof *env * count);
    callback_token_make(s, &c, token);
    callback_token_url(s, token, url);
    env[count++] = (struct wire_pair){SLICE("REEVE_CALLBACK_TOKEN"), slice_str(token)};
    if (url[0] != 0) env[count++] = (struct wire_pair){SLICE("REEVE_CALLBACK_URL"), slice_str(url)};
    ret->env = (struct tlv_list){env, count};
}

void external_step_fill(struct server *s, const struct attempt_effect *a, const struct job_view *job,
                        struct wire_assignment *ret) {
    struct wire_run run;
    struct why why = {{0}};
    if (ret->refusal.len > 0) return;
    /* Not as it was recorded: of a child of a foreach job its item is filled in. */
    enum err e = tlv_decode(&wire_run_desc, ret->body, TLV_SKIP_UNKNOWN, &s->frame_arena, &run, &why);
    const struct wire_step *step = e == ERR_OK ? step_of(&run, job->begun) : NULL;
    if (step == NULL) {
        refuse(s, ret, e == ERR_OK ? "the external job has no step to run on a worker" : why.text);
        return;
    }
    bool is_begin = run.submit.count > 0 && step == run.submit.at;
    run.shell = step->shell;
    run.argv = step->argv;
    run.http = step->http;
    run.submit = run.poll = (struct tlv_list){0};
    if (run.http.count > 0) run.sandbox = 0; /* as of an http job: it is around programs */
    struct buf body;
    buf_init(&body, WIRE_BODY_MAX * 2);
    tlv_encode(&wire_run_desc, &run, &body);
    ret->body = arena_slice(&s->frame_arena, buf_slice(&body));
    ret->kind = run.http.count > 0 ? JOB_HTTP : JOB_COMMAND;
    buf_fini(&body);
    if (is_begin) put_callback(s, a, job, ret);
}

/* ---- the end ---- */

static void turn_bad(struct arena *arena, struct cmd_attempt *a, bool fatal, const char *reason) {
    struct slice text = slice_str(reason);
    if (text.len > REASON_MAX) text.len = REASON_MAX;
    a->outcome = OUTCOME_EXIT;
    a->fatal = fatal;
    a->reason = arena_slice(arena, text);
    a->result = a->result_hash = (struct slice){0};
}

static void not_yet(struct cmd_attempt *a) {
    a->outcome = OUTCOME_OK;
    a->again = true;
    a->result = a->result_hash = (struct slice){0}; /* of what is not over nobody needs it */
}

static enum err truth(struct server *s, const char *name, struct slice text, const struct scope *scope, bool *ret,
                      struct why *why) {
    struct expr_input in = {.name = name, .text = text, .scope = scope, .limits = s->limits};
    if (text.len == 0) return ERR_OK;
    return expr_truth(&in, ret, why);
}

/* What a poll that went well has found. */
static void judge_poll(struct server *s, struct arena *arena, const struct wire_run *run, const struct wire_step *step,
                       struct cmd_attempt *a) {
    struct why why = {{0}};
    bool done = true, failed = false;
    bool asks = step->until.len > 0 || step->failed.len > 0;
    if (asks && a->result.len == 0 && a->result_hash.len > 0) {
        turn_bad(arena, a, true, "the answer of the poll is too large to be evaluated");
        return;
    }
    struct scope scope = {.output = a->result.len > 0 ? a->result : SLICE("null")};
    enum err e = job_scope_slot(s, a->job.flow, run, arena, &scope, &why);
    if (e == ERR_OK) e = truth(s, "failed", step->failed, &scope, &failed, &why);
    if (e == ERR_OK && !failed) e = truth(s, "until", step->until, &scope, &done, &why);
    if (e != ERR_OK)
        turn_bad(arena, a, false, why.text);
    else if (failed)
        turn_bad(arena, a, true, "its poll reported a failure");
    else if (!done)
        not_yet(a);
}

void external_step_ended(struct server *s, struct arena *arena, struct cmd_attempt *a) {
    struct job_view job;
    struct wire_run run;
    struct why ignored;
    if (!view_calls(server_state(s), a->job) || !view_job(server_state(s), a->job, &job)) return;
    if (job.attempt != a->attempt) return; /* the engine has its words for that */
    if (tlv_decode(&wire_run_desc, job.body, TLV_SKIP_UNKNOWN, arena, &run, &ignored) != ERR_OK) return;
    const struct wire_step *step = step_of(&run, job.begun);
    if (step == NULL) return;
    bool is_begin = run.submit.count > 0 && step == run.submit.at;
    bool says_later = a->outcome == OUTCOME_EXIT && a->exit_code == EXTERNAL_STEP_AGAIN_EXIT && step->http.count == 0;
    if (is_begin && a->outcome == OUTCOME_OK)
        not_yet(a);
    else if (!is_begin && says_later)
        not_yet(a);
    else if (!is_begin && a->outcome == OUTCOME_OK)
        judge_poll(s, arena, &run, step, a);
}
