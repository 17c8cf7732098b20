/* json_oracle.h: our JSON reader against jansson, which was written by others from the same RFC. */
#ifndef REEVE_JSON_ORACLE_H
#define REEVE_JSON_ORACLE_H

#include "slice.h"

/* Reads the text with both and panics unless both accept it with the same value, or both refuse it. Where the two
 * differ on purpose (jansson keeps integers in 64 bits and reals in doubles, has no U+0000 in keys, and stops at a zero
 * byte), only our own reader has a say. Returns whether ours accepts. */
bool json_oracle_agree(struct slice in);

/* Reads the text with jansson alone, frees what came of it and returns whether it was accepted: for its speed. */
bool json_oracle_accepts(struct slice in);

#endif
