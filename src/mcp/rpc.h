/* rpc.h: JSON-RPC 2.0, as the Model Context Protocol uses it: what a message is, and how results and errors are
 * written. Ids are echoed as they were written, so a number stays the number that it was. */
#ifndef REEVE_RPC_H
#define REEVE_RPC_H

#include "json.h"
#include "json_tree.h"

enum rpc_code {
    RPC_NOT_JSON = -32700,
    RPC_NOT_A_MESSAGE = -32600,
    RPC_NO_SUCH_METHOD = -32601,
    RPC_BAD_PARAMS = -32602,
    RPC_NO_SERVER = -32000, /* of ours: the server is away, and may be back soon */
};

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE, RPC_BAD };

struct rpc_message {
    enum rpc_kind kind;
    struct slice id; /* as it was written; empty = it has none */
    struct slice method;
    const struct json_node *params; /* an object, or NULL */
    const char *wrong;              /* RPC_BAD: what is */
};

void rpc_read(struct slice text, const struct json_node *node, struct rpc_message *ret);

/* {"jsonrpc": "2.0", "id": …, "result":: the value is the caller's, then json_object_end. */
void rpc_result(struct json *j, struct slice id);
void rpc_error(struct json *j, struct slice id, enum rpc_code code, struct slice message);

#endif
