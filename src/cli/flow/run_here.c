/* run_here.c: `reeve run --here`: the job starts in the caller's directory instead of an empty one. That directory is
 * on this machine, so the job goes to a worker of this machine, and to no other: one whose directory is beside the
 * server's and which this user started, so that it may do there what the caller may. */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datadir.h"
#include "limit.h"
#include "server_choice.h"
#include "verbs.h"

#define WORKERS_MAX 1000u
#define ID_BYTES 80u

/* The name of the worker with this directory, from the file in which it keeps it. */
static bool own_name(const char *path, char ret[ID_BYTES]) {
    struct stat st;
    FILE *f = fopen(path, "re");
    if (f == NULL) return false;
    bool good = fstat(fileno(f), &st) == 0 && st.st_uid == geteuid() && fscanf(f, "%79s", ret) == 1;
    fclose(f);
    return good;
}

static bool takes(const struct wire_worker_view *v, const char *id, struct slice pool) {
    if (!v->attached || v->draining || !slice_eq(v->worker, slice_str(id))) return false;
    return pool.len == 0 || slice_eq(v->pool, pool);
}

static bool is_there(const struct wire_listed *workers, const char *id, const struct wire_options *o) {
    const struct wire_worker_view *list = workers->workers.at;
    for (uint32_t i = 0; i < workers->workers.count; i++)
        if (takes(&list[i], id, o->demand.pool)) return true;
    return false;
}

/* Of `reeve up`, of its scaler, of the console, of `reeve worker` in this directory. */
static enum err find_worker(struct cli *c, const struct wire_options *o, struct slice *ret) {
    static const char *const places[] = {"worker/worker", "workers/*/worker", "started/*/worker"};
    char pattern[PATH_MAX + 32], id[ID_BYTES] = "";
    const char *data = server_choice_data(c);
    struct wire_list m = {.what = WIRE_LIST_WORKERS, .most = WORKERS_MAX};
    struct client_frame f;
    glob_t files = {0};
    enum err e = client_ask(&c->client, WIRE_LIST, &m, &f, c->why);
    if (e != ERR_OK) return e;
    (void)glob(".reeve-worker/worker", 0, NULL, &files);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        (void)snprintf(pattern, sizeof pattern, "%s/%s", data, places[i]);
        (void)glob(pattern, GLOB_APPEND, NULL, &files);
    }
    bool has = false;
    for (size_t i = 0; i < files.gl_pathc && !has; i++)
        has = own_name(files.gl_pathv[i], id) && is_there(f.message, id, o);
    globfree(&files);
    if (!has)
        return cli_refuse(c, ERR_STATE,
                          "--here needs a worker that you started on this machine and that is attached%s; none of "
                          "the directories below %s belongs to one: leave out --here, or start one with `reeve up`",
                          o->demand.pool.len > 0 ? " to this pool" : "", data);
    *ret = arena_slice(&c->arena, slice_str(id));
    return ERR_OK;
}

enum err run_here(struct cli *c, struct wire_options *o, struct wire_run *run) {
    struct limits limits;
    char here[PATH_MAX];
    limits_default(&limits);
    if (cli_flag(c, "here") == NULL) return ERR_OK;
    if (o->kind == JOB_ARCHIVE)
        return cli_refuse(c, ERR_INVALID,
                          "--here and --archive exclude each other: an archive runs where it is unpacked");
    if (run->sandbox & WIRE_SANDBOX_FILES)
        return cli_refuse(
            c, ERR_INVALID,
            "--here and --sandbox strict exclude each other: in that sandbox a job sees only files of its "
            "own; --sandbox net-off goes with --here");
    if (getcwd(here, sizeof here) == NULL)
        return cli_refuse(c, ERR_IO, "the current directory: %s", strerrordesc_np(errno));
    run->workdir = arena_slice(&c->arena, slice_str(here));
    o->prefer_ms = limits.delay_ms_max; /* as good as for ever: no other worker has this directory */
    return find_worker(c, o, &o->preferred_worker);
}
