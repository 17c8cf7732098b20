/* web_mcp.h: the Model Context Protocol at /mcp. */
#ifndef REEVE_WEB_MCP_H
#define REEVE_WEB_MCP_H

#include "http_dialect.h"

extern const struct http_mount mcp_mount;

#endif
