/* verb_logs.c: see verb_logs.h, and `reeve logs`. */
#include "verb_logs.h"

#include <stdio.h>

#include "follow.h"
#include "lineout.h"
#include "out.h"
#include "reason.h"
#include "verbs.h"

static void print_times(FILE *to, const struct wire_log_piece *p) {
    char when[OUT_TIME_BYTES];
    for (size_t from = 0; from < p->data.len;) {
        const uint8_t *end = memchr(p->data.ptr + from, '\n', p->data.len - from);
        size_t len = end != NULL ? (size_t)(end - p->data.ptr) + 1 - from : p->data.len - from;
        fprintf(to, "%s.%03d ", out_time(p->time_ms, when), (int)(p->time_ms % 1000));
        fwrite(p->data.ptr + from, 1, len, to);
        from += len;
    }
}

static void print_json(const struct wire_log_piece *p) {
    static const char *const words[] = {"out", "err", "note"};
    struct out_object o;
    out_object_begin(&o);
    json_key(&o.json, "offset");
    json_u64(&o.json, p->offset);
    json_key(&o.json, "stream");
    json_str(&o.json, words[p->stream < WIRE_STREAM_COUNT ? p->stream : 0]);
    json_key(&o.json, "time_ms");
    json_i64(&o.json, p->time_ms);
    json_key(&o.json, "data"); /* text; bytes that are none become U+FFFD: who wants them exact leaves --json out */
    json_text(&o.json, p->data);
    out_object_end(&o);
}

void logs_print(struct cli *c, const struct wire_log_data *m, bool times) {
    const struct wire_log_piece *pieces = m->pieces.at;
    for (uint32_t i = 0; i < m->pieces.count; i++) {
        FILE *to = pieces[i].stream == WIRE_STREAM_OUT ? stdout : stderr;
        if (c->json)
            print_json(&pieces[i]);
        else if (times)
            print_times(to, &pieces[i]);
        else
            fwrite(pieces[i].data.ptr, 1, pieces[i].data.len, to);
        fflush(to);
    }
    if (m->over && m->cut_bytes > 0 && !c->json)
        fprintf(stderr, "reeve: %llu bytes in the middle were not kept (log_bytes_max)\n",
                (unsigned long long)m->cut_bytes);
}

/* Following a service, one attempt comes after the other. */
struct log_told {
    struct slice job;
    uint32_t attempt;
};

static void tell_attempt(struct cli *c, struct log_told *t, const struct wire_log_data *m) {
    bool is_same = t->attempt == m->attempt && slice_eq(t->job, m->job);
    if (m->job.len == 0 || is_same) return;
    if (t->attempt != 0 && c->json) {
        struct out_object o;
        out_object_begin(&o);
        json_key(&o.json, "job"), json_text(&o.json, m->job);
        json_key(&o.json, "attempt"), json_u64(&o.json, m->attempt);
        out_object_end(&o);
        fflush(stdout);
    } else if (t->attempt != 0) {
        out_say(stderr, "reeve: attempt %u of %.*s", m->attempt, SLICE_FMT(m->job));
    }
    *t = (struct log_told){arena_slice(&c->arena, m->job), m->attempt};
}

/* The next frame of the answer; of one that is followed, with the reason when nothing comes. */
static enum err next_frame(struct cli *c, uint32_t request, bool follows, struct reason *reason,
                           struct client_frame *ret) {
    enum err e = ERR_OK;
    for (;;) {
        e = client_next(&c->client, follows ? REASON_AFTER_MS : -1, ret, c->why);
        if (e == ERR_OK && ret->op == 0 && follows) e = reason_ask(c, reason, slice_str(c->args[0]));
        if (e != ERR_OK) return e;
        if (ret->op == 0 || reason_hear(c, reason, ret)) continue;
        if (ret->request == request || ret->request == 0) return client_refusal(ret, c->why);
    }
}

static enum err first_frame(struct cli *c, const struct wire_logs *m, struct reason *reason, struct client_frame *ret) {
    uint32_t request = 0;
    if (!m->follow) return client_ask(&c->client, WIRE_LOGS, m, ret, c->why);
    enum err e = client_send(&c->client, WIRE_LOGS, m, &request, c->why);
    return e == ERR_OK ? next_frame(c, request, true, reason, ret) : e;
}

