/* history_row.h: a flow that is over as a row of the history: what a list shows, its jobs as `get` shows them, and the
 * texts to find it by. Made in steps, because a flow may have a million jobs. */
#ifndef REEVE_HISTORY_ROW_H
#define REEVE_HISTORY_ROW_H

#include "buf.h"
#include "history.h"
#include "state_view.h"

#define ROW_PART_JOBS 256u /* jobs in one part; part of the format */

struct row {
    flow_id flow;
    uint64_t lsn;        /* of the state that it is made from */
    uint32_t next;       /* ordinal of the next job */
    uint32_t part;       /* number of the next part */
    struct buf message;  /* of one part, or of the head */
    struct buf jobs, errors;
};

void row_init(struct row *r);
void row_fini(struct row *r);
void row_begin(struct row *r, flow_id flow, uint64_t lsn);
/* Makes the next part; true: that was the last, and `row_head` is due. The part goes to `ret`; `body` lies in the row.
 * The arena of the lens may be reset afterwards. */
bool row_part(struct row *r, const struct lens *l, struct history_part *ret);
/* What else is to be put. Its slices lie in the row, in the arena of the lens and in the state. */
void row_head(struct row *r, const struct lens *l, struct history_row *ret);

#endif
