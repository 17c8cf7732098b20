/* verb_deploy.c: a script, a program, an archive or a flow file as services: sent, then watched until they are healthy,
 * or until it is known why they are not. What is waited for is the end of the flow; looks between are for people. */
#include <stdio.h>

#include "out.h"
#include "spec_value.h"
#include "verbs.h"

#define FILE_BYTES_MAX ((size_t)256 << 20)
#define INLINE_BYTES_MAX 32768u
#define LOOK_MS 200
#define TEXT_BYTES 512u

/* ---- what is deployed ---- */

static bool ends_with(const char *text, const char *ending) {
    size_t len = strlen(text), most = strlen(ending);
    return len > most && strcmp(text + len - most, ending) == 0;
}

static bool is_flow_file(const char *path) {
    return ends_with(path, ".yaml") || ends_with(path, ".yml") || ends_with(path, ".json");
}

static bool is_archive(const char *path) {
    static const char *const endings[] = {".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (ends_with(path, endings[i])) return true;
    return false;
}

static struct slice file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slice_str(slash != NULL ? slash + 1 : path);
}

/* Without its ending: web for web.py and web.tar.gz. */
static struct slice stem(struct slice name) {
    size_t len = name.len;
    for (size_t i = name.len; i > 1 && len == name.len; i--)
        if (name.ptr[i - 1] == '.') len = i - 1;
    if (len > 4 && memcmp(name.ptr + len - 4, ".tar", 4) == 0) len -= 4;
    return slice_of(name.ptr, len);
}

static enum err flags_over(struct cli *c, struct wire_run *run, struct wire_options *o) {
    struct slice port = cli_flag_text(c, "port");
    int64_t n = 0;
    run->port_auto = port.len > 0 ? slice_eq(port, SLICE("auto")) : run->port_auto;
    if (port.len > 0 && run->port_auto) run->port = 0;
    if (port.len > 0 && !run->port_auto) {
        if (!spec_number(port, &n) || n < 1 || n > UINT16_MAX)
            return cli_refuse(c, ERR_INVALID, "--port: expected a port between 1 and 65535, or auto, found `%.*s`",
                              SLICE_FMT(port));
        run->port = (uint32_t)n;
    }
    if (cli_flag(c, "health") != NULL) {
        run->health.kind = WIRE_PROBE_HTTP;
        run->health.path = cli_flag_text(c, "health");
        if (run->health.path.len == 0 || run->health.path.ptr[0] != '/')
            return cli_refuse(c, ERR_INVALID, "--health: expected a path that begins with /");
        if (run->port == 0 && !run->port_auto) return cli_refuse(c, ERR_INVALID, "--health needs --port");
    }
    return cli_flag_duration(c, "healthy-within", &o->healthy_within_ms);
}

static enum err body_put(struct cli *c, const struct wire_run *run, struct slice *ret) {
    struct buf body;
    enum err e = tlv_check(&wire_run_desc, run, c->why);
    if (e != ERR_OK) return e;
    buf_init(&body, WIRE_BODY_MAX);
    tlv_encode(&wire_run_desc, run, &body);
    if (body.full)
        e = cli_refuse(c, ERR_LIMIT, "the arguments are too long");
    else
        *ret = arena_slice(&c->arena, buf_slice(&body));
    buf_fini(&body);
    return e;
}

