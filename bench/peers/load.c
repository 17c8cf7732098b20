/* load.c: one request again and again on n connections, a number of them in flight on each; counts the answers. It is
 * the same sender for every peer that speaks a protocol of its own, as lean as the one inside `reeve bench`, so that no
 * figure is that of an interpreter.
 *
 *   load PORT CONNECTIONS FLIGHT SECONDS ANSWERS line|gearman <REQUEST
 *
 * Ends after SECONDS, or after ANSWERS if that is not 0. An answer is a line, or a packet of gearman; one that does not
 * begin like the first is an error (a refusal is no acknowledgement). Prints "ANSWERS SECONDS", the seconds until the
 * last answer. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_MAX 65536u
#define CONNECTIONS_MAX 1024u
#define FLIGHT_MAX 1024u
#define INPUT_MAX 65536u
#define HEAD_BYTES 8u /* of an answer: what all have in common is looked for here */
#define PATIENCE_SECONDS 60.0

struct connection {
    int fd;
    uint64_t flight;   /* sent, or to be sent, and not answered */
    uint64_t to_send;  /* requests that are not wholly written */
    size_t sent_bytes; /* of the first of them */
    size_t have;
    char input[INPUT_MAX];
};

static struct connection connections[CONNECTIONS_MAX];
static char *many; /* the request, FLIGHT times in a row */
static size_t request_bytes;
static uint64_t asked, answered, answers_max;
static bool is_gearman;
static char first_head[HEAD_BYTES];

static void die(const char *what) {
    fprintf(stderr, "load: %s: %s\n", what, errno != 0 ? strerror(errno) : "no more to say");
    exit(1);
}

static double now(void) {
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0) die("clock");
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void request_read(uint64_t flight) {
    static char one[REQUEST_MAX];
    request_bytes = fread(one, 1, sizeof one, stdin);
    if (request_bytes == 0 || request_bytes == sizeof one) die("a request of less than 64 KiB is expected");
    many = malloc(request_bytes * flight);
    if (many == NULL) die("memory");
    for (uint64_t i = 0; i < flight; i++) memcpy(many + i * request_bytes, one, request_bytes);
}

static int dial(const char *port) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    a.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0) die("connect");
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) die("nodelay");
    return fd;
}

static void send_some(struct connection *c) {
    while (c->to_send > 0) {
        ssize_t n = send(c->fd, many + c->sent_bytes, c->to_send * request_bytes - c->sent_bytes, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (n <= 0) die("send");
        size_t all = c->sent_bytes + (size_t)n;
        c->to_send -= all / request_bytes;
        c->sent_bytes = all % request_bytes;
    }
}

static void ask(struct connection *c, uint64_t count, bool is_over) {
    for (; count > 0 && !is_over && (answers_max == 0 || asked < answers_max); count--, asked++) {
        c->to_send++;
        c->flight++;
    }
    send_some(c);
}

/* Length of the answer at the beginning of what came; 0 = it is not whole. */
static size_t answer_bytes(const char *at, size_t len) {
    if (!is_gearman) {
        const char *end = memchr(at, '\n', len);
        return end == NULL ? 0 : (size_t)(end - at) + 1;
    }
    uint32_t body = 0;
    if (len < 12) return 0;
    memcpy(&body, at + 8, sizeof body);
    return len < 12 + (size_t)ntohl(body) ? 0 : 12 + (size_t)ntohl(body);
}

/* The kind of an answer is its first byte, in gearman its first eight. */
static void answer_check(const char *at, size_t len) {
    size_t head = is_gearman ? HEAD_BYTES : 1;
    if (answered == 0) memcpy(first_head, at, head);
    if (memcmp(first_head, at, head) == 0 && (is_gearman || *at != '-')) return;
    errno = 0;
    fprintf(stderr, "load: refused: %.*s\n", (int)(len < 200 ? len : 200), at);
    exit(1);
}

static uint64_t take(struct connection *c) {
    uint64_t count = 0;
    size_t at = 0, len = 0;
    ssize_t n = recv(c->fd, c->input + c->have, sizeof c->input - c->have, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (n == 0) errno = ECONNRESET;
    if (n <= 0) die("receive");
    c->have += (size_t)n;
    for (; (len = answer_bytes(c->input + at, c->have - at)) > 0; at += len, count++, answered++)
        answer_check(c->input + at, len);
    memmove(c->input, c->input + at, c->have - at);
    c->have -= at;
    c->flight -= count;
    return count;
}

static uint64_t flight_of_all(uint64_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += connections[i].flight;
    return sum;
}

static double run(int epoll, uint64_t count, uint64_t flight, double seconds) {
    double start = now(), end = start, at = start;
    for (uint64_t i = 0; i < count; i++) ask(&connections[i], flight, false);
    while (flight_of_all(count) > 0) {
        struct epoll_event events[CONNECTIONS_MAX];
        int ready = epoll_wait(epoll, events, (int)count, 1000);
        at = now();
        if (ready < 0 && errno != EINTR) die("epoll");
        if (at - end > PATIENCE_SECONDS) die("no answer for a minute");
        for (int i = 0; i < ready; i++) {
            struct connection *c = events[i].data.ptr;
            uint64_t got = take(c);
            if (got > 0) end = at;
            ask(c, got, answers_max == 0 && at - start >= seconds);
        }
    }
    return end - start;
}

int main(int argc, char **argv) {
    if (argc != 7) die("usage: load PORT CONNECTIONS FLIGHT SECONDS ANSWERS line|gearman <REQUEST");
    uint64_t count = strtoull(argv[2], NULL, 10), flight = strtoull(argv[3], NULL, 10);
    if (count < 1 || count > CONNECTIONS_MAX || flight < 1 || flight > FLIGHT_MAX) die("so many connections");
    double seconds = strtod(argv[4], NULL);
    answers_max = strtoull(argv[5], NULL, 10);
    is_gearman = strcmp(argv[6], "gearman") == 0;
    request_read(flight);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) die("epoll");
    for (uint64_t i = 0; i < count; i++) {
        struct connection *c = &connections[i];
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
        c->fd = dial(argv[1]);
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &e) != 0) die("epoll");
    }
    double took = run(epoll, count, flight, seconds);
    printf("%llu %.6f\n", (unsigned long long)answered, took);
    return 0;
}
