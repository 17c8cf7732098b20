/* osprefault.h: memory made ready before it is used. Pages that the system has promised are given when they are first
 * touched, one by one, and whoever touches them waits for each: half of the time of a large restart. Here another
 * thread asks for them first, many at a time.
 *
 * It is never further ahead than was said at birth. It changes no byte, and nothing depends on it: where it cannot
 * work, memory is given as it always was. */
#ifndef REEVE_OSPREFAULT_H
#define REEVE_OSPREFAULT_H

#include <stddef.h>

struct osprefault;

struct osprefault *osprefault_open(size_t ahead_bytes); /* NULL = there is no thread to be had */
/* Memory is used from `at` on, upwards, and mapped for at least the bytes ahead of it. */
void osprefault_reach(struct osprefault *o, void *at);
/* The same for what malloc gives next: for who takes everything from one heap. */
void osprefault_reach_heap(struct osprefault *o);
/* Waits until what was asked for is ready. For tests: nobody else has to know. */
void osprefault_settle(struct osprefault *o);
void osprefault_close(struct osprefault *o); /* NULL is fine */

#endif
