/* netaddr.h: addresses of machines, as bytes (4 or 16) and as text. Names are not looked up. */
#ifndef REEVE_NETADDR_H
#define REEVE_NETADDR_H

#include "slice.h"

#define NETADDR_BYTES_MAX 16u
#define NETADDR_TEXT_BYTES 46u /* with the zero */

/* The address in "10.0.0.1", "10.0.0.1:80", "::1" or "[::1]:80". Returns its bytes; 0 = there is none in it. */
size_t netaddr_read(const char *text, uint8_t ret[NETADDR_BYTES_MAX]);
/* False: those bytes are none. */
bool netaddr_text(struct slice address, char ret[NETADDR_TEXT_BYTES]);

#endif
