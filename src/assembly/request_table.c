/* request_table.c: the table of request_table.h as data. */
#include "request_table.h"

#include "requests.h"

#define X(opcode, roles, names, flags, serve) void serve(struct server *s, struct request *r);
REQUEST_TABLE(X)
#undef X

static const struct request_row rows[256] = {
#define X(opcode, roles, names, flags, serve) [opcode] = {roles, names, flags, serve},
    REQUEST_TABLE(X)
#undef X
};

const struct request_row *request_row(uint8_t opcode) {
    return rows[opcode].serve != NULL ? &rows[opcode] : NULL;
}
