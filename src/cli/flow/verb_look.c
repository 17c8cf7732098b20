/* verb_look.c: lists, one thing, one reason, counters. */
#include <stdio.h>

#include "api_print.h"
#include "foreign_states.h"
#include "job_text.h"
#include "lineout.h"
#include "out.h"
#include "reason.h"
#include "verbs.h"

#define LIMIT_STANDARD 50u

static int64_t wall_ms(const struct cli *c) {
    return c->world->clock->wall(c->world->clock).ms;
}

static enum err check_dialect(struct cli *c) {
    const char *whose = cli_flag(c, "dialect");
    if (whose == NULL || state_word_is_known(whose)) return ERR_OK;
    return cli_refuse(c, ERR_INVALID, "--dialect: expected titan, orion, cordum or corun, found `%s`", whose);
}

/* "a, b or c" */
static const char *or_list(struct cli *c, const char *const *words, uint32_t count) {
    struct buf text;
    buf_init(&text, 4096);
    for (uint32_t i = 0; i < count; i++)
        buf_printf(&text, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", words[i]);
    struct slice list = arena_slice(&c->arena, buf_slice(&text));
    buf_fini(&text);
    char *ret = arena_alloc(&c->arena, list.len + 1);
    snprintf(ret, list.len + 1, "%.*s", SLICE_FMT(list));
    return ret;
}

static enum err check_states(struct cli *c) {
    static const char *const of_flows[] = {"running", "succeeded", "failed", "cancelled"};
    const char *of_jobs[OUT_STATES_MAX], *word;
    for (uint32_t i = 0; i < OUT_STATES_MAX; i++) of_jobs[i] = (const char *)out_state_at(i).ptr;
    const char *const *words = c->arg_count == 0 ? of_flows : of_jobs;
    uint32_t count = c->arg_count == 0 ? sizeof of_flows / sizeof of_flows[0] : OUT_STATES_MAX;
    for (uint32_t at = 0; (word = cli_flag_next(c, "state", &at)) != NULL;) {
        uint32_t i = 0;
        while (i < count && strcmp(words[i], word) != 0) i++;
        if (i == count)
            return cli_refuse(c, ERR_INVALID, "--state: there is no state `%s`; expected %s", word,
                              or_list(c, words, count));
    }
    return ERR_OK;
}

/* ---- pages ---- */

/* The cursor is in the object of --json. jsonl has no such place: --cursor asks for a last line with it. */
static void tell_more(struct cli *c, struct slice cursor) {
    struct out_object o;
    if (c->format == CLI_FORMAT_JSONL && cli_flag(c, "cursor") != NULL) {
        out_object_begin(&o);
        json_key(&o.json, "cursor");
        json_text(&o.json, cursor);
        out_object_end(&o);
    } else if (!c->json && c->is_terminal) {
        fprintf(stderr, "(more: use --all, --limit N or --cursor %.*s)\n", SLICE_FMT(cursor));
    }
}

/* A page of a list as it came, into rows of a table. */
typedef void (*page_fn)(struct cli *c, struct out_table *t, const struct wire_listed *page);

/* The states as another system calls them (--dialect). */
static void translate(struct cli *c, struct wire_listed *page) {
    const char *whose = cli_flag(c, "dialect");
    struct wire_flow_view *flows = ARENA_ARRAY(&c->client.arena, struct wire_flow_view, page->flows.count + 1);
    struct wire_job_view *jobs = ARENA_ARRAY(&c->client.arena, struct wire_job_view, page->jobs.count + 1);
    for (uint32_t i = 0; i < page->flows.count; i++) {
        flows[i] = ((const struct wire_flow_view *)page->flows.at)[i];
        foreign_states_flow(whose, &c->client.arena, &flows[i]);
    }
    for (uint32_t i = 0; i < page->jobs.count; i++) {
        jobs[i] = ((const struct wire_job_view *)page->jobs.at)[i];
        foreign_states_job(whose, &jobs[i]);
    }
    page->flows.at = flows;
    page->jobs.at = jobs;
}

struct page_listing {
    struct api_print answer; /* for programs */
    struct out_table table;
    page_fn show;
};

static void take_page(struct cli *c, struct page_listing *l, const struct wire_listed *page) {
    struct wire_listed own = *page;
    if (cli_flag(c, "dialect") != NULL && c->json) translate(c, &own);
    if (c->json)
        api_print_page(&l->answer, WIRE_LISTED, &own);
    else
        l->show(c, &l->table, page);
}

static enum err each_page(struct cli *c, struct wire_list *m, struct page_listing *l) {
    uint64_t most = LIMIT_STANDARD;
    enum err e = cli_flag_number(c, "limit", 1000000, &most);
    if (cli_flag(c, "all") != NULL) most = UINT64_MAX;
    m->cursor = cli_flag_text(c, "cursor");
    bool told = false;
    while (e == ERR_OK && most > 0) {
        struct client_frame f;
        m->most = most > 1000 ? 1000 : (uint32_t)most;
        e = client_ask(&c->client, WIRE_LIST, m, &f, c->why);
        if (e != ERR_OK) break;
        const struct wire_listed *page = f.message;
        uint32_t count = page->flows.count + page->jobs.count + page->questions.count + page->workers.count;
        most -= count < most ? count : most;
        take_page(c, l, page);
        if (page->partial && !told)
            fprintf(stderr, "(the history is being rebuilt: older flows may still be missing)\n");
        told |= page->partial;
        if (page->cursor.len == 0) return ERR_OK;
        m->cursor = arena_slice(&c->arena, page->cursor);
        if (!c->json || !api_print_keeps(&l->answer)) client_forget(&c->client);
    }
    if (e == ERR_OK) tell_more(c, m->cursor);
    return e;
}

/* `route` is what lists the same by HTTP. */
static enum err list(struct cli *c, const char *route, struct wire_list *m, uint32_t columns, const char *const *heads,
                     page_fn show) {
    struct page_listing l = {.show = show};
    api_print_begin(&l.answer, c, route);
    out_table_init(&l.table, c, columns, heads);
    enum err e = each_page(c, m, &l);
    if (e == ERR_OK && !c->json)
        out_table_end(&l.table);
    else
        vec_fini(&l.table.cells);
    if (e == ERR_OK)
        api_print_end(&l.answer);
    else
        vec_fini(&l.answer.parts);
    return e;
}

static void show_flows(struct cli *c, struct out_table *t, const struct wire_listed *page) {
    const struct wire_flow_view *list = page->flows.at;
    char age[OUT_TIME_BYTES], took[OUT_TIME_BYTES];
    for (uint32_t i = 0; i < page->flows.count; i++) {
        const struct wire_flow_view *v = &list[i];
        const struct wire_amount *states = v->states.at;
        uint64_t good = 0;
        for (uint32_t k = 0; k < v->states.count; k++)
            if (slice_eq(states[k].name, SLICE("succeeded"))) good = states[k].amount;
        int64_t end = v->finished_ms != 0 ? v->finished_ms : wall_ms(c);
        out_slice(t, OUT_BOLD, v->flow);
        out_slice(t, OUT_PLAIN, v->name);
        struct slice state = state_word(cli_flag(c, "dialect"), v->state, (struct slice){0});
        if (v->paused) state = SLICE("paused");
        out_cell(t, out_state_colour(v->state), "%.*s%s", SLICE_FMT(state), v->late ? " (late)" : "");
        out_cell(t, OUT_PLAIN, "%llu/%u", (unsigned long long)good, v->job_count);
        out_cell(t, OUT_PLAIN, "%s", out_age(wall_ms(c), v->created_ms, age));
        out_cell(t, OUT_PLAIN, "%s", out_age(end, v->created_ms, took));
    }
}

static void reason_cell(struct out_table *t, const struct wire_job_view *v) {
    struct buf text;
    buf_init(&text, 4096);
    job_text_reason(v, &text);
    out_slice(t, OUT_PLAIN, buf_slice(&text));
    buf_fini(&text);
}

static void show_jobs(struct cli *c, struct out_table *t, const struct wire_listed *page) {
    const struct wire_job_view *list = page->jobs.at;
    const char *dialect = cli_flag(c, "dialect");
    char took[OUT_TIME_BYTES], age[OUT_TIME_BYTES];
    for (uint32_t i = 0; i < page->jobs.count; i++) {
        const struct wire_job_view *v = &list[i];
        out_slice(t, OUT_BOLD, v->job);
        out_slice(t, out_state_colour(job_text_state(v)),
                  dialect != NULL ? state_word(dialect, v->state, v->cause) : job_text_state(v));
        if (v->attempt > 0)
            out_cell(t, OUT_PLAIN, "%u/%u", v->attempt, v->attempts_max);
        else
            out_slice(t, OUT_PLAIN, SLICE(""));
        out_cell(t, OUT_PLAIN, "%s", job_text_took(v, wall_ms(c), took));
        out_slice(t, OUT_PLAIN, v->worker);
        out_cell(t, OUT_PLAIN, "%s", out_age(wall_ms(c), v->since_ms, age));
        reason_cell(t, v);
    }
}

#define JOB_COLUMNS 7
static const char *const job_heads[] = {"JOB", "STATE", "TRY", "TOOK", "WORKER", "SINCE", "REASON"};

/* The jobs of FLOW, with the items of foreach jobs where they are asked for: by --items, or by a state that one of them
 * may have. FLOW/JOB lists the items of that job. */
static enum err list_jobs(struct cli *c, struct wire_list *m) {
    struct slice target = slice_str(c->args[0]);
    const uint8_t *slash = memchr(target.ptr, '/', target.len);
    m->what = WIRE_LIST_JOBS;
    m->flow = slice_of(target.ptr, slash != NULL ? (size_t)(slash - target.ptr) : target.len);
    if (slash != NULL) m->items_of = slice_of(slash + 1, target.len - m->flow.len - 1);
    m->items = cli_flag(c, "items") != NULL || m->states.count > 0;
    m->apart = true;
    m->reasons = !c->json;
    return list(c, "/flows/{flow}/jobs", m, JOB_COLUMNS, job_heads, show_jobs);
}

enum err verb_ls(struct cli *c) {
    static const char *const heads[] = {"FLOW", "NAME", "STATE", "DONE", "AGE", "TOOK"};
    struct wire_list m = {.what = WIRE_LIST_FLOWS,
                          .name = cli_flag_text(c, "name"),
                          .states = cli_flag_names(c, "state"),
                          .text = cli_flag_text(c, "search"),
                          .schedule = cli_flag_text(c, "schedule")};
    enum err e = check_dialect(c);
    if (e == ERR_OK) e = check_states(c);
    if (e == ERR_OK) e = cli_flag_moment(c, "since", &m.since_ms);
    if (e == ERR_OK) e = cli_flag_moment(c, "until", &m.until_ms);
    if (e == ERR_OK) e = cli_pairs(c, "label", &m.labels);
    if (e != ERR_OK) return e;
    return c->arg_count == 0 ? list(c, "/flows", &m, 6, heads, show_flows) : list_jobs(c, &m);
}

enum err verb_dead(struct cli *c) {
    struct wire_list m = {.what = WIRE_LIST_DEAD};
    return list(c, "/dead", &m, JOB_COLUMNS, job_heads, show_jobs);
}

static void show_workers(struct cli *c, struct out_table *t, const struct wire_listed *page) {
    const struct wire_worker_view *list = page->workers.at;
    for (uint32_t i = 0; i < page->workers.count; i++) {
        const struct wire_worker_view *v = &list[i];
        struct buf caps;
        buf_init(&caps, 200);
        const struct wire_name *names = v->capabilities.at;
        const struct wire_pair *labels = v->labels.at;
        for (uint32_t k = 0; k < v->capabilities.count; k++) buf_printf(&caps, "%.*s ", SLICE_FMT(names[k].name));
        for (uint32_t k = 0; k < v->labels.count; k++)
            buf_printf(&caps, "%.*s=%.*s ", SLICE_FMT(labels[k].key), SLICE_FMT(labels[k].value));
        out_slice(t, OUT_BOLD, v->worker);
        out_slice(t, v->attached ? v->draining ? OUT_YELLOW : OUT_GREEN : OUT_RED,
                  v->attached ? v->draining ? SLICE("draining") : SLICE("here") : SLICE("away"));
        out_slice(t, OUT_PLAIN, v->pool);
        out_slice(t, OUT_PLAIN, v->tenant);
        out_cell(t, OUT_PLAIN, "%u/%u", v->active, v->slots);
        out_slice(t, OUT_PLAIN, buf_slice(&caps));
        bool same = slice_eq(v->build, slice_str(c->client.server_build));
        out_slice(t, same ? OUT_PLAIN : OUT_YELLOW, v->build);
        buf_fini(&caps);
    }
}

enum err verb_workers(struct cli *c) {
    static const char *const heads[] = {"WORKER", "STATE", "POOL", "TENANT", "BUSY", "OFFERS", "BUILD"};
    struct wire_list m = {.what = WIRE_LIST_WORKERS};
    return list(c, "/workers", &m, 7, heads, show_workers);
}

/* ---- one thing ---- */

static void line(const struct cli *c, const char *name, struct slice value) {
    if (value.len == 0) return;
    printf("  %s%-12s%s ", out_paint(c, OUT_GREY), name, out_plain(c));
    out_clean(stdout, value);
    printf("\n");
}

/* A text of several lines, each below the one before. */
static void lines(const struct cli *c, const char *name, struct slice text) {
    while (text.len > 0) {
        const uint8_t *end = memchr(text.ptr, '\n', text.len);
        size_t len = end != NULL ? (size_t)(end - text.ptr) : text.len;
        printf("  %s%-12s%s ", out_paint(c, OUT_GREY), name, out_plain(c));
        out_clean(stdout, slice_of(text.ptr, len));
        printf("\n");
        len += end != NULL;
        text = slice_of(text.ptr + len, text.len - len);
        name = "";
    }
}

static void line_time(const struct cli *c, const char *name, int64_t ms) {
    char text[OUT_TIME_BYTES];
    if (ms != 0) line(c, name, slice_str(out_time(ms, text)));
}

static void state_line(const struct cli *c, struct slice what, struct slice state, struct slice more) {
    printf("%s%s", out_paint(c, out_state_colour(state)), out_state_sign(state));
    printf("%s %s", out_plain(c), out_paint(c, OUT_BOLD));
    out_clean(stdout, what);
    printf("%s  %.*s", out_plain(c), SLICE_FMT(state));
    if (more.len > 0) fputs(" (", stdout), out_clean(stdout, more), fputs(")", stdout);
    printf("\n");
}

/* "✗ f1a/load  failed (exit 3)  1.2s"; what failed only because of another job says so. */
static void show_line(const struct cli *c, const struct wire_job_view *v) {
    struct buf text;
    char took[OUT_TIME_BYTES];
    buf_init(&text, 4096);
    job_text_brief(v, &text);
    printf("%s%s%s ", out_paint(c, out_state_colour(job_text_state(v))), out_state_sign(v->state), out_plain(c));
    printf("%s", out_paint(c, OUT_BOLD)), out_clean(stdout, v->job);
    printf("%s  %.*s", out_plain(c), SLICE_FMT(job_text_state(v)));
    if (text.len > 0) fputs(" (", stdout), out_clean(stdout, buf_slice(&text)), fputs(")", stdout);
    if (v->stage.len > 0) printf("  %.*s", SLICE_FMT(v->stage));
    if (v->attempt > 1) printf("  try %u of %u", v->attempt, v->attempts_max);
    if (v->started_ms != 0) printf("  %s", job_text_took(v, wall_ms(c), took));
    printf("\n");
    buf_fini(&text);
}

static void show_sandbox(struct cli *c, const struct wire_run *run) {
    const struct wire_arg *read = run->sandbox_read.at, *write = run->sandbox_write.at;
    struct buf text;
    if (run->sandbox == 0) return;
    buf_init(&text, 65536);
    buf_printf(&text, "%s", (run->sandbox & WIRE_SANDBOX_FILES) ? "own files" : "all files");
    buf_printf(&text, "%s", (run->sandbox & WIRE_SANDBOX_NET_OFF) ? ", no network" : "");
    for (uint32_t i = 0; i < run->sandbox_read.count; i++) buf_printf(&text, ", reads %.*s", SLICE_FMT(read[i].text));
    for (uint32_t i = 0; i < run->sandbox_write.count; i++)
        buf_printf(&text, ", writes %.*s", SLICE_FMT(write[i].text));
    line(c, "sandbox", buf_slice(&text));
    buf_fini(&text);
}

static void show_limits(struct cli *c, const struct wire_ceilings *l) {
    char size[OUT_TIME_BYTES];
    struct buf text;
    buf_init(&text, 512);
    if (l->memory_bytes != 0) buf_printf(&text, ", %s of memory", out_bytes(l->memory_bytes, size));
    if (l->cpu_milli != 0) buf_printf(&text, ", %u.%03u processors", l->cpu_milli / 1000, l->cpu_milli % 1000);
    if (l->pids != 0) buf_printf(&text, ", %u processes", l->pids);
    if (l->open_files != 0) buf_printf(&text, ", %u open files", l->open_files);
    if (l->file_bytes != 0) buf_printf(&text, ", files of %s", out_bytes(l->file_bytes, size));
    if (text.len > 2) line(c, "limits", slice_of(text.at + 2, text.len - 2));
    buf_fini(&text);
}

static void show_run(struct cli *c, struct slice kind, struct slice body) {
    struct wire_run run;
    if (body.len == 0 || tlv_decode(&wire_run_desc, body, TLV_SKIP_UNKNOWN, &c->arena, &run, NULL) != ERR_OK) return;
    const struct wire_arg *args = run.argv.at;
    struct buf text;
    buf_init(&text, 65536);
    for (uint32_t i = 0; i < run.argv.count; i++) buf_printf(&text, "%s%.*s", i ? " " : "", SLICE_FMT(args[i].text));
    line(c, run.script_name.len > 0 ? "args" : "command", buf_slice(&text));
    line(c, "shell", run.shell);
    line(c, slice_eq(kind, SLICE("archive")) ? "archive" : "script", run.script_name);
    line(c, "entry", run.entry);
    line(c, "asks", run.message);
    line(c, "when", run.when);
    line(c, "foreach", run.foreach);
    show_sandbox(c, &run);
    show_limits(c, &run.limits);
    buf_fini(&text);
}

/* What it used, and what held it back. */
static void show_usage(const struct wire_attempt_view *v, struct buf *text) {
    char size[OUT_TIME_BYTES];
    if (v->cpu_ms != 0)
        buf_printf(text, ", %llu.%03llus of cpu", (unsigned long long)(v->cpu_ms / 1000),
                   (unsigned long long)(v->cpu_ms % 1000));
    if (v->throttled_ms != 0)
        buf_printf(text, " (throttled for %llu.%03llus)", (unsigned long long)(v->throttled_ms / 1000),
                   (unsigned long long)(v->throttled_ms % 1000));
    if (v->memory_bytes_max != 0) buf_printf(text, ", %s of memory", out_bytes(v->memory_bytes_max, size));
    if (v->hit.len > 0) buf_printf(text, ", limit of %.*s hit", SLICE_FMT(v->hit));
    if (v->unkept.len > 0) buf_printf(text, ", limits: %.*s", SLICE_FMT(v->unkept));
}

static void show_try(struct cli *c, const struct wire_attempt_view *v, bool is_first) {
    char took[OUT_TIME_BYTES];
    struct buf text;
    buf_init(&text, 8192);
    buf_printf(&text, "#%u %.*s", v->attempt, SLICE_FMT(v->outcome));
    if (v->exit_code != 0) buf_printf(&text, " %u", v->exit_code);
    if (v->signal != 0) buf_printf(&text, ", signal %u", v->signal);
    if (v->worker.len > 0) buf_printf(&text, ", on %.*s", SLICE_FMT(v->worker));
    int64_t begin = v->started_ms != 0 ? v->started_ms : v->assigned_ms;
    if (begin != 0 && v->ended_ms != 0) buf_printf(&text, ", for %s", out_took(begin, v->ended_ms, took));
    show_usage(v, &text);
    if (v->reason.len > 0) buf_printf(&text, ": %.*s", SLICE_FMT(v->reason));
    lines(c, is_first ? "tries" : "", buf_slice(&text));
    buf_fini(&text);
}

static void show_artifacts(struct cli *c, const struct wire_job_view *v) {
    const struct wire_kept *files = v->artifacts.at;
    char size[OUT_TIME_BYTES], text[512];
    for (uint32_t i = 0; i < v->artifacts.count; i++) {
        snprintf(text, sizeof text, "%.*s  %s", SLICE_FMT(files[i].name), out_bytes(files[i].bytes, size));
        line(c, i == 0 ? "artifacts" : "", slice_str(text));
    }
}

static void show_job(struct cli *c, const struct wire_job_view *v) {
    const struct wire_attempt_view *tries = v->attempts.at;
    char number[64];
    show_line(c, v);
    line(c, "kind", v->kind);
    show_run(c, v->kind, v->body);
    snprintf(number, sizeof number, "%u of %u", v->attempt, v->attempts_max);
    if (v->attempt > 0) line(c, "attempt", slice_str(number));
    line(c, "worker", v->worker);
    line(c, "pool", v->pool);
    line_time(c, "since", v->since_ms);
    line_time(c, "due", v->due_ms);
    line(c, "because of", v->root);
    lines(c, "reason", v->reason);
    lines(c, "result", v->result);
    show_artifacts(c, v);
    for (uint32_t i = 0; i < v->attempts.count; i++) show_try(c, &tries[i], i == 0);
}

/* What it was made from. */
static void show_origin(struct cli *c, const struct wire_flow_view *v) {
    char file[400];
    const char *lost = v->source.len == 0 ? " (not kept)" : "";
    snprintf(file, sizeof file, "%.*s%s", SLICE_FMT(v->source_name), lost);
    if (v->source_name.len > 0) line(c, "file", slice_str(file));
    line(c, "parameters", v->params);
    line(c, "again of", v->again_of);
}

/* "failed (compensated)": what the flow does beside its state, or has done. */
static struct slice flow_note(const struct wire_flow_view *v) {
    if (v->paused) return SLICE("paused");
    bool is_behind = v->stage.len > 0 && !slice_eq(v->stage, SLICE("main")) && !slice_eq(v->stage, SLICE("over"));
    if (is_behind) return v->stage;
    if (v->cancelling) return SLICE("cancelling");
    if (slice_eq(v->unwinding, SLICE("due"))) return SLICE("about to compensate");
    if (slice_eq(v->unwinding, SLICE("stopping"))) return SLICE("stopping its jobs, then compensating");
    if (slice_eq(v->unwinding, SLICE("done"))) return SLICE("compensated");
    return v->unwinding;
}

static void show_flow(struct cli *c, const struct wire_flow_view *v) {
    const struct wire_amount *states = v->states.at;
    state_line(c, v->flow, v->state, flow_note(v));
    line(c, "name", v->name);
    line(c, "by", v->principal);
    line(c, "tenant", v->tenant);
    const struct wire_pair *labels = v->labels.at;
    for (uint32_t i = 0; i < v->labels.count; i++) {
        char label[300];
        snprintf(label, sizeof label, "%.*s=%.*s", SLICE_FMT(labels[i].key), SLICE_FMT(labels[i].value));
        line(c, i == 0 ? "labels" : "", slice_str(label));
    }
    line(c, "schedule", v->schedule);
    line(c, "trigger", v->trigger);
    line(c, "slot", v->slot);
    show_origin(c, v);
    line_time(c, "created", v->created_ms);
    line_time(c, "finished", v->finished_ms);
    line_time(c, v->timed_out ? "timed out" : "timeout", v->timeout_at_ms);
    line_time(c, v->late ? "late since" : "deadline", v->deadline_ms);
    line(c, "called", v->called);
    struct buf text;
    buf_init(&text, 4096);
    for (uint32_t i = 0; i < v->states.count; i++) {
        bool is_failed = slice_eq(states[i].name, SLICE("failed"));
        uint64_t amount = states[i].amount - (is_failed ? v->upstream_failed : 0);
        if (amount > 0) buf_printf(&text, ", %llu %.*s", (unsigned long long)amount, SLICE_FMT(states[i].name));
        if (is_failed && v->upstream_failed > 0) buf_printf(&text, ", %u upstream", v->upstream_failed);
    }
    if (text.len > 2) line(c, "jobs", slice_of(text.at + 2, text.len - 2));
    buf_clear(&text);
    if (v->compensations_not_run > 0) {
        buf_printf(&text, "%u not run: %.*s", v->compensations_not_run, SLICE_FMT(v->not_run_because));
        line(c, "undo", buf_slice(&text));
    }
    buf_fini(&text);
}

/* The file of a flow, as it was submitted. */
static enum err show_source(struct cli *c) {
    struct client_frame f;
    struct wire_source_get m = {slice_str(c->args[0])};
    if (strchr(c->args[0], '/') != NULL) return cli_refuse(c, ERR_INVALID, "--source takes a flow, not a job");
    enum err e = client_ask(&c->client, WIRE_SOURCE_GET, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_source_got *got = f.message;
    if (c->json)
        api_print_line(c, &wire_source_got_desc, got);
    else
        fwrite(got->text.ptr, 1, got->text.len, stdout);
    return ERR_OK;
}

#define ITEMS_SHOWN 10u

/* Of a foreach job: the first of its items that ended badly. */
static enum err show_items(struct cli *c, const struct wire_job_view *v) {
    struct wire_name bad[] = {{SLICE("failed")}, {SLICE("timed_out")}, {SLICE("denied")}, {SLICE("quarantined")}};
    struct slice job = arena_slice(&c->arena, v->job), name = lineout_short_name(job);
    struct wire_list m = {.what = WIRE_LIST_JOBS,
                          .flow = slice_of(job.ptr, job.len - name.len - 1),
                          .items_of = name,
                          .states = {bad, 4},
                          .most = ITEMS_SHOWN};
    uint32_t more = v->items_bad > ITEMS_SHOWN ? v->items_bad - ITEMS_SHOWN : 0;
    struct client_frame f;
    if (v->items_bad == 0) return ERR_OK;
    enum err e = client_ask(&c->client, WIRE_LIST, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_listed *page = f.message;
    const struct wire_job_view *items = page->jobs.at;
    for (uint32_t i = 0; i < page->jobs.count; i++) show_line(c, &items[i]);
    if (more > 0) printf("… and %u more; `reeve ls %.*s --state failed` lists them\n", more, SLICE_FMT(job));
    return ERR_OK;
}

/* A job is shown in full; of a flow the jobs follow, in as many frames as it takes. */
enum err verb_show(struct cli *c) {
    struct client_frame f;
    struct api_print answer;
    struct wire_get m = {.target = slice_str(c->args[0]), .details = true};
    bool is_job = strchr(c->args[0], '/') != NULL;
    if (cli_flag(c, "source") != NULL) return show_source(c);
    api_print_begin(&answer, c, is_job ? "/jobs/{flow}/{job}" : "/flows/{flow}");
    enum err e = client_ask(&c->client, WIRE_GET, &m, &f, c->why);
    for (bool first = true; e == ERR_OK; first = false) {
        const struct wire_got *got = f.message;
        const struct wire_job_view *jobs = got->jobs.at;
        bool more = f.flags & FRAME_MORE;
        if (c->json) {
            api_print_page(&answer, WIRE_GOT, got);
        } else if (is_job) {
            if (got->jobs.count > 0) show_job(c, &jobs[0]);
            if (got->jobs.count > 0 && !more) e = show_items(c, &jobs[0]);
        } else {
            if (first) show_flow(c, &got->flow);
            for (uint32_t i = 0; i < got->jobs.count; i++) show_line(c, &jobs[i]);
        }
        if (!more) break;
        e = client_answer(&c->client, f.request, &f, c->why);
    }
    api_print_end(&answer);
    return e;
}

/* Tells the jobs of a page, but those that `is_told` leaves out. */
static enum err why_page(struct cli *c, struct wire_list *m, bool (*is_told)(const struct wire_job_view *v),
                         uint32_t *shown) {
    struct client_frame f;
    enum err e = client_ask(&c->client, WIRE_LIST, m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_listed *page = f.message;
    const struct wire_job_view *jobs = page->jobs.at;
    for (uint32_t i = 0; e == ERR_OK && i < page->jobs.count; i++) {
        struct wire_why why = {jobs[i].job};
        char text[1024];
        if (!is_told(&jobs[i])) continue;
        e = client_ask(&c->client, WIRE_WHY, &why, &f, c->why);
        if (e != ERR_OK) break;
        if (c->json)
            api_print_line(c, &wire_reason_desc, f.message);
        else
            reason_text(f.message, text, sizeof text), out_say(stdout, "%s", text);
        ++*shown;
    }
    return e;
}

/* Of a foreach job that failed its items speak. */
static bool is_told(const struct wire_job_view *v) {
    return v->items == 0;
}

static bool waits_for_its_time(const struct wire_job_view *v) {
    return v->due_ms != 0 && v->items == 0;
}

/* Of a flow: each job and item that stands still for another reason than its parents, or that failed by itself. */
static enum err why_flow(struct cli *c, const struct wire_flow_view *flow) {
    struct wire_name states[] = {{SLICE("held")},      {SLICE("ready")},  {SLICE("failed")},
                                 {SLICE("timed_out")}, {SLICE("denied")}, {SLICE("quarantined")}};
    struct wire_name waiting = {SLICE("waiting")};
    struct slice id = arena_slice(&c->arena, flow->flow), state = arena_slice(&c->arena, flow->state);
    struct wire_list m = {
        .what = WIRE_LIST_JOBS, .flow = id, .states = {states, 6}, .most = 100, .items = true, .apart = true};
    uint32_t shown = 0;
    enum err e = why_page(c, &m, is_told, &shown);
    m.states = (struct tlv_list){&waiting, 1};
    if (e == ERR_OK) e = why_page(c, &m, waits_for_its_time, &shown);
    if (e == ERR_OK && shown == 0 && !c->json)
        printf("%.*s is %.*s: no job waits or failed\n", SLICE_FMT(id), SLICE_FMT(state));
    return e;
}

enum err verb_why(struct cli *c) {
    struct client_frame f;
    struct why ignored;
    struct wire_why m = {slice_str(c->args[0])};
    struct wire_get get = {.target = m.job};
    bool is_flow = strchr(c->args[0], '/') == NULL && client_ask(&c->client, WIRE_GET, &get, &f, &ignored) == ERR_OK;
    const struct wire_got *got = is_flow ? f.message : NULL;
    if (is_flow && got->flow.job_count > 1) return why_flow(c, &got->flow);
    enum err e = client_ask(&c->client, WIRE_WHY, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_reason *r = f.message;
    if (c->json) {
        api_print_answer(c, "/jobs/{flow}/{job}/why", WIRE_REASON, r);
        return ERR_OK;
    }
    bool is_over = out_state_is_end(r->state), is_upstream = is_over && r->parent.len > 0;
    state_line(c, r->job, is_upstream ? SLICE(WIRE_UPSTREAM_FAILED) : r->state, is_over ? (struct slice){0} : r->code);
    printf("  ");
    out_clean(stdout, r->text);
    printf("\n");
    line(c, "worker", r->worker);
    line_time(c, "asked next", r->poll_ms);
    line_time(c, "until", r->until_ms);
    if (slice_eq(r->code, SLICE("outside"))) printf("  reeve complete %s\n", c->args[0]);
    if (slice_eq(r->gate, SLICE("approval"))) printf("  reeve approve %s\n", c->args[0]);
    if (slice_eq(r->gate, SLICE("external"))) printf("  reeve complete %s\n", c->args[0]);
    if (is_over && !is_upstream) reason_last_lines(c, arena_slice(&c->arena, r->job), stdout);
    return ERR_OK;
}

enum err verb_stats(struct cli *c) {
    struct client_frame f;
    struct wire_empty m = {0};
    enum err e = client_ask(&c->client, WIRE_STATS, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_stats *s = f.message;
    const struct wire_amount *numbers = s->numbers.at;
    if (c->json) api_print_answer(c, "/stats", WIRE_NUMBERS, s);
    for (uint32_t i = 0; i < s->numbers.count && !c->json; i++)
        printf("%-28.*s %llu\n", SLICE_FMT(numbers[i].name), (unsigned long long)numbers[i].amount);
    return ERR_OK;
}

enum err verb_version(struct cli *c) {
    struct why ignored;
    struct why *why = c->why;
    c->why = &ignored; /* that no server is there is nothing to complain about */
    bool there = cli_connect(c) == ERR_OK;
    c->why = why;
    const struct client *s = &c->client;
    if (c->json && there)
        printf("{\"version\":\"%s\",\"wire\":%u,\"server\":{\"version\":\"%s\",\"wire\":%u}}\n", c->world->build,
               FRAME_VERSION, s->server_build, s->server_wire);
    else if (c->json)
        printf("{\"version\":\"%s\",\"wire\":%u}\n", c->world->build, FRAME_VERSION);
    else
        printf("reeve %s, wire %u\n", c->world->build, FRAME_VERSION);
    if (!c->json && there)
        printf("server %s, wire %u, at %s%s\n", s->server_build, s->server_wire, s->address,
               strcmp(s->server_build, c->world->build) != 0 ? ": a different build" : "");
    return ERR_OK;
}
