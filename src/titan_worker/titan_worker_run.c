/* titan_worker_run.c: jobs and services: start, output, stop, end, and the next start of a service that crashed.
 *
 * Guarantees: each has a directory of its own with its own copy of what it runs; the whole tree of a process dies with
 * it, and with this worker. Jobs whose id begins with DAG- start in one directory that they share, as with Titan: flows
 * pass files on there. */
#include <signal.h>
#include <stdio.h>

#include "interpreter.h"
#include "jobenv.h"
#include "panic.h"
#include "titan_worker_impl.h"

#define FILE_BYTES_MAX ((size_t)TITAN_BODY_BYTES_MAX)
#define GRACE_MS 2000    /* between TERM and KILL: the master waits for the answer, 30 s at most */
#define TIMEOUT_MS 60000 /* of a job, as Titan has it */
#define TIMEOUT_DAG_MS 86400000
#define RESTART_MS 3000 /* doubles with each crash */
#define RESTART_MS_MAX 30000
#define RESTART_WELL_MS 60000      /* after so long a crash is the first again */
#define PAUSE_BYTES (1u << 20)     /* of output that the master has not taken: the process waits */
#define TEXT_BYTES_MAX (16u << 20) /* what may still come after that: pipes are smaller */
#define HEAD_BYTES_MAX (9u << 20)  /* of output in the result: Titan's master reads 10 MiB at once */
#define ARGS_MAX 4096u

static bool is_dag(struct slice id) {
    struct slice dag = SLICE("DAG-");
    return id.len >= dag.len && memcmp(id.ptr, dag.ptr, dag.len) == 0;
}

/* ---- finding ---- */

uint32_t titan_worker_run_active(const struct titan_worker *h) {
    uint32_t count = 0;
    for (uint32_t i = 1; i <= h->tasks.high; i++) {
        const struct titan_worker_task *t = pool_at(&h->tasks, i);
        count += t->number != 0 && !t->is_service && !t->is_over;
    }
    return count;
}

struct titan_worker_task *titan_worker_run_find(const struct titan_worker *h, struct slice id, bool is_service) {
    struct titan_worker_task *found = NULL;
    for (uint32_t i = 1; i <= h->tasks.high; i++) {
        struct titan_worker_task *t = pool_at(&h->tasks, i);
        if (t->number == 0 || t->is_over || t->is_service != is_service || !slice_eq(bytes_slice(t->id), id)) continue;
        if (found == NULL || t->number > found->number) found = t;
    }
    return found;
}

/* ---- the end ---- */

void titan_worker_run_forget(struct titan_worker *h, struct titan_worker_task *t) {
    uint32_t index = 0;
    for (uint32_t i = 1; i <= h->tasks.high && index == 0; i++)
        if (pool_at(&h->tasks, i) == t) index = i;
    ENSURE(index != 0);
    titan_place_give(&h->place, &t->ticket);
    if (t->space[0] != 0) h->w.space->ops->remove(h->w.space, t->space);
    bytes_free(t->id);
    bytes_free(t->args);
    buf_fini(&t->head);
    buf_fini(&t->text);
    pool_free(&h->tasks, index);
}

static void over(struct titan_worker *h, struct titan_worker_task *t) {
    t->is_over = true;
    t->process = (proc_id){0};
    t->kill_at_ms = t->timeout_at_ms = t->restart_at_ms = TIME_NEVER;
    titan_place_give(&h->place, &t->ticket);
    if (t->space[0] != 0) h->w.space->ops->remove(h->w.space, t->space);
    t->space[0] = 0;
    titan_worker_port_ended(h, t);
}

/* A service that ended by itself is started again; but another worker that was told to end, ended. */
static bool starts_again(const struct titan_worker *h, const struct titan_worker_task *t) {
    if (!t->is_service || t->is_stopping || h->is_draining) return false;
    return !(t->is_worker && t->exit_code == 0 && t->signal == 0);
}

static int64_t pause_ms(struct titan_worker_task *t, int64_t now) {
    if (now - t->started_ms >= RESTART_WELL_MS) t->failures = 0;
    int64_t pause = RESTART_MS << (t->failures < 4 ? t->failures : 4);
    t->failures++;
    return pause < RESTART_MS_MAX ? pause : RESTART_MS_MAX;
}

static void refusal_read(struct titan_worker *h, struct titan_worker_task *t) {
    struct buf b;
    struct why ignored;
    buf_init(&b, sizeof t->refusal.text - 1);
    if (h->w.space->ops->read(h->w.space, t->space, PROC_REFUSAL_FILE, &b, &ignored) == ERR_OK)
        (void)why_set(&t->refusal, ERR_OK, "%.*s", SLICE_FMT(buf_slice(&b)));
    buf_fini(&b);
}

