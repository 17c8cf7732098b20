/* place.h: which worker may take jobs of a class. Shared by dispatch, which chooses, and why, which explains. */
#ifndef REEVE_PLACE_H
#define REEVE_PLACE_H

#include "live.h"
#include "state.h"

/* How far a worker is from taking a job of a class; the first obstacle. */
enum fit {
    FIT_YES,
    FIT_OTHER_POOL,
    FIT_POOL_CLOSED, /* draining, inactive or paused */
    FIT_AWAY,        /* not attached, or draining */
    FIT_TENANT,      /* serves another tenant */
    FIT_CAPABILITY,  /* lacks a capability, a label or the size of a resource */
    FIT_PINNED,      /* the job still waits for another one */
    FIT_OVERLOADED,  /* and its pool refuses */
    FIT_FULL,        /* no free slot or resource now */
};

enum fit place_fit(const struct state *s, const struct live *l, const struct limits *limits, const struct class_ *c,
                   uint32_t worker);

/* Whether a demand names this pool, or a topic that leads to it. */
bool place_names_pool(const struct state *s, const struct demand *d, struct slice pool);

/* Free slots of a worker, as it and we see them; 0 when it takes nothing. */
uint32_t place_free_slots(const struct state *s, const struct live *l, uint32_t worker);

/* How many jobs of a class a worker of this kind, which is not there yet, would hold at once; 0 = it would not fit.
 * Not for a class that waits for a worker by name: a kind has none. */
uint32_t place_offer(const struct state *s, const struct class_ *c, const struct worker_info *offer);
/* Whether a worker that is there is one of the kind: same pool and tenant, and at least its capabilities and labels. */
bool place_is_like(const struct worker_info *w, const struct worker_info *offer);

struct load {
    bool overloaded;
    uint64_t millionths; /* active/slots + cpu/100 + gpu/100 */
    uint64_t served;
};
struct load place_load(const struct state *s, const struct live *l, const struct limits *limits, uint32_t worker);
/* True when `a` is the better choice: not overloaded, lower load, served longer ago. */
bool load_is_better(const struct load *a, const struct load *b);

#endif
