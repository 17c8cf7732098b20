/* floor_spawn.c: S of floor.h. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_impl.h"
#include "floor.h"
#include "panic.h"

struct bare {
    pid_t pid;
    int fds[2];
    char dir[BENCH_PATH_MAX + 16];
};

static bool start(struct bare *b, const char *root, const struct floor_command *c, uint32_t number) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int theirs[2];
    snprintf(b->dir, sizeof b->dir, "%s/s%u", root, number);
    if (mkdir(b->dir, 0700) != 0) return false;
    ENSURE(posix_spawn_file_actions_init(&actions) == 0 && posix_spawnattr_init(&attr) == 0);
    ENSURE(posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID) == 0);
    for (int i = 0; i < 2; i++) {
        int pair[2];
        ENSURE(pipe2(pair, O_CLOEXEC) == 0);
        b->fds[i] = pair[0];
        theirs[i] = pair[1];
        ENSURE(posix_spawn_file_actions_adddup2(&actions, pair[1], 1 + i) == 0);
    }
    errno = posix_spawn(&b->pid, c->argv[0], &actions, &attr, c->argv, c->env);
    bool good = errno == 0;
    for (int i = 0; i < 2; i++) close(theirs[i]);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    return good;
}

static bool end(struct bare *b) {
    char bytes[4096];
    for (int i = 0; i < 2; i++) {
        while (read(b->fds[i], bytes, sizeof bytes) > 0) {
        }
        close(b->fds[i]);
    }
    return waitpid(b->pid, NULL, 0) == b->pid && rmdir(b->dir) == 0;
}

enum err floor_spawn_of(const char *dir, const struct floor_command *c, uint32_t count, double *ret, struct why *why) {
    struct bare flight[FLOOR_FLIGHT_MAX];
    REQUIRE(c->flight > 0 && c->flight <= FLOOR_FLIGHT_MAX);
    double began = bench_now();
    for (uint32_t i = 0; i < count + c->flight; i++) {
        bool good = i < c->flight || end(&flight[i % c->flight]);
        if (good && i < count) good = start(&flight[i % c->flight], dir, c, i);
        if (!good) return why_set(why, ERR_IO, "%s: %s", c->argv[0], strerrordesc_np(errno));
    }
    *ret = count / (bench_now() - began);
    return ERR_OK;
}

enum err floor_spawn(const char *dir, uint32_t count, double *ret, struct why *why) {
    static char path[] = "/bin/true", *const argv[] = {path, NULL}, *const env[] = {NULL};
    return floor_spawn_of(dir, &(struct floor_command){argv, env, 2}, count, ret, why);
}
