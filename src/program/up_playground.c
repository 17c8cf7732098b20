/* up_playground.c: see up_playground.h. */
#include "up_playground.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "osclock.h"

#define BACKLOG 1024 /* what waits while nobody accepts for a moment */

static int64_t wall_ms(void) {
    return osclock()->wall(osclock()).ms;
}

/* ---- sockets ---- */

static enum err socket_bind(const struct addrinfo *a, const char *address, int *ret, struct why *why) {
    int on = 1, fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return why_set(why, ERR_IO, "%s: %s", address, strerrordesc_np(errno));
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) {
        *ret = fd;
        return ERR_OK;
    }
    enum err e = errno == EADDRINUSE ? ERR_CONFLICT : ERR_IO;
    why_set(why, e, "cannot listen on %s: %s", address, strerrordesc_np(errno));
    close(fd);
    return e;
}

/* "127.0.0.1:7070", "[::1]:7070", "localhost:7070". */
static enum err socket_open(const char *address, int *ret, struct why *why) {
    char host[128];
    struct addrinfo *found = NULL, hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    const char *colon = strrchr(address, ':');
    size_t len = colon != NULL ? (size_t)(colon - address) : 0;
    if (len == 0 || len >= sizeof host)
        return why_set(why, ERR_INVALID, "%s: expected an address like 127.0.0.1:7070", address);
    bool braced = address[0] == '[' && address[len - 1] == ']';
    snprintf(host, sizeof host, "%.*s", (int)(braced ? len - 2 : len), address + braced);
    if (strcmp(host, "localhost") == 0) snprintf(host, sizeof host, "127.0.0.1");
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
        return why_set(why, ERR_INVALID, "%s: expected an address like 127.0.0.1:7070", address);
    enum err e = socket_bind(found, address, ret, why);
    freeaddrinfo(found);
    return e;
}

/* ---- life ---- */

enum err up_playground_open(struct up_playground *p, const struct up_playground_where *where, struct why *why) {
    *p = (struct up_playground){.handover = {.listen = -1, .orion = -1, .control = -1, .mark = -1}, .control = -1};
    enum err e = socket_open(where->listen, &p->handover.listen, why);
    if (e == ERR_OK && where->orion != NULL) e = socket_open(where->orion, &p->handover.orion, why);
    if (e == ERR_CONFLICT && p->handover.listen >= 0 && where->orion_else != NULL)
        e = socket_open(where->orion_else, &p->handover.orion, why);
    if (e != ERR_OK) return e;
    p->handover.mark = memfd_create("reeve-mark", MFD_CLOEXEC);
    if (p->handover.mark < 0 || ftruncate(p->handover.mark, sizeof(struct playground_mark)) != 0)
        return why_set(why, ERR_IO, "memory: %s", strerrordesc_np(errno));
    standin_init(&p->understudy, where->data, p->handover.listen, p->handover.orion);
    p->understudy.now = (struct wire_playground){.server = SLICE("starting"), .since_ms = wall_ms()};
    return inherited_fds_map(p->handover.mark, &p->mark, why);
}

enum err up_playground_before(struct up_playground *p, struct why *why) {
    int line[2];
    if (p->control >= 0) close(p->control);
    p->control = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0)
        return why_set(why, ERR_IO, "socketpair: %s", strerrordesc_np(errno));
    p->control = line[0];
    p->handover.control = line[1];
    (void)fcntl(p->control, F_SETFL, O_NONBLOCK);
    return ERR_OK;
}

void up_playground_child(struct up_playground *p) {
    inherited_fds_give(&p->handover);
}

static void set_scene(struct up_playground *p, struct slice server, pid_t pid) {
    p->understudy.now.server = server;
    p->understudy.now.pid = (uint32_t)pid;
    p->understudy.now.since_ms = wall_ms();
    p->understudy.now.restart_in_ms = 0;
}

void up_playground_started(struct up_playground *p, pid_t pid) {
    close(p->handover.control); /* it is the server's now */
    p->handover.control = -1;
    p->pid = pid;
    p->again_ms = 0;
    p->understudy.recover_wanted = false;
    set_scene(p, SLICE("starting"), pid);
}

void up_playground_ended(struct up_playground *p, int64_t now_ms) {
    bool was_ready = p->is_ready;
    p->pid = 0;
    p->is_ready = false;
    p->handover.killed = true;
    p->again_ms = now_ms + UP_PLAYGROUND_RESTART_MS;
    if (was_ready) p->handover.died_ms = p->understudy.died_ms = wall_ms();
    set_scene(p, SLICE("dead"), 0);
}

/* ---- turns ---- */

static void heard(struct up_playground *p, char what) {
    if (what == INHERITED_FDS_READY) {
        p->is_ready = true;
        p->understudy.back_ms = wall_ms();
        set_scene(p, SLICE("running"), p->pid);
        standin_relieved(&p->understudy);
    }
    if (what != INHERITED_FDS_KILL || p->pid == 0) return;
    p->understudy.now.kills = ++p->handover.kills;
    kill(p->pid, SIGKILL);
}

uint32_t up_playground_poll(struct up_playground *p, struct pollfd fds[UP_PLAYGROUND_FDS]) {
    uint32_t n = 0;
    if (p->control >= 0) fds[n++] = (struct pollfd){.fd = p->control, .events = POLLIN};
    return n + standin_poll(&p->understudy, !p->is_ready, fds + n);
}

void up_playground_step(struct up_playground *p, const struct pollfd *fds, uint32_t count, int64_t now_ms) {
    char what;
    ssize_t n = 0;
    while (p->control >= 0 && (n = read(p->control, &what, 1)) == 1) heard(p, what);
    if (p->control >= 0 && n == 0) { /* its end is gone; that the process is, we hear by a signal */
        close(p->control);
        p->control = -1;
    }
    if (p->pid == 0) p->understudy.now.restart_in_ms = p->again_ms > now_ms ? p->again_ms - now_ms : 1;
    standin_step(&p->understudy, fds, count, now_ms);
    if (p->understudy.recover_wanted && p->pid == 0) p->again_ms = now_ms;
    p->understudy.recover_wanted = false;
}
