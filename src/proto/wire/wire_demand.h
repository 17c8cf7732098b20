/* wire_demand.h: which jobs wait for room: what more workers would take. Whoever can start workers says of which kind,
 * and hears how many of them would have something to do. */
#ifndef REEVE_WIRE_DEMAND_H
#define REEVE_WIRE_DEMAND_H

#include "wire_worker.h"

struct wire_demand_watch {
    struct wire_worker_info kind; /* only what such a worker would take; no slots = everything that waits */
    bool once;                    /* the present state and no more */
};

struct wire_demand_row { /* jobs of one tenant that ask for the same */
    struct slice tenant;
    struct wire_demand demand;
    int64_t priority;  /* as options.priority */
    uint32_t ready;    /* jobs that wait for room alone */
    bool more;         /* and perhaps others */
    int64_t since_ms;  /* wall: when the first of them became ready */
    struct slice code; /* why they do not run, as in a reason */
    uint32_t at_once;  /* how many of them one worker of the kind holds */
};

struct wire_demand_worker { /* of the kind, and attached */
    struct slice worker;
    uint32_t slots, active;
    bool draining;
    uint64_t served; /* changes whenever it is given a job */
};

struct wire_demands {
    uint64_t lsn;
    int64_t now_ms;    /* wall clock of the server */
    uint64_t ready;    /* jobs, of all rows */
    int64_t since_ms;  /* the first of all; 0 = none waits */
    uint64_t need_milli; /* thousandths of a worker of the kind that they would fill */
    struct tlv_list rows;    /* of wire_demand_row */
    uint32_t rows_left;      /* rows that were left out */
    struct tlv_list workers; /* of wire_demand_worker */
};

#define WIRE_DEMAND_ROWS_MAX 256u
#define WIRE_DEMAND_WORKERS_MAX 10000u

extern const struct tlv_desc wire_demand_row_desc, wire_demand_worker_desc;
extern const struct tlv_desc wire_demand_watch_desc, wire_demands_desc;

#endif
