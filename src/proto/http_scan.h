/* http_scan.h: the bytes of a head, before any parser sees them. What some reader between the client and us
 * might take for an end of line, or for the end of the head, is refused: a carriage return or a line feed on its own, a
 * folded line, a control character. */
#ifndef REEVE_HTTP_SCAN_H
#define REEVE_HTTP_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "slice.h"

struct http_scan {
    bool after_return; /* the byte before was CR */
    bool in_line;      /* the line has a byte */
    uint32_t lines;    /* that have ended; the request line is the first */
};

enum http_scanned { HTTP_SCAN_MORE, HTTP_SCAN_END, HTTP_SCAN_BAD };

/* Looks at the bytes up to the end of the head, or to the one that is refused: *ret_used tells how many. *ret_text says
 * what is wrong; a literal. */
enum http_scanned http_scan(struct http_scan *s, struct slice bytes, size_t *ret_used, const char **ret_text);

#endif
