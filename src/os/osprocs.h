/* osprocs.h: which processes there are below one, and above one, from /proc. */
#ifndef REEVE_OSPROCS_H
#define REEVE_OSPROCS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "vec.h"

/* Every process below `root`; without those in `skip` and what is below them (NULL: none). Parents come before their
 * children: killed in this order, none of them sees another die. Zombies are included. Who begets processes faster than
 * this looks has to be looked at again. */
void osprocs_below(pid_t root, const struct u32vec *skip, struct u32vec *ret);

/* Whether a process belongs to a job: whether a keeper or a nursery (ossupervisor.h) stands above it. Both are
 * subreapers, so nothing that a job starts leaves them, however it forks. Those that stand above this process, too, do
 * not count: a whole Reeve may run inside a job of another. True also when it cannot be told: the process is gone, or
 * in a pid namespace that is not below ours. */
bool osprocs_is_of_job(pid_t pid);
/* The same for the process that connected to this Unix socket, `pid` as SO_PEERCRED tells. Where the kernel can hold on
 * to it (SO_PEERPIDFD), no later process of the same number is taken for it. */
bool osprocs_peer_is_of_job(int fd, pid_t pid);

#endif
