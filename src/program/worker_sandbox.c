/* worker_sandbox.c: see worker_sandbox.h. */
#include "worker_sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "osproc.h"
#include "ossandbox.h"
#include "wire_run.h"

#define PROBE_NAME "probe-"
#define PROBE_FILLED \
    "XX"             \
    "XX"             \
    "XX" /* by mkdtemp */

/* The path as it really is; NULL when there is no such thing, or no room. */
static const char *path_keep(struct worker_sandbox *s, const char *path) {
    char full[PATH_MAX];
    if (realpath(path, full) == NULL || strlen(full) >= sizeof s->text - s->used) return NULL;
    char *text = s->text + s->used;
    s->used += strlen(full) + 1;
    return memcpy(text, full, strlen(full) + 1);
}

static enum err paths_keep(struct worker_sandbox *s, struct worker_options *o, struct why *why) {
    const char *server = getenv("REEVE_DATA");
    uint32_t count = 0;
    for (uint32_t i = 0; i < o->sandbox_path_count; i++) {
        s->paths[i] = path_keep(s, o->sandbox_paths[i]);
        if (s->paths[i] == NULL)
            return why_set(why, ERR_NOT_FOUND, "--sandbox-path %s: %s", o->sandbox_paths[i], strerrordesc_np(errno));
    }
    if (mkdir(o->data, 0700) != 0 && errno != EEXIST)
        return why_set(why, ERR_IO, "%s: %s", o->data, strerrordesc_np(errno));
    const char *const own[] = {o->data, server != NULL ? server : ".reeve"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        s->hide[count] = path_keep(s, own[i]);
        if (s->hide[count] != NULL) count++;
    }
    o->agent.sandbox.paths = s->paths;
    o->agent.sandbox.hide = s->hide;
    return ERR_OK;
}

static enum err uids_give(struct worker_options *o, struct proc *proc, struct why *cannot, struct why *why) {
    bool is_root = geteuid() == 0;
    o->agent.sandbox.own_uids = o->uid_first != 0;
    o->agent.sandbox.own_uids_in_files = is_root;
    if (o->uid_first != 0 && !is_root) return why_set(why, ERR_FORBIDDEN, "--job-uids: the worker is not root");
    if (o->uid_first == 0 && (!is_root || ossandbox_uids(&o->uid_first, &o->uid_last, cannot) != ERR_OK)) return ERR_OK;
    osproc_uids(proc, o->uid_first, o->uid_last);
    return ERR_OK;
}

/* ---- trying it ---- */

/* Whoever tries holds a lock on its directory, so one without is of a worker that was killed while it tried. */
static void probes_sweep(const char *data) {
    char path[PATH_MAX];
    DIR *all = opendir(data);
    for (struct dirent *d = all != NULL ? readdir(all) : NULL; d != NULL; d = readdir(all)) {
        if (strncmp(d->d_name, PROBE_NAME, strlen(PROBE_NAME)) != 0) continue;
        if (snprintf(path, sizeof path, "%s/%s", data, d->d_name) >= (int)sizeof path) continue;
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) ossandbox_probe_remove(path);
        (void)close(fd);
    }
    if (all != NULL) (void)closedir(all);
}

/* In the directory of the worker: it is swept when the next one starts there, whatever became of this one. */
static bool probe(const char *data, uint32_t uid, struct why *ret) {
    char dir[PATH_MAX];
    if (ret->text[0] != 0) return false; /* no uids */
    probes_sweep(data);
    int length = snprintf(dir, sizeof dir, "%s/" PROBE_NAME "%s", data, PROBE_FILLED);
    if (length >= (int)sizeof dir || mkdtemp(dir) == NULL) {
        (void)why_set(ret, ERR_IO, "%s: %s", dir, strerrordesc_np(errno));
        return false;
    }
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) (void)flock(fd, LOCK_EX | LOCK_NB);
    enum err e = ossandbox_probe(dir, uid, ret);
    if (fd >= 0) (void)close(fd);
    return e == ERR_OK;
}

bool worker_sandbox_works(const char *data, struct why *ret_cannot) {
    uint32_t first = 0, last = 0;
    struct why cannot = {{0}};
    bool has_uids = geteuid() != 0 || ossandbox_uids(&first, &last, &cannot) == ERR_OK;
    if (has_uids && probe(data, first, &cannot)) return true;
    *ret_cannot = cannot;
    return false;
}

static enum err offer(struct agent_options *a, struct why *why) {
    for (uint32_t i = 0; i < a->capability_count; i++)
        if (strcmp(a->capabilities[i], WIRE_SANDBOX_CAPABILITY) == 0) return ERR_OK;
    if (a->capability_count == AGENT_LIST_MAX)
        return why_set(why, ERR_LIMIT, "--capability: more than %u with `%s`", AGENT_LIST_MAX, WIRE_SANDBOX_CAPABILITY);
    a->capabilities[a->capability_count++] = WIRE_SANDBOX_CAPABILITY;
    return ERR_OK;
}

enum err worker_sandbox_open(struct worker_sandbox *s, struct worker_options *o, struct proc *proc, struct why *why) {
    enum err e = paths_keep(s, o, why);
    if (e == ERR_OK) e = uids_give(o, proc, &s->cannot, why);
    if (e != ERR_OK) return e;
    if (probe(o->data, o->uid_first, &s->cannot)) {
        snprintf(s->told, sizeof s->told, "sandboxes: %s", ossandbox_extent());
        if (o->uid_first != 0)
            snprintf(s->told + strlen(s->told), sizeof s->told - strlen(s->told), "; uids %u-%u%s", o->uid_first,
                     o->uid_last, o->agent.sandbox.own_uids ? " for every job" : "");
        return offer(&o->agent, why);
    }
    o->agent.sandbox.cannot = s->cannot.text;
    snprintf(s->told, sizeof s->told, "no sandboxes here: %s", s->cannot.text);
    if (o->agent.sandbox.least == 0) return ERR_OK;
    return why_set(why, ERR_UNSUPPORTED, "--sandbox: none can be kept here: %s", s->cannot.text);
}

/* Names in these directories are hard to guess, and what lies there is closed to others by itself. */
enum err worker_sandbox_reach(const struct worker_options *o, const char *space_path, struct why *why) {
    char full[PATH_MAX];
    struct stat st;
    if (!o->agent.sandbox.own_uids) return ERR_OK;
    if (realpath(space_path, full) == NULL || chmod(full, 0711) != 0 || chmod(o->data, 0711) != 0)
        return why_set(why, ERR_IO, "%s: %s", space_path, strerrordesc_np(errno));
    for (char *slash = strrchr(full, '/'); slash != NULL && slash != full; slash = strrchr(full, '/')) {
        *slash = 0;
        if (stat(full, &st) != 0 || !(st.st_mode & S_IXOTH))
            return why_set(
                why, ERR_FORBIDDEN,
                "--job-uids: jobs with uids of their own cannot pass through %s to %s: it is closed to other users",
                full, space_path);
    }
    return ERR_OK;
}
