/* flow_row.h: a flow that is over as a row of the history: what a list shows, its jobs as `get` shows them, and the
 * texts to find it by. Made in steps, because a flow may have a million jobs. */
#ifndef REEVE_FLOW_ROW_H
#define REEVE_FLOW_ROW_H

#include "buf.h"
#include "history.h"
#include "state_view.h"

#define FLOW_ROW_PART_JOBS 256u /* jobs in one part; part of the format */

struct flow_row {
    flow_id flow;
    uint64_t lsn;        /* of the state that it is made from */
    uint32_t next;       /* ordinal of the next job */
    uint32_t part;       /* number of the next part */
    struct buf message;  /* of one part, or of the head */
    struct buf jobs, errors;
};

void flow_row_init(struct flow_row *r);
void flow_row_fini(struct flow_row *r);
void flow_row_begin(struct flow_row *r, flow_id flow, uint64_t lsn);
/* Makes the next part of the flow, which is seen as it is now; true: that was the last, and `flow_row_head` is due. The
 * part goes to `ret`; `body` lies in the row. The arena of the lens may be reset afterwards. */
bool flow_row_part(struct flow_row *r, const struct state_view *l, const struct flow_view *flow,
                   struct history_part *ret);
/* What else is to be put. Its slices lie in the row, in the arena of the lens and in the state. */
void flow_row_head(struct flow_row *r, const struct state_view *l, const struct flow_view *flow,
                   struct history_row *ret);

#endif
