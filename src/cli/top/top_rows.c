/* top_rows.c: what the server says, as rows of `reeve top`. Columns are those of the table in top_draw.c. */
#include <stdio.h>

#include "hex.h"
#include "job_text.h"
#include "top.h"

#define JOB_LINES_MAX 10u /* of its output beside everything else about a job */

static const uint8_t styles[] = {
    [OUT_PLAIN] = SCREEN_PLAIN, [OUT_GREEN] = SCREEN_GREEN, [OUT_RED] = SCREEN_RED,  [OUT_YELLOW] = SCREEN_YELLOW,
    [OUT_BLUE] = SCREEN_CYAN,   [OUT_GREY] = SCREEN_GREY,   [OUT_BOLD] = SCREEN_BOLD};

static struct top_row *row_new(struct top_part *p, struct slice id) {
    struct top_row *row = vec_push(&p->rows);
    row->id = arena_slice(&p->arena, id);
    return row;
}

static void put(struct top_part *p, struct top_row *row, uint32_t column, uint8_t style, struct slice text) {
    row->text[column] = arena_slice(&p->arena, text);
    row->style[column] = style;
}

static void print(struct top_part *p, struct top_row *row, uint32_t column, uint8_t style, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
static void print(struct top_part *p, struct top_row *row, uint32_t column, uint8_t style, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put(p, row, column, style, slice_str(text));
}

static void state(struct top_part *p, struct top_row *row, uint32_t column, struct slice word, bool is_paused) {
    uint8_t style = is_paused ? SCREEN_YELLOW : styles[out_state_colour(word)];
    print(p, row, column, style, "%s %.*s", is_paused ? "‖" : out_state_sign(word), is_paused ? 6 : (int)word.len,
          is_paused ? "paused" : (const char *)word.ptr);
}

/* ---- lists ---- */

static bool is_one_of(struct slice word, const char *const *words) {
    for (; *words != NULL; words++)
        if (slice_eq(word, slice_str(*words))) return true;
    return false;
}

static void count_states(struct top_row *row, const struct wire_flow_view *v) {
    static const char *const good[] = {"succeeded", "skipped", NULL};
    static const char *const bad[] = {"failed", "timed_out", "denied", "quarantined", "cancelled", NULL};
    static const char *const active[] = {"dispatched", "running", "checking", NULL};
    const struct wire_amount *states = v->states.at;
    row->total = v->job_count;
    row->upstream = v->upstream_failed;
    for (uint32_t i = 0; i < v->states.count; i++) {
        uint32_t amount = (uint32_t)states[i].amount;
        if (is_one_of(states[i].name, good)) row->done += amount;
        if (is_one_of(states[i].name, bad)) row->bad += amount;
        if (is_one_of(states[i].name, active)) row->active += amount;
    }
}

void top_rows_flows(struct top_view *v, const struct wire_listed *m, int64_t now_ms) {
    struct top_part *p = &v->parts[TOP_PART_MAIN];
    const struct wire_flow_view *list = m->flows.at;
    char age[OUT_TIME_BYTES];
    top_part_clear(p);
    for (uint32_t i = 0; i < m->flows.count; i++) {
        struct top_row *row = row_new(p, list[i].flow);
        row->is_paused = list[i].paused;
        count_states(row, &list[i]);
        int64_t end = list[i].finished_ms != 0 ? list[i].finished_ms : now_ms;
        put(p, row, 0, SCREEN_BOLD, list[i].flow);
        put(p, row, 1, SCREEN_PLAIN, list[i].name);
        state(p, row, 2, list[i].state, list[i].paused);
        print(p, row, 4, SCREEN_PLAIN, "%u/%u", row->done, row->total);
        if (row->active > 0) print(p, row, 5, SCREEN_CYAN, "%u", row->active);
        if (row->bad > row->upstream) print(p, row, 6, SCREEN_RED, "%u", row->bad - row->upstream);
        put(p, row, 7, SCREEN_GREY, slice_str(out_age(end, list[i].created_ms, age)));
    }
}

void top_rows_jobs(struct top_view *v, const struct wire_listed *m, int64_t now_ms) {
    struct top_part *p = &v->parts[TOP_PART_MAIN];
    const struct wire_job_view *list = m->jobs.at;
    char age[OUT_TIME_BYTES];
    top_part_clear(p);
    for (uint32_t i = 0; i < m->jobs.count; i++) {
        struct top_row *row = row_new(p, list[i].job);
        struct buf reason;
        buf_init(&reason, 4096);
        job_text_reason(&list[i], &reason);
        row->has_items = list[i].items > 0;
        put(p, row, 0, SCREEN_BOLD, v->kind == TOP_JOBS ? lineout_short_name(list[i].job) : list[i].job);
        state(p, row, 1, list[i].state, false);
        if (wire_is_upstream_failed(&list[i])) put(p, row, 1, SCREEN_GREY, SLICE("✗ upstream"));
        put(p, row, 2, SCREEN_PLAIN, list[i].cause);
        if (list[i].attempt > 0) print(p, row, 3, SCREEN_PLAIN, "%u/%u", list[i].attempt, list[i].attempts_max);
        put(p, row, 4, SCREEN_PLAIN, list[i].worker);
        put(p, row, 5, SCREEN_GREY, slice_str(out_age(now_ms, list[i].since_ms, age)));
        put(p, row, 6, SCREEN_PLAIN, buf_slice(&reason));
        buf_fini(&reason);
    }
}

void top_rows_workers(struct top_view *v, const struct wire_listed *m) {
    struct top_part *p = &v->parts[TOP_PART_MAIN];
    const struct wire_worker_view *list = m->workers.at;
    top_part_clear(p);
    for (uint32_t i = 0; i < m->workers.count; i++) {
        const struct wire_worker_view *w = &list[i];
        struct top_row *row = row_new(p, w->worker);
        const struct wire_name *offers = w->capabilities.at;
        const struct wire_pair *labels = w->labels.at;
        struct buf text;
        buf_init(&text, 512);
        for (uint32_t k = 0; k < w->capabilities.count; k++) buf_printf(&text, "%.*s ", SLICE_FMT(offers[k].name));
        for (uint32_t k = 0; k < w->labels.count; k++)
            buf_printf(&text, "%.*s=%.*s ", SLICE_FMT(labels[k].key), SLICE_FMT(labels[k].value));
        row->active = w->active;
        row->total = w->slots;
        row->is_paused = w->draining;
        put(p, row, 0, SCREEN_BOLD, w->worker);
        put(p, row, 1, w->attached ? w->draining ? SCREEN_YELLOW : SCREEN_GREEN : SCREEN_RED,
            w->attached ? w->draining ? SLICE("draining") : SLICE("here") : SLICE("away"));
        put(p, row, 2, SCREEN_PLAIN, w->pool);
        print(p, row, 4, SCREEN_PLAIN, "%u/%u", w->active, w->slots);
        print(p, row, 5, w->cpu_percent >= 90 ? SCREEN_YELLOW : SCREEN_PLAIN, "%u %%", w->cpu_percent);
        put(p, row, 6, SCREEN_GREY, buf_slice(&text));
        buf_fini(&text);
    }
}

static void decode_run(struct arena *a, struct slice body, struct wire_run *ret) {
    *ret = (struct wire_run){0};
    if (body.len > 0 && tlv_decode(&wire_run_desc, body, TLV_SKIP_UNKNOWN, a, ret, NULL) != ERR_OK)
        *ret = (struct wire_run){0};
}

void top_rows_questions(struct top_view *v, const struct wire_listed *m, int64_t now_ms) {
    struct top_part *p = &v->parts[TOP_PART_MAIN];
    const struct wire_question_view *list = m->questions.at;
    char age[OUT_TIME_BYTES];
    top_part_clear(p);
    for (uint32_t i = 0; i < m->questions.count; i++) {
        struct top_row *row = row_new(p, list[i].job);
        struct wire_run run;
        row->question = list[i].question;
        row->revision = list[i].revision;
        row->hash = arena_slice(&p->arena, list[i].hash);
        row->body = arena_slice(&p->arena, list[i].body);
        decode_run(&p->arena, row->body, &run);
        put(p, row, 0, SCREEN_BOLD, list[i].job);
        put(p, row, 1, SCREEN_YELLOW, list[i].gate);
        print(p, row, 2, SCREEN_PLAIN, "%u/%u", list[i].votes, list[i].quorum);
        put(p, row, 3, SCREEN_PLAIN, list[i].role);
        put(p, row, 4, SCREEN_GREY, slice_str(out_age(now_ms, list[i].asked_ms, age)));
        put(p, row, 5, SCREEN_PLAIN, run.message);
    }
}

void top_rows_services(struct top_view *v, const struct wire_service_list *m, int64_t now_ms) {
    struct top_part *p = &v->parts[TOP_PART_MAIN];
    const struct wire_service_view *list = m->services.at;
    char age[OUT_TIME_BYTES];
    top_part_clear(p);
    for (uint32_t i = 0; i < m->services.count; i++) {
        struct top_row *row = row_new(p, list[i].job);
        put(p, row, 0, SCREEN_BOLD, list[i].name);
        put(p, row, 1, SCREEN_PLAIN, list[i].state);
        bool is_served = list[i].healthy || list[i].previous_healthy; /* by the version before, while it runs on */
        put(p, row, 2, is_served ? SCREEN_GREEN : SCREEN_RED, is_served ? SLICE("yes") : SLICE("no"));
        row->is_paused = slice_eq(list[i].state, SLICE("stopped"));
        uint32_t port = list[i].previous_healthy ? list[i].previous_port : list[i].port;
        if (port != 0) print(p, row, 3, SCREEN_PLAIN, "%u", port);
        print(p, row, 4, list[i].restarts > 0 ? SCREEN_YELLOW : SCREEN_PLAIN, "%u", list[i].restarts);
        put(p, row, 5, SCREEN_PLAIN, list[i].worker);
        put(p, row, 6, SCREEN_GREY, slice_str(out_age(now_ms, list[i].since_ms, age)));
        bool is_well = list[i].text.len == 0;
        put(p, row, 7, is_well ? SCREEN_GREY : SCREEN_YELLOW, is_well ? list[i].job : list[i].text);
    }
}

/* ---- one thing, line by line ---- */

static void line(struct top_part *p, const char *label, uint8_t style, struct slice value) {
    if (value.len == 0) return;
    struct top_row *row = row_new(p, (struct slice){0});
    put(p, row, 0, SCREEN_GREY, slice_str(label));
    put(p, row, 1, style, value);
}

static void whole_line(struct top_part *p, uint8_t style, struct slice text) {
    struct top_row *row = row_new(p, (struct slice){0});
    row->is_line = true;
    put(p, row, 0, style, text);
}

/* A text of several lines, the label before the first. */
static void block(struct top_part *p, const char *label, struct slice text) {
    while (text.len > 0) {
        const uint8_t *end = memchr(text.ptr, '\n', text.len);
        size_t len = end != NULL ? (size_t)(end - text.ptr) : text.len;
        line(p, label, SCREEN_PLAIN, slice_of(text.ptr, len));
        label = "";
        len += end != NULL;
        text = slice_of(text.ptr + len, text.len - len);
    }
}

static void run_lines(struct top_part *p, struct slice body) {
    struct wire_run run;
    struct buf text;
    decode_run(&p->arena, body, &run);
    const struct wire_arg *args = run.argv.at;
    const struct wire_pair *env = run.env.at;
    buf_init(&text, 65536);
    for (uint32_t i = 0; i < run.argv.count; i++) buf_printf(&text, "%s%.*s", i ? " " : "", SLICE_FMT(args[i].text));
    line(p, "asks", SCREEN_BOLD, run.message);
    line(p, "runs", SCREEN_PLAIN, buf_slice(&text));
    block(p, "runs", run.shell);
    line(p, "script", SCREEN_PLAIN, run.script_name);
    for (uint32_t i = 0; i < run.env.count; i++) {
        buf_cut(&text, 0);
        buf_printf(&text, "%.*s=%.*s", SLICE_FMT(env[i].key), SLICE_FMT(env[i].value));
        line(p, i == 0 ? "env" : "", SCREEN_PLAIN, buf_slice(&text));
    }
    buf_fini(&text);
}

static void try_line(struct top_part *p, const struct wire_attempt_view *v, bool is_first) {
    char took[OUT_TIME_BYTES];
    struct buf text;
    buf_init(&text, 8192);
    buf_printf(&text, "#%u %.*s", v->attempt, SLICE_FMT(v->outcome));
    if (v->exit_code != 0) buf_printf(&text, " %u", v->exit_code);
    if (v->signal != 0) buf_printf(&text, ", signal %u", v->signal);
    if (v->worker.len > 0) buf_printf(&text, ", on %.*s", SLICE_FMT(v->worker));
    int64_t begin = v->started_ms != 0 ? v->started_ms : v->assigned_ms;
    if (begin != 0 && v->ended_ms != 0) buf_printf(&text, ", for %s", out_age(v->ended_ms, begin, took));
    if (v->reason.len > 0) buf_printf(&text, ": %.*s", SLICE_FMT(v->reason));
    bool is_bad = v->outcome.len > 0 && !slice_eq(v->outcome, SLICE("ok")) && v->ended_ms != 0;
    line(p, is_first ? "tries" : "", is_bad ? SCREEN_RED : SCREEN_PLAIN, buf_slice(&text));
    buf_fini(&text);
}

void top_rows_job(struct top_view *v, const struct wire_job_view *m) {
    struct top_part *p = &v->parts[TOP_PART_MAIN];
    const struct wire_attempt_view *tries = m->attempts.at;
    const struct wire_name *parents = m->parents.at;
    char text[OUT_TIME_BYTES + 32];
    struct buf list;
    top_part_clear(p);
    snprintf(text, sizeof text, "%s %.*s%s%.*s%s", out_state_sign(m->state), SLICE_FMT(m->state),
             m->cause.len > 0 ? " (" : "", SLICE_FMT(m->cause), m->cause.len > 0 ? ")" : "");
    line(p, "state", styles[out_state_colour(m->state)], slice_str(text));
    line(p, "since", SCREEN_PLAIN, slice_str(out_time(m->since_ms, text)));
    if (m->due_ms != 0) line(p, "due", SCREEN_PLAIN, slice_str(out_time(m->due_ms, text)));
    line(p, "kind", SCREEN_PLAIN, m->kind);
    run_lines(p, m->body);
    buf_init(&list, 4096);
    for (uint32_t i = 0; i < m->parents.count; i++)
        buf_printf(&list, "%s%.*s", i ? ", " : "", SLICE_FMT(parents[i].name));
    line(p, "needs", SCREEN_PLAIN, buf_slice(&list));
    buf_fini(&list);
    line(p, "worker", SCREEN_PLAIN, m->worker);
    line(p, "because of", SCREEN_PLAIN, m->root);
    line(p, "reason", SCREEN_RED, m->reason);
    block(p, "result", m->result);
    for (uint32_t i = 0; i < m->attempts.count; i++) try_line(p, &tries[i], i == 0);
}

void top_rows_why(struct top_view *v, const struct wire_reason *m) {
    struct top_part *p = &v->parts[TOP_PART_WHY];
    char until[OUT_TIME_BYTES];
    top_part_clear(p);
    if (slice_eq(m->code, SLICE("nothing"))) return;
    line(p, "why", SCREEN_YELLOW, m->text);
    line(p, "", SCREEN_PLAIN, m->parent);
    line(p, "limit", SCREEN_PLAIN, m->limit);
    if (m->until_ms != 0) line(p, "until", SCREEN_PLAIN, slice_str(out_time(m->until_ms, until)));
}

struct log_sink {
    struct top_part *p;
    bool is_beside; /* in the second column, beside everything else about the job */
};

static void log_line(void *ctx, const struct lineout_line *l) {
    static const uint8_t colours[] = {SCREEN_PLAIN, SCREEN_YELLOW, SCREEN_GREY};
    const struct log_sink *sink = ctx;
    struct top_row *row = row_new(sink->p, (struct slice){0});
    row->is_line = !sink->is_beside;
    put(sink->p, row, sink->is_beside, colours[l->stream], l->text);
}

/* Keeps the newest. */
static void log_trim(struct top_part *p, uint32_t keep) {
    uint32_t from = p->rows.count - keep;
    struct arena fresh;
    arena_init(&fresh, 65536, p->arena.bytes_max);
    for (uint32_t i = 0; i < keep; i++) {
        struct top_row *row = vec_at(&p->rows, i);
        *row = *(struct top_row *)vec_at(&p->rows, from + i);
        for (size_t k = 0; k < 2; k++) row->text[k] = arena_slice(&fresh, row->text[k]);
    }
    p->rows.count = keep;
    arena_fini(&p->arena);
    p->arena = fresh;
}

void top_rows_log(struct top_view *v, enum top_kind kind, const struct wire_log_data *m) {
    struct log_sink sink = {&v->parts[TOP_PART_LOG], kind == TOP_JOB};
    const struct wire_log_piece *pieces = m->pieces.at;
    if (kind == TOP_JOB) top_part_clear(sink.p);
    for (uint32_t i = 0; i < m->pieces.count; i++) lineout_cut(&v->lines, &pieces[i], log_line, &sink);
    if (kind == TOP_JOB || m->over) lineout_flush(&v->lines, log_line, &sink);
    if (kind == TOP_JOB && sink.p->rows.count > JOB_LINES_MAX) log_trim(sink.p, JOB_LINES_MAX);
    if (kind == TOP_JOB && sink.p->rows.count > 0)
        put(sink.p, vec_at(&sink.p->rows, 0), 0, SCREEN_GREY, SLICE("output"));
    if (sink.p->rows.count > TOP_LINES_MAX) log_trim(sink.p, TOP_LINES_MAX / 2);
}

void top_rows_ask(struct top_view *v, const struct top_row *question) {
    struct top_part *p = &v->parts[TOP_PART_MAIN];
    char hash[80] = {0};
    if (question->hash.len <= 32) hex_write(question->hash, hash);
    top_part_clear(p);
    line(p, "job", SCREEN_BOLD, question->id);
    run_lines(p, question->body);
    line(p, "hash", SCREEN_GREY, slice_str(hash));
    whole_line(p, SCREEN_PLAIN, (struct slice){0});
    whole_line(p, SCREEN_GREY, SLICE("a: approve exactly this · x: reject · esc: leave it open"));
}

void top_rows_help(struct top_view *v) {
    static const char *const keys[][2] = {
        {"up down, k j", "move; page up, page down, home, end too"},
        {"enter", "into a flow, its jobs, one job, its output"},
        {"esc, q", "back; q in a top-level list quits"},
        {"tab, 1 to 5", "flows, workers, questions, services, dead letters"},
        {"/", "show only rows that contain a text; esc shows all"},
        {"l", "follow the output of the job"},
        {"c", "cancel the flow or job; stop or start the service"},
        {"r", "retry the job; rerun the flow's failed jobs; restart the service"},
        {"p", "pause or resume the flow; drain the worker, or undo it"},
        {"a", "view a question, to approve or reject it"},
        {"?", "this"},
    };
    struct top_part *p = &v->parts[TOP_PART_MAIN];
    top_part_clear(p);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) line(p, keys[i][0], SCREEN_PLAIN, slice_str(keys[i][1]));
    whole_line(p, SCREEN_PLAIN, (struct slice){0});
    whole_line(p, SCREEN_GREY, SLICE("Every key that changes something asks for confirmation."));
}
