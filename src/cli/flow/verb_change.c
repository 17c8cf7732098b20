/* verb_change.c: changing what is there: cancel, retry, rerun, pause, decide, complete, drain. */
#include <stdio.h>
#include <unistd.h>

#include "api_print.h"
#include "hex.h"
#include "out.h"
#include "verbs.h"

#define ACCEPTED_ROUTE "POST /flows/{flow}/pause" /* all routes that only accept something answer alike */

/* ---- several things at once: each is told on its own, the first refusal makes the exit code ---- */

static enum err say_results(struct cli *c, const struct wire_accepted *m, const char *done) {
    const struct wire_result *list = m->results.at;
    enum err worst = ERR_OK;
    /* By HTTP one thing has a route of its own; several are answered as by the routes for many dead letters. */
    if (c->json)
        api_print_answer(c, m->results.count == 1 ? "POST /flows/{flow}/cancel" : "POST /dead/retry", WIRE_ACCEPTED, m);
    for (uint32_t i = 0; i < m->results.count; i++) {
        const struct wire_result *r = &list[i];
        if (r->code.len > 0 && worst == ERR_OK)
            worst = cli_refuse(c, client_err(r->code), "%.*s: %.*s", SLICE_FMT(r->target), SLICE_FMT(r->message));
        if (c->json) continue;
        if (r->code.len == 0)
            out_say(stdout, "%.*s %s%s", SLICE_FMT(r->target), done, r->repeated ? " already" : "");
        else if (m->results.count > 1)
            out_say(stderr, "%.*s: %.*s", SLICE_FMT(r->target), SLICE_FMT(r->message));
    }
    return worst;
}

static const struct {
    const char *verb;
    enum wire_op op;
    const char *done;
} changes[] = {
    {"cancel", WIRE_CANCEL, "cancelled"},
    {"retry", WIRE_RETRY, "retried"},
    {"discard", WIRE_DISCARD, "discarded"},
    {"rerun", WIRE_RERUN, "rerun"},
};

enum err verb_rerun(struct cli *c) {
    if (cli_flag(c, "new") != NULL) return verb_rerun_new(c);
    if (cli_flag(c, "param") != NULL || cli_flag(c, "params") != NULL || cli_flag(c, "wait") != NULL)
        return cli_refuse(c, ERR_INVALID,
                          "--param, --params and --wait need --new: without it the jobs run again as they were");
    return verb_targets(c);
}

