/* workload.c: what an assignment means on this machine: a directory, a program with its arguments, an environment; and
 * what the program left as its result.
 *
 *     SPACE/work/          where it starts
 *     SPACE/<script>       a script or an archive that came with the job
 *     SPACE/inputs.json    what its parents left, an object by their names; $REEVE_INPUTS
 *     SPACE/request        of an http job, for the child that makes it
 *     SPACE/retry-after    from that child: how long the server wants to be left alone, in ms
 *     SPACE/output.json    what it leaves for its children; $REEVE_OUTPUT
 *     .shared/TENANT/      or: where jobs start that share a directory
 *     .titan_workspace/    or: scripts of Titan's dialect, and where they start (titan_place.h) */
#include <stdio.h>
#include <stdlib.h>

#include "agent_impl.h"
#include "blobs.h"
#include "interpreter.h"
#include "jobenv.h"
#include "json.h"
#include "json_read.h"
#include "panic.h"
#include "service_health.h"

#define OUTPUT_FILE "output.json"
#define INPUTS_FILE "inputs.json"
#define REQUEST_FILE "request"
#define RETRY_AFTER_FILE "retry-after"
#define INPUTS_BYTES_MAX (16u << 20)
#define ARGS_MAX 100000u
#define ARGS_OURS_MAX 12u /* what we put before them */
#define REFUSAL_BYTES_MAX 1024u
#define SHARED_SPACE ".shared"
#define SHARED_FILE "/.shared" /* in it, so that it is made */
#define SHARED_NAME_MAX 128u
#define SCRIPT_BYTES_MAX ((size_t)256 << 20)

static const char *text_of(struct agent *a, struct slice s) {
    char *text = arena_alloc(&a->arena, s.len + 1);
    if (s.len > 0) memcpy(text, s.ptr, s.len);
    return text;
}

/* ---- programs ---- */

static enum err script_name_check(struct slice name, struct why *why) {
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '/' || name.ptr[i] == 0)
            return why_set(why, ERR_INVALID, "the name of a script has no `/`: %.*s", SLICE_FMT(name));
    if (name.len > 0 && name.ptr[0] == '.')
        return why_set(why, ERR_INVALID, "the name of a script does not begin with `.`: %.*s", SLICE_FMT(name));
    return ERR_OK;
}

/* The file that came with the job, or was fetched: a script or an archive. */
static enum err script_place(struct agent *a, struct attempt *t, const struct wire_run *run, const char **ret_file,
                             char **ret_path, struct why *why) {
    const char *file = text_of(a, run->script_name.len > 0 ? run->script_name : SLICE("script"));
    enum err e = ERR_OK;
    if (run->script_hash.len == 0) e = a->w.space->ops->write(a->w.space, t->space, file, run->script, true, why);
    if (e != ERR_OK) return e;
    *ret_file = file;
    *ret_path = arena_alloc(&a->arena, SPACE_PATH_MAX);
    a->w.space->ops->path(a->w.space, t->space, file, *ret_path);
    return ERR_OK;
}

/* A tenant as the name of a directory. */
static void tenant_folder(struct slice tenant, char ret[SHARED_NAME_MAX + 1]) {
    size_t len = tenant.len < SHARED_NAME_MAX ? tenant.len : SHARED_NAME_MAX;
    for (size_t i = 0; i < len; i++) ret[i] = (char)(tenant.ptr[i] == '/' ? '_' : tenant.ptr[i]);
    if (len == 0 || ret[0] == '.') ret[0] = '_', len = len > 0 ? len : 1;
    ret[len] = 0;
}

/* Of Titan's dialect: into the place that it shares. Its first bytes are in `begin`. */
static enum err script_share(struct agent *a, struct attempt *t, struct slice tenant, const struct wire_run *run,
                             const char *file, char *path, struct buf *begin, struct why *why) {
    char folder[SHARED_NAME_MAX + 1], place[TITAN_PLACE_PATH_MAX];
    struct buf fetched;
    struct slice bytes = run->script;
    enum err e = ERR_OK;
    buf_init(&fetched, SCRIPT_BYTES_MAX);
    if (run->script_hash.len > 0) {
        e = a->w.space->ops->read(a->w.space, t->space, file, &fetched, why);
        bytes = buf_slice(&fetched);
    }
    tenant_folder(tenant, folder);
    if (e == ERR_OK) e = titan_place_take(&a->titan_place, folder, file, bytes, &t->titan_ticket, place, why);
    if (e == ERR_OK) {
        a->w.space->ops->path(a->w.space, TITAN_PLACE_SPACE, place, path);
        buf_put(begin, bytes.ptr, bytes.len < begin->max ? bytes.len : begin->max);
    }
    buf_fini(&fetched);
    return e;
}

