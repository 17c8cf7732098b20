/* background.h: work done aside, so that the loop is not kept waiting by it: reading many files, mostly.
 *
 * On Linux threads (os/osbackground.h); where there are none (the simulator) such work is not done at all. All calls
 * are the loop thread's. `work` runs elsewhere and touches nothing but its ctx and what is safe for threads; `done` is
 * the loop thread's again, never from inside a call. */
#ifndef REEVE_BACKGROUND_H
#define REEVE_BACKGROUND_H

#include <stdbool.h>

struct background {
    const struct background_ops *ops;
};

struct background_ops {
    /* False: too much is being done already. */
    bool (*start)(struct background *a, void (*work)(void *ctx), void (*done)(void *ctx), void *ctx);
    /* Waits until nothing is being done any more, and calls each `done`. For who closes; tell it to end first. */
    void (*settle)(struct background *a);
};

#endif
