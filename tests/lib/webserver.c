/* webserver.c: see webserver.h. */
#include "webserver.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "json.h"
#include "test.h"

#define NAMES_MAX 64
#define REQUEST_BYTES_MAX (1u << 20)

/* How often each path was asked for, and when first; shared by all that answer. */
struct counted {
    char path[256];
    int count;
    int64_t first_ms;
};
static struct counted *counts;

struct asked {
    char *text;
    size_t len, head_len;
    char method[16], path[4096];
};

/* ---- reading ---- */

static size_t body_length(const char *head) {
    const char *at = strcasestr(head, "\r\ncontent-length:");
    return at != NULL ? strtoul(at + 17, NULL, 10) : 0;
}

static bool request_read(int fd, struct asked *a) {
    a->text = calloc(1, REQUEST_BYTES_MAX + 1);
    for (;;) {
        const char *end = strstr(a->text, "\r\n\r\n");
        if (end != NULL) a->head_len = (size_t)(end + 4 - a->text);
        if (end != NULL && a->len >= a->head_len + body_length(a->text)) break;
        ssize_t n = read(fd, a->text + a->len, REQUEST_BYTES_MAX - a->len);
        if (n <= 0) return false;
        a->len += (size_t)n;
    }
    return sscanf(a->text, "%15s %4095s", a->method, a->path) == 2;
}

static void request_log(const char *log, const struct asked *a) {
    int fd = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    (void)!write(fd, a->text, a->len);
    (void)!write(fd, "\n", 1);
    close(fd);
}

/* ---- answering ---- */

static void answer(int fd, int status, const char *headers, struct slice body) {
    char head[8192];
    int len = snprintf(head, sizeof head, "HTTP/1.1 %d X\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n", status,
                       body.len, headers);
    (void)!write(fd, head, (size_t)len);
    (void)!write(fd, body.ptr, body.len);
}

static void echo(int fd, const struct asked *a) {
    struct buf out;
    struct json j;
    buf_init(&out, 4 * REQUEST_BYTES_MAX);
    json_init(&j, &out);
    json_object(&j);
    json_key(&j, "method");
    json_str(&j, a->method);
    json_key(&j, "path");
    json_str(&j, a->path);
    json_key(&j, "head");
    json_text(&j, slice_of(a->text, a->head_len));
    json_key(&j, "body");
    json_text(&j, slice_of(a->text + a->head_len, a->len - a->head_len));
    json_object_end(&j);
    answer(fd, 200, "Content-Type: application/json\r\nX-One: 1\r\nX-Many: a\r\nX-Many: b\r\n", buf_slice(&out));
    buf_fini(&out);
}

/* Counts from 1; requests come one after the other often enough, and the lock is for when they do not. */
static int count_of(const char *log, const char *path, int64_t *ret_since_ms) {
    int lock = open(log, O_RDONLY | O_CREAT | O_CLOEXEC, 0600), n = 0;
    int64_t now = test_mono_ms();
    flock(lock, LOCK_EX);
    for (int i = 0; i < NAMES_MAX; i++) {
        if (counts[i].path[0] != 0 && strcmp(counts[i].path, path) != 0) continue;
        snprintf(counts[i].path, sizeof counts[i].path, "%s", path);
        n = ++counts[i].count;
        if (n == 1) counts[i].first_ms = now;
        *ret_since_ms = now - counts[i].first_ms;
        break;
    }
    close(lock);
    return n;
}

/* Until the other side has had enough; a slow one gives it time for that after each piece. */
static void for_ever(int fd, const char *head, const char *piece, int pause_ms) {
    size_t len = strlen(piece);
    struct pollfd gone = {.fd = fd, .events = POLLRDHUP};
    (void)!write(fd, head, strlen(head));
    while (write(fd, piece, len) == (ssize_t)len && poll(&gone, 1, pause_ms) == 0) continue;
}

