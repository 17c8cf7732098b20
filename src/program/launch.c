/* launch.c: see launch.h. */
#include "launch.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "osclock.h"
#include "osdetach.h"

#define STARTED_DIR "started"
#define WORKERS_MAX 64              /* directories below it: whoever needs more has the scaler */
#define PATH_BYTES (PATH_MAX + 64u) /* realpath wants that much */
#define ARGS_MAX (12 + 2 * SERVER_LAUNCH_LABELS_MAX)
#define SOCKET_PATH_MAX 100u /* the kernel takes 107 */

extern char **environ;

/* ---- its directory ---- */

/* realpath() wants PATH_MAX bytes, and ends the process where it sees fewer. */
static bool full_path(const char *path, char full[PATH_BYTES]) {
    char found[PATH_MAX];
    if (realpath(path, found) == NULL) return false;
    size_t len = strlen(found);
    if (len >= PATH_BYTES)
        errno = ENAMETOOLONG;
    else
        memcpy(full, found, len + 1);
    return len < PATH_BYTES;
}

static enum err write_file(const char *dir, const char *name, const char *text, struct why *why) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "we");
    bool well = f != NULL && fputs(text, f) >= 0;
    if (f != NULL) well = fclose(f) == 0 && well;
    return well ? ERR_OK : why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
}

static bool is_name(const char *name) {
    size_t n = 0;
    for (; name[n] != 0; n++)
        if (!islower((unsigned char)name[n]) && !isdigit((unsigned char)name[n]) && name[n] != '-') return false;
    return n > 0 && n <= 32 && name[0] != '-';
}

/* A new one, or that of a worker that is no longer there. A name of our own is the first that is free. */
static enum err make_dir(const char *data, char name[SERVER_LAUNCH_NAME_BYTES], char dir[PATH_BYTES], struct why *why) {
    bool named = name[0] != 0;
    snprintf(dir, PATH_BYTES, "%s/" STARTED_DIR, data);
    if (mkdir(dir, 0700) != 0 && errno != EEXIST) return why_set(why, ERR_IO, "%s: %s", dir, strerrordesc_np(errno));
    if (named && !is_name(name))
        return why_set(why, ERR_INVALID, "expected a name of lower-case letters, digits and dashes, found `%s`", name);
    for (int i = 1; i <= WORKERS_MAX; i++) {
        if (!named) snprintf(name, SERVER_LAUNCH_NAME_BYTES, "local-%d", i);
        snprintf(dir, PATH_BYTES, "%s/" STARTED_DIR "/%s", data, name);
        if (mkdir(dir, 0700) == 0) return ERR_OK;
        if (errno != EEXIST) return why_set(why, ERR_IO, "%s: %s", dir, strerrordesc_np(errno));
        if (named) return why_set(why, ERR_CONFLICT, "a worker named %s was already started", name);
    }
    return why_set(why, ERR_LIMIT, "%d workers were started here: use the scaler for more", WORKERS_MAX);
}

/* ---- starting ---- */

enum err launch_worker(void *ctx, const struct server_launch *what, struct server_launched *ret, struct why *why) {
    const char *data = ctx;
    char name[SERVER_LAUNCH_NAME_BYTES], dir[PATH_BYTES], text[PATH_BYTES], slots[16], where[PATH_BYTES],
        variable[PATH_BYTES], full[PATH_BYTES];
    char labels[SERVER_LAUNCH_LABELS_MAX][SERVER_LAUNCH_LABEL_BYTES];
    static char reeve[] = "reeve", worker[] = "worker", data_flag[] = "--data", slots_flag[] = "--slots",
                server_flag[] = "--server", label_flag[] = "--label";
    char *argv[ARGS_MAX] = {reeve, worker, data_flag, dir, slots_flag, slots};
    char *env[4096];
    int n = 6, count = 0;
    pid_t pid = 0;
    if (!full_path(data, full)) return why_set(why, ERR_IO, "%s: %s", data, strerrordesc_np(errno));
    snprintf(name, sizeof name, "%s", what->name);
    enum err e = make_dir(full, name, dir, why);
    if (e != ERR_OK) return e;
    snprintf(slots, sizeof slots, "%u", what->slots);
    snprintf(where, sizeof where, "unix:%s/reeve.sock", full);
    if (strlen(where) < SOCKET_PATH_MAX) argv[n++] = server_flag, argv[n++] = where;
    for (uint32_t i = 0; i < what->label_count; i++) {
        snprintf(labels[i], sizeof labels[i], "%s", what->labels[i]);
        argv[n++] = label_flag, argv[n++] = labels[i];
    }
    snprintf(variable, sizeof variable, "REEVE_DATA=%s", full); /* where it finds address and token */
    for (char **at = environ; *at != NULL && count < 4000; at++)
        if (strncmp(*at, "REEVE_", 6) != 0) env[count++] = *at;
    env[count++] = variable;
    env[count] = NULL;
    /* Who it will be is settled here, so that it can be told before it has come. */
    snprintf(ret->worker, sizeof ret->worker, "%s-%06llx", name,
             (unsigned long long)(osclock()->random(osclock()) & 0xffffff));
    snprintf(text, sizeof text, "%s 1 0\n", ret->worker);
    e = write_file(dir, "worker", text, why);
    snprintf(text, sizeof text, "%s/worker.log", dir);
    int log = e == ERR_OK ? open(text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    int failed = log >= 0 ? osdetach_start("/proc/self/exe", argv, env, log, &pid) : errno;
    if (log >= 0) (void)close(log);
    if (e == ERR_OK && failed != 0) e = why_set(why, ERR_IO, "the worker was not started: %s", strerrordesc_np(failed));
    snprintf(text, sizeof text, "%d\n", (int)pid);
    if (e == ERR_OK) e = write_file(dir, "pid", text, why);
    if (e == ERR_OK) ret->pid = (uint32_t)pid;
    return e;
}

/* ---- ending ---- */

/* The number in the file may be another's by now: what it runs must name this directory. */
static bool is_worker_of(pid_t pid, const char *dir) {
    char path[64], line[4096];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *f = fopen(path, "re");
    size_t len = f != NULL ? fread(line, 1, sizeof line - 1, f) : 0;
    if (f != NULL) fclose(f);
    line[len] = 0;
    for (size_t at = 0; at < len; at += strlen(line + at) + 1)
        if (strcmp(line + at, dir) == 0) return true;
    return false;
}

static void end_one(const char *dir) {
    char path[PATH_BYTES];
    int pid = 0;
    snprintf(path, sizeof path, "%s/pid", dir);
    FILE *f = fopen(path, "re");
    if (f == NULL) return;
    if (fscanf(f, "%d", &pid) == 1 && pid > 1 && is_worker_of(pid, dir)) (void)kill(pid, SIGTERM);
    fclose(f);
}

void launch_end_all(const char *data) {
    char full[PATH_BYTES], path[PATH_BYTES + 300];
    if (!full_path(data, full)) return;
    snprintf(path, sizeof path, "%s/" STARTED_DIR, full);
    DIR *d = opendir(path);
    if (d == NULL) return;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/" STARTED_DIR "/%s", full, e->d_name);
        end_one(path);
    }
    closedir(d);
}