/* Where it lies. A sandbox sees only the private place, and a worker whose processes run elsewhere has no other. */
static enum err script_path(struct agent *a, struct attempt *t, struct slice tenant, const struct job_setup *w,
                            const char **ret_file, char **ret_path, struct buf *begin, struct why *why) {
    const struct wire_run *run = &w->run;
    if (run->titan.len > 0 && w->sandbox.space == NULL && !a->o.elsewhere) {
        *ret_file = text_of(a, run->script_name.len > 0 ? run->script_name : SLICE("script"));
        *ret_path = arena_alloc(&a->arena, SPACE_PATH_MAX);
        return script_share(a, t, tenant, run, *ret_file, *ret_path, begin, why);
    }
    enum err e = script_place(a, t, run, ret_file, ret_path, why);
    if (e == ERR_OK) e = a->w.space->ops->read_at(a->w.space, t->space, *ret_file, 0, begin->max, begin, why);
    return e;
}

/* What runs it goes to the front of `argv`. */
static enum err script_make(struct agent *a, struct attempt *t, struct slice tenant, const struct job_setup *w,
                            const char **argv, uint32_t *count, struct why *why) {
    const struct wire_run *run = &w->run;
    const char *file = NULL;
    char *path = NULL;
    uint8_t begin[4] = {0};
    struct buf first = {begin, 0, sizeof begin, sizeof begin, false};
    enum err e = script_path(a, t, tenant, w, &file, &path, &first, why);
    if (e != ERR_OK) return e;
    const struct wire_arg *said = run->interpreter.at;
    const struct interpreter *by = interpreter_of(slice_str(file));
    bool is_program = memcmp(begin, "#!", 2) == 0 || memcmp(begin, "\177ELF", 4) == 0;
    for (uint32_t i = 0; i < run->interpreter.count; i++) argv[(*count)++] = text_of(a, said[i].text);
    if (run->interpreter.count > 0) by = NULL;
    if (by == NULL && !is_program && run->interpreter.count == 0)
        return why_set(why, ERR_INVALID, "no interpreter for script `%s`: " INTERPRETER_NONE, file);
    for (uint32_t i = 0; by != NULL && by->argv[i] != NULL; i++) argv[(*count)++] = by->argv[i];
    argv[(*count)++] = path;
    return ERR_OK;
}

/* A request is made by this program again: child/child_http.h. */
static enum err request_make(struct agent *a, struct attempt *t, const struct wire_run *run, const char **argv,
                             uint32_t *count, struct why *why) {
    struct buf b;
    char *path = arena_alloc(&a->arena, SPACE_PATH_MAX), *retry_after = arena_alloc(&a->arena, SPACE_PATH_MAX);
    if (run->http.count == 0) return why_set(why, ERR_INVALID, "there is no request");
    buf_init(&b, 2 * WIRE_BODY_MAX);
    tlv_encode(&wire_http_desc, run->http.at, &b);
    enum err e = a->w.space->ops->write(a->w.space, t->space, REQUEST_FILE, buf_slice(&b), false, why);
    buf_fini(&b);
    a->w.space->ops->path(a->w.space, t->space, REQUEST_FILE, path);
    a->w.space->ops->path(a->w.space, t->space, RETRY_AFTER_FILE, retry_after);
    argv[(*count)++] = PROC_SELF;
    argv[(*count)++] = "--child-http";
    argv[(*count)++] = path;
    argv[(*count)++] = a->o.http_private != NULL ? a->o.http_private : "";
    argv[(*count)++] = retry_after;
    return e;
}

static const char *number_of(struct agent *a, uint64_t value) {
    char *text = arena_alloc(&a->arena, 24);
    snprintf(text, 24, "%llu", (unsigned long long)value);
    return text;
}