/* One file as a flow of one job. */
static enum err program_read(struct cli *c, struct wire_flow *ret) {
    struct wire_options *o = ARENA_NEW(&c->arena, struct wire_options);
    struct wire_job *job = ARENA_NEW(&c->arena, struct wire_job);
    struct wire_arg *args = ARENA_ARRAY(&c->arena, struct wire_arg, c->arg_count);
    struct wire_name *names = ARENA_ARRAY(&c->arena, struct wire_name, CLI_GIVEN_MAX);
    struct wire_run run = {.script_name = file_name(c->args[0]), .is_archive = is_archive(c->args[0])};
    const char *value;
    for (int i = 1; i < c->arg_count; i++) args[run.argv.count++].text = slice_str(c->args[i]);
    run.argv.at = args;
    o->kind = JOB_SERVICE;
    o->demand.pool = cli_flag_text(c, "pool");
    o->demand.capabilities.at = names;
    for (uint32_t at = 0; (value = cli_flag_next(c, "requires", &at)) != NULL;)
        names[o->demand.capabilities.count++].name = slice_str(value);
    enum err e = file_read(c, c->args[0], FILE_BYTES_MAX, &run.script);
    if (e == ERR_OK && run.script.len == 0) e = cli_refuse(c, ERR_INVALID, "%s is empty", c->args[0]);
    if (e == ERR_OK && run.script.len > INLINE_BYTES_MAX) {
        e = blob_put(c, c->args[0], run.script, &run.script_hash);
        run.script = (struct slice){0};
    }
    if (e == ERR_OK) e = cli_pairs(c, "env", &run.env);
    if (e == ERR_OK) e = flags_over(c, &run, o);
    if (e == ERR_OK) e = body_put(c, &run, &job->body);
    job->name = job->service = cli_flag(c, "name") != NULL ? cli_flag_text(c, "name") : stem(run.script_name);
    *ret = (struct wire_flow){.name = job->name, .part = {.options = {o, 1}, .jobs = {job, 1}}};
    return e;
}

/* Flags go over the one service that a flow file has. */
static enum err flow_read(struct cli *c, struct wire_flow *ret) {
    static const char *const of_programs[] = {"pool", "requires", "env"};
    static const char *const of_one[] = {"name", "port", "health", "healthy-within"};
    struct spec_schedule schedule;
    struct wire_run run;
    struct wire_job *one = NULL;
    uint32_t count = 0;
    bool is_changed = false;
    if (c->arg_count > 1) return cli_refuse(c, ERR_INVALID, "a flow file takes no arguments; -p gives it parameters");
    for (size_t i = 0; i < sizeof of_programs / sizeof *of_programs; i++)
        if (cli_flag(c, of_programs[i]) != NULL)
            return cli_refuse(c, ERR_INVALID, "--%s is for a script or a program; in a flow file, set it there",
                              of_programs[i]);
    enum err e = verb_flow_file_read(c, c->args[0], FLOW_SUBMITTED, ret, &schedule);
    if (e != ERR_OK) return e;
    struct wire_job *jobs = ret->part.jobs.at;
    for (uint32_t i = 0; i < ret->part.jobs.count; i++)
        if (jobs[i].service.len > 0) one = &jobs[i], count++;
    if (count == 0) return cli_refuse(c, ERR_INVALID, "%s contains no service: use `reeve submit`", c->args[0]);
    for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++) is_changed |= cli_flag(c, of_one[i]) != NULL;
    if (!is_changed) return ERR_OK;
    if (count > 1)
        return cli_refuse(c, ERR_INVALID, "%s contains %u services: set it in the file for each", c->args[0], count);
    ret->source = (struct wire_source){0}; /* what is deployed is not what the file says */
    ret->source_name = ret->params = (struct slice){0};
    struct wire_options *options = ret->part.options.at;
    e = tlv_decode(&wire_run_desc, one->body, TLV_STRICT, &c->arena, &run, c->why);
    if (e == ERR_OK) e = flags_over(c, &run, &options[one->options]);
    if (e == ERR_OK) e = body_put(c, &run, &one->body);
    if (cli_flag(c, "name") != NULL) one->service = cli_flag_text(c, "name");
    return e;
}

/* ---- watching ---- */

struct deploy_progress {
    struct slice name, job; /* of the service, and of the job that deploys it */
    uint32_t version;       /* that this flow deploys; 0 = it has not come to that */
    char said[TEXT_BYTES];  /* the last line about it */
    char why[TEXT_BYTES];   /* why it was not healthy when we looked last */
};

struct deploying {
    struct cli *c;
    struct slice flow;
    struct deploy_progress *list;
    uint32_t count;
};

static void say(struct deploying *d, struct deploy_progress *s, const struct wire_service_view *v) {
    char line[TEXT_BYTES];
    snprintf(s->why, sizeof s->why, "%.*s", SLICE_FMT(v->text));
    if (v->healthy)
        return;
    else if (v->worker.len > 0)
        snprintf(line, sizeof line, "version %u, attempt %u on %.*s: %.*s", v->version, v->attempt,
                 SLICE_FMT(v->worker), SLICE_FMT(v->text));
    else
        snprintf(line, sizeof line, "version %u: %.*s", v->version, SLICE_FMT(v->text));
    if (d->c->json || strcmp(line, s->said) == 0) return;
    memcpy(s->said, line, sizeof line);
    out_say(stderr, "%.*s: %s", SLICE_FMT(s->name), line);
}

