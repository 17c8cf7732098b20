/* oschild.c: see oschild.h. Guarantees: no memory of the parent is copied or shared; no descriptor but the standard
 * three is inherited (all of ours are close-on-exec). */
#include "oschild.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "panic.h"

#define ARGS_MAX 16
#define NICE 10
#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_IDLE (3 << 13)

extern char **environ;

enum err oschild_start(const char *const *args, struct oschild *ret, struct why *why) {
    static char self[] = "/proc/self/exe", name[] = "reeve";
    char *argv[ARGS_MAX + 2] = {name};
    uint32_t count = 0;
    for (; args[count] != NULL; count++) {
        REQUIRE(count < ARGS_MAX);
        /* posix_spawn's signature predates const; it does not write to them. */
        memcpy(&argv[count + 1], &args[count], sizeof argv[0]);
    }
    posix_spawn_file_actions_t actions;
    ENSURE(posix_spawn_file_actions_init(&actions) == 0);
    ENSURE(posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0);
    pid_t pid = -1;
    int code = posix_spawn(&pid, self, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (code != 0) return why_set(why, ERR_IO, "spawn: %s", strerrordesc_np(code));
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    *ret = (struct oschild){pid, fd}; /* without a pidfd the owner asks oschild_ended from time to time */
    return ERR_OK;
}

static int code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void forget(struct oschild *c) {
    if (c->pidfd >= 0) (void)close(c->pidfd);
    *c = (struct oschild){-1, -1};
}

bool oschild_ended(struct oschild *c, int *ret_exit_code) {
    int status = 0;
    REQUIRE(c->pid > 0);
    pid_t pid = waitpid(c->pid, &status, WNOHANG);
    if (pid == 0) return false;
    *ret_exit_code = pid == c->pid ? code_of(status) : -1;
    forget(c);
    return true;
}

int oschild_wait(struct oschild *c) {
    int status = 0;
    pid_t pid;
    REQUIRE(c->pid > 0);
    do pid = waitpid(c->pid, &status, 0);
    while (pid < 0 && errno == EINTR);
    int code = pid == c->pid ? code_of(status) : -1;
    forget(c);
    return code;
}

void oschild_background(void) {
    /* Both are courtesies: a machine that refuses them compacts at full speed. */
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    (void)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_IDLE);
}

enum err oschild_compact(const char *locator, uint32_t archive_days, struct oschild *ret, struct why *why) {
    char days[16];
    (void)snprintf(days, sizeof days, "%u", archive_days);
    const char *args[] = {"journal", "compact", "--data", locator, "--archive-days", days, NULL};
    return oschild_start(args, ret, why);
}
