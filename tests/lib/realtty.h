/* realtty.h: the built program in a real terminal (a pty), with someone who looks at the screen and types. Waiting is
 * for what is on the screen; a test that waits in vain prints the screen. */
#ifndef REEVE_REALTTY_H
#define REEVE_REALTTY_H

#include <sys/types.h>

#include "emulator.h"

struct realtty {
    struct emulator screen;
    int fd;
    pid_t pid;   /* 0: it is over */
    int status;  /* as of waitpid, when it is over */
    bool was_other; /* it had the other screen once */
};

/* `reeve ARGS…` (split at blanks) with --data behind its first word; `variables` like "NO_COLOR=1", or NULL. */
void realtty_start(struct realtty *t, const char *data, const char *args, int rows, int cols, const char *variables);
void realtty_type(struct realtty *t, const char *keys);
void realtty_sees(struct realtty *t, const char *text);       /* waits until it is on the screen */
void realtty_sees_not(struct realtty *t, const char *text);   /* until it is not */
/* Until a row of the screen has both. */
void realtty_row_has(struct realtty *t, const char *row_with, const char *text);
/* Until the owner of the test is content with the screen. */
typedef bool (*realtty_fn)(const struct realtty *t, const char *a, const char *b);
void realtty_until(struct realtty *t, realtty_fn seen, const char *a, const char *b, const char *complaint);
void realtty_resize(struct realtty *t, int rows, int cols);
int realtty_ends(struct realtty *t); /* waits for its end: exit code, or 128 + signal */
bool realtty_is_cooked(const struct realtty *t); /* the terminal echoes and has lines: it was given back */
void realtty_kill(struct realtty *t, int number);

#endif
