/* req_complete.c: the word that an external job waits for, with a token of its own (callback_token.h) or by right, and
 * the request for such a token. */
#include "call.h"
#include "callback_token.h"
#include "json_read.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"
#include "target.h"

struct word { /* what is said */
    bool failed;
    struct slice output; /* JSON; not with a failure */
    struct slice reason;
};

/* ---- a word ---- */

static enum err word_check(struct server *s, const struct word *word, struct why *why) {
    struct json_read r;
    const struct json_token *token = NULL;
    enum err e = ERR_OK;
    if (word->failed && word->output.len > 0)
        return why_set(why, ERR_INVALID, "a failed job has no output: drop the output, or do not report a failure");
    if (word->output.len == 0) return ERR_OK;
    json_read_init(&r, word->output, s->limits, &s->arena, why);
    do e = json_read_next(&r, &token);
    while (e == ERR_OK && token->kind != JSON_OVER);
    return e == ERR_OK ? ERR_OK : why_wrap(why, e, "the output is not JSON");
}

static void word_write(const struct word *word, struct command *ret) {
    ret->kind = CMD_VERDICT;
    ret->as.verdict.verdict = word->failed ? VERDICT_DENY : VERDICT_ALLOW;
    ret->as.verdict.reason = word->reason;
    ret->as.verdict.result = word->failed ? (struct slice){0} : word->output;
}

static void about_question(const struct question_view *q, struct command *ret) {
    ret->as.verdict.question = q->id;
    ret->as.verdict.job = q->job;
    ret->as.verdict.revision = q->revision;
    ret->as.verdict.hash = q->hash;
}

static void about_attempt(struct job_ref job, uint32_t attempt, struct command *ret) {
    ret->as.verdict.outside = true;
    ret->as.verdict.job = job;
    ret->as.verdict.begun = attempt;
}

/* The command that a word becomes; its answer is that of the engine. */
static enum err command_by_token(struct server *s, struct slice token, const struct word *word, struct command *ret,
                                 struct why *why) {
    struct callback c;
    struct question_view q;
    struct flow_view flow;
    *ret = (struct command){0};
    enum err e = callback_token_check(s, token, &c, why);
    if (e == ERR_OK) e = word_check(s, word, why);
    if (e != ERR_OK) return e;
    if (!view_flow(server_state(s), c.job.flow, &flow)) return why_set(why, ERR_STALE, "the job has finished");
    bool open = !c.of_question ||
                (view_question(server_state(s), (question_id){c.number}, &q) && q.job.ordinal == c.job.ordinal);
    if (!open) return why_set(why, ERR_STALE, "the job is no longer waiting for completion");
    ret->tenant = flow.tenant;
    word_write(word, ret);
    if (c.of_question)
        about_question(&q, ret);
    else
        about_attempt(c.job, (uint32_t)c.number, ret);
    return ERR_OK;
}

/* The same for someone with the right to do so, without a token. */
static enum err command_about(struct server *s, const struct job_view *job, const struct word *word,
                              struct command *ret, struct why *why) {
    struct question_view q = {0};
    *ret = (struct command){0};
    enum err e = word_check(s, word, why);
    if (e != ERR_OK) return e;
    word_write(word, ret);
    if (job->options->calls) {
        about_attempt(job->ref, 0, ret);
        return ERR_OK;
    }
    bool asked = job->question.v != 0 && view_question(server_state(s), job->question, &q);
    if (!asked)
        return why_set(why, ERR_STATE, "the job is not waiting for completion (state: %s)", job_state_word(job->state));
    if (q.gate != GATE_EXTERNAL) return why_set(why, ERR_STATE, "it is not an external job, so it cannot be completed");
    about_question(&q, ret);
    return ERR_OK;
}

/* ---- requests ---- */

static enum err complete_command(struct server *s, const struct request *r, const struct wire_complete *m,
                                 struct command *ret, struct why *why) {
    struct word word = {m->failed, m->output, m->reason};
    struct job_view job;
    struct callback c;
    if (m->token.len > 0 && m->job.len == 0) return command_by_token(s, m->token, &word, ret, why);
    enum err e = target_job(s, r->session, m->job, &job, why);
    if (e != ERR_OK) return e;
    if (m->token.len == 0) {
        e = command_about(s, &job, &word, ret, why);
        return e == ERR_OK ? ERR_OK : why_wrap(why, e, "%.*s", SLICE_FMT(m->job));
    }
    e = callback_token_check(s, m->token, &c, why);
    if (e == ERR_OK && (c.job.flow.v != job.ref.flow.v || c.job.ordinal != job.ref.ordinal))
        e = why_set(why, ERR_UNAUTHENTICATED, "the token belongs to another job");
    return e == ERR_OK ? command_by_token(s, m->token, &word, ret, why) : e;
}

HANDLER(req_complete) {
    const struct wire_complete *m = r->message;
    struct command cmd;
    struct why why = {{0}};
    enum err e = complete_command(s, r, m, &cmd, &why);
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    if (e == ERR_OK)
        call_command(s, r, c, 0, &cmd);
    else
        call_refuse(s, r, c, 0, e, why.text);
}

/* Which word the job waits for now. */
static enum err callback_of(struct server *s, const struct job_view *job, struct callback *ret, struct why *why) {
    struct question_view q = {0};
    ret->job = job->ref;
    ret->of_question = !job->options->calls;
    ret->number = job->begun;
    if (!ret->of_question && (job->begun == 0 || job->heard || job_state_is_terminal(job->state)))
        return why_set(why, ERR_STATE, "the external work has not been started (state: %s)",
                       job_state_word(job->state));
    if (!ret->of_question) return ERR_OK;
    if (job->question.v == 0 || !view_question(server_state(s), job->question, &q) || q.gate != GATE_EXTERNAL)
        return why_set(why, ERR_STATE, "the job is not waiting for completion (state: %s)", job_state_word(job->state));
    ret->number = q.id.v;
    return ERR_OK;
}

HANDLER(req_callback) {
    const struct wire_callback *m = r->message;
    struct callback made = {0};
    struct job_view job;
    struct why why = {{0}};
    char token[CALLBACK_TOKEN_BYTES], url[CALLBACK_URL_BYTES];
    enum err e = target_job(s, r->session, m->job, &job, &why);
    if (e == ERR_OK) e = callback_of(s, &job, &made, &why);
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    int64_t most = s->limits->delay_ms_max;
    int64_t for_ms = m->for_ms > 0 && m->for_ms < most ? m->for_ms : job.options->approval_ms;
    made.expires_ms = engine_now(server_shard(s)->engine).ms + for_ms;
    callback_token_make(s, &made, token);
    callback_token_url(s, token, url);
    struct wire_callback_given got = {.lsn = engine_lsn(server_shard(s)->engine),
                                      .token = slice_str(token),
                                      .url = slice_str(url),
                                      .expires_ms = made.expires_ms};
    buf_clear(&s->out);
    wire_put(&s->out, WIRE_CALLBACK_GIVEN, FRAME_ANSWER, r->id, &got);
    call_read(s, r, c, buf_slice(&s->out));
}
