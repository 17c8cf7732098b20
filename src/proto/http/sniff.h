/* sniff.h: one port speaks everything, and the first bytes tell what. Whether a listener allows what was found is its
 * own business. */
#ifndef REEVE_SNIFF_H
#define REEVE_SNIFF_H

#include "slice.h"

enum sniff {
    SNIFF_MORE,    /* so far it could be several things */
    SNIFF_UNKNOWN, /* it is nothing that we speak */
    SNIFF_TEXT,    /* the same, but a text: a request of a protocol that is spoken in lines, HTTP perhaps */
    SNIFF_NATIVE,  /* native v2: 02 */
    SNIFF_HTTP,    /* a method and a space, perhaps behind an empty line */
    SNIFF_RESP,    /* an array of RESP: an asterisk and a digit */
    SNIFF_TLS,     /* a handshake record: 16 03 */
    SNIFF_TITAN,   /* TITAN_PROTO v1: 01 */
};

#define SNIFF_BYTES_MAX 10u /* this many bytes always suffice */

enum sniff sniff(struct slice first);
const char *sniff_word(enum sniff s);

#endif
