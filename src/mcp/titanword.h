/* titanword.h: states of jobs as Titan calls them. */
#ifndef REEVE_TITANWORD_H
#define REEVE_TITANWORD_H

#include "slice.h"

struct slice titanword(struct slice state, struct slice cause);

#endif
