/* tool_gate.c: what waits for a decision, and deciding it. A verdict is bound to the hash of what was shown: `approve`
 * wants it from the agent; Titan's two tools name a gate only, and take the hash of what is asked at that moment. A
 * gate that is a script and polls the store (ADR 0094) is decided by its key there. */
#include "find.h"

#define PAGE_STANDARD 20u
#define PAGE_MAX 100u
#define SEARCH_PAGE 1000u /* questions looked at in one go for that of a gate */

/* ---- listing ---- */

/* What is being asked, in short: the message of a gate, or what would run. */
static void put_subject(struct tool_call *c, struct json *j, struct slice body) {
    struct wire_run run;
    struct why why;
    if (body.len == 0 || tlv_decode(&wire_run_desc, body, TLV_SKIP_UNKNOWN, c->arena, &run, &why) != ERR_OK) return;
    const struct wire_pair *env = run.env.at;
    if (run.message.len > 0) tool_call_put_text(j, "message", run.message);
    if (run.shell.len > 0) tool_call_put_text(j, "command", run.shell);
    if (run.argv.count > 0) {
        const struct wire_arg *args = run.argv.at;
        json_key(j, "arguments");
        json_array(j);
        for (uint32_t i = 0; i < run.argv.count && i < 64; i++) json_text(j, args[i].text);
        json_array_end(j);
    }
    if (run.script.len > 0) tool_call_put_text(j, "script", run.script);
    if (run.env.count == 0) return;
    json_key(j, "env");
    json_object(j);
    for (uint32_t i = 0; i < run.env.count && i < 32; i++) {
        json_key_slice(j, env[i].key);
        json_text(j, env[i].value);
    }
    json_object_end(j);
}

static void put_question(struct tool_call *c, struct json *j, const struct wire_question_view *q) {
    json_object(j);
    json_key(j, "question");
    json_u64(j, q->question);
    tool_call_put_text(j, "job", q->job);
    tool_call_put_text(j, "about", q->gate);
    json_key(j, "hash");
    json_hex(j, q->hash);
    if (q->role.len > 0) tool_call_put_text(j, "role", q->role);
    if (q->quorum > 1) {
        json_key(j, "votes");
        json_u64(j, q->votes);
        json_key(j, "quorum");
        json_u64(j, q->quorum);
    }
    if (q->four_eyes) json_key(j, "not_by_submitter"), json_bool(j, true);
    tool_call_put_time(j, "asked", q->asked_ms);
    tool_call_put_time(j, "no_unless_answered_by", q->deadline_ms);
    put_subject(c, j, q->body);
    json_object_end(j);
}

static void then_questions(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_listed *m = parts[0];
    const struct wire_question_view *list = m->questions.at;
    struct json *j = tool_call_result(c);
    (void)op, (void)count;
    json_key(j, "questions");
    json_array(j);
    for (uint32_t i = 0; i < m->questions.count; i++) put_question(c, j, &list[i]);
    json_array_end(j);
    if (m->cursor.len > 0) tool_call_put_text(j, "cursor", m->cursor);
    if (m->questions.count > 0)
        tool_call_put_str(
            j, "next",
            "a person approves with `reeve approve JOB` or in the console; to reject, call approve with the job "
            "(or question), the hash shown here and verdict reject");
    tool_call_say(c);
}

void tool_questions(struct tool_call *c) {
    struct wire_list *m = ARENA_NEW(c->arena, struct wire_list);
    uint64_t most = tool_call_number(c, "most", PAGE_STANDARD);
    *m = (struct wire_list){.what = WIRE_LIST_QUESTIONS,
                            .most = (uint32_t)(most > PAGE_MAX ? PAGE_MAX : most),
                            .cursor = tool_call_text(c, "cursor")};
    tool_call_ask(c, WIRE_LIST, m, then_questions);
}

/* ---- deciding ---- */

struct gate_decision {
    struct slice job; /* FLOW/JOB */
    bool approve, tried_gate;
    struct wire_list list;
    struct wire_verdict verdict;
    struct wire_kv_entry entry; /* of a gate that polls */
    struct wire_kv_change change;
};

static bool hash_read(struct slice text, struct tool_call *c, struct slice *ret) {
    uint8_t *at = arena_alloc(c->arena, 32);
    if (text.len != 64) return false;
    for (size_t i = 0; i < 64; i++) {
        uint8_t ch = text.ptr[i];
        int v = ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
        if (v < 0) return false;
        at[i / 2] = (uint8_t)(at[i / 2] << 4 | v);
    }
    *ret = slice_of(at, 32);
    return true;
}

static void then_decided(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct gate_decision *d = c->own;
    struct json *j = tool_call_result(c);
    (void)op, (void)parts, (void)count;
    tool_call_put_str(j, "status", d->approve ? "approved" : "rejected");
    if (tool_call_arg(c, "gate_id") != NULL) tool_call_put_text(j, "gate_id", tool_call_text(c, "gate_id"));
    if (d->job.len > 0) tool_call_put_text(j, "job", d->job);
    tool_call_put_str(j, "message",
                      d->approve ? "recorded; the flow goes on when everyone who must agree has"
                                 : "recorded; the job ends");
    tool_call_say(c);
}

/* ---- approve: with the hash that was shown ---- */

