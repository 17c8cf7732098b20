/* simschedule.h: a stand-in for the calendar of a server. It understands "every MS from MS" and works out the slots
 * that an engine asks for, at times too few of them, at times not at all: then the engine has to ask again. */
#ifndef REEVE_SIMSCHEDULE_H
#define REEVE_SIMSCHEDULE_H

#include "effect.h"
#include "slice.h"

struct serverhost;

struct simschedule_series { /* slots at anchor + k * every, k = 1, 2, … */
    int64_t every_ms, anchor_ms;
};

struct simschedule_series simschedule_parse(struct slice expression);
/* Answers the engine's question by a command of the server to itself. */
void simschedule_wanted(struct serverhost *s, const struct slots_effect *wanted);

#endif
