/* realtty.c: see realtty.h. */
#include "realtty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "realserver.h"
#include "test.h"

#define PATIENCE_MS 30000
#define ARGS_MAX 32

static _Noreturn void become(const char *data, const char *args, const char *variables) {
    char copy[1024], *argv[ARGS_MAX] = {(char *)(uintptr_t)realserver_binary()}, *save = NULL;
    int n = 1;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(copy, sizeof copy, "%s", args);
    for (char *a = strtok_r(copy, " ", &save); a != NULL && n < ARGS_MAX - 4; a = strtok_r(NULL, " ", &save)) {
        argv[n++] = a;
        if (n != 2 || data == NULL) continue;
        argv[n++] = (char *)(uintptr_t) "--data";
        argv[n++] = (char *)(uintptr_t)data;
    }
    unsetenv("REEVE_SERVER");
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    if (variables != NULL) putenv(strdup(variables));
    alarm(120);
    execv(argv[0], argv);
    _exit(127);
}

void realtty_start(struct realtty *t, const char *data, const char *args, int rows, int cols, const char *variables) {
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    *t = (struct realtty){0};
    emulator_init(&t->screen, rows, cols);
    t->pid = forkpty(&t->fd, NULL, NULL, &size);
    assert_true(t->pid >= 0);
    if (t->pid == 0) become(data, args, variables);
    assert_int_equal(fcntl(t->fd, F_SETFL, O_NONBLOCK), 0);
}

/* Reads what there is, waiting so long for it. False: the terminal has no program any more. */
static bool look(struct realtty *t, int ms) {
    static uint8_t bytes[65536];
    struct pollfd p = {.fd = t->fd, .events = POLLIN};
    if (poll(&p, 1, ms) <= 0) return true;
    ssize_t n = read(t->fd, bytes, sizeof bytes);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (n <= 0) return false;
    emulator_feed(&t->screen, bytes, (size_t)n);
    t->was_other |= t->screen.is_other;
    return true;
}

static bool is_there(const struct realtty *t, const char *a, const char *b) {
    (void)b;
    return emulator_find(&t->screen, a) >= 0;
}

static bool is_away(const struct realtty *t, const char *a, const char *b) {
    return !is_there(t, a, b);
}

static bool is_in_row(const struct realtty *t, const char *a, const char *b) {
    for (int row = 0; row < t->screen.rows; row++) {
        const char *text = emulator_row(&t->screen, row);
        if (strstr(text, a) != NULL && strstr(text, b) != NULL) return true;
    }
    return false;
}

void realtty_until(struct realtty *t, realtty_fn seen, const char *a, const char *b, const char *complaint) {
    int64_t end = test_mono_ms() + PATIENCE_MS;
    bool lives = true;
    while (!seen(t, a, b)) {
        if (!lives || test_mono_ms() > end)
            fail_msg("%s: %s%s%s%s\n%s", complaint, a, b[0] ? " with " : "", b, lives ? "" : " (it has ended)",
                     emulator_text(&t->screen));
        lives = look(t, 1000);
    }
}

void realtty_sees(struct realtty *t, const char *text) {
    realtty_until(t, is_there, text, "", "never seen");
}

void realtty_sees_not(struct realtty *t, const char *text) {
    realtty_until(t, is_away, text, "", "still there");
}

void realtty_row_has(struct realtty *t, const char *row_with, const char *text) {
    realtty_until(t, is_in_row, row_with, text, "no such row");
}

void realtty_type(struct realtty *t, const char *keys) {
    size_t len = strlen(keys);
    while (len > 0) {
        ssize_t n = write(t->fd, keys, len);
        if (n < 0 && errno == EAGAIN) {
            (void)look(t, 10);
            continue;
        }
        assert_true(n > 0);
        keys += n;
        len -= (size_t)n;
    }
}

void realtty_resize(struct realtty *t, int rows, int cols) {
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
    while (look(t, 0) && poll(&(struct pollfd){.fd = t->fd, .events = POLLIN}, 1, 0) > 0) continue;
    emulator_resize(&t->screen, rows, cols);
    assert_int_equal(ioctl(t->fd, TIOCSWINSZ, &size), 0);
}

bool realtty_is_cooked(const struct realtty *t) {
    struct termios now;
    assert_int_equal(tcgetattr(t->fd, &now), 0);
    return (now.c_lflag & ICANON) && (now.c_lflag & ECHO) && (now.c_lflag & ISIG);
}

int realtty_ends(struct realtty *t) {
    int64_t end = test_mono_ms() + PATIENCE_MS;
    while (t->pid != 0) {
        if (test_mono_ms() > end) fail_msg("it does not end:\n%s", emulator_text(&t->screen));
        bool lives = look(t, 20);
        if (waitpid(t->pid, &t->status, lives ? WNOHANG : 0) == t->pid) t->pid = 0;
    }
    while (poll(&(struct pollfd){.fd = t->fd, .events = POLLIN}, 1, 0) > 0 && look(t, 0)) continue;
    return WIFEXITED(t->status) ? WEXITSTATUS(t->status) : 128 + WTERMSIG(t->status);
}

void realtty_kill(struct realtty *t, int number) {
    assert_true(t->pid > 0);
    assert_int_equal(kill(t->pid, number), 0);
}