/* One attempt, byte for byte; of a service one after the other. */
static enum err show_attempt(struct cli *c, uint32_t attempt, uint64_t tail_bytes) {
    struct log_told told = {0};
    struct reason reason = {0};
    struct client_frame f;
    struct wire_logs m = {.job = slice_str(c->args[0]),
                          .attempt = attempt,
                          .tail_bytes = tail_bytes,
                          .follow = cli_flag(c, "follow") != NULL};
    enum err e = first_frame(c, &m, &reason, &f);
    while (e == ERR_OK) {
        tell_attempt(c, &told, f.message);
        logs_print(c, f.message, cli_flag(c, "times") != NULL);
        if (!(f.flags & FRAME_MORE)) return ERR_OK;
        client_forget(&c->client);
        e = next_frame(c, f.request, m.follow, &reason, &f);
    }
    return e;
}

enum log_of { LOG_OF_FLOW, LOG_OF_JOB, LOG_OF_ITEMS };

static bool has_items(struct cli *c, const struct wire_job_view *v) {
    struct wire_run run;
    if (v->items > 0) return true;
    if (v->job.len > 0 && v->job.ptr[v->job.len - 1] == ']') return false;
    return v->body.len > 0 && tlv_decode(&wire_run_desc, v->body, TLV_SKIP_UNKNOWN, &c->arena, &run, NULL) == ERR_OK &&
           run.foreach.len > 0;
}

/* A flow of one job stands for its job; `ret` is its name, with the flow. What is no flow is a service, or a mistake:
 * who is asked for its output says which. */
static enum log_of what_it_is(struct cli *c, struct slice *ret) {
    struct client_frame f;
    struct why ignored;
    struct wire_get m = {.target = slice_str(c->args[0]), .details = true};
    *ret = m.target;
    if (client_ask(&c->client, WIRE_GET, &m, &f, &ignored) != ERR_OK) return LOG_OF_JOB;
    const struct wire_got *got = f.message;
    if (strchr(c->args[0], '/') == NULL && got->flow.job_count > 1) return LOG_OF_FLOW;
    if (got->jobs.count != 1) return LOG_OF_JOB;
    *ret = m.target = arena_slice(&c->arena, ((const struct wire_job_view *)got->jobs.at)->job);
    if (strchr(c->args[0], '/') == NULL && client_ask(&c->client, WIRE_GET, &m, &f, &ignored) != ERR_OK)
        return LOG_OF_JOB;
    got = f.message;
    return got->jobs.count == 1 && has_items(c, got->jobs.at) ? LOG_OF_ITEMS : LOG_OF_JOB;
}

/* The output of all items of a job: that of its flow, of this job alone. */
static void only_items(struct cli *c, struct follow_what *what, struct slice job) {
    struct slice name = lineout_short_name(job);
    struct wire_name *own = ARENA_NEW(&c->arena, struct wire_name);
    own->name = name;
    what->until = job;
    what->target = slice_of(job.ptr, job.len - name.len - 1);
    if (what->jobs.count == 0) what->jobs = (struct tlv_list){own, 1};
}

enum err verb_logs(struct cli *c) {
    uint64_t attempt = 0;
    struct slice job;
    struct follow_what what = {.target = slice_str(c->args[0]),
                               .live = cli_flag(c, "follow") != NULL,
                               .plain = cli_flag(c, "no-prefix") != NULL,
                               .times = cli_flag(c, "times") != NULL,
                               .jobs = cli_flag_names(c, "job")};
    enum err e = cli_flag_number(c, "attempt", UINT32_MAX, &attempt);
    if (e == ERR_OK) e = cli_flag_number(c, "tail", UINT64_MAX / 4, &what.tail_bytes);
    if (e == ERR_OK) e = cli_flag_moment(c, "since", &what.since_ms);
    if (e != ERR_OK) return e;
    enum log_of of = what_it_is(c, &job);
    what.attempt = (uint32_t)attempt;
    struct wire_service_view *replicas;
    uint32_t count = 0;
    bool is_unknown = job.ptr == (const uint8_t *)c->args[0]; /* no flow, and no service of that very name */
    if (of == LOG_OF_JOB && is_unknown && strchr(c->args[0], '/') == NULL) {
        e = service_replicas(c, slice_str(c->args[0]), &replicas, &count);
        if (e != ERR_OK) return e;
    }
    if (count > 0) {
        struct wire_logs m = {.attempt = what.attempt, .tail_bytes = what.tail_bytes, .follow = what.live};
        return logs_of_replicas(c, replicas, count, &m);
    }
    if (of == LOG_OF_JOB && what.since_ms == 0 && what.jobs.count == 0)
        return show_attempt(c, what.attempt, what.tail_bytes);
    what.plain |= of == LOG_OF_JOB;
    if (of == LOG_OF_ITEMS) only_items(c, &what, job);
    return follow_target(c, &what);
}