enum err verb_targets(struct cli *c) {
    struct client_frame f;
    struct wire_targets m = {.targets = cli_names(c, 0), .reason = cli_flag_text(c, "reason")};
    size_t i = 0;
    while (strcmp(changes[i].verb, c->verb->words) != 0) i++;
    enum err e = client_ask(&c->client, changes[i].op, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_accepted *got = f.message;
    if (got->results.count > 0) return say_results(c, got, changes[i].done);
    if (c->json) api_print_answer(c, ACCEPTED_ROUTE, WIRE_ACCEPTED, got);
    for (int k = 0; k < c->arg_count && !c->json; k++) printf("%s %s\n", c->args[k], changes[i].done);
    return ERR_OK;
}

static enum err say_done(struct cli *c, enum wire_op op, const void *message, const char *what, const char *done) {
    struct client_frame f;
    enum err e = client_ask(&c->client, op, message, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_accepted *got = f.message;
    if (got->results.count > 0) return say_results(c, got, done);
    if (c->json)
        api_print_answer(c, ACCEPTED_ROUTE, WIRE_ACCEPTED, got);
    else
        printf("%s %s%s\n", what, done, got->repeated ? " already" : "");
    return ERR_OK;
}

enum err verb_pause(struct cli *c) {
    const char *pool = cli_flag(c, "pool"), *tenant = cli_flag(c, "tenant");
    bool on = strcmp(c->verb->words, "pause") == 0;
    if ((pool != NULL) + (tenant != NULL) + c->arg_count != 1)
        return cli_refuse(c, ERR_INVALID, "expected one of FLOW, --pool POOL and --tenant TENANT");
    const char *name = pool != NULL ? pool : tenant != NULL ? tenant : c->args[0];
    struct wire_pause m = {.name = slice_str(name),
                           .scope = pool != NULL     ? WIRE_SCOPE_POOL
                                    : tenant != NULL ? WIRE_SCOPE_TENANT
                                                     : WIRE_SCOPE_FLOW};
    return say_done(c, on ? WIRE_PAUSE : WIRE_RESUME, &m, name, on ? "paused" : "resumed");
}

enum err verb_drain(struct cli *c) {
    struct wire_drain m = {.worker = slice_str(c->args[0]), .undo = cli_flag(c, "undo") != NULL};
    return say_done(c, WIRE_DRAIN, &m, c->args[0], m.undo ? "accepts jobs again" : "is draining");
}

enum err verb_complete(struct cli *c) {
    const char *output = cli_flag(c, "output");
    struct wire_complete m = {.job = slice_str(c->args[0]),
                              .failed = cli_flag(c, "fail") != NULL,
                              .reason = cli_flag_text(c, "reason"),
                              .output = cli_flag_text(c, "output"),
                              .token = cli_flag_text(c, "token")};
    enum err e = ERR_OK;
    if (output != NULL && output[0] == '@') e = file_read(c, output + 1, WIRE_BODY_MAX, &m.output);
    return e == ERR_OK ? say_done(c, WIRE_COMPLETE, &m, c->args[0], m.failed ? "failed" : "completed") : e;
}

enum err verb_callback(struct cli *c) {
    struct client_frame f;
    struct wire_callback m = {.job = slice_str(c->args[0])};
    enum err e = cli_flag_duration(c, "for", &m.for_ms);
    if (e == ERR_OK) e = client_ask(&c->client, WIRE_CALLBACK, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_callback_given *got = f.message;
    if (c->json)
        api_print_answer(c, "POST /jobs/{flow}/{job}/callback", WIRE_CALLBACK_GIVEN, got);
    else
        printf("%.*s\n", SLICE_FMT(got->token));
    if (!c->json && c->is_terminal && got->url.len > 0) fprintf(stderr, "POST %.*s\n", SLICE_FMT(got->url));
    return ERR_OK;
}

/* ---- approving ---- */

typedef bool (*question_fn)(struct cli *c, const struct wire_question_view *v, void *ctx); /* true: that was it */

/* `pages` gets each page as it came; NULL = nobody wants them. */
static enum err each_question(struct cli *c, question_fn each, void *ctx, struct api_print *pages) {
    struct wire_list m = {.what = WIRE_LIST_QUESTIONS, .most = 1000};
    for (;;) {
        struct client_frame f;
        enum err e = client_ask(&c->client, WIRE_LIST, &m, &f, c->why);
        if (e != ERR_OK) return e;
        const struct wire_listed *page = f.message;
        const struct wire_question_view *list = page->questions.at;
        for (uint32_t i = 0; i < page->questions.count; i++)
            if (each(c, &list[i], ctx)) return ERR_OK;
        if (pages != NULL) api_print_page(pages, f.op, page);
        if (page->cursor.len == 0) return ERR_OK;
        m.cursor = page->cursor;
    }
}

static void decode_run(struct cli *c, const struct wire_question_view *v, struct wire_run *ret) {
    *ret = (struct wire_run){0};
    if (v->body.len > 0 && tlv_decode(&wire_run_desc, v->body, TLV_SKIP_UNKNOWN, &c->arena, ret, NULL) != ERR_OK)
        *ret = (struct wire_run){0};
}

static bool list_one(struct cli *c, const struct wire_question_view *v, void *ctx) {
    struct out_table *t = ctx;
    struct wire_run run;
    char age[OUT_TIME_BYTES];
    if (c->json) return false;
    decode_run(c, v, &run);
    out_slice(t, OUT_BOLD, v->job);
    out_slice(t, OUT_YELLOW, v->gate);
    out_cell(t, OUT_PLAIN, "%u/%u", v->votes, v->quorum);
    out_slice(t, OUT_PLAIN, v->role);
    out_cell(t, OUT_PLAIN, "%s", out_age(c->world->clock->wall(c->world->clock).ms, v->asked_ms, age));
    out_slice(t, OUT_PLAIN, run.message);
    return false;
}

static enum err list_questions(struct cli *c) {
    static const char *const heads[] = {"JOB", "WAITS FOR", "VOTES", "ROLE", "SINCE", "ASKS"};
    struct out_table t;
    struct api_print answer;
    out_table_init(&t, c, 6, heads);
    api_print_begin(&answer, c, "/questions");
    enum err e = each_question(c, list_one, &t, c->json ? &answer : NULL);
    api_print_end(&answer);
    if (e == ERR_OK && !c->json)
        out_table_end(&t);
    else
        vec_fini(&t.cells);
    return e;
}

struct wanted {
    uint64_t question;
    struct wire_question_view view;
    bool found;
};

static bool is_wanted(struct cli *c, const struct wire_question_view *v, void *ctx) {
    struct wanted *w = ctx;
    (void)c;
    if (v->question != w->question) return false;
    w->view = *v;
    w->found = true;
    return true;
}

static void show_question(struct cli *c, const struct wire_question_view *v) {
    struct wire_run run;
    char hash[72] = {0};
    decode_run(c, v, &run);
    if (v->hash.len <= 32) hex_write(v->hash, hash);
    out_say(stderr, "%.*s waits for %.*s", SLICE_FMT(v->job), SLICE_FMT(v->gate));
    if (run.message.len > 0) fputs("  asks     ", stderr), out_clean(stderr, run.message), fputs("\n", stderr);
    if (run.shell.len > 0) fputs("  runs     ", stderr), out_clean(stderr, run.shell), fputs("\n", stderr);
    const struct wire_arg *args = run.argv.at;
    if (run.argv.count > 0) fputs("  runs    ", stderr);
    for (uint32_t i = 0; i < run.argv.count; i++) fputc(' ', stderr), out_clean(stderr, args[i].text);
    if (run.argv.count > 0) fputs("\n", stderr);
    const struct wire_pair *env = run.env.at;
    for (uint32_t i = 0; i < run.env.count; i++) {
        fputs("  env      ", stderr);
        out_clean(stderr, env[i].key);
        fputc('=', stderr);
        out_clean(stderr, env[i].value);
        fputc('\n', stderr);
    }
    fprintf(stderr, "  hash     %s\n", hash[0] != 0 ? hash : "-");
}

static bool asks_yes(const char *what) {
    char answer[16] = {0};
    fprintf(stderr, "%s? [y/N] ", what);
    return fgets(answer, sizeof answer, stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y');
}

/* The open gates of one flow. */
struct gates {
    struct slice flow; /* "f3k9a/" */
    struct buf jobs;   /* for people */
    const char *first;
    uint32_t count;
};

static bool note_gate(struct cli *c, const struct wire_question_view *v, void *ctx) {
    struct gates *g = ctx;
    if (!slice_begins(v->job, g->flow)) return false;
    buf_printf(&g->jobs, "%s%.*s", g->count > 0 ? ", " : "", SLICE_FMT(v->job));
    if (g->count++ > 0) return false;
    char *job = arena_alloc(&c->arena, v->job.len + 1);
    snprintf(job, v->job.len + 1, "%.*s", SLICE_FMT(v->job));
    g->first = job;
    return false;
}

/* A flow stands for its only job that waits for approval; when none does, WHY tells what the flow waits for. */
static enum err only_gate(struct cli *c) {
    char flow[WIRE_TARGET_MAX + 2];
    if (strchr(c->args[0], '/') != NULL) return ERR_OK;
    snprintf(flow, sizeof flow, "%s/", c->args[0]);
    struct gates g = {.flow = slice_str(flow)};
    buf_init(&g.jobs, 65536);
    enum err e = each_question(c, note_gate, &g, NULL);
    if (e == ERR_OK && g.count > 1)
        e = cli_refuse(c, ERR_INVALID, "%u jobs of %s wait for approval: name one of %.*s", g.count, c->args[0],
                       SLICE_FMT(buf_slice(&g.jobs)));
    if (e == ERR_OK && g.count == 1) c->args[0] = (char *)(uintptr_t)g.first;
    buf_fini(&g.jobs);
    return e;
}

/* The question that the job stands before, with what is to be decided on. */
static enum err question_of(struct cli *c, struct wanted *w) {
    enum err e = only_gate(c);
    if (e != ERR_OK) return e;
    struct client_frame f;
    struct wire_why m = {slice_str(c->args[0])};
    e = client_ask(&c->client, WIRE_WHY, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_reason *r = f.message;
    if (r->question == 0)
        return cli_refuse(c, ERR_STATE, "%s is not waiting for approval: %.*s", c->args[0], SLICE_FMT(r->text));
    w->question = r->question;
    e = each_question(c, is_wanted, w, NULL);
    if (e == ERR_OK && !w->found) e = cli_refuse(c, ERR_NOT_FOUND, "%s no longer waits for approval", c->args[0]);
    return e;
}

enum err verb_approve(struct cli *c) {
    bool yes = strcmp(c->verb->words, "approve") == 0;
    const char *given = cli_flag(c, "hash");
    struct wanted w = {0};
    char hash[72] = {0};
    if (c->arg_count == 0) return list_questions(c);
    enum err e = question_of(c, &w);
    if (e != ERR_OK) return e;
    if (w.view.hash.len <= 32) hex_write(w.view.hash, hash);
    if (given != NULL && strncmp(given, hash, strlen(given)) != 0)
        return cli_refuse(c, ERR_STALE, "what is to be approved has changed: its hash is %s now", hash);
    bool ask = yes && given == NULL && cli_flag(c, "yes") == NULL;
    if (!c->json) show_question(c, &w.view);
    if (ask && !isatty(STDIN_FILENO))
        return cli_refuse(c, ERR_INVALID, "standard input is not a terminal: pass --yes, or --hash %.12s", hash);
    if (ask && !asks_yes("Approve")) return cli_refuse(c, ERR_STATE, "not approved");
    struct wire_verdict m = {.question = w.view.question,
                             .revision = w.view.revision,
                             .hash = w.view.hash,
                             .verdict = yes ? WIRE_VERDICT_ALLOW : WIRE_VERDICT_DENY,
                             .reason = cli_flag_text(c, "reason")};
    return say_done(c, WIRE_VERDICT, &m, c->args[0], yes ? "approved" : "rejected");
}