static enum err look(struct deploying *d) {
    for (uint32_t i = 0; i < d->count; i++) {
        struct wire_service_view v;
        struct why ignored, *why = d->c->why;
        d->c->why = &ignored; /* it need not be there yet, or any more */
        enum err e = service_look(d->c, d->list[i].name, &v);
        d->c->why = why;
        if (e != ERR_OK && e != ERR_NOT_FOUND && e != ERR_INVALID) return why_set(why, e, "%s", ignored.text);
        if (e == ERR_OK && slice_eq(v.name, d->list[i].name) && v.deploying) {
            d->list[i].version = v.version;
            say(d, &d->list[i], &v);
        }
    }
    return ERR_OK;
}

/* Until the flow is over; it has not ended badly. */
static enum err watch(struct deploying *d, bool *ret_good) {
    struct cli *c = d->c;
    struct wire_name name = {d->flow};
    for (;;) {
        struct wire_wait m = {.targets = {&name, 1}, .timeout_ms = LOOK_MS};
        struct client_frame f;
        enum err e = look(d);
        if (e == ERR_OK) e = client_ask(&c->client, WIRE_WAIT, &m, &f, c->why);
        if (e != ERR_OK) return e;
        const struct wire_waited *got = f.message;
        const struct wire_job_view *over = got->over.at;
        if (got->over.count == 0) continue;
        *ret_good = slice_eq(over->state, SLICE("succeeded"));
        return ERR_OK;
    }
}

/* ---- the end ---- */

static const struct deploy_progress *deployed_by(const struct deploying *d, struct slice job) {
    for (uint32_t i = 0; i < d->count; i++)
        if (d->list[i].job.len == 0 || slice_eq(d->list[i].job, job)) return &d->list[i];
    return NULL;
}

static void json_failed(const struct deploy_progress *s, const struct wire_job_view *v) {
    struct out_object o;
    out_object_begin(&o);
    if (s != NULL) json_key(&o.json, "name"), json_text(&o.json, s->name);
    json_key(&o.json, "job"), json_text(&o.json, v->job);
    json_key(&o.json, "state"), json_text(&o.json, v->state);
    json_key(&o.json, "cause"), json_text(&o.json, v->cause);
    if (s != NULL) json_key(&o.json, "text"), json_str(&o.json, s->why);
    out_object_end(&o);
}

/* What runs in place of the version that failed. */
static void say_instead(struct cli *c, struct slice name) {
    struct wire_service_view now;
    struct why ignored, *why = c->why;
    c->why = &ignored;
    enum err e = service_look(c, name, &now);
    c->why = why;
    bool is_there = e == ERR_OK && slice_eq(now.name, name) && now.version != 0;
    if (is_there)
        fprintf(stderr, "reeve %s: rolled back to version %u\n", c->verb->words, now.version);
    else if (e == ERR_OK || e == ERR_NOT_FOUND)
        out_say(stderr, "reeve %s: there is no earlier version: service %.*s does not run", c->verb->words,
                SLICE_FMT(name));
}

static void say_failed(struct cli *c, const struct deploying *d, const struct wire_job_view *v) {
    const uint8_t *slash = memchr(slice_data(v->job), '/', v->job.len);
    size_t before = slash != NULL ? (size_t)(slash - v->job.ptr) + 1 : 0;
    const struct deploy_progress *s = deployed_by(d, slice_of(v->job.ptr + before, v->job.len - before));
    if (c->json) {
        json_failed(s, v);
        return;
    }
    fprintf(stderr, "reeve %s: ", c->verb->words);
    out_clean(stderr, s != NULL ? s->name : v->job);
    if (s != NULL && slice_eq(v->cause, SLICE("unhealthy"))) {
        fprintf(stderr, " did not become healthy in time%s", s->why[0] != 0 ? ": " : "");
        out_clean(stderr, slice_str(s->why));
    } else {
        fprintf(stderr, " %.*s%s%.*s", SLICE_FMT(v->state), v->cause.len > 0 ? ": " : "", SLICE_FMT(v->cause));
    }
    fprintf(stderr, "\n");
    if (s != NULL) say_instead(c, s->name);
}

