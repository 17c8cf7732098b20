/* crash_power.c: the power cut of the crash test: server and worker write through the shim of tools/powercut, and when
 * they are dead its tool takes back what was not synced. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash_impl.h"

#define SHIM "powercut.so"
#define TOOL "powercut"

extern char **environ;

enum err crash_power_find(struct crash *c, struct why *why) {
    static char shim[sizeof c->tool];
    char self[BENCH_PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len <= 0) return why_set(why, ERR_IO, "/proc/self/exe: %s", strerrordesc_np(errno));
    self[len] = 0;
    *strrchr(self, '/') = 0;
    snprintf(shim, sizeof shim, "%s/" SHIM, self);
    snprintf(c->tool, sizeof c->tool, "%s/" TOOL, self);
    if (access(shim, R_OK) != 0 || access(c->tool, X_OK) != 0)
        return why_set(why, ERR_NOT_FOUND,
                       "a power cut needs " SHIM " and " TOOL " beside this program: `make build` leaves all three in "
                       "build/release");
    c->lab.power.shim = shim;
    c->lab.power.lies = c->lies;
    return ERR_OK;
}

/* Runs the tool; what it printed. */
static enum err tool_run(const struct crash *c, const char *const *argv, char *ret, size_t bytes, struct why *why) {
    int ends[2], status = 0;
    size_t len = 0;
    pid_t pid = -1;
    posix_spawn_file_actions_t actions;
    if (pipe(ends) != 0) return why_set(why, ERR_IO, "pipe: %s", strerrordesc_np(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    int code = posix_spawn(&pid, c->tool, &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    while (code == 0 && len + 1 < bytes) {
        ssize_t n = read(ends[0], ret + len, bytes - 1 - len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        len += (size_t)n;
    }
    ret[len] = 0;
    close(ends[0]);
    if (code != 0) return why_set(why, ERR_IO, "%s: %s", c->tool, strerrordesc_np(code));
    pid_t got;
    do got = waitpid(pid, &status, 0);
    while (got < 0 && errno == EINTR);
    if (got == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0) return ERR_OK;
    return why_set(why, ERR_IO, "%s %s failed", c->tool, argv[1]);
}

static uint64_t number_in(const char *json, const char *name) {
    char wanted[40];
    snprintf(wanted, sizeof wanted, "\"%s\":", name);
    const char *at = strstr(json, wanted);
    return at != NULL ? strtoull(at + strlen(wanted), NULL, 10) : 0;
}

enum err crash_power_settle(struct crash *c, struct why *why) {
    struct lab_power *p = &c->lab.power;
    char out[256];
    if (p->shim == NULL) return ERR_OK;
    snprintf(p->server, sizeof p->server, "%s/power-server", c->lab.dir);
    snprintf(p->worker, sizeof p->worker, "%s/power-worker", c->lab.dir);
    const char *const server[] = {TOOL, "settle", p->server, NULL}, *const worker[] = {TOOL, "settle", p->worker, NULL};
    enum err e = tool_run(c, server, out, sizeof out, why);
    return e == ERR_OK ? tool_run(c, worker, out, sizeof out, why) : e;
}

enum err crash_power_trouble(struct crash *c, const char *lines, struct why *why) {
    const struct lab_power *p = &c->lab.power;
    char path[sizeof p->server + 16], next[sizeof p->server + 16];
    if (p->shim == NULL) return ERR_OK;
    snprintf(path, sizeof path, "%s/trouble", p->server);
    snprintf(next, sizeof next, "%s/trouble.next", p->server);
    if (lines == NULL) {
        (void)unlink(path);
        return ERR_OK;
    }
    FILE *f = fopen(next, "we");
    bool good = f != NULL && fputs(lines, f) >= 0;
    good = f != NULL && fclose(f) == 0 && good && rename(next, path) == 0; /* nobody reads half of it */
    return good ? ERR_OK : why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
}

static enum err cut(struct crash *c, const char *state, const char *data, struct why *why) {
    char seed[24], out[256];
    /* Who lies about syncs gets the disk as it once was: half of it would be noticed before anything is missed. */
    const char *keep = c->lies || crash_draw(&c->random) % 3 == 0 ? "none" : "some";
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)crash_draw(&c->random));
    const char *const argv[] = {TOOL, "cut", state, "--keep", keep, "--seed", seed, data, NULL};
    enum err e = tool_run(c, argv, out, sizeof out, why);
    c->writes_undone += number_in(out, "writes_undone");
    c->names_undone += number_in(out, "names_undone");
    return e;
}

enum err crash_power_cut(struct crash *c, bool server, bool worker, struct why *why) {
    const struct lab_power *p = &c->lab.power;
    char data[BENCH_PATH_MAX + 16];
    enum err e = ERR_OK;
    if (p->shim == NULL) return ERR_OK;
    snprintf(data, sizeof data, "%s/worker0", c->lab.dir);
    if (server) e = cut(c, p->server, c->lab.data, why);
    if (e == ERR_OK && worker) e = cut(c, p->worker, data, why);
    c->cuts++;
    return e;
}
