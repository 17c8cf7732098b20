/* slot_note.h: what became of a slot of a schedule, or of several that were missed together. */
#ifndef REEVE_SLOT_NOTE_H
#define REEVE_SLOT_NOTE_H

#include <stdint.h>

struct slot_note {
    int64_t first_ms, slot_ms;
    uint64_t count;
    uint64_t flow;      /* FIRED */
    uint8_t what;       /* enum slot_end */
    uint8_t flow_state; /* FIRED: RUNNING until the flow ended the first time */
};

#endif