static void route(int fd, const char *log, const struct asked *a) {
    char line[4200];
    int n = 0;
    int64_t since_ms = 0;
    if (strncmp(a->path, "/echo", 5) == 0) {
        echo(fd, a);
    } else if (sscanf(a->path, "/status/%d", &n) == 1) {
        answer(fd, n, "", SLICE("it is what it is"));
    } else if (sscanf(a->path, "/flaky/%d/", &n) == 1) {
        bool good = count_of(log, a->path, &since_ms) > n;
        answer(fd, good ? 200 : 503, good ? "" : "Retry-After: 1\r\n", good ? SLICE("at last") : SLICE("not now"));
    } else if (sscanf(a->path, "/later/%d/", &n) == 1) {
        bool good = count_of(log, a->path, &since_ms) > 1;
        snprintf(line, sizeof line, "Retry-After: %d\r\n", n);
        char text[64];
        snprintf(text, sizeof text, "after %lld ms", (long long)since_ms);
        answer(fd, good ? 200 : 503, good ? "" : line, slice_str(text));
    } else if (sscanf(a->path, "/job/%d/", &n) == 1) {
        bool done = count_of(log, a->path, &since_ms) > n;
        answer(fd, 200, "", done ? SLICE("{\"state\": \"done\", \"answer\": 42}") : SLICE("{\"state\": \"running\"}"));
    } else if (strncmp(a->path, "/goto?", 6) == 0 || strncmp(a->path, "/goto307?", 9) == 0) {
        snprintf(line, sizeof line, "Location: %s\r\n", strchr(a->path, '?') + 1);
        answer(fd, a->path[5] == '?' ? 302 : 307, line, SLICE(""));
    } else if (strcmp(a->path, "/huge") == 0) {
        for_ever(fd, "HTTP/1.1 200 X\r\n\r\n", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 0);
    } else if (strcmp(a->path, "/heads") == 0) {
        for_ever(fd, "HTTP/1.1 200 X\r\n", "X-More: 0123456789abcdef0123456789abcdef0123456789abcdef\r\n", 0);
    } else if (strcmp(a->path, "/slow") == 0) {
        for_ever(fd, "HTTP/1.1 200 X\r\n\r\n", ".", 20);
    } else if (strcmp(a->path, "/binary") == 0) {
        answer(fd, 200, "Content-Type: application/octet-stream\r\n", SLICE("\x00\xff\x01"));
    } else {
        answer(fd, 404, "", SLICE("there is no such path"));
    }
}

static void serve(int listener, const char *log) {
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0) continue;
        if (fork() == 0) {
            struct asked a = {0};
            if (request_read(fd, &a)) {
                request_log(log, &a);
                route(fd, log, &a);
            }
            shutdown(fd, SHUT_WR);
            _exit(0);
        }
        close(fd);
    }
}

/* ---- for tests ---- */

void webserver_start(struct webserver *w) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 64), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    *w = (struct webserver){.port = ntohs(at.sin_port)};
    snprintf(w->log, sizeof w->log, "/tmp/reeve-web-%d-%u", getpid(), w->port);
    counts = mmap(NULL, NAMES_MAX * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(counts != MAP_FAILED);
    w->pid = fork();
    assert_true(w->pid >= 0);
    if (w->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(fd, w->log);
    }
    close(fd);
}

void webserver_stop(struct webserver *w) {
    kill(w->pid, SIGKILL);
    waitpid(w->pid, NULL, 0);
    unlink(w->log);
    munmap(counts, NAMES_MAX * sizeof *counts);
    counts = NULL;
    *w = (struct webserver){0};
}

const char *webserver_asked(const struct webserver *w) {
    static char text[1 << 20];
    FILE *f = fopen(w->log, "re");
    size_t n = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f != NULL) fclose(f);
    text[n] = 0;
    return text;
}

uint32_t webserver_count(const struct webserver *w, const char *words) {
    uint32_t n = 0;
    for (const char *at = webserver_asked(w); (at = strstr(at, words)) != NULL; at++) n++;
    return n;
}
