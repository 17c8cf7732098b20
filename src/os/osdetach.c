/* osdetach.c: see osdetach.h. */
#include "osdetach.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "panic.h"

#define STACK_BYTES 65536u

/* A thread starts it and then waits for its end, so that nothing of it is left behind. */
struct keeping {
    pthread_mutex_t lock;
    pthread_cond_t started;
    bool is_known;
    int failed; /* errno; 0 = it runs as `pid` */
    pid_t pid;
    const char *path;
    char **argv, **env;
    int log;
};

static int spawn_it(const struct keeping *k, pid_t *ret) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none;
    sigemptyset(&none);
    ENSURE(posix_spawn_file_actions_init(&actions) == 0 && posix_spawnattr_init(&attr) == 0);
    ENSURE(posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0);
    ENSURE(posix_spawn_file_actions_adddup2(&actions, k->log, STDOUT_FILENO) == 0);
    ENSURE(posix_spawn_file_actions_adddup2(&actions, k->log, STDERR_FILENO) == 0);
    ENSURE(posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK) == 0);
    ENSURE(posix_spawnattr_setsigmask(&attr, &none) == 0);
    int failed = posix_spawn(ret, k->path, &actions, &attr, k->argv, k->env);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attr);
    return failed;
}

static void *keep(void *ctx) {
    struct keeping *k = ctx;
    pid_t pid = 0;
    int failed = spawn_it(k, &pid), status;
    pthread_mutex_lock(&k->lock);
    k->failed = failed;
    k->pid = pid;
    k->is_known = true;
    pthread_cond_signal(&k->started);
    pthread_mutex_unlock(&k->lock); /* from here on it is the caller's, and gone soon */
    while (failed == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return NULL;
}

int osdetach_start(const char *path, char **argv, char **env, int log, pid_t *ret) {
    struct keeping k = {.path = path,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .started = PTHREAD_COND_INITIALIZER,
                        .argv = argv,
                        .env = env,
                        .log = log};
    pthread_attr_t attr;
    pthread_t thread;
    ENSURE(pthread_attr_init(&attr) == 0);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    int failed = pthread_create(&thread, &attr, keep, &k);
    (void)pthread_attr_destroy(&attr);
    if (failed != 0) return failed;
    pthread_mutex_lock(&k.lock);
    while (!k.is_known) pthread_cond_wait(&k.started, &k.lock);
    pthread_mutex_unlock(&k.lock);
    *ret = k.pid;
    return k.failed;
}
