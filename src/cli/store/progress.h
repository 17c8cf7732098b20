/* progress.h: how far an upload is, on standard error: a bar, bytes and rate, where that is a terminal and the upload
 * is large enough to be waited for. Nothing is left of it at the end. */
#ifndef REEVE_PROGRESS_H
#define REEVE_PROGRESS_H

#include "cli.h"

struct progress {
    const struct cli *cli;
    const char *what;
    uint64_t total; /* 0 = not known */
    int64_t started_ms, drawn_ms;
    bool is_wanted, is_drawn;
};

void progress_begin(struct progress *p, const struct cli *c, const char *what, uint64_t total);
void progress_step(struct progress *p, uint64_t done);
void progress_end(struct progress *p);

#endif
