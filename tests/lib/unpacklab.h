/* unpacklab.h: the built program as the child that unpacks, without server and worker: a space with an archive in it,
 * and beside it a folder that no archive may touch. */
#ifndef REEVE_UNPACKLAB_H
#define REEVE_UNPACKLAB_H

#include "packer.h"

struct unpacklab {
    char dir[64];
    char archive[96];                              /* DIR/space/a: where a test puts it */
    const char *entry, *folder;                    /* "" = not said */
    unsigned strip, ratio, entries, path, depth;
    size_t bytes;
    const char *library_path; /* LD_LIBRARY_PATH; NULL = none */
    char outside[2048];       /* how it was there at first */
    char said[4096];          /* both outputs of the last run */
};

void unpacklab_make(struct unpacklab *l); /* with the standard limits, but for 64 MiB in all */
void unpacklab_fresh(struct unpacklab *l); /* an empty folder to unpack into */
int unpacklab_run(struct unpacklab *l);   /* its exit code; fails when something outside has changed */
void unpacklab_remove(struct unpacklab *l);

#endif