static struct titan_worker_task *task_of(struct titan_worker *h, proc_id p) {
    uint32_t index = map_get(&h->task_by_process, p.v);
    return index != 0 ? pool_at(&h->tasks, index) : NULL;
}

static void on_ended(void *ctx, proc_id p, uint32_t exit_code, uint32_t number, const struct proc_usage *usage) {
    struct titan_worker *h = ctx;
    struct titan_worker_task *t = task_of(h, p);
    (void)usage;
    (void)map_del(&h->task_by_process, p.v);
    if (t == NULL) return;
    t->exit_code = exit_code;
    t->signal = number;
    t->process = (proc_id){0};
    if (exit_code == PROC_REFUSED) refusal_read(h, t);
    titan_worker_log(h, "%.*s ended: code %u, signal %u", SLICE_FMT(bytes_slice(t->id)), exit_code, number);
    if (!starts_again(h, t)) {
        over(h, t);
        return;
    }
    t->kill_at_ms = TIME_NEVER;
    t->restart_at_ms = titan_worker_now(h) + pause_ms(t, titan_worker_now(h));
}

/* ---- its output ---- */

void titan_worker_run_flow(struct titan_worker *h, struct titan_worker_task *t) {
    bool is_full = t->text.len >= PAUSE_BYTES && !t->is_stopping;
    if (t->process.v == 0 || is_full == t->is_paused) return;
    t->is_paused = is_full;
    h->w.proc->ops->pause(h->w.proc, t->process, is_full);
}

static void on_output(void *ctx, proc_id p, enum proc_stream stream, struct slice bytes) {
    struct titan_worker *h = ctx;
    struct titan_worker_task *t = task_of(h, p);
    (void)stream; /* Titan's workers tell of both as one */
    if (t == NULL) return;
    t->bytes += bytes.len;
    if (!t->is_service) {
        size_t room = HEAD_BYTES_MAX - t->head.len;
        buf_put(&t->head, bytes.ptr, bytes.len < room ? bytes.len : room);
    }
    titan_worker_tell_output(h, t, bytes);
    titan_worker_run_flow(h, t);
}

static void on_stdin_ready(void *ctx, proc_id p) {
    (void)ctx, (void)p;
}

/* ---- the start ---- */

static const char *text_of(struct titan_worker *h, struct slice s) {
    char *text = arena_alloc(&h->arena, s.len + 1);
    if (s.len > 0) memcpy(text, s.ptr, s.len);
    return text;
}

static const char *number_of(struct titan_worker *h, int64_t value) {
    char *text = arena_alloc(&h->arena, 24);
    snprintf(text, 24, "%lld", (long long)value);
    return text;
}

/* Titan splits arguments at single blanks, without quotes. */
static void args_put(struct titan_worker *h, struct slice args, const char **argv, uint32_t *count) {
    if (args.len == 0) return;
    for (size_t from = 0, i = 0; i <= args.len && *count < ARGS_MAX; i++) {
        if (i < args.len && args.ptr[i] != ' ') continue;
        if (i > from) argv[(*count)++] = text_of(h, slice_of(args.ptr + from, i - from));
        from = i + 1;
    }
}

/* A child unpacks it and becomes what is in it, in the folder of its entry: src/child/child_unpack.c. */
static void archive_argv(struct titan_worker *h, const struct titan_worker_task *t, const char *path, const char **argv,
                         uint32_t *count) {
    const struct limits *l = &h->o.limits;
    const char *slash = strrchr(t->entry, '/');
    struct slice dir = slash != NULL ? slice_of(t->entry, (size_t)(slash - t->entry)) : (struct slice){0};
    const char *const args[] = {PROC_SELF,
                                "--child-unpack",
                                path,
                                t->entry,
                                text_of(h, dir),
                                "0",
                                number_of(h, l->archive_bytes_max),
                                number_of(h, l->archive_ratio_max),
                                number_of(h, l->archive_entries_max),
                                number_of(h, l->archive_path_bytes_max),
                                number_of(h, l->archive_depth_max)};
    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) argv[(*count)++] = args[i];
}

static void worker_argv(struct titan_worker *h, const struct titan_worker_task *t, const char **argv, uint32_t *count) {
    const char *const args[] = {
        PROC_SELF, "worker", "--titan-master", h->o.master, "--titan-listen", number_of(h, t->port), "--data", "."};
    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) argv[(*count)++] = args[i];
}

