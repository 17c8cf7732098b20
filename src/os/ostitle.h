/* ostitle.h: what `ps` shows of a process that was forked from one with many kinds of children. */
#ifndef REEVE_OSTITLE_H
#define REEVE_OSTITLE_H

/* At the start of the program, with what it was started with. */
void ostitle_init(int argc, char **argv, char **environment);
/* Only in a fork that needs neither arguments nor environment of the program any more: it is written over them, and cut
 * where they end. Nothing without ostitle_init. */
void ostitle_set(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