static enum err tell(struct cli *c, const struct deploying *d, bool good) {
    struct client_frame f;
    struct wire_get m = {.target = d->flow, .details = true};
    for (uint32_t i = 0; i < d->count && good; i++) {
        struct wire_service_view v;
        enum err e = service_look(c, d->list[i].name, &v);
        if (e != ERR_OK) return e;
        service_line(c, &v);
    }
    if (good) return ERR_OK;
    c->exit_code = EXIT_ENDED_BADLY;
    enum err e = client_ask(&c->client, WIRE_GET, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_got *got = f.message;
    uint32_t count = got->jobs.count; /* of a large flow the first page tells enough */
    struct wire_job_view *jobs = ARENA_ARRAY(&c->arena, struct wire_job_view, count + 1);
    if (count > 0) memcpy(jobs, got->jobs.at, sizeof *jobs * count);
    for (uint32_t i = 0; i < count; i++) {
        jobs[i].job = arena_slice(&c->arena, jobs[i].job);
        jobs[i].state = arena_slice(&c->arena, jobs[i].state);
        jobs[i].cause = arena_slice(&c->arena, jobs[i].cause);
    }
    for (uint32_t i = 0; i < count; i++) {
        bool bad = !slice_eq(jobs[i].state, SLICE("succeeded")) && !slice_eq(jobs[i].state, SLICE("skipped"));
        if (bad && !slice_eq(jobs[i].cause, SLICE("upstream"))) say_failed(c, d, &jobs[i]);
    }
    return ERR_OK;
}

/* With --detach: the id of the flow that deploys. */
static enum err detach(struct cli *c, const struct flow_sent *sent) {
    if (c->json)
        flow_sent_print(c, sent);
    else
        printf("%.*s\n", SLICE_FMT(sent->flow.flow));
    return ERR_OK;
}

enum err verb_deploy(struct cli *c) {
    struct wire_flow flow;
    struct flow_sent sent;
    bool good = false;
    enum err e = is_flow_file(c->args[0]) ? flow_read(c, &flow) : program_read(c, &flow);
    if (e == ERR_OK) e = flow_send(c, &flow, &sent);
    if (e != ERR_OK) return e;
    if (cli_flag(c, "detach") != NULL) return detach(c, &sent);
    struct deploying d = {.c = c,
                          .flow = arena_slice(&c->arena, sent.flow.flow),
                          .list = ARENA_ARRAY(&c->arena, struct deploy_progress, flow.part.jobs.count)};
    const struct wire_job *jobs = flow.part.jobs.at;
    for (uint32_t i = 0; i < flow.part.jobs.count; i++)
        if (jobs[i].service.len > 0)
            d.list[d.count++] = (struct deploy_progress){.name = jobs[i].service, .job = jobs[i].name};
    e = watch(&d, &good);
    return e == ERR_OK ? tell(c, &d, good) : e;
}

/* ---- back to an earlier version ---- */

enum err verb_rollback(struct cli *c) {
    struct wire_service_view v;
    struct client_frame f;
    int64_t number = 0;
    bool good = false;
    if (c->arg_count == 2 && (!spec_number(slice_str(c->args[1]), &number) || number < 1 || number > UINT32_MAX))
        return cli_refuse(c, ERR_INVALID,
                          "expected the number of a version, found `%s`; `reeve services %s` lists them", c->args[1],
                          c->args[0]);
    enum err e = service_look(c, slice_str(c->args[0]), &v);
    if (e != ERR_OK) return e;
    struct deploy_progress *one = ARENA_NEW(&c->arena, struct deploy_progress);
    one->name = arena_slice(&c->arena, v.name);
    struct wire_service_rollback m = {one->name, (uint32_t)number};
    e = client_ask(&c->client, WIRE_SERVICE_ROLLBACK, &m, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_submitted *got = f.message;
    struct flow_sent sent = {got->lsn, *(const struct wire_submitted_flow *)got->flows.at};
    if (cli_flag(c, "detach") != NULL) return detach(c, &sent);
    struct deploying d = {.c = c, .flow = arena_slice(&c->arena, sent.flow.flow), .list = one, .count = 1};
    e = watch(&d, &good);
    return e == ERR_OK ? tell(c, &d, good) : e;
}
