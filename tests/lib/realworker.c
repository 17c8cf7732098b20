/* realworker.c: see realworker.h. */
#include "realworker.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroups.h"
#include "realserver.h"
#include "test.h"

#define SURVIVE_MS 10000

void realworker_make(struct realworker *w, const struct realserver *s, const char *name) {
    *w = (struct realworker){0};
    snprintf(w->data, sizeof w->data, "%s/%s", s->data, name);
}

/* In the child: into another network, if asked for. */
static void enter_netns(const char *path) {
    if (path == NULL) return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) _exit(126);
}

void realworker_start(struct realworker *w, const struct realserver *s) {
    const char *args[40] = {"reeve", "worker", "--data", w->data, "--pass-env", "STORM_MARK"};
    int count = 6;
    assert_int_equal(w->pid, 0);
    const char *const name = strrchr(w->data, '/') + 1;
    snprintf(w->mark, sizeof w->mark, "%s.%d.%u", name, (int)getpid(), ++w->starts);
    args[count++] = "--name";
    args[count++] = name;
    if (w->server != NULL) {
        args[count++] = "--server";
        args[count++] = w->server;
    }
    if (w->token != NULL) {
        args[count++] = "--token";
        args[count++] = w->token;
    }
    for (int i = 0; w->flags[i] != NULL; i++) args[count++] = w->flags[i];
    w->pid = fork();
    assert_true(w->pid >= 0);
    if (w->pid > 0) return;
    enter_netns(w->netns);
    if (w->cgroups != NULL && !cgroups_enter(w->cgroups)) _exit(126);
    if (w->uid != 0 && (setgroups(0, NULL) != 0 || setgid(w->uid) != 0 || setuid(w->uid) != 0)) _exit(126);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setenv("REEVE_DATA", s->data, 1);
    (void)setenv("STORM_MARK", w->mark, 1);
    const char *path = w->log != NULL ? w->log : getenv("STORM_LOG");
    int log = open(path != NULL ? path : "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0600);
    (void)dup2(log, STDERR_FILENO);
    execv(w->binary != NULL ? w->binary : realserver_binary(), (char *const *)(void *)args);
    _exit(127);
}

static bool has_mark(const char *pid, const char *mark) {
    char path[64], wanted[80];
    static char text[65536];
    snprintf(path, sizeof path, "/proc/%s/environ", pid);
    snprintf(wanted, sizeof wanted, "STORM_MARK=%s", mark);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    for (ssize_t at = 0; at < len; at += (ssize_t)strlen(text + at) + 1) {
        text[len] = 0;
        if (strcmp(text + at, wanted) == 0) return true;
    }
    return false;
}

uint32_t realworker_processes(const char *mark) {
    DIR *all = opendir("/proc");
    uint32_t count = 0;
    assert_non_null(all);
    for (const struct dirent *e = readdir(all); e != NULL; e = readdir(all))
        if (isdigit((unsigned char)e->d_name[0])) count += has_mark(e->d_name, mark);
    closedir(all);
    return count;
}

void realworker_none_left(const char *mark) {
    for (int ms = 0; realworker_processes(mark) > 0; ms += 20) {
        if (ms > SURVIVE_MS) fail_msg("%u processes outlive their worker %s", realworker_processes(mark), mark);
        (void)poll(NULL, 0, 20);
    }
}

static int reap(struct realworker *w) {
    int status = 0;
    assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
    w->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void realworker_kill(struct realworker *w) {
    (void)kill(w->pid, SIGKILL);
    assert_int_equal(reap(w), -SIGKILL);
    realworker_none_left(w->mark);
}

int realworker_stop(struct realworker *w) {
    (void)kill(w->pid, SIGTERM);
    return reap(w);
}
