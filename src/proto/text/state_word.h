/* state_word.h: states of jobs as other systems call them: titan, orion, cordum, corun. */
#ifndef REEVE_STATE_WORD_H
#define REEVE_STATE_WORD_H

#include "slice.h"

bool state_word_is_known(const char *whose);
/* `whose` NULL: as we call it. The cause tells a job that was dragged down from one that failed. */
struct slice state_word(const char *whose, struct slice state, struct slice cause);

#endif