/* A child unpacks it and becomes what is in it; src/child/child_unpack.c has the order of its arguments. */
static enum err archive_make(struct agent *a, struct attempt *t, const struct wire_run *run, const char **argv,
                             uint32_t *count, struct why *why) {
    const struct limits *l = &a->o.limits;
    const char *file = NULL;
    char *path = NULL;
    if (run->script.len == 0 && run->script_hash.len == 0) return why_set(why, ERR_INVALID, "there is no archive");
    if (run->workdir.len > 0 || run->shared)
        return why_set(why, ERR_INVALID, "an archive is run where it is unpacked: `dir` names a folder in it");
    enum err e = script_place(a, t, run, &file, &path, why);
    if (e != ERR_OK) return e;
    const char *const args[] = {PROC_SELF,
                                "--child-unpack",
                                path,
                                text_of(a, run->entry),
                                text_of(a, run->dir),
                                number_of(a, run->strip),
                                number_of(a, (uint64_t)l->archive_bytes_max),
                                number_of(a, (uint64_t)l->archive_ratio_max),
                                number_of(a, (uint64_t)l->archive_entries_max),
                                number_of(a, (uint64_t)l->archive_path_bytes_max),
                                number_of(a, (uint64_t)l->archive_depth_max)};
    _Static_assert(sizeof args / sizeof args[0] <= ARGS_OURS_MAX, "room in argv");
    for (uint32_t i = 0; i < sizeof args / sizeof args[0]; i++) argv[(*count)++] = args[i];
    return ERR_OK;
}

/* Whoever owns the worker has said what runs it. A payload that cannot be an argument (a blob, or with a zero byte in
 * it) is on its standard input only. */
static enum err handler_make(struct agent *a, struct job_setup *w, struct why *why) {
    const struct wire_run *run = &w->run;
    const struct agent_handler *h = a->o.handlers, *end = h + a->o.handler_count;
    while (h < end && !slice_eq(slice_str(h->type), run->handler)) h++;
    if (h == end) return why_set(why, ERR_UNSUPPORTED, "no handler for `%.*s` here", SLICE_FMT(run->handler));
    uint32_t count = 0;
    while (h->argv[count] != NULL) count++;
    const char **argv = ARENA_ARRAY(&a->arena, const char *, count + 2);
    memcpy(argv, h->argv, sizeof *argv * count);
    bool has_zero = run->stdin_text.len > 0 && memchr(run->stdin_text.ptr, 0, run->stdin_text.len) != NULL;
    if (!has_zero && run->stdin_hash.len == 0) argv[count] = text_of(a, run->stdin_text);
    w->argv = argv;
    return ERR_OK;
}

static enum err argv_make(struct agent *a, struct attempt *t, const struct wire_assignment *order, struct job_setup *w,
                          struct why *why) {
    uint8_t kind = order->kind;
    const struct wire_arg *args = w->run.argv.at;
    const char **argv =
        ARENA_ARRAY(&a->arena, const char *, w->run.argv.count + w->run.interpreter.count + ARGS_OURS_MAX + 1);
    uint32_t count = 0;
    enum err e = ERR_OK;
    bool is_script = w->run.script.len > 0 || w->run.script_hash.len > 0;
    if (w->run.handler.len > 0) return handler_make(a, w, why);
    if (kind == JOB_ARCHIVE || (kind == JOB_SERVICE && w->run.is_archive)) {
        e = archive_make(a, t, &w->run, argv, &count, why);
    } else if (kind == JOB_SCRIPT || (kind == JOB_SERVICE && is_script)) {
        e = script_make(a, t, order->tenant, w, argv, &count, why);
    } else if (kind == JOB_HTTP) {
        e = request_make(a, t, &w->run, argv, &count, why);
    } else if (w->run.shell.len > 0) {
        argv[count++] = "/bin/sh";
        argv[count++] = "-c";
        argv[count++] = text_of(a, w->run.shell);
        argv[count++] = "sh"; /* $0; arguments are $1 and on */
    } else if (w->run.argv.count == 0) {
        e = why_set(why, ERR_INVALID, "there is no command");
    }
    for (uint32_t i = 0; i < w->run.argv.count; i++) argv[count++] = text_of(a, args[i].text);
    w->argv = argv;
    return e;
}

