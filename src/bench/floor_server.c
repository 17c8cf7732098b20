/* floor_server.c: T(n) of floor.h, in a process of its own, as the server that it is compared with has one. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_impl.h"
#include "floor.h"
#include "floor_file.h"
#include "frame.h"
#include "panic.h"
#include "wire.h"

#define READ_BYTES (256u << 10)
#define EVENTS_MAX 256
#define CONNECTIONS_MAX 1024
#define ANSWERS_MAX 4096u
#define PASS_BYTES_MAX (16u << 20)

struct tcp_floor {
    int listener, epoll;
    struct floor_file file;
    struct buf pass;                   /* what this pass has read */
    struct buf rests[CONNECTIONS_MAX]; /* by descriptor: the beginning of a frame */
    struct {
        int fd;
        uint32_t request;
    } answers[ANSWERS_MAX];
    uint32_t answer_count;
    size_t answer_bytes;
};

static void take_frames(struct tcp_floor *t, int fd) {
    struct buf *rest = &t->rests[fd];
    struct slice in = buf_slice(rest);
    for (;;) {
        struct frame f;
        struct why why;
        size_t need = 0;
        ENSURE(frame_take(&in, PASS_BYTES_MAX, &f, &need, &why) == ERR_OK);
        if (need != 0) break;
        ENSURE(t->answer_count < ANSWERS_MAX);
        t->answers[t->answer_count].fd = fd;
        t->answers[t->answer_count++].request = f.request;
    }
    if (in.len > 0) memmove(rest->at, in.ptr, in.len);
    buf_cut(rest, in.len);
}

static void have_event(struct tcp_floor *t, int fd) {
    int one = 1;
    if (fd == t->listener) {
        struct epoll_event ev = {.events = EPOLLIN, .data.fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC)};
        ENSURE(ev.data.fd >= 0 && ev.data.fd < CONNECTIONS_MAX);
        ENSURE(setsockopt(ev.data.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0);
        ENSURE(epoll_ctl(t->epoll, EPOLL_CTL_ADD, ev.data.fd, &ev) == 0);
        buf_init(&t->rests[ev.data.fd], PASS_BYTES_MAX);
        return;
    }
    uint8_t *at = buf_space(&t->pass, READ_BYTES);
    ENSURE(at != NULL);
    ssize_t got = recv(fd, at, READ_BYTES, 0);
    buf_cut(&t->pass, t->pass.len - READ_BYTES + (got > 0 ? (size_t)got : 0));
    if (got > 0) {
        buf_put(&t->rests[fd], at, (size_t)got);
        take_frames(t, fd);
    } else {
        buf_fini(&t->rests[fd]);
        close(fd);
    }
}

static void answer_all(struct tcp_floor *t) {
    uint8_t answer[256] = {FRAME_VERSION, WIRE_SUBMITTED, FRAME_ANSWER};
    answer[15] = (uint8_t)(t->answer_bytes - FRAME_HEADER_BYTES);
    for (uint32_t i = 0; i < t->answer_count; i++) {
        uint32_t request = htonl(t->answers[i].request);
        memcpy(answer + 4, &request, sizeof request);
        (void)!send(t->answers[i].fd, answer, t->answer_bytes, MSG_NOSIGNAL);
    }
    t->answer_count = 0;
}

static void serve(struct tcp_floor *t) {
    struct epoll_event events[EVENTS_MAX];
    for (;;) {
        int count = epoll_wait(t->epoll, events, EVENTS_MAX, -1);
        buf_clear(&t->pass);
        for (int i = 0; i < count; i++) have_event(t, events[i].data.fd);
        if (t->pass.len > 0) ENSURE(floor_file_append(&t->file, t->pass.at, t->pass.len));
        answer_all(t);
    }
}

static int listen_anywhere(char address[64]) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 128) != 0 ||
        getsockname(fd, (struct sockaddr *)&a, &len) != 0) {
        close(fd);
        return -1;
    }
    snprintf(address, 64, "127.0.0.1:%u", ntohs(a.sin_port));
    return fd;
}

enum err floor_server_start(struct floor_server *s, const char *dir, size_t answer_bytes, struct why *why) {
    static struct tcp_floor t;
    REQUIRE(answer_bytes >= FRAME_HEADER_BYTES && answer_bytes < 256);
    t = (struct tcp_floor){.answer_bytes = answer_bytes, .listener = listen_anywhere(s->address)};
    if (t.listener < 0) return why_set(why, ERR_IO, "listen: %s", strerrordesc_np(errno));
    enum err e = floor_file_open(&t.file, dir, why);
    s->pid = e == ERR_OK ? fork() : -1;
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        struct epoll_event ev = {.events = EPOLLIN, .data.fd = t.listener};
        t.epoll = epoll_create1(EPOLL_CLOEXEC);
        ENSURE(t.epoll >= 0 && epoll_ctl(t.epoll, EPOLL_CTL_ADD, t.listener, &ev) == 0);
        buf_init(&t.pass, PASS_BYTES_MAX);
        serve(&t);
    }
    if (e == ERR_OK) floor_file_close(&t.file);
    close(t.listener);
    if (e == ERR_OK && s->pid < 0) e = why_set(why, ERR_IO, "fork: %s", strerrordesc_np(errno));
    return e;
}

void floor_server_stop(struct floor_server *s) {
    if (s->pid <= 0) return;
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    s->pid = 0;
}
