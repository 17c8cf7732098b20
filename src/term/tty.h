/* tty.h: the terminal of this process: taken, and given back as it was.
 *
 * It is given back by tty_close, by a signal that ends the process, by a panic, and by exit(). There is one terminal,
 * so there is one state, for handlers of signals have no arguments. */
#ifndef REEVE_TTY_H
#define REEVE_TTY_H

#include "slice.h"

enum tty_use {
    TTY_FULL,   /* the other screen, no cursor, keys one by one */
    TTY_LINE,   /* keys one by one; a cursor where it is */
    TTY_DRAWING /* no cursor; keys do as before: Ctrl-C is a signal */
};

bool tty_open(enum tty_use use); /* false: standard input or output is no terminal */
void tty_close(void);
void tty_size(uint32_t *ret_rows, uint32_t *ret_cols); /* 24 and 80 when it does not say */
bool tty_changed(void);                                /* its size, or it was someone else's, since this was asked */
void tty_suspend(void);                                /* as Ctrl-Z does; returns when the process goes on */
void tty_write(struct slice bytes);
/* Waits until keys came, `fd` (-1 = none) can be read, or the time is over (-1 = never); a signal ends it too.
 * True: keys came. *ret_fd: the other can be read. */
bool tty_wait(int fd, int ms, bool *ret_fd);
size_t tty_read(uint8_t *bytes, size_t most); /* what came; 0 = the terminal is gone */

#endif