/* ---- what parents left ---- */

struct slice job_setup_short_name(struct slice job) {
    for (size_t i = job.len; i > 0; i--)
        if (job.ptr[i - 1] == '/') return slice_of(job.ptr + i, job.len - i);
    return job;
}

static enum err inputs_make(struct agent *a, struct attempt *t, const struct wire_assignment *order, struct why *why) {
    const struct wire_input *inputs = order->inputs.at;
    struct buf b;
    buf_init(&b, INPUTS_BYTES_MAX);
    buf_put_u8(&b, '{');
    for (uint32_t i = 0, written = 0; i < order->inputs.count; i++) {
        struct json key;
        if (inputs[i].result.len == 0 && inputs[i].result_hash.len == 0) continue;
        if (written++ > 0) buf_put_u8(&b, ',');
        json_init(&key, &b);
        json_text(&key, job_setup_short_name(inputs[i].job));
        buf_put_u8(&b, ':');
        buf_put_slice(&b, inputs[i].result); /* JSON already: whoever left it was asked */
        if (inputs[i].result.len > 0) continue;
        char large[32];
        blobs_input_name(i, large);
        enum err e = a->w.space->ops->read(a->w.space, t->space, large, &b, why);
        if (e != ERR_OK && e != ERR_LIMIT) {
            buf_fini(&b);
            return e;
        }
    }
    buf_put_slice(&b, SLICE("}\n"));
    enum err e = b.full ? why_set(why, ERR_LIMIT, "what its parents left is more than %u bytes", INPUTS_BYTES_MAX)
                        : a->w.space->ops->write(a->w.space, t->space, INPUTS_FILE, buf_slice(&b), false, why);
    buf_fini(&b);
    return e;
}

/* ---- the environment ---- */

static void env_number(struct jobenv *e, const char *name, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    jobenv_put(e, slice_str(name), slice_str(text));
}

static void env_path(struct jobenv *e, const struct agent *a, const struct attempt *t, const char *name,
                     const char *inside) {
    char path[SPACE_PATH_MAX];
    a->w.space->ops->path(a->w.space, t->space, inside, path);
    jobenv_put(e, slice_str(name), slice_str(path));
}

static void env_inputs(struct jobenv *e, const struct wire_assignment *order) {
    const struct wire_input *inputs = order->inputs.at;
    for (uint32_t i = 0; i < order->inputs.count; i++)
        jobenv_put_input(e, job_setup_short_name(inputs[i].job), inputs[i].result);
}

/* On a worker that has some, a job sees those that it asked for, and no others. */
static void env_gpus(struct jobenv *e, struct agent *a, const struct attempt *t, const struct wire_assignment *order) {
    if (a->o.gpus == 0) return;
    struct slice text = order->gpus > 0 ? gpus_text(&a->gpus, t->index, &a->arena) : SLICE("");
    jobenv_put(e, SLICE("REEVE_GPUS"), text);
    jobenv_put(e, SLICE("CUDA_VISIBLE_DEVICES"), text);
}

/* Where Titan's SDK finds the server: by its listener's own address, or, if that is any, as this worker does. */
static void env_titan(struct jobenv *e, const struct agent *a, struct slice listen) {
    size_t at = listen.len;
    while (at > 0 && listen.ptr[at - 1] != ':') at--;
    if (at == 0) return;
    struct slice host = slice_of(listen.ptr, at - 1), ours = slice_str(a->o.server);
    if (slice_eq(host, SLICE("0.0.0.0")) || slice_eq(host, SLICE("[::]")) || slice_eq(host, SLICE("*"))) {
        size_t end = ours.len;
        struct slice tls = SLICE("tls://"), local = SLICE("unix:");
        if (ours.len > tls.len && memcmp(ours.ptr, tls.ptr, tls.len) == 0)
            ours = slice_of(ours.ptr + tls.len, ours.len - tls.len), end = ours.len;
        while (end > 0 && ours.ptr[end - 1] != ':') end--;
        bool is_local = end == 0 || (ours.len > local.len && memcmp(ours.ptr, local.ptr, local.len) == 0);
        host = is_local ? SLICE("127.0.0.1") : slice_of(ours.ptr, end - 1);
    }
    jobenv_put(e, SLICE("TITAN_HOST"), host);
    jobenv_put(e, SLICE("TITAN_PORT"), slice_of(listen.ptr + at, listen.len - at));
}

