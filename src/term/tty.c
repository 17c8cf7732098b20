/* tty.c: see tty.h. */
#include "tty.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "panic.h"

static struct termios before, raw;
static volatile sig_atomic_t is_open, has_changed;
static enum tty_use used_as;

/* Only what a handler of signals may call. */
static void say(const char *text, size_t len) {
    while (len > 0) {
        ssize_t n = write(STDOUT_FILENO, text, len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) {
            struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
            (void)poll(&p, 1, 1000);
            continue;
        }
        if (n <= 0) return; /* nobody looks any more */
        text += n;
        len -= (size_t)n;
    }
}
#define SAY(literal) say(literal, sizeof(literal) - 1)

static void take(void) {
    if (used_as != TTY_DRAWING) (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    if (used_as == TTY_FULL) SAY("\033[?1049h\033[H");
    if (used_as != TTY_LINE) SAY("\033[?25l");
}

static void give_back(void) {
    if (!is_open) return;
    is_open = 0;
    if (used_as == TTY_FULL) SAY("\033[0m\033[H\033[J\033[?1049l");
    if (used_as == TTY_DRAWING) SAY("\033[0m");
    if (used_as != TTY_LINE) SAY("\033[?25h");
    if (used_as != TTY_DRAWING) (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

/* ---- signals ---- */

static void size_changed(int number) {
    (void)number;
    has_changed = 1;
}

static void gone_on(int number) {
    (void)number;
    has_changed = 1;
    if (is_open) take();
}

static void ended(int number) {
    give_back();
    signal(number, SIG_DFL);
    raise(number);
}

static void panicked(const char *file, int line, const char *fact) {
    (void)file, (void)line, (void)fact;
    give_back();
}

/* Handlers that someone set before (a sanitizer, a verb that wants Ctrl-C for itself) stay. */
static void handle(int number, void (*handler)(int)) {
    struct sigaction act = {.sa_handler = handler}, old;
    if (sigaction(number, NULL, &old) == 0 && (old.sa_handler == SIG_DFL || old.sa_handler == handler))
        (void)sigaction(number, &act, NULL);
}

static void handle_all(void) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPIPE};
    static bool is_done;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) handle(ends[i], ended);
    handle(SIGWINCH, size_changed);
    handle(SIGCONT, gone_on);
    panic_hook_set(panicked);
    if (!is_done) (void)atexit(give_back);
    is_done = true;
}

/* ---- use ---- */

bool tty_open(enum tty_use use) {
    REQUIRE(!is_open);
    if (!isatty(STDOUT_FILENO)) return false;
    if (use != TTY_DRAWING && tcgetattr(STDIN_FILENO, &before) != 0) return false;
    raw = before;
    raw.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    used_as = use;
    handle_all();
    is_open = 1;
    take();
    return true;
}

void tty_close(void) {
    give_back();
}

void tty_size(uint32_t *ret_rows, uint32_t *ret_cols) {
    struct winsize size = {0};
    (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    *ret_rows = size.ws_row > 0 ? size.ws_row : 24;
    *ret_cols = size.ws_col > 0 ? size.ws_col : 80;
}

bool tty_changed(void) {
    bool changed = has_changed;
    has_changed = 0;
    return changed;
}

void tty_suspend(void) {
    give_back();
    raise(SIGTSTP); /* SIGCONT comes before this returns, and finds nothing open */
    is_open = 1;
    take();
    has_changed = 1;
}

void tty_write(struct slice bytes) {
    say((const char *)bytes.ptr, bytes.len);
}

bool tty_wait(int fd, int ms, bool *ret_fd) {
    struct pollfd p[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    *ret_fd = false;
    int n = poll(p, fd >= 0 ? 2 : 1, ms);
    if (n <= 0) return false;
    *ret_fd = fd >= 0 && p[1].revents != 0;
    return p[0].revents != 0;
}

size_t tty_read(uint8_t *bytes, size_t most) {
    for (;;) {
        ssize_t n = read(STDIN_FILENO, bytes, most);
        if (n < 0 && errno == EINTR) continue;
        return n > 0 ? (size_t)n : 0;
    }
}
