/* why.h: why jobs are not placed; what view_why and view_demand share. */
#ifndef REEVE_WHY_H
#define REEVE_WHY_H

#include "live.h"
#include "place.h"
#include "view.h"

/* Why no job of a class that nothing else holds back is with a worker: how close the closest worker comes. */
enum block why_unplaced(const struct state *s, const struct live *l, const struct limits *limits,
                        const struct class_ *c);

#endif
