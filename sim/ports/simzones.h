/* simzones.h: port/zones.h with one zone, which has summer time: enough for schedules that say where they are. */
#ifndef REEVE_SIMZONES_H
#define REEVE_SIMZONES_H

#include "zones.h"

#define SIM_ZONE "Sim/Here"

struct zones *simzones(void);

#endif
