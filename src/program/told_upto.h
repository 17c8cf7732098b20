/* told_upto.h: of a child that follows the journal: how far it may go. Its standard input tells, 8 bytes little-endian
 * each time, rising; when that ends nobody wants to know any more, and the process ends. */
#ifndef REEVE_TOLD_UPTO_H
#define REEVE_TOLD_UPTO_H

#include <stdint.h>

void told_upto_listen(void);             /* once, on a thread of its own */
uint64_t told_upto_next(uint64_t before); /* waits until it is beyond that */

#endif
