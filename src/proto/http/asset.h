/* asset.h: the files of the web console, which are part of the program: compressed when it was built, and kept where
 * the program itself is, so they cost no memory until someone asks for them. They hold no data, so nobody needs a
 * token.
 *
 * Nothing here knows a connection or a file: what is not in the table does not exist. */
#ifndef REEVE_ASSET_H
#define REEVE_ASSET_H

#include "http.h"
#include "http_out.h"
#include "slice.h"

struct asset {
    const char *path; /* "/assets/index-3f9a.js" */
    const char *type;
    const char *etag;   /* with its quotes; of the file before it was compressed */
    struct slice bytes; /* gzip */
};

struct assets {
    const struct asset *all;
    uint32_t count;
};

/* The file that a path names; for a page of the console, which finds out itself what to show, its index. NULL =
 * neither. The path is as it was sent: one with escapes names nothing. */
const struct asset *asset_find(const struct assets *a, struct slice path);

/* Fills the answer to a GET or HEAD: 200, or 304 for who has it already, or 406 for who cannot take it compressed. */
void asset_head(const struct asset *a, const struct http_request *r, struct http_head *ret);

#endif
