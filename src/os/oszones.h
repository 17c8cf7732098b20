/* oszones.h: port/zones.h from the tzdata of this machine. */
#ifndef REEVE_OSZONES_H
#define REEVE_OSZONES_H

#include "zones.h"

struct zones *oszones(void); /* one for the process */

#endif