/* web.2 is replica 2 of web: its job has the name of the replica behind that of its flow. */
static void env_replica(struct jobenv *e, struct slice set, struct slice job) {
    size_t dot = job.len;
    while (dot > 0 && job.ptr[dot - 1] != '.') dot--;
    jobenv_put(e, SLICE("REEVE_SERVICE"), set);
    if (dot > 0) jobenv_put(e, SLICE("REEVE_REPLICA"), slice_of(job.ptr + dot, job.len - dot));
}

static void env_make(struct agent *a, struct attempt *t, const struct wire_assignment *order, struct job_setup *w) {
    struct jobenv e;
    const struct wire_pair *of_server = order->env.at, *of_job = w->run.env.at;
    jobenv_init(&e, &a->arena);
    for (uint32_t i = 0; a->o.env != NULL && a->o.env[i] != NULL; i++) jobenv_put_line(&e, a->o.env[i]);
    if (w->sandbox.files || w->sandbox.own_uid) env_path(&e, a, t, "HOME", "work"); /* the worker's is not for it */
    env_titan(&e, a, w->run.titan);
    for (uint32_t i = 0; i < w->run.env.count; i++) jobenv_put(&e, of_job[i].key, of_job[i].value);
    for (uint32_t i = 0; i < order->env.count; i++) jobenv_put(&e, of_server[i].key, of_server[i].value);
    env_inputs(&e, order);
    if (t->tended != 0 && service_health_of(a, t)->port != 0) env_number(&e, "PORT", service_health_of(a, t)->port);
    if (w->run.replica_of.len > 0) env_replica(&e, w->run.replica_of, order->job);
    jobenv_put(&e, SLICE("REEVE_JOB"), order->job);
    env_number(&e, "REEVE_ATTEMPT", order->attempt.attempt);
    env_number(&e, "REEVE_FENCE", order->fence);
    jobenv_put(&e, SLICE("REEVE_WORKER"), slice_str(a->spool.self.id));
    jobenv_put(&e, SLICE("REEVE_SERVER"), slice_str(a->o.server_told != NULL ? a->o.server_told : a->o.server));
    env_path(&e, a, t, "REEVE_OUTPUT", OUTPUT_FILE);
    env_path(&e, a, t, "REEVE_INPUTS", INPUTS_FILE);
    env_path(&e, a, t, "REEVE_WORKSPACE", "work");
    env_gpus(&e, a, t, order);
    if (order->token.len > 0) jobenv_put(&e, SLICE("REEVE_TOKEN"), order->token);
    if (order->tenant.len > 0) jobenv_put(&e, SLICE("REEVE_TENANT"), order->tenant);
    if (order->trace.len > 0) jobenv_put(&e, SLICE("TRACEPARENT"), order->trace);
    if (order->constraints.len > 0) jobenv_put(&e, SLICE("REEVE_CONSTRAINTS"), order->constraints);
    if (order->compensation) jobenv_put(&e, SLICE("REEVE_COMPENSATION"), SLICE("true"));
    w->env = jobenv_list(&e);
}

/* ---- */

/* Inside the workspace: relative, and never upwards. */
static enum err path_check(struct slice path, const char *what, struct why *why) {
    bool is_bad = path.len == 0 || path.len > TRANSFER_PATH_MAX - 16 || path.ptr[0] == '/' ||
                  memchr(path.ptr, 0, path.len) != NULL;
    for (size_t i = 0, from = 0; i <= path.len && !is_bad; i++) {
        if (i < path.len && path.ptr[i] != '/') continue;
        is_bad = i - from == 2 && memcmp(path.ptr + from, "..", 2) == 0;
        from = i + 1;
    }
    if (!is_bad) return ERR_OK;
    return why_set(why, ERR_INVALID, "%s `%.*s` is not a path inside the workspace", what, SLICE_FMT(path));
}

