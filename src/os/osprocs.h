/* osprocs.h: which processes there are below one, from /proc. */
#ifndef REEVE_OSPROCS_H
#define REEVE_OSPROCS_H

#include <stdint.h>
#include <sys/types.h>

#include "vec.h"

/* Every process below `root`; without those in `skip` and what is below them (NULL: none). Parents come before their
 * children: killed in this order, none of them sees another die. Zombies are included. Who begets processes faster than
 * this looks has to be looked at again. */
void osprocs_below(pid_t root, const struct u32vec *skip, struct u32vec *ret);

#endif
