/* callback.c: see callback.h. */
#include "callback.h"

#include <stdio.h>

#include "call.h"
#include "hmac_token.h"
#include "json_read.h"
#include "route.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"
#include "target.h"

#define PREFIX "rvc_"

/* "rvc_FLOW.ORDINAL.q|aNUMBER.EXPIRES." and the proof of that. */
static size_t write_it(struct server *s, const struct callback *c, char out[CALLBACK_TOKEN_BYTES]) {
    int len = snprintf(out, CALLBACK_TOKEN_BYTES, PREFIX "%llx.%x.%c%llx.%llx.", (unsigned long long)c->job.flow.v,
                       c->job.ordinal, c->of_question ? 'q' : 'a', (unsigned long long)c->number,
                       (unsigned long long)c->expires_ms);
    return hmac_token_append(&s->auth, out, (size_t)len);
}

void callback_make(struct server *s, const struct callback *c, char ret[CALLBACK_TOKEN_BYTES]) {
    (void)write_it(s, c, ret);
}

void callback_url(const struct server *s, const char *token, char ret[CALLBACK_URL_BYTES]) {
    ret[0] = 0;
    if (s->reached_at == NULL) return;
    snprintf(ret, CALLBACK_URL_BYTES, "%.*s" CALLBACK_PATH "%s", SLICE_FMT(bytes_slice(s->reached_at)), token);
}

enum err callback_check(struct server *s, struct slice token, struct callback *ret, struct why *why) {
    char given[CALLBACK_TOKEN_BYTES] = {0}, ours[CALLBACK_TOKEN_BYTES], kind = 0;
    unsigned long long flow = 0, number = 0, expires = 0;
    unsigned ordinal = 0;
    if (token.len >= sizeof given)
        return why_set(why, ERR_UNAUTHENTICATED, "invalid token; it may have expired or been revoked");
    memcpy(given, token.ptr, token.len);
    bool good = sscanf(given, PREFIX "%16llx.%8x.%c%16llx.%16llx.", &flow, &ordinal, &kind, &number, &expires) == 5 &&
                (kind == 'q' || kind == 'a') && expires <= INT64_MAX;
    struct callback c = {{{flow}, ordinal}, kind == 'q', number, (int64_t)expires};
    if (!good || !hmac_token_is_same(token, ours, write_it(s, &c, ours)))
        return why_set(why, ERR_UNAUTHENTICATED, "invalid token; it may have expired or been revoked");
    if (c.expires_ms <= engine_now(server_shard(s)->engine).ms)
        return why_set(why, ERR_UNAUTHENTICATED, "the token has expired");
    *ret = c;
    return ERR_OK;
}

bool callback_is_one(struct slice text) {
    return text.len > sizeof PREFIX - 1 && memcmp(text.ptr, PREFIX, sizeof PREFIX - 1) == 0;
}

enum err callback_caller(struct server *s, struct slice token, struct caller *ret, struct why *why) {
    struct callback c;
    struct flow_view flow;
    enum err e = callback_check(s, token, &c, why);
    if (e != ERR_OK) return e;
    if (!view_flow(server_state(s), c.job.flow, &flow))
        return why_set(why, ERR_UNAUTHENTICATED, "the job that this token belongs to has finished");
    *ret = (struct caller){.name = "callback", .roles = ROLE_BIT(ROLE_CALLBACK), .expires_ms = c.expires_ms};
    snprintf(ret->tenant, sizeof ret->tenant, "%.*s", SLICE_FMT(flow.tenant));
    return ERR_OK;
}

/* ---- a word ---- */

static enum err word_check(struct server *s, const struct callback_word *word, struct why *why) {
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

static void word_write(const struct callback_word *word, struct command *ret) {
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

enum err callback_command(struct server *s, struct slice token, const struct callback_word *word, struct command *ret,
                          struct why *why) {
    struct callback c;
    struct question_view q;
    struct flow_view flow;
    *ret = (struct command){0};
    enum err e = callback_check(s, token, &c, why);
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

enum err callback_about(struct server *s, const struct job_view *job, const struct callback_word *word,
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
    struct callback_word word = {m->failed, m->output, m->reason};
    struct job_view job;
    struct callback c;
    if (m->token.len > 0 && m->job.len == 0) return callback_command(s, m->token, &word, ret, why);
    enum err e = target_job(s, r->session, m->job, &job, why);
    if (e != ERR_OK) return e;
    if (m->token.len == 0) {
        e = callback_about(s, &job, &word, ret, why);
        return e == ERR_OK ? ERR_OK : why_wrap(why, e, "%.*s", SLICE_FMT(m->job));
    }
    e = callback_check(s, m->token, &c, why);
    if (e == ERR_OK && (c.job.flow.v != job.ref.flow.v || c.job.ordinal != job.ref.ordinal))
        e = why_set(why, ERR_UNAUTHENTICATED, "the token belongs to another job");
    return e == ERR_OK ? callback_command(s, m->token, &word, ret, why) : e;
}

void req_complete(struct server *s, struct request *r) {
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

void req_callback(struct server *s, struct request *r) {
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
    callback_make(s, &made, token);
    callback_url(s, token, url);
    struct wire_callback_given got = {.lsn = engine_lsn(server_shard(s)->engine),
                                      .token = slice_str(token),
                                      .url = slice_str(url),
                                      .expires_ms = made.expires_ms};
    buf_clear(&s->out);
    wire_put(&s->out, WIRE_CALLBACK_GIVEN, FRAME_ANSWER, r->id, &got);
    call_read(s, r, c, buf_slice(&s->out));
}
