/* nemesis.h: the hand that breaks things at the rates of the plan, and mends them when the time of faults is over. */
#ifndef REEVE_NEMESIS_H
#define REEVE_NEMESIS_H

struct world;

void nemesis_start(struct world *w);
void nemesis_end(struct world *w); /* heals everything; nothing is broken afterwards */

#endif
