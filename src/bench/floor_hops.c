/* floor_hops.c: H of floor.h: the way of one job through three processes, and nothing else on the way. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_impl.h"
#include "floor.h"
#include "floor_file.h"
#include "panic.h"

/* About as long as the frames of a no-op. */
#define SUBMIT_BYTES 80u
#define ANSWER_BYTES 48u
#define ORDER_BYTES 120u
#define END_BYTES 80u
#define EVENT_BYTES 120u
#define RECORD_BYTES 256u

/* Two ends of one TCP connection. */
static bool tcp_pair(int ret[2]) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = listener >= 0 && bind(listener, (struct sockaddr *)&a, len) == 0 && listen(listener, 1) == 0 &&
                getsockname(listener, (struct sockaddr *)&a, &len) == 0;
    ret[0] = good ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    good = ret[0] >= 0 && connect(ret[0], (struct sockaddr *)&a, len) == 0;
    ret[1] = good ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
    for (int i = 0; i < 2 && ret[1] >= 0; i++)
        good = good && setsockopt(ret[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0;
    if (listener >= 0) close(listener);
    return good && ret[1] >= 0;
}

static bool say(int fd, size_t len) {
    static const char bytes[RECORD_BYTES];
    return send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static bool hear(int fd, size_t len) {
    char bytes[RECORD_BYTES];
    for (size_t got = 0; got < len;) {
        ssize_t n = recv(fd, bytes, len - got, 0);
        if (n <= 0) return false;
        got += (size_t)n;
    }
    return true;
}

/* The other end is gone: it is over. */
static void or_end(bool good) {
    if (!good) _exit(0);
}

static void serve(struct floor_file *file, int client, int worker) {
    static const char record[RECORD_BYTES];
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = client}, came;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    ENSURE(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, client, &ev) == 0);
    ev.data.fd = worker;
    ENSURE(epoll_ctl(epoll, EPOLL_CTL_ADD, worker, &ev) == 0);
    for (;;) {
        if (epoll_wait(epoll, &came, 1, -1) != 1) continue;
        bool begins = came.data.fd == client;
        or_end(hear(came.data.fd, begins ? SUBMIT_BYTES : END_BYTES));
        ENSURE(floor_file_append(file, record, sizeof record));
        or_end(say(client, begins ? ANSWER_BYTES : EVENT_BYTES));
        or_end(say(worker, begins ? ORDER_BYTES : ANSWER_BYTES));
    }
}

static void work(int server) {
    for (;;) {
        or_end(hear(server, ORDER_BYTES));
        or_end(say(server, END_BYTES));
        or_end(hear(server, ANSWER_BYTES));
    }
}

static pid_t child(const int keeps[2], const int all[4]) {
    pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    for (int i = 0; i < 4; i++)
        if (all[i] != keeps[0] && all[i] != keeps[1]) close(all[i]);
    return 0;
}

enum err floor_hops(const char *dir, double seconds, double *ret, struct why *why) {
    struct floor_file file;
    int ends[4] = {-1, -1, -1, -1}; /* client, its server; worker, its server */
    enum err e = floor_file_open(&file, dir, why);
    if (e != ERR_OK) return e;
    if (!tcp_pair(&ends[0]) || !tcp_pair(&ends[2])) e = why_set(why, ERR_IO, "sockets: %s", strerrordesc_np(errno));
    pid_t server = e == ERR_OK ? child((int[]){ends[1], ends[3]}, ends) : -1;
    if (server == 0) serve(&file, ends[1], ends[3]);
    pid_t worker = server > 0 ? child((int[]){ends[2], -1}, ends) : -1;
    if (worker == 0) work(ends[2]);
    if (e == ERR_OK && worker < 0) e = why_set(why, ERR_IO, "fork: %s", strerrordesc_np(errno));
    double start = bench_now(), now = start;
    for (uint64_t count = 1; e == ERR_OK && now - start < seconds; count++) {
        if (!say(ends[0], SUBMIT_BYTES) || !hear(ends[0], ANSWER_BYTES + EVENT_BYTES))
            e = why_set(why, ERR_IO, "the bare server is gone");
        now = bench_now();
        *ret = (now - start) / (double)count;
    }
    for (int i = 0; i < 4; i++)
        if (ends[i] >= 0) close(ends[i]);
    for (int i = 0; i < 2; i++) {
        pid_t pid = i == 0 ? server : worker;
        if (pid > 0 && kill(pid, SIGKILL) == 0) waitpid(pid, NULL, 0);
    }
    floor_file_close(&file);
    return e;
}