enum err job_setup_check(const struct wire_run *run, struct why *why) {
    const struct wire_file *files = run->files.at;
    const struct wire_artifact *artifacts = run->artifacts.at;
    enum err e = script_name_check(run->script_name, why);
    if (run->argv.count > ARGS_MAX) e = why_set(why, ERR_LIMIT, "more than %u arguments", ARGS_MAX);
    for (uint32_t i = 0; i < run->files.count && e == ERR_OK; i++) e = path_check(files[i].path, "the file", why);
    for (uint32_t i = 0; i < run->artifacts.count && e == ERR_OK; i++)
        e = path_check(artifacts[i].path, "the artifact", why);
    const struct wire_http *http = run->http.at;
    if (e == ERR_OK && run->http.count > 0 && http->save.len > 0) e = path_check(http->save, "the file", why);
    const struct wire_take *inputs = run->inputs.at;
    for (uint32_t i = 0; i < run->inputs.count && e == ERR_OK; i++) e = path_check(inputs[i].path, "the input", why);
    if (e == ERR_OK && run->entry.len > 0) e = path_check(run->entry, "the entry point", why);
    if (e == ERR_OK && run->dir.len > 0) e = path_check(run->dir, "the working folder", why);
    const struct slice path = run->health.path; /* it goes into the first line of a request */
    for (size_t i = 0; i < path.len && e == ERR_OK; i++)
        if (path.ptr[i] <= ' ' || path.ptr[i] >= 0x7f)
            e = why_set(why, ERR_INVALID, "the path of its health has blanks or control characters");
    return e;
}

/* The directory that jobs of a tenant share here. Its name has a dot, so it stays when a worker starts again and the
 * workspaces of an earlier life go. */
static enum err shared_make(struct agent *a, struct slice tenant, struct job_setup *w, struct why *why) {
    char folder[SHARED_NAME_MAX + 1], file[SHARED_NAME_MAX + sizeof SHARED_FILE];
    if (w->sandbox.space != NULL)
        return why_set(why, ERR_INVALID, "a job in a sandbox has a directory of its own: `shared` does not go with it");
    tenant_folder(tenant, folder);
    if (w->run.titan.len > 0) return titan_place_shared(&a->titan_place, folder, w->workdir, why);
    snprintf(file, sizeof file, "%s" SHARED_FILE, folder); /* with a file come the directories on the way to it */
    enum err e = a->w.space->ops->write(a->w.space, SHARED_SPACE, file, (struct slice){0}, false, why);
    a->w.space->ops->path(a->w.space, SHARED_SPACE, folder, w->workdir);
    return e;
}

static enum err workdir_of(struct agent *a, const struct attempt *t, struct slice tenant, struct job_setup *w,
                           struct why *why) {
    if (w->run.shared) return shared_make(a, tenant, w, why);
    if (w->run.workdir.len > 0)
        snprintf(w->workdir, sizeof w->workdir, "%.*s", SLICE_FMT(w->run.workdir));
    else
        a->w.space->ops->path(a->w.space, t->space, "work", w->workdir);
    return ERR_OK;
}

/* In a sandbox the directory of a process becomes its own, so the probe has another one than its service. */
static enum err probe_space(struct agent *a, struct attempt *t, struct job_setup *w, struct why *why) {
    char name[ATTEMPT_NAME_MAX + sizeof JOB_SETUP_PROBE_SPACE];
    char *path = arena_alloc(&a->arena, SPACE_PATH_MAX);
    snprintf(name, sizeof name, "%s" JOB_SETUP_PROBE_SPACE, t->space);
    if (!service_health_of(a, t)->has_space) {
        enum err e = a->w.space->ops->make(a->w.space, name, why);
        if (e != ERR_OK) return e;
        service_health_of(a, t)->has_space = true;
    }
    a->w.space->ops->path(a->w.space, name, "", path);
    a->w.space->ops->path(a->w.space, name, "work", w->workdir);
    w->sandbox.space = path;
    return ERR_OK;
}

