/* oschild.h: this program again, as a child that does one long thing in the background. */
#ifndef REEVE_OSCHILD_H
#define REEVE_OSCHILD_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct oschild {
    int32_t pid;
    int32_t pidfd; /* readable when it has ended */
};

/* Spawns (never forks: the caller may be large) /proc/self/exe with these arguments after the program's name,
 * NULL-terminated. Its standard input is /dev/null; its output is the caller's. */
CHECKED enum err oschild_start(const char *const *args, struct oschild *ret, struct why *why);
/* Ended? `ret_exit_code` is -1 when a signal ended it. Never waits. After true the child is forgotten. */
CHECKED bool oschild_ended(struct oschild *c, int *ret_exit_code);
/* Waits until it ends; only where nothing else has to go on. */
int oschild_wait(struct oschild *c);
/* Called by the child itself: yields processor and disk to everyone else. */
void oschild_background(void);
/* Starts a compaction: `journal compact --data LOCATOR --archive-days N`. When the pidfd is readable and oschild_ended
 * gives the code 0, the caller trims (writer_trim). */
CHECKED enum err oschild_compact(const char *locator, uint32_t archive_days, struct oschild *ret, struct why *why);

#endif
