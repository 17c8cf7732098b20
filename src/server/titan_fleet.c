/* titan_fleet.c: see titan_fleet.h. Titan's own workers cannot attach yet. */
#include "titan_fleet.h"

#include "session.h"

void titan_fleet_frame(struct server *s, struct session *n, const struct titan_frame *f) {
    titan_sayf(s, n, "UNKNOWN_OPCODE: %d", (int8_t)f->opcode);
}