enum err job_setup_probe(struct agent *a, struct attempt *t, struct proc_spec *ret, struct why *why) {
    struct job_setup *w = ARENA_NEW(&a->arena, struct job_setup);
    struct wire_assignment order;
    run_order(a, t, &order, &w->run);
    const struct wire_probe *how = &w->run.health;
    const struct wire_arg *args = how->argv.at;
    const char **argv = ARENA_ARRAY(&a->arena, const char *, how->argv.count + 4);
    uint32_t count = 0;
    if (how->shell.len > 0) {
        argv[count++] = "/bin/sh";
        argv[count++] = "-c";
        argv[count++] = text_of(a, how->shell);
    }
    for (uint32_t i = 0; i < how->argv.count; i++) argv[count++] = text_of(a, args[i].text);
    enum err e = sandbox_make(a, t, &w->run, &w->sandbox, why);
    if (e == ERR_OK) e = workdir_of(a, t, order.tenant, w, why);
    if (e == ERR_OK && w->sandbox.space != NULL) e = probe_space(a, t, w, why);
    if (e != ERR_OK) return e;
    env_make(a, t, &order, w);
    *ret = (struct proc_spec){
        .argv = argv, .env = w->env, .workdir = w->workdir, .limits = t->limits, .sandbox = w->sandbox};
    return ERR_OK;
}

enum err job_setup_make(struct agent *a, struct attempt *t, const struct wire_assignment *order, struct job_setup *ret,
                        struct why *why) {
    enum err e = sandbox_make(a, t, &ret->run, &ret->sandbox, why);
    if (e == ERR_OK) e = argv_make(a, t, order, ret, why);
    if (e == ERR_OK) e = inputs_make(a, t, order, why);
    if (e != ERR_OK) return e;
    env_make(a, t, order, ret);
    e = workdir_of(a, t, order->tenant, ret, why);
    if (e != ERR_OK) return e;
    if (ret->run.stdin_hash.len > 0) a->w.space->ops->path(a->w.space, t->space, "stdin", ret->stdin_path);
    return ERR_OK;
}

static enum err json_check(struct agent *a, struct slice text, struct why *why) {
    struct json_read r;
    const struct json_token *token = NULL;
    json_read_init(&r, text, &a->o.limits, &a->arena, why);
    do {
        enum err e = json_read_next(&r, &token);
        if (e != ERR_OK) return e;
    } while (token->kind != JSON_OVER);
    return ERR_OK;
}

enum err job_setup_result(struct agent *a, struct attempt *t, struct slice *ret, struct why *why) {
    struct buf b;
    struct why ignored;
    buf_init(&b, (size_t)a->o.limits.json_bytes_max);
    enum err e = a->w.space->ops->read(a->w.space, t->space, OUTPUT_FILE, &b, &ignored);
    if (e == ERR_LIMIT)
        e = why_set(why, e, "it wrote more than %lld bytes to $REEVE_OUTPUT (json_bytes_max)",
                    (long long)a->o.limits.json_bytes_max);
    else if (e != ERR_OK && e != ERR_NOT_FOUND)
        e = why_set(why, e, "$REEVE_OUTPUT: %s", ignored.text);
    if (e == ERR_OK && b.len > 0) {
        e = json_check(a, buf_slice(&b), why);
        if (e != ERR_OK)
            e = why_wrap(why, e, "what it wrote to $REEVE_OUTPUT is not JSON");
        else if (b.len > (size_t)a->o.limits.result_bytes_max)
            blobs_keep_result(t, OUTPUT_FILE);
        else
            *ret = arena_slice(&a->arena, buf_slice(&b));
    }
    buf_fini(&b);
    return e == ERR_NOT_FOUND ? ERR_OK : e; /* none: it has nothing to say */
}

uint32_t job_setup_retry_ms(struct agent *a, const struct attempt *t) {
    struct why ignored;
    uint8_t text[16] = {0};
    struct buf b = {text, 0, sizeof text - 1, sizeof text - 1, false};
    if (a->w.space->ops->read(a->w.space, t->space, RETRY_AFTER_FILE, &b, &ignored) != ERR_OK) return 0;
    unsigned long long ms = strtoull((const char *)text, NULL, 10);
    return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

bool job_setup_refused(struct agent *a, struct attempt *t, struct why *ret) {
    struct buf b;
    struct why ignored;
    buf_init(&b, REFUSAL_BYTES_MAX);
    enum err e = a->w.space->ops->read(a->w.space, t->space, PROC_REFUSAL_FILE, &b, &ignored);
    if (e == ERR_OK) (void)why_set(ret, ERR_OK, "%.*s", SLICE_FMT(buf_slice(&b)));
    buf_fini(&b);
    return e == ERR_OK;
}
