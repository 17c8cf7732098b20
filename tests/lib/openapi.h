/* openapi.h: docs/openapi.yaml, read, and answers of a server held against it. Knows of JSON Schema what the document
 * uses; a member that the document does not know is a failure. */
#ifndef REEVE_OPENAPI_H
#define REEVE_OPENAPI_H

#include "arena.h"
#include "json_tree.h"
#include "limit.h"

struct openapi {
    struct arena arena;
    struct limits limits;
    const struct json_node *root;
    char place[256]; /* of the first difference */
};

void openapi_open(struct openapi *o, const char *file);
void openapi_close(struct openapi *o);
/* Whether an answer of this status to `verb path` (without its query) may have this body; else `place` says where not.
 * The path must be in the document. */
bool openapi_allows(struct openapi *o, const char *verb, const char *path, int status, const char *body);

#endif
