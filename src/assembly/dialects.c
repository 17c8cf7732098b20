/* dialects.c: which dialects there are. Those of the shared port are named to a client that speaks none of them in this
 * order. Another dialect is another line here and a folder. */
#include "dialect.h"
#include "http_dialect.h"
#include "resp_session.h"
#include "titan_keys.h"
#include "web_mcp.h"

#define DIALECT_TABLE(X) \
    X(native)            \
    X(resp)              \
    X(http)              \
    X(orion)             \
    X(titan)             \
    X(titan_web)

#define X(name) extern const struct dialect_ops name##_dialect;
DIALECT_TABLE(X)
#undef X

const struct dialect_ops *const server_dialects[] = {
#define X(name) &name##_dialect,
    DIALECT_TABLE(X)
#undef X
        NULL};

const struct resp_key_map resp_key_map = {titan_key_get, titan_key_members};

const struct http_mount *const http_mounts[] = {&mcp_mount, NULL};