/* .py and .sh as Titan runs them; else what begins as a program does. */
static enum err script_argv(struct titan_worker *h, const struct titan_worker_task *t, const char *path,
                            const char **argv, uint32_t *count, struct why *why) {
    uint8_t begin[4] = {0};
    struct buf first = {begin, 0, sizeof begin, sizeof begin, false};
    const struct interpreter *by = interpreter_of(slice_str(t->file));
    enum err e = h->w.space->ops->read_at(h->w.space, t->space, t->file, 0, sizeof begin, &first, why);
    if (e != ERR_OK) return e;
    bool is_program = memcmp(begin, "#!", 2) == 0 || memcmp(begin, "\177ELF", 4) == 0;
    if (by == NULL && !is_program)
        return why_set(why, ERR_INVALID, "Unsupported file `%s`: " INTERPRETER_NONE, t->file);
    if (by != NULL && strcmp(by->ending, ".sh") == 0) {
        argv[(*count)++] = "/bin/bash"; /* the scripts were written for it */
    } else if (by != NULL) {
        for (uint32_t i = 0; by->argv[i] != NULL; i++) argv[(*count)++] = by->argv[i];
        if (strcmp(by->ending, ".py") == 0) argv[(*count)++] = "-u";
    }
    argv[(*count)++] = path;
    return ERR_OK;
}

static const char *const *env_make(struct titan_worker *h, const struct titan_worker_task *t) {
    struct jobenv env;
    const char *colon = strrchr(h->o.master, ':');
    jobenv_init(&env, &h->arena);
    for (uint32_t i = 0; h->o.env != NULL && h->o.env[i] != NULL; i++) jobenv_put_line(&env, h->o.env[i]);
    jobenv_put(&env, SLICE("TITAN_JOB_ID"), bytes_slice(t->id));
    if (colon != NULL) {
        jobenv_put(&env, SLICE("TITAN_HOST"), slice_of(h->o.master, (size_t)(colon - h->o.master)));
        jobenv_put(&env, SLICE("TITAN_PORT"), slice_str(colon + 1));
    }
    jobenv_put(&env, SLICE("PYTHONUNBUFFERED"), SLICE("1"));
    if (t->port != 0) jobenv_put(&env, SLICE("PORT"), slice_str(number_of(h, t->port)));
    return jobenv_list(&env);
}

/* A script lies where all do that run here; an archive in its own place. */
static enum err script_path(struct titan_worker *h, struct titan_worker_task *t, char path[SPACE_PATH_MAX],
                            struct why *why) {
    char file[TITAN_PLACE_PATH_MAX];
    struct buf bytes;
    h->w.space->ops->path(h->w.space, t->space, t->file, path);
    if (t->is_worker || t->is_archive) return ERR_OK;
    buf_init(&bytes, FILE_BYTES_MAX);
    titan_place_give(&h->place, &t->ticket); /* of the start before */
    enum err e = h->w.space->ops->read(h->w.space, t->space, t->file, &bytes, why);
    if (e == ERR_OK) e = titan_place_take(&h->place, "", t->file, buf_slice(&bytes), &t->ticket, file, why);
    if (e == ERR_OK) h->w.space->ops->path(h->w.space, TITAN_PLACE_SPACE, file, path);
    buf_fini(&bytes);
    return e;
}

static enum err launch(struct titan_worker *h, struct titan_worker_task *t, struct why *why) {
    struct proc_handler handler = {on_output, on_stdin_ready, on_ended, h};
    char path[SPACE_PATH_MAX], workdir[SPACE_PATH_MAX];
    uint32_t count = 0;
    arena_reset(&h->arena);
    const char **argv = ARENA_ARRAY(&h->arena, const char *, ARGS_MAX + 16);
    bool is_shared = !t->is_service && !t->is_archive && is_dag(bytes_slice(t->id));
    enum err e = script_path(h, t, path, why);
    if (e == ERR_OK && is_shared)
        e = titan_place_shared(&h->place, "", workdir, why);
    else
        h->w.space->ops->path(h->w.space, t->space, "work", workdir);
    if (e != ERR_OK) return e;
    if (t->is_worker)
        worker_argv(h, t, argv, &count);
    else if (t->is_archive)
        archive_argv(h, t, path, argv, &count);
    else
        e = script_argv(h, t, path, argv, &count, why);
    if (e != ERR_OK) return e;
    args_put(h, bytes_slice(t->args), argv, &count);
    struct proc_spec spec = {.argv = argv, .env = env_make(h, t), .workdir = workdir, .limits = h->o.limits_each};
    e = h->w.proc->ops->start(h->w.proc, &spec, &handler, &t->process, why);
    if (e != ERR_OK) return e;
    for (uint32_t i = 1; i <= h->tasks.high; i++)
        if (pool_at(&h->tasks, i) == t) map_put(&h->task_by_process, t->process.v, i);
    t->started_ms = titan_worker_now(h);
    t->is_paused = false;
    return ERR_OK;
}

