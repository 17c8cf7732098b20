/* simzones.c: see simzones.h. */
#include "simzones.h"

#include <stdio.h>
#include <string.h>

#define HEADER_BYTES 44u
#define BODY_BYTES 7u /* one type, and one character for its name */

/* A file of RFC 8536 that has nothing but a rule; its second half is read. */
static enum err zone_read(struct zones *z, const char *name, struct buf *ret, struct why *why) {
    static const char rule[] = "\nWET0WEST,M3.5.0/1,M10.5.0\n";
    uint8_t half[HEADER_BYTES + BODY_BYTES] = "TZif2";
    (void)z;
    if (strcmp(name, SIM_ZONE) != 0) return why_set(why, ERR_NOT_FOUND, "there is no time zone `%s`", name);
    half[39] = half[43] = 1;
    buf_put(ret, half, sizeof half);
    buf_put(ret, half, sizeof half);
    buf_put(ret, rule, sizeof rule - 1);
    return ERR_OK;
}

struct zones *simzones(void) {
    static struct zones zones = {zone_read};
    return &zones;
}
