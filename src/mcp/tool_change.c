/* tool_change.c: what changes flows, jobs and who runs them: ending, trying again, pausing, draining. */
#include "find.h"

/* ---- one flow or job ---- */

struct target_change {
    enum wire_op op;
    const char *status, *next;
};

static void then_changed(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct target_change *change = c->own;
    const struct wire_accepted *m = parts[0];
    const struct wire_result *r = m->results.at;
    (void)op, (void)count;
    if (m->results.count > 0 && r->code.len > 0) {
        tool_call_refuse_text(c, r->code, r->message);
        return;
    }
    struct json *j = tool_call_result(c);
    tool_call_put_str(j, "status", change->status);
    tool_call_put_text(j, "target",
                       m->results.count > 0 && r->target.len > 0 ? r->target : tool_call_text(c, "target"));
    tool_call_put_str(j, "message", change->next);
    tool_call_say(c);
}

static void then_found(struct tool_call *c, const struct wire_job_view *v) {
    const struct target_change *change = c->own;
    struct wire_targets *m = ARENA_NEW(c->arena, struct wire_targets);
    struct wire_name *name = ARENA_NEW(c->arena, struct wire_name);
    name->name = v != NULL ? arena_slice(c->arena, v->job) : tool_call_text(c, "target");
    *m = (struct wire_targets){.targets = {name, 1}, .reason = tool_call_text(c, "reason")};
    tool_call_ask(c, change->op, m, then_changed);
}

static void begin_change(struct tool_call *c, enum wire_op op, const char *status, const char *next) {
    struct target_change *change = ARENA_NEW(c->arena, struct target_change);
    *change = (struct target_change){op, status, next};
    c->own = change;
    find_job(c, tool_call_text(c, "target"), then_found);
}

void tool_cancel(struct tool_call *c) {
    begin_change(c, WIRE_CANCEL, "cancelled", "what runs is being stopped; `wait` tells when it is over");
}

void tool_retry(struct tool_call *c) {
    begin_change(c, WIRE_RETRY, "retried", "it has as many attempts as at first; `wait` tells how they end");
}

void tool_rerun(struct tool_call *c) {
    begin_change(c, WIRE_RERUN, "started again", "what succeeded is kept; `wait` tells how the rest ends");
}

void tool_discard(struct tool_call *c) {
    begin_change(c, WIRE_DISCARD, "discarded",
                 "it is no dead letter any more; `list` with `dead` shows those that are left");
}

/* ---- pause, resume ---- */

static bool scope_read(struct slice word, uint8_t *ret) {
    static const char *const scopes[WIRE_SCOPE_COUNT] = {"flow", "pool", "tenant"};
    *ret = WIRE_SCOPE_FLOW;
    for (uint8_t i = 0; i < WIRE_SCOPE_COUNT; i++)
        if (slice_eq(word, slice_str(scopes[i]))) {
            *ret = i;
            return true;
        }
    return word.len == 0;
}

static void say_done(struct tool_call *c, const char *status, const char *key, struct slice name, const char *message) {
    struct json *j = tool_call_result(c);
    tool_call_put_str(j, "status", status);
    tool_call_put_text(j, key, name);
    tool_call_put_str(j, "message", message);
    tool_call_say(c);
}

static void then_paused(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    (void)op, (void)parts, (void)count;
    say_done(c, "paused", "name", tool_call_text(c, "name"), "nothing of it starts until `resume`; what runs goes on");
}

static void then_resumed(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    (void)op, (void)parts, (void)count;
    say_done(c, "resumed", "name", tool_call_text(c, "name"), "its jobs start as workers are free");
}

static void begin_pause(struct tool_call *c, enum wire_op op, tool_call_then *then) {
    struct wire_pause *m = ARENA_NEW(c->arena, struct wire_pause);
    m->name = tool_call_text(c, "name");
    if (!scope_read(tool_call_text(c, "scope"), &m->scope))
        tool_call_refuse(c, ERR_INVALID, "`scope` is flow, pool or tenant");
    else
        tool_call_ask(c, op, m, then);
}

void tool_pause(struct tool_call *c) {
    begin_pause(c, WIRE_PAUSE, then_paused);
}

void tool_resume(struct tool_call *c) {
    begin_pause(c, WIRE_RESUME, then_resumed);
}

/* ---- drain ---- */

static void then_drained(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    bool undone = tool_call_flag(c, "undo");
    (void)op, (void)parts, (void)count;
    say_done(c, undone ? "takes jobs" : "draining", "worker", tool_call_text(c, "worker"),
             undone ? "it takes jobs again" : "it takes no new jobs; what it runs goes on; `undo` ends this");
}

void tool_drain(struct tool_call *c) {
    struct wire_drain *m = ARENA_NEW(c->arena, struct wire_drain);
    *m = (struct wire_drain){.worker = tool_call_text(c, "worker"), .undo = tool_call_flag(c, "undo")};
    tool_call_ask(c, WIRE_DRAIN, m, then_drained);
}
