/* tool_logs.c: how a job is, and what it wrote: in pages that fit into what a model reads at once. */
#include "find.h"
#include "state_word.h"

#define PAGE_STANDARD 16384u
#define PAGE_MAX 131072u

/* ---- status, in Titan's words ---- */

/* A gate that waits is a script that runs, there. */
static struct slice status_of(const struct wire_job_view *v) {
    bool asks = slice_eq(v->kind, SLICE("gate")) && slice_eq(v->state, SLICE("held"));
    return asks ? SLICE("RUNNING") : state_word("titan", v->state, v->cause);
}

static void then_status(struct tool_call *c, const struct wire_job_view *v) {
    struct json *j = tool_call_result(c);
    tool_call_put_text(j, "job_id", tool_call_text(c, "job_id"));
    tool_call_put_text(j, "status", v != NULL ? status_of(v) : SLICE("NULL"));
    if (v == NULL) {
        tool_call_put_str(j, "message", "no job was submitted with this id: `list` shows those that were");
    } else {
        tool_call_put_text(j, "job", v->job);
        if (v->reason.len > 0) tool_call_put_text(j, "reason", v->reason);
    }
    tool_call_say(c);
}

void tool_job_status(struct tool_call *c) {
    find_job(c, tool_call_text(c, "job_id"), then_status);
}

/* ---- logs ---- */

struct tool_log_page {
    struct slice job;
    struct wire_logs ask;
    uint64_t most;
    bool is_titan; /* {job_id, logs} */
};

static void put_pieces(struct json *j, const char *key, const void *const *parts, uint32_t count, struct buf *text) {
    for (uint32_t p = 0; p < count; p++) {
        const struct wire_log_data *m = parts[p];
        const struct wire_log_piece *pieces = m->pieces.at;
        for (uint32_t i = 0; i < m->pieces.count; i++) buf_put_slice(text, pieces[i].data);
    }
    json_key(j, key);
    json_text(j, buf_slice(text));
}

static uint64_t first_offset(const void *const *parts, uint32_t count, uint64_t unless_any) {
    for (uint32_t p = 0; p < count; p++) {
        const struct wire_log_data *m = parts[p];
        const struct wire_log_piece *pieces = m->pieces.at;
        if (m->pieces.count > 0) return pieces[0].offset;
    }
    return unless_any;
}

static void put_rest(struct json *j, const struct tool_log_page *p, uint64_t from, uint64_t to, uint64_t total,
                     uint64_t cut_bytes) {
    json_key(j, "offset");
    json_u64(j, from);
    json_key(j, "total_bytes");
    json_u64(j, total);
    if (cut_bytes > 0) json_key(j, "not_kept_bytes"), json_u64(j, cut_bytes);
    if (to < total) {
        json_key(j, "next_offset");
        json_u64(j, to);
        tool_call_put_str(j, "more", "call logs again with offset = next_offset for what follows");
    } else if (from > 0 && p->ask.tail_bytes != 0) {
        tool_call_put_str(j, "more", "this is the end of it: call logs with offset 0 for the beginning");
    }
}

static void then_log(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct tool_log_page *p = c->own;
    const struct wire_log_data *head = parts[0], *last = parts[count - 1];
    struct buf text;
    (void)op;
    buf_init(&text, PAGE_MAX + 1);
    struct json *j = tool_call_result(c);
    uint64_t from = first_offset(parts, count, p->ask.offset), total = head->bytes;
    if (p->is_titan)
        tool_call_put_text(j, "job_id", tool_call_text(c, "job_id"));
    else
        tool_call_put_text(j, "job", p->job);
    put_pieces(j, p->is_titan ? "logs" : "text", parts, count, &text);
    if (p->is_titan && text.len == 0) {
        j = tool_call_result(c);
        tool_call_put_text(j, "job_id", tool_call_text(c, "job_id"));
        tool_call_put_str(j, "logs", "(no logs available)");
    }
    json_key(j, "attempt");
    json_u64(j, head->attempt);
    put_rest(j, p, from, from + text.len, total, last->cut_bytes);
    buf_fini(&text);
    tool_call_say(c);
}

static void then_found(struct tool_call *c, const struct wire_job_view *v) {
    struct tool_log_page *p = c->own;
    if (v == NULL && p->is_titan) {
        struct json *j = tool_call_result(c);
        tool_call_put_text(j, "job_id", tool_call_text(c, "job_id"));
        tool_call_put_str(j, "logs", "(no logs available)");
        tool_call_put_str(j, "message", "no job was submitted with this id: `list` shows those that were");
        tool_call_say(c);
        return;
    }
    if (v == NULL) {
        tool_call_refuse(c, ERR_NOT_FOUND,
                         "there is no job of that name: `list` shows flows, and with `flow` its jobs");
        return;
    }
    p->job = arena_slice(c->arena, v->job);
    p->ask.job = p->job;
    tool_call_ask(c, WIRE_LOGS, &p->ask, then_log);
}

/* The tail unless something else is said: there the reason stands when something went wrong. */
void tool_logs(struct tool_call *c) {
    struct tool_log_page *p = ARENA_NEW(c->arena, struct tool_log_page);
    uint64_t most = tool_call_number(c, "most", PAGE_STANDARD), tail = tool_call_number(c, "tail", 0);
    bool from_offset = tool_call_arg(c, "offset") != NULL;
    if (most == 0 || most > PAGE_MAX || tail > PAGE_MAX) {
        tool_call_refuse(c, ERR_INVALID, "`most` and `tail` are at most %u bytes: read the rest in further pages",
                         PAGE_MAX);
        return;
    }
    *p = (struct tool_log_page){
        .most = most, .ask = {.now = true, .most = most, .attempt = (uint32_t)tool_call_number(c, "attempt", 0)}};
    p->ask.offset = tool_call_number(c, "offset", 0);
    if (!from_offset) p->ask.tail_bytes = tail > 0 ? tail : most;
    if (!from_offset && tail > 0) p->ask.most = tail;
    c->own = p;
    find_job(c, tool_call_text(c, "job"), then_found);
}

void tool_job_logs(struct tool_call *c) {
    struct tool_log_page *p = ARENA_NEW(c->arena, struct tool_log_page);
    *p = (struct tool_log_page){.most = PAGE_STANDARD, .is_titan = true};
    p->ask = (struct wire_logs){.now = true, .most = PAGE_STANDARD, .tail_bytes = PAGE_STANDARD};
    c->own = p;
    find_job(c, tool_call_text(c, "job_id"), then_found);
}
