/* multipart.h: forms with files (RFC 7578), as a browser and most libraries send them. Pure: the body is in memory, and
 * what is found in it are slices of it. */
#ifndef REEVE_MULTIPART_H
#define REEVE_MULTIPART_H

#include "err.h"
#include "slice.h"

#define MULTIPART_PARTS_MAX 64u
#define MULTIPART_HEAD_BYTES_MAX 8192u /* of one part */

struct multipart {
    struct slice left, boundary;
    uint32_t count;
};

struct multipart_part {
    struct slice name;     /* of the field */
    struct slice filename; /* as it was sent, perhaps with a path */
    bool has_filename;
    struct slice data;
};

/* Whether the value of a content-type header is that of such a form, with a boundary that may be one. */
bool multipart_begin(struct slice type, struct slice body, struct multipart *ret);
/* The next part. ERR_NOT_FOUND: there is none, and the form ended as it should. */
CHECKED enum err multipart_next(struct multipart *m, struct multipart_part *ret, struct why *why);

#endif
