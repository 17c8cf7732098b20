/* titan_place.h: scripts of Titan's dialect lie in one directory of a worker, under their own names, as Titan's do: a
 * job finds what another one left beside its script.
 *
 *     .titan_workspace/[TENANT/]NAME      the newest script of that name; NAME~2 and so on while an older one runs
 *     .titan_workspace/[TENANT/]shared/   where jobs of a DAG start
 *
 * There, jobs whose scripts have one name run each other's code. Here a name stands for one version as long as a job
 * runs it: equal bytes share it, other bytes that come meanwhile get the next free name. */
#ifndef REEVE_TITAN_PLACE_H
#define REEVE_TITAN_PLACE_H

#include "err.h"
#include "slice.h"
#include "space.h"
#include "vec.h"

#define TITAN_PLACE_SPACE ".titan_workspace" /* the dot: it stays when a worker starts again */
#define TITAN_PLACE_SHARED "shared"
#define TITAN_PLACE_PATH_MAX 512u

struct titan_place {
    struct space *space;
    struct vec held; /* struct held_script */
};

void titan_place_init(struct titan_place *p, struct space *space);
void titan_place_fini(struct titan_place *p);

/* Writes the script below `folder` (empty = the top) and holds its name until it is given back. *ret_file is where it
 * lies in the space. ERR_LIMIT: the name is too long. */
CHECKED enum err titan_place_take(struct titan_place *p, const char *folder, const char *name, struct slice bytes,
                                  uint32_t *ret_ticket, char ret_file[TITAN_PLACE_PATH_MAX], struct why *why);
void titan_place_give(struct titan_place *p, uint32_t *ticket); /* fine with 0, which it becomes */
/* Makes the directory where jobs of a DAG start. */
CHECKED enum err titan_place_shared(struct titan_place *p, const char *folder, char ret[SPACE_PATH_MAX],
                                    struct why *why);

#endif
