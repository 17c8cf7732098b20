/* request_table.c: the table of request_table.h as data. */
#include "request_table.h"

#include "callback.h"
#include "demand.h"
#include "event_ring.h"
#include "flow_events.h"
#include "playground.h"
#include "requests.h"
#include "server_impl.h"
#include "stream.h"
#include "subscribers.h"

static const struct request_row rows[256] = {
#define X(opcode, roles, names, flags, serve) [opcode] = {roles, names, flags, serve},
    REQUEST_TABLE(X)
#undef X
};

const struct request_row *request_row(uint8_t opcode) {
    return rows[opcode].serve != NULL ? &rows[opcode] : NULL;
}
