/* flowlab.h: a flow file in a test: read as YAML or JSON, with files of a made-up directory. */
#ifndef REEVE_FLOWLAB_H
#define REEVE_FLOWLAB_H

#include "spec.h"

#define FLOWLAB_NOW_MS INT64_C(1700000000000)

struct flowlab {
    struct arena arena;
    struct wire_flow flow;
    struct spec_schedule schedule;
    struct why why;
    bool grows;    /* read as jobs for a flow that is there */
    bool has_slot; /* or as a flow that a schedule makes */
};

void flowlab_init(struct flowlab *l);
void flowlab_fini(struct flowlab *l);
/* `text` is JSON when it begins with `{`. `params` is "a=1 b=2" or NULL. Files `x.py`, `in.txt` (small) and `big.sh` (a
 * blob) exist, and `days.txt`, which lists two days. */
enum err flowlab_read(struct flowlab *l, struct slice text, const char *params);
const struct wire_job *flowlab_job(const struct flowlab *l, const char *name); /* NULL = there is none */
const struct wire_options *flowlab_options(const struct flowlab *l, const char *name);
struct wire_run flowlab_run(struct flowlab *l, const char *name);

#endif