/* A new directory with the bytes in it; the one before goes. */
static enum err place(struct titan_worker *h, struct titan_worker_task *t, struct slice bytes, struct why *why) {
    char before[sizeof t->space];
    memcpy(before, t->space, sizeof before);
    snprintf(t->space, sizeof t->space, "task-%u-%u", t->number, ++t->starts);
    enum err e = h->w.space->ops->make(h->w.space, t->space, why);
    if (e == ERR_OK && !t->is_worker) e = h->w.space->ops->write(h->w.space, t->space, t->file, bytes, true, why);
    if (before[0] != 0) h->w.space->ops->remove(h->w.space, before);
    return e;
}

enum err titan_worker_run_begin(struct titan_worker *h, const struct titan_worker_run_order *o,
                                struct titan_worker_task **ret, struct why *why) {
    uint32_t index = pool_alloc(&h->tasks);
    if (index == 0) return why_set(why, ERR_BUSY, "too many jobs");
    struct titan_worker_task *t = pool_at(&h->tasks, index);
    *t = (struct titan_worker_task){.number = ++h->number_last,
                                    .is_service = o->is_service,
                                    .is_archive = o->is_archive,
                                    .is_worker = o->is_worker,
                                    .id = bytes_new(o->id),
                                    .args = bytes_new(o->args),
                                    .port = o->port,
                                    .kill_at_ms = TIME_NEVER,
                                    .timeout_at_ms = TIME_NEVER,
                                    .restart_at_ms = TIME_NEVER};
    buf_init(&t->head, HEAD_BYTES_MAX);
    buf_init(&t->text, TEXT_BYTES_MAX);
    snprintf(t->file, sizeof t->file, "%.*s", SLICE_FMT(o->file));
    snprintf(t->entry, sizeof t->entry, "%.*s", SLICE_FMT(o->entry));
    if (!t->is_service) t->timeout_at_ms = titan_worker_now(h) + (is_dag(o->id) ? TIMEOUT_DAG_MS : TIMEOUT_MS);
    enum err e = o->refusal != NULL ? why_set(&t->refusal, ERR_NOT_FOUND, "%s", o->refusal) : ERR_OK;
    if (e == ERR_OK) e = place(h, t, o->bytes, &t->refusal);
    if (e == ERR_OK) e = launch(h, t, &t->refusal);
    if (e != ERR_OK) over(h, t);
    *ret = t;
    return ERR_OK;
}

static void restart(struct titan_worker *h, struct titan_worker_task *t) {
    struct buf bytes;
    struct why why = {{0}};
    t->restart_at_ms = TIME_NEVER;
    buf_init(&bytes, FILE_BYTES_MAX);
    enum err e = t->is_worker ? ERR_OK : h->w.space->ops->read(h->w.space, t->space, t->file, &bytes, &why);
    if (e == ERR_OK) e = place(h, t, buf_slice(&bytes), &why);
    if (e == ERR_OK) e = launch(h, t, &why);
    buf_fini(&bytes);
    titan_worker_log(h, "service %.*s is started again%s%s", SLICE_FMT(bytes_slice(t->id)), e == ERR_OK ? "" : ": ",
                     why.text);
    if (e != ERR_OK) over(h, t);
}

/* ---- stopping and time ---- */

void titan_worker_run_stop(struct titan_worker *h, struct titan_worker_task *t) {
    if (t->is_stopping || t->is_over) return;
    t->is_stopping = true;
    t->timeout_at_ms = t->restart_at_ms = TIME_NEVER;
    if (t->process.v == 0) { /* between two starts */
        over(h, t);
        return;
    }
    titan_worker_run_flow(h, t);
    h->w.proc->ops->signal(h->w.proc, t->process, SIGTERM);
    t->kill_at_ms = titan_worker_now(h) + GRACE_MS;
}

void titan_worker_run_due(struct titan_worker *h) {
    int64_t now = titan_worker_now(h);
    for (uint32_t i = 1; i <= h->tasks.high; i++) {
        struct titan_worker_task *t = pool_at(&h->tasks, i);
        if (t->number == 0 || t->is_over) continue;
        if (t->kill_at_ms <= now) {
            t->kill_at_ms = TIME_NEVER;
            h->w.proc->ops->signal(h->w.proc, t->process, SIGKILL);
        } else if (t->timeout_at_ms <= now) {
            t->is_late = true;
            titan_worker_run_stop(h, t);
        } else if (t->restart_at_ms <= now) {
            restart(h, t);
        }
    }
}

int64_t titan_worker_run_next(const struct titan_worker *h) {
    int64_t next = TIME_NEVER;
    for (uint32_t i = 1; i <= h->tasks.high; i++) {
        const struct titan_worker_task *t = pool_at(&h->tasks, i);
        if (t->number == 0 || t->is_over) continue;
        if (t->kill_at_ms < next) next = t->kill_at_ms;
        if (t->timeout_at_ms < next) next = t->timeout_at_ms;
        if (t->restart_at_ms < next) next = t->restart_at_ms;
    }
    return next;
}
