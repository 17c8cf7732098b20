/* simzones.h: port/zones.h with two zones: one has summer time, which is enough for schedules that say where they are;
 * in the other it is midnight a few seconds after a run begins, so that schedules see a day end. */
#ifndef REEVE_SIMZONES_H
#define REEVE_SIMZONES_H

#include "zones.h"

#define SIM_ZONE "Sim/Here"
#define SIM_ZONE_MIDNIGHT "Sim/Midnight"
#define SIM_MIDNIGHT_OFFSET 54394 /* seconds east: midnight is at 1760000006, 6 s after the begin of a run */

struct zones *simzones(void);

#endif
