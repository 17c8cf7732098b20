/* dialects.c: which dialects there are. Those of the shared port are named to a client that speaks none of them in this
 * order. */
#include "dialect.h"
#include "http_dialect.h"
#include "native.h"
#include "orion_session.h"
#include "resp_session.h"
#include "titan_keys.h"
#include "titan_session.h"
#include "titan_web.h"
#include "web_mcp.h"

const struct dialect_ops *const server_dialects[] = {&native_dialect, &resp_dialect,      &http_dialect, &orion_dialect,
                                                     &titan_dialect,  &titan_web_dialect, NULL};

const struct resp_key_map resp_key_map = {titan_key_get, titan_key_members};

const struct http_mount *const http_mounts[] = {&mcp_mount, NULL};
