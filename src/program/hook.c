/* hook.c: see hook.h. */
#include "hook.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawn.h"
#include "wtime.h"

#define EVERY_MS 1000
#define WAIT_MS 1000 /* after the first failure; doubles */
#define WAIT_MS_MAX 60000

bool hook_is_ready(const struct hook *h, int64_t now_ms) {
    return h->is_due && h->pid == 0 && now_ms >= h->again_ms;
}

static void failed(struct hook *h, const char *how, int64_t now_ms) {
    char line[200];
    h->wait_ms = h->wait_ms == 0 ? WAIT_MS : h->wait_ms * 2;
    if (h->wait_ms > WAIT_MS_MAX) h->wait_ms = WAIT_MS_MAX;
    h->again_ms = now_ms + h->wait_ms;
    h->is_due = true;
    snprintf(line, sizeof line, "the hook %s; retrying in %lld ms", how, (long long)h->wait_ms);
    h->log(line);
}

/* A file in memory takes all of it, however slowly it is read. */
static int file_of(struct slice text) {
    int fd = memfd_create("hook", MFD_CLOEXEC);
    if (fd < 0) return -1;
    if (write(fd, text.ptr, text.len) == (ssize_t)text.len && lseek(fd, 0, SEEK_SET) == 0) return fd;
    close(fd);
    return -1;
}

void hook_start(struct hook *h, struct slice text, int64_t now_ms) {
    const char *argv[] = {"sh", "-c", h->command, NULL};
    struct why why = {{0}};
    int fd = file_of(text);
    struct spawn s = {.path = "/bin/sh", .argv = argv, .input = fd, .output = -1, .death_signal = SIGKILL};
    h->is_due = h->is_killed = false;
    h->started_ms = now_ms;
    enum err e = fd >= 0 ? spawn_start(&s, &h->pid, &why) : why_set(&why, ERR_IO, "%s", strerrordesc_np(errno));
    if (fd >= 0) close(fd);
    if (e != ERR_OK) failed(h, why.text, now_ms);
}

void hook_pass(struct hook *h, int64_t now_ms) {
    if (h->pid == 0 || h->is_killed || now_ms < h->started_ms + h->timeout_ms) return;
    h->is_killed = true;
    kill(-h->pid, SIGKILL);
}

int64_t hook_next(const struct hook *h) {
    if (h->pid != 0) return h->is_killed ? TIME_NEVER : h->started_ms + h->timeout_ms;
    return h->is_due ? h->again_ms : TIME_NEVER;
}

bool hook_ended(struct hook *h, pid_t pid, int status, int64_t now_ms) {
    char how[64];
    if (pid != h->pid) return false;
    h->pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        h->wait_ms = 0;
        h->again_ms = h->started_ms + EVERY_MS;
        return true;
    }
    if (h->is_killed)
        snprintf(how, sizeof how, "took longer than %lld ms and was killed", (long long)h->timeout_ms);
    else if (WIFEXITED(status))
        snprintf(how, sizeof how, "failed with exit code %d", WEXITSTATUS(status));
    else
        snprintf(how, sizeof how, "was ended by signal %d", WTERMSIG(status));
    failed(h, how, now_ms);
    return true;
}

void hook_end(struct hook *h) {
    if (h->pid != 0) kill(-h->pid, SIGKILL);
}
