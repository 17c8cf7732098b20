/* verb_run.c: one command as a flow of one job: submitted, its output shown as it comes, its exit code passed on. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "api_print.h"
#include "out.h"
#include "reason.h"
#include "spec_value.h"
#include "verb_logs.h"
#include "verbs.h"

#define STDIN_BYTES_MAX ((size_t)1 << 30)
#define INLINE_BYTES_MAX 32768u

/* ---- what is submitted ---- */

static struct slice base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    struct slice name = slice_str(slash != NULL && slash[1] != 0 ? slash + 1 : path);
    if (name.len > 64) name.len = 64;
    return name;
}

static enum err read_stdin(struct cli *c, struct wire_run *run) {
    struct slice bytes = {0};
    const char *path = cli_flag(c, "stdin");
    if (path == NULL) return ERR_OK;
    enum err e = file_read(c, path, STDIN_BYTES_MAX, &bytes);
    if (e == ERR_OK && bytes.len > INLINE_BYTES_MAX) return blob_put(c, path, bytes, &run->stdin_hash);
    run->stdin_text = bytes;
    return e;
}

static enum err check_command(struct cli *c) {
    if (cli_flag(c, "entry") != NULL) return cli_refuse(c, ERR_INVALID, "--entry needs --archive");
    if (c->arg_count == 0) return cli_refuse(c, ERR_INVALID, "expected a command: reeve run -- COMMAND [ARG]...");
    if (c->arg_count == 1 && strpbrk(c->args[0], " |&;<>") != NULL && access(c->args[0], F_OK) != 0)
        return cli_refuse(c, ERR_INVALID, "`%s` is not a program; for a shell command, use: reeve run -- sh -c '%s'",
                          c->args[0], c->args[0]);
    return ERR_OK;
}

/* In place of a command; the kind of the job says so. */
static enum err read_program(struct cli *c, struct wire_options *o, struct wire_run *run) {
    struct slice bytes = {0};
    const char *archive = cli_flag(c, "archive"), *script = cli_flag(c, "script");
    if (archive != NULL && script != NULL)
        return cli_refuse(c, ERR_INVALID, "--archive and --script exclude each other");
    if (script != NULL && cli_flag(c, "entry") != NULL) return cli_refuse(c, ERR_INVALID, "--entry needs --archive");
    if (archive == NULL && script == NULL) return check_command(c);
    const char *path = archive != NULL ? archive : script;
    o->kind = archive != NULL ? JOB_ARCHIVE : JOB_SCRIPT;
    run->script_name = base_name(path);
    run->entry = cli_flag_text(c, "entry");
    enum err e = file_read(c, path, STDIN_BYTES_MAX, &bytes);
    if (e == ERR_OK && bytes.len == 0) e = cli_refuse(c, ERR_INVALID, "%s is empty", path);
    if (e == ERR_OK && bytes.len > INLINE_BYTES_MAX) return blob_put(c, path, bytes, &run->script_hash);
    run->script = bytes;
    return e;
}

static enum err options_of(struct cli *c, struct wire_options *o) {
    struct wire_name *names = ARENA_ARRAY(&c->arena, struct wire_name, CLI_GIVEN_MAX);
    const char *value, *priority = cli_flag(c, "priority");
    uint32_t count = 0;
    uint64_t retries = 0;
    for (uint32_t at = 0; (value = cli_flag_next(c, "requires", &at)) != NULL;) names[count++].name = slice_str(value);
    enum err e = cli_flag_number(c, "retries", 10000, &retries);
    if (e == ERR_OK) e = cli_flag_duration(c, "timeout", &o->run_timeout_ms);
    if (e == ERR_OK && priority != NULL && !spec_number(slice_str(priority), &o->priority))
        e = cli_refuse(c, ERR_INVALID, "--priority: expected a number, found `%s`", priority);
    o->attempts_max = (uint32_t)retries + 1;
    o->demand.pool = cli_flag_text(c, "pool");
    o->demand.capabilities = (struct tlv_list){names, count};
    o->exclusive = cli_flag(c, "exclusive") != NULL;
    return e;
}

/* As a flow file does: it goes only to a worker that can keep it. */
static enum err sandbox_of(struct cli *c, struct wire_run *run, struct wire_options *o) {
    const char *word = cli_flag(c, "sandbox");
    struct wire_name *names = ARENA_ARRAY(&c->arena, struct wire_name, o->demand.capabilities.count + 1);
    if (word == NULL) return ERR_OK;
    if (!wire_sandbox_of(slice_str(word), &run->sandbox))
        return cli_refuse(c, ERR_INVALID, "--sandbox: expected strict, net-off or none, found `%s`", word);
    if (run->sandbox == 0) return ERR_OK;
    if (o->demand.capabilities.count > 0)
        memcpy(names, o->demand.capabilities.at, sizeof *names * o->demand.capabilities.count);
    names[o->demand.capabilities.count].name = SLICE(WIRE_SANDBOX_CAPABILITY);
    o->demand.capabilities = (struct tlv_list){names, o->demand.capabilities.count + 1};
    return ERR_OK;
}

