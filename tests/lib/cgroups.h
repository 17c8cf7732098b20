/* cgroups.h: whether this machine keeps limits by control groups, found without asking the program under test; and
 * groups of a test's own for a worker to live in, so that whatever is below them is that worker's. */
#ifndef REEVE_CGROUPS_H
#define REEVE_CGROUPS_H

#include <stdbool.h>
#include <stdint.h>

struct cgroups {
    char dirs[3][512]; /* one in version 2, one for each controller in version 1 */
    uint32_t count;
    int version;
    char why_not[640];
};

/* Makes them. False: memory, cpu and number of processes cannot all be limited here, `why_not` says why. */
bool cgroups_make(struct cgroups *c);
bool cgroups_enter(const struct cgroups *c); /* the calling process */
uint32_t cgroups_of_jobs(const struct cgroups *c); /* how many groups of jobs there are */
void cgroups_remove(struct cgroups *c); /* and fails the test when there is something in them */

#endif
