/* spawn.c: see spawn.h. Between fork and exec only calls that are safe there: another thread may have held any lock. */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ENV_MAX 4096

extern char **environ;

static void env_make(const char *variable, const char *env[ENV_MAX + 2]) {
    size_t n = 0, name = variable != NULL ? strcspn(variable, "=") + 1 : 0;
    for (char **at = environ; *at != NULL && n < ENV_MAX; at++)
        if (variable == NULL || strncmp(*at, variable, name) != 0) env[n++] = *at;
    if (variable != NULL) env[n++] = variable;
    env[n] = NULL;
}

_Noreturn static void child(const struct spawn *s, const char *const *env, pid_t parent, int null) {
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, s->death_signal);
    if (getppid() != parent) _exit(127); /* it died before that was said */
    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(s->input >= 0 ? s->input : null, STDIN_FILENO);
    dup2(s->output >= 0 ? s->output : STDERR_FILENO, STDOUT_FILENO);
    dup2(STDOUT_FILENO, STDERR_FILENO);
    execve(s->path, (char *const *)(uintptr_t)s->argv, (char *const *)(uintptr_t)env);
    _exit(127);
}

enum err spawn_start(const struct spawn *s, pid_t *ret, struct why *why) {
    static const char *env[ENV_MAX + 2];
    env_make(s->variable, env);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t parent = getpid(), pid = null >= 0 ? fork() : -1; /* this process is small */
    if (pid == 0) child(s, env, parent, null);
    if (pid < 0) why_set(why, ERR_IO, "%s: %s", s->argv[0], strerrordesc_np(errno));
    if (null >= 0) close(null);
    if (pid < 0) return ERR_IO;
    (void)setpgid(pid, pid); /* both sides say it: whoever kills the group next must find it */
    *ret = pid;
    return ERR_OK;
}
