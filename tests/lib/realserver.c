/* realserver.c: see realserver.h. */
#include "realserver.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#ifndef REEVE_BINARY
#define REEVE_BINARY "build/dev/reeve"
#endif
#define START_MS 60000

/* No program that a test starts finds a server, a token or a certificate by chance: neither ./.reeve of the clone,
 * where `make up` leaves one, nor what the environment of the caller names. */
__attribute__((constructor)) static void forget_surroundings(void) {
    static const char *const names[] = {"REEVE_SERVER",  "REEVE_TOKEN",  "REEVE_TLS_CERT",
                                        "REEVE_TLS_KEY", "REEVE_TLS_CA", "REEVE_TLS_PIN"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) (void)unsetenv(names[i]);
    (void)setenv("REEVE_DATA", "/nonexistent/reeve", 1);
}

const char *realserver_binary(void) {
    return REEVE_BINARY;
}

void realserver_choose_address(char ret[64]) {
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof any;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&any, sizeof any) == 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&any, &len), 0);
    close(fd);
    snprintf(ret, 64, "127.0.0.1:%u", ntohs(any.sin_port));
}

void realserver_make(struct realserver *s) {
    *s = (struct realserver){.data = "/tmp/reeve-e2e-XX"
                                     "XX"
                                     "XX",
                             .errors = -1};
    assert_non_null(mkdtemp(s->data));
}

static void read_line(const struct realserver *s, const char *file, char *to, int bytes) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", s->data, file);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_non_null(fgets(to, bytes, f));
    to[strcspn(to, "\n")] = 0;
    fclose(f);
}

/* What it says on standard error goes to ours; true when the word was among it. */
static bool hear(struct realserver *s, const char *word) {
    char text[8192];
    size_t len = 0;
    for (;;) {
        struct pollfd p = {.fd = s->errors, .events = POLLIN};
        if (poll(&p, 1, START_MS) <= 0 || len + 1 >= sizeof text) return false;
        ssize_t n = read(s->errors, text + len, sizeof text - len - 1);
        if (n <= 0) {
            fprintf(stderr, "%.*s", (int)len, text);
            return false;
        }
        len += (size_t)n;
        text[len] = 0;
        if (strstr(text, word) != NULL) return true;
    }
}

/* Without a log the file with its address tells that it listens. */
static void wait_for_address(const struct realserver *s) {
    char path[128];
    snprintf(path, sizeof path, "%s/address", s->data);
    for (int i = 0; access(path, R_OK) != 0; i++) {
        struct pollfd p = {.fd = s->errors, .events = POLLIN};
        (void)poll(&p, 1, 10);
        if (i > START_MS / 10) fail_msg("the server does not start");
    }
}

static void spawn(struct realserver *s) {
    int ends[2];
    assert_int_equal(s->pid, 0);
    assert_int_equal(pipe(ends), 0);
    const char *args[32] = {
        REEVE_BINARY, "serve", "--data", s->data, "--listen", "127.0.0.1:0", "--vault-reserve-bytes", "0"};
    int count = 8;
    for (int i = 0; s->flags[i] != NULL; i++) args[count++] = s->flags[i];
    char address[128];
    snprintf(address, sizeof address, "%s/address", s->data);
    (void)unlink(address); /* of the one before */
    s->pid = fork();
    assert_true(s->pid >= 0);
    if (s->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        execv(REEVE_BINARY, (char *const *)(void *)args);
        _exit(127);
    }
    close(ends[1]);
    s->errors = ends[0];
}

void realserver_start(struct realserver *s) {
    char address[128];
    snprintf(address, sizeof address, "%s/address", s->data);
    spawn(s);
    if (s->quiet)
        wait_for_address(s);
    else if (!hear(s, " ready "))
        fail_msg("the server does not start");
    s->address[0] = 0; /* a full disk has no room for the file; the socket is there all the same */
    if (access(address, R_OK) == 0) read_line(s, "address", s->address, sizeof s->address);
    read_line(s, "admin.token", s->admin, sizeof s->admin);
    read_line(s, "worker.token", s->worker, sizeof s->worker);
    snprintf(s->socket, sizeof s->socket, "unix:%s/reeve.sock", s->data);
}

bool realserver_says(struct realserver *s, const char *words) {
    return hear(s, words);
}

static int reap(struct realserver *s) {
    int status = 0;
    assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
    char rest[4096];
    for (ssize_t n; (n = read(s->errors, rest, sizeof rest)) > 0;)
        if (memmem(rest, (size_t)n, "Sanitizer", 9) || memmem(rest, (size_t)n, "runtime error", 13) ||
            memmem(rest, (size_t)n, "require:", 8) || memmem(rest, (size_t)n, "ensure:", 7))
            fail_msg("%.*s", (int)n, rest);
    close(s->errors);
    s->errors = -1;
    s->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void realserver_refuses(struct realserver *s, const char *words) {
    spawn(s);
    if (!hear(s, words)) fail_msg("the server does not say: %s", words);
    assert_true(reap(s) > 0);
}

void realserver_kill(struct realserver *s) {
    kill(s->pid, SIGKILL);
    assert_int_equal(reap(s), -SIGKILL);
}

int realserver_stop(struct realserver *s) {
    kill(s->pid, SIGTERM);
    return reap(s);
}

void realserver_remove(struct realserver *s) {
    char command[128];
    if (s->pid != 0) realserver_kill(s);
    snprintf(command, sizeof command, "rm -rf %s", s->data);
    assert_int_equal(system(command), 0);
}
