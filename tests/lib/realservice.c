/* realservice.c: see realservice.h. */
#include "realservice.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

#define LOOK_MS 20
#define ASK_MS 5000

/* ---- the service ---- */

static const char *path_in(const char *dir, const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void note(const char *dir, const char *file, const char *line) {
    int fd = open(path_in(dir, file), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, line, strlen(line)) < 0) _exit(70);
    (void)close(fd);
}

static int listen_at(uint16_t port) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, 64) != 0) {
        fprintf(stderr, "port %u is taken\n", port);
        _exit(71);
    }
    return fd;
}

static void answer(int listener, const char *dir, const char *word) {
    char text[512], body[128];
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, 1000) > 0 && read(fd, text, sizeof text) > 0) {
        snprintf(body, sizeof body, "%s %d %s", getenv("REEVE_ATTEMPT"), (int)getpid(), word);
        int len = snprintf(text, sizeof text, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s",
                           access(path_in(dir, "sick"), F_OK) == 0 ? "503 Sick" : "200 OK", strlen(body), body);
        (void)!write(fd, text, (size_t)len);
    }
    (void)close(fd);
}

static void serve(const char *dir, const char *word) {
    char line[64];
    int lock = open(path_in(dir, "lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0600), listener = -1;
    uint16_t port = (uint16_t)strtoul(getenv("PORT"), NULL, 10);
    snprintf(line, sizeof line, "%s %d\n", getenv("REEVE_ATTEMPT"), (int)getpid());
    if (flock(lock, LOCK_EX | LOCK_NB) != 0) note(dir, "twice", line);
    note(dir, "starts", line);
    (void)unlink(path_in(dir, "listens"));
    printf("%s begins, attempt %s\n", word, getenv("REEVE_ATTEMPT"));
    fflush(stdout);
    for (;;) {
        bool deaf = access(path_in(dir, "deaf"), F_OK) == 0;
        if (deaf && listener >= 0) (void)close(listener), listener = -1;
        if (!deaf && listener < 0) listener = listen_at(port), note(dir, "listens", line);
        struct pollfd p = {.fd = listener, .events = POLLIN};
        if (poll(&p, 1, LOOK_MS) > 0) answer(listener, dir, word);
    }
}

void realservice_main(int argc, char **argv) {
    if (argc >= 4 && strcmp(argv[1], "--serve") == 0) serve(argv[2], argv[3]);
}

/* ---- the test ---- */

const char *realservice_self(void) {
    static char path[1024];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(len > 0);
    path[len] = 0;
    return path;
}

struct realservice_answer realservice_ask(uint32_t port) {
    struct realservice_answer got = {0};
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    char text[512] = "GET / HTTP/1.1\r\n\r\n";
    size_t len = 0;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0 && write(fd, text, strlen(text)) > 0) {
        for (;;) {
            struct pollfd p = {.fd = fd, .events = POLLIN};
            ssize_t n = poll(&p, 1, ASK_MS) > 0 ? read(fd, text + len, sizeof text - 1 - len) : 0;
            if (n <= 0) break;
            len += (size_t)n;
        }
        text[len] = 0;
        const char *body = strstr(text, "\r\n\r\n");
        int pid = 0;
        if (body != NULL && sscanf(text, "HTTP/1.1 %d", &got.status) == 1)
            assert_int_equal(sscanf(body, "%u %d %31s", &got.attempt, &pid, got.word), 3);
        got.pid = pid;
    }
    (void)close(fd);
    return got;
}

uint32_t realservice_starts(const char *dir) {
    FILE *f = fopen(path_in(dir, "starts"), "re");
    uint32_t count = 0;
    for (int c; f != NULL && (c = getc(f)) != EOF;) count += c == '\n';
    if (f != NULL) (void)fclose(f);
    return count;
}

bool realservice_was_twice(const char *dir) {
    return access(path_in(dir, "twice"), F_OK) == 0;
}