static enum err submit(struct cli *c, struct slice *ret_job) {
    struct wire_options options = {.kind = JOB_COMMAND};
    struct wire_run run = {0};
    struct wire_arg *args = ARENA_ARRAY(&c->arena, struct wire_arg, c->arg_count + 1);
    enum err e = read_program(c, &options, &run);
    if (e != ERR_OK) return e;
    struct slice name = run.script_name.len > 0 ? run.script_name : base_name(c->args[0]);
    struct wire_job job = {.name = cli_flag(c, "name") != NULL ? cli_flag_text(c, "name") : name};
    struct wire_flow flow = {.name = job.name, .part = {.options = {&options, 1}, .jobs = {&job, 1}}};
    struct wire_submit m = {{&flow, 1}};
    struct client_frame f;
    struct buf body;
    for (int i = 0; i < c->arg_count; i++) args[i].text = slice_str(c->args[i]);
    run.argv = (struct tlv_list){args, (uint32_t)c->arg_count};
    e = options_of(c, &options);
    if (e == ERR_OK) e = sandbox_of(c, &run, &options);
    if (e == ERR_OK) e = run_here(c, &options, &run);
    if (e == ERR_OK) e = cli_pairs(c, "env", &run.env);
    if (e == ERR_OK) e = cli_pairs(c, "label", &flow.labels);
    if (e == ERR_OK) e = read_stdin(c, &run);
    if (e == ERR_OK) e = tlv_check(&wire_run_desc, &run, c->why);
    if (e != ERR_OK) return e;
    buf_init(&body, WIRE_BODY_MAX);
    tlv_encode(&wire_run_desc, &run, &body);
    job.body = buf_slice(&body);
    e = body.full ? cli_refuse(c, ERR_LIMIT, "the command is too long")
                  : client_ask(&c->client, WIRE_SUBMIT, &m, &f, c->why);
    buf_fini(&body);
    if (e != ERR_OK) return e;
    const struct wire_submitted *got = f.message;
    const struct wire_submitted_flow *flows = got->flows.at;
    if (got->flows.count != 1) return cli_refuse(c, ERR_UNSUPPORTED, "unexpected answer from the server");
    if (flows->code.len > 0) return cli_refuse(c, client_err(flows->code), "%.*s", SLICE_FMT(flows->message));
    char *text = arena_alloc(&c->arena, flows->flow.len + job.name.len + 2);
    snprintf(text, flows->flow.len + job.name.len + 2, "%.*s/%.*s", SLICE_FMT(flows->flow), SLICE_FMT(job.name));
    *ret_job = slice_str(text);
    return ERR_OK;
}

/* ---- following it ---- */

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
    (void)number;
    interrupted++;
}

struct following {
    struct cli *c;
    struct slice job;
    uint32_t events_request, logs_request, cancel_request;
    uint32_t attempt;       /* the last that was heard of */
    uint32_t attempt_shown; /* the last whose output is, or was, shown */
    uint64_t shown_bytes;   /* of it */
    bool ended;
    bool is_left; /* to itself: nobody waits any more */
    struct reason reason;
};

static void hear_events(struct following *w, const struct wire_events *m) {
    const struct wire_event *list = m->events.at;
    for (uint32_t i = 0; i < m->events.count; i++) {
        if (list[i].attempt > w->attempt) w->attempt = list[i].attempt;
        if (slice_eq(list[i].kind, SLICE("job"))) w->ended = out_state_is_end(list[i].to);
    }
}

static enum err hear(struct following *w, const struct client_frame *f) {
    if (f->request == w->cancel_request || reason_hear(w->c, &w->reason, f)) return ERR_OK;
    enum err e = client_refusal(f, w->c->why);
    if (e != ERR_OK) return e;
    if (f->request == w->events_request && f->op == WIRE_EVENTS) hear_events(w, f->message);
    if (f->request != w->logs_request || f->op != WIRE_LOG_DATA) return ERR_OK;
    const struct wire_log_data *m = f->message;
    const struct wire_log_piece *pieces = m->pieces.at;
    for (uint32_t i = 0; i < m->pieces.count; i++) w->shown_bytes = pieces[i].offset + pieces[i].data.len;
    logs_print(w->c, m, false);
    if (!(f->flags & FRAME_MORE)) w->logs_request = 0;
    return ERR_OK;
}

static enum err show_output(struct following *w) {
    struct wire_logs m = {.job = w->job, .attempt = w->attempt_shown, .offset = w->shown_bytes, .follow = true};
    return client_send(&w->c->client, WIRE_LOGS, &m, &w->logs_request, w->c->why);
}

