/* realshell.h: the built program in a shell beside a real server: $D is the server's directory, $S its address, $R the
 * program, REEVE_TOKEN its administrator's. What was printed, on both outputs, is in `said`. */
#ifndef REEVE_REALSHELL_H
#define REEVE_REALSHELL_H

#include <sys/types.h>

#include "realserver.h"

struct realshell {
    struct realserver *server;
    char said[1 << 16];
};

/* `VARIABLES reeve ARGS`; its exit code. */
int realshell_run(struct realshell *h, const char *variables, const char *args);
void realshell_must(struct realshell *h, const char *args); /* exits with 0 */
/* Exits with that code, and says these words. */
void realshell_refused(struct realshell *h, const char *variables, const char *args, int code, const char *words);

/* A worker with these flags; what it says goes to $D/worker.log. It dies with the test. */
pid_t realshell_worker(struct realshell *h, const char *args);
void realshell_worker_says(struct realshell *h, const char *words); /* waits until that log does */
void realshell_end(pid_t pid);                                      /* -9 */

#endif