void tool_approve(struct tool_call *c) {
    struct gate_decision *d = ARENA_NEW(c->arena, struct gate_decision);
    struct slice word = tool_call_text(c, "verdict");
    c->own = d;
    d->approve = word.len == 0 || slice_eq(word, SLICE("approve")) || slice_eq(word, SLICE("allow"));
    d->job = tool_call_text(c, "job");
    d->verdict = (struct wire_verdict){.question = tool_call_number(c, "question", 0),
                                       .job = d->job,
                                       .verdict = d->approve ? WIRE_VERDICT_ALLOW : WIRE_VERDICT_DENY,
                                       .reason = tool_call_text(c, "reason")};
    if (!d->approve && !slice_eq(word, SLICE("reject")) && !slice_eq(word, SLICE("deny")))
        tool_call_refuse(c, ERR_INVALID, "`verdict` is approve or reject");
    else if ((d->verdict.question == 0) == (d->job.len == 0))
        tool_call_refuse(c, ERR_INVALID, "say which: `question`, its number, or `job`; `questions` lists them");
    else if (!hash_read(tool_call_text(c, "hash"), c, &d->verdict.hash))
        tool_call_refuse(c, ERR_INVALID,
                         "`hash` is the 64 hexadecimal digits that `questions` shows beside what is asked");
    else
        tool_call_ask(c, WIRE_VERDICT, &d->verdict, then_decided);
}

/* ---- Titan's gates: by name ---- */

static void search(struct tool_call *c, struct slice cursor);

static void then_searched(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    struct gate_decision *d = c->own;
    const struct wire_listed *m = parts[0];
    const struct wire_question_view *list = m->questions.at;
    (void)op, (void)count;
    for (uint32_t i = 0; i < m->questions.count; i++) {
        if (!slice_eq(list[i].job, d->job)) continue;
        d->verdict = (struct wire_verdict){.question = list[i].question,
                                           .revision = list[i].revision,
                                           .hash = arena_slice(c->arena, list[i].hash),
                                           .verdict = d->approve ? WIRE_VERDICT_ALLOW : WIRE_VERDICT_DENY};
        tool_call_ask(c, WIRE_VERDICT, &d->verdict, then_decided);
        return;
    }
    if (m->cursor.len > 0)
        search(c, arena_slice(c->arena, m->cursor));
    else
        tool_call_refuse(c, ERR_STATE, "%.*s does not wait for a decision: `show` tells how it is", SLICE_FMT(d->job));
}

static void search(struct tool_call *c, struct slice cursor) {
    struct gate_decision *d = c->own;
    d->list = (struct wire_list){.what = WIRE_LIST_QUESTIONS, .most = SEARCH_PAGE, .cursor = cursor};
    tool_call_ask(c, WIRE_LIST, &d->list, then_searched);
}

/* What a gate that polls is called in its key; empty: the job is none, or over. */
static struct slice polled_id(const struct wire_job_view *v) {
    static const char *const open[] = {"waiting", "ready", "dispatched", "running"};
    struct slice prefix = SLICE(FIND_PREFIX), gate = SLICE(FIND_GATE);
    const uint8_t *slash = memchr(slice_data(v->job), '/', v->job.len);
    bool is_open = false;
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++) is_open |= slice_eq(v->state, slice_str(open[i]));
    if (!is_open || slash == NULL || !slice_eq(v->kind, SLICE("script"))) return (struct slice){0};
    struct slice name = slice_of(slash + 1, v->job.len - (size_t)(slash + 1 - v->job.ptr));
    if (name.len > prefix.len && memcmp(name.ptr, prefix.ptr, prefix.len) == 0)
        name = slice_of(name.ptr + prefix.len, name.len - prefix.len);
    return name.len > gate.len && memcmp(name.ptr, gate.ptr, gate.len) == 0 ? name : (struct slice){0};
}

static void write_key(struct tool_call *c, struct slice polled) {
    struct gate_decision *d = c->own;
    if (d->approve) {
        tool_call_refuse(
            c, ERR_FORBIDDEN,
            "only a person can approve: ask one to run `reeve kv set user:titan:hitl:status:%.*s APPROVED`",
            SLICE_FMT(polled));
        return;
    }
    d->entry = (struct wire_kv_entry){tool_call_format(c, "user:titan:hitl:status:%.*s", SLICE_FMT(polled)),
                                      SLICE("REJECTED")};
    d->change = (struct wire_kv_change){.op = WIRE_KV_SET, .entries = {&d->entry, 1}};
    tool_call_ask(c, WIRE_KV_CHANGE, &d->change, then_decided);
}

static void then_gate(struct tool_call *c, const struct wire_job_view *v) {
    struct gate_decision *d = c->own;
    struct slice id = tool_call_text(c, "gate_id");
    struct slice polled = v != NULL ? polled_id(v) : (struct slice){0};
    if (v != NULL && (slice_eq(v->kind, SLICE("gate")) || v->question != 0)) {
        d->job = arena_slice(c->arena, v->job);
        search(c, (struct slice){0});
    } else if (polled.len > 0) {
        d->job = arena_slice(c->arena, v->job);
        write_key(c, polled);
    } else if (!d->tried_gate) { /* the job that the gate stands behind may have been named */
        d->tried_gate = true;
        find_job(c, tool_call_format(c, FIND_GATE "%.*s", SLICE_FMT(id)), then_gate);
    } else {
        tool_call_refuse(c, ERR_NOT_FOUND, "there is no gate %.*s: `questions` lists what waits for a decision",
                         SLICE_FMT(id));
    }
}

static void decide_gate(struct tool_call *c, bool approve) {
    struct gate_decision *d = ARENA_NEW(c->arena, struct gate_decision);
    *d = (struct gate_decision){.approve = approve};
    c->own = d;
    find_job(c, tool_call_text(c, "gate_id"), then_gate);
}

void tool_gate_approve(struct tool_call *c) {
    decide_gate(c, true);
}

void tool_gate_reject(struct tool_call *c) {
    decide_gate(c, false);
}