static enum err step(struct following *w) {
    struct cli *c = w->c;
    enum err e = ERR_OK;
    w->is_left = interrupted > 1;
    if (interrupted == 1 && w->cancel_request == 0) {
        struct wire_name name = {w->job};
        struct wire_targets m = {.targets = {&name, 1}, .reason = SLICE("interrupted")};
        out_say(stderr, "reeve run: cancelling %.*s; press Ctrl-C again to leave without waiting", SLICE_FMT(w->job));
        e = client_send(&c->client, WIRE_CANCEL, &m, &w->cancel_request, c->why);
    }
    if (e == ERR_OK && w->logs_request == 0 && w->attempt > w->attempt_shown) {
        w->attempt_shown++;
        w->shown_bytes = 0;
        if (w->attempt_shown > 1) fprintf(stderr, "reeve run: attempt %u\n", w->attempt_shown);
        e = show_output(w);
    }
    return e;
}

/* Until the job is over and all of its output shown. After a break it goes on where it was. */
static enum err follow(struct following *w) {
    struct cli *c = w->c;
    struct wire_name name = {w->job};
    struct wire_follow m = {.targets = {&name, 1}, .state_first = true};
    bool had_output = w->logs_request != 0;
    w->cancel_request = w->logs_request = 0;
    reason_forget(&w->reason);
    enum err e = client_send(&c->client, WIRE_FOLLOW, &m, &w->events_request, c->why);
    if (e == ERR_OK && had_output) e = show_output(w);
    while (e == ERR_OK) {
        struct client_frame f;
        e = step(w);
        if (w->is_left) c->exit_code = EXIT_SIGNAL + SIGINT;
        if (e != ERR_OK || w->is_left || (w->ended && w->logs_request == 0 && w->attempt == w->attempt_shown)) break;
        bool is_still = w->logs_request == 0 && !w->ended; /* no attempt, or none any more */
        e = client_next(&c->client, is_still ? REASON_AFTER_MS : -1, &f, c->why);
        if (e == ERR_OK && f.op != 0)
            e = hear(w, &f);
        else if (e == ERR_OK && is_still)
            e = reason_ask(c, &w->reason, w->job);
        client_forget(&c->client);
    }
    return e;
}

/* ---- its end ---- */

static int exit_of(const struct wire_job_view *v) {
    if (slice_eq(v->state, SLICE("succeeded"))) return 0;
    if (slice_eq(v->state, SLICE("timed_out"))) return EXIT_TIMED_OUT;
    if (!slice_eq(v->state, SLICE("failed"))) return EXIT_NEVER_RAN;
    if (v->signal != 0) return EXIT_SIGNAL + (int)(v->signal & 127);
    if (v->exit_code != 0) return (int)(v->exit_code & 255);
    return slice_eq(v->cause, SLICE("exit")) ? EXIT_ENDED_BADLY : EXIT_NEVER_RAN;
}

static enum err finish(struct cli *c, struct slice job) {
    struct client_frame f;
    struct wire_get m = {.target = job, .details = true};
    enum err e = client_ask(&c->client, WIRE_GET, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_got *got = f.message;
    if (got->jobs.count == 0) return cli_refuse(c, ERR_UNKNOWN, "the server no longer knows the job");
    const struct wire_job_view *v = got->jobs.at;
    c->exit_code = exit_of(v);
    if (c->json) api_print_line(c, &wire_job_view_desc, v);
    if (c->exit_code == 0 || c->json) return ERR_OK;
    bool is_sent = cli_flag(c, "script") != NULL || cli_flag(c, "archive") != NULL || cli_flag(c, "here") != NULL;
    bool is_relative = !is_sent && c->arg_count > 0 && c->args[0][0] != '/' && strchr(c->args[0], '/') != NULL;
    out_say(
        stderr, "reeve run: %.*s %.*s%s%.*s%s%s%.*s%s", SLICE_FMT(job), SLICE_FMT(v->state),
        v->cause.len > 0 ? " (" : "", SLICE_FMT(v->cause), v->cause.len > 0 ? ")" : "", v->reason.len > 0 ? ": " : "",
        SLICE_FMT(v->reason),
        is_relative && slice_eq(v->cause, SLICE("rejected"))
            ? "; a job starts in an empty directory: send the file with --script FILE, or run in this one with --here"
            : "");
    return ERR_OK;
}

enum err verb_run_command(struct cli *c) {
    struct slice job = {0};
    enum err e = submit(c, &job);
    if (e != ERR_OK) return e;
    if (cli_flag(c, "detach") != NULL) {
        if (c->json)
            printf("{\"job\":\"%.*s\"}\n", SLICE_FMT(job));
        else
            printf("%.*s\n", SLICE_FMT(job));
        return ERR_OK;
    }
    struct following w = {.c = c, .job = job};
    struct sigaction act = {.sa_handler = interrupt};
    interrupted = 0;
    sigaction(SIGINT, &act, NULL);
    do {
        e = follow(&w);
        if (e == ERR_OK && !w.is_left) e = finish(c, job);
    } while (cli_is_back(c, e, &interrupted));
    return e;
}
