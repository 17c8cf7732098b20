/* json_text.h: the texts of JSON, between their quotes. Part of json_read.h. */
#ifndef REEVE_JSON_TEXT_H
#define REEVE_JSON_TEXT_H

#include "arena.h"
#include "err.h"
#include "slice.h"

struct json_fault { /* what is wrong, and where */
    enum err err;
    const uint8_t *at;
    const char *text;
};

/* Reads the text whose opening quote is at `start`. Returns what is behind its closing quote, or NULL with the fault.
 * Without escapes *ret is a slice of the input, else it is in the arena. */
const uint8_t *json_text_read(const uint8_t *start, const uint8_t *end, struct arena *arena, struct slice *ret,
                              struct json_fault *fault);

#endif
