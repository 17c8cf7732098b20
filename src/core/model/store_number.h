/* store_number.h: a number of the store as its canonical decimal text, and back. */
#ifndef REEVE_STORE_NUMBER_H
#define REEVE_STORE_NUMBER_H

#include "slice.h"

#define STORE_NUMBER_BYTES 21
struct slice store_number_text(int64_t number, char out[STORE_NUMBER_BYTES]);
bool store_number(struct slice text, int64_t *ret); /* false: the text is no such number */

#endif
