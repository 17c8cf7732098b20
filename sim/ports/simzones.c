/* simzones.c: see simzones.h. */
#include "simzones.h"

#include <stdio.h>
#include <string.h>

#define HEADER_BYTES 44u
#define BODY_BYTES 7u /* one type, and one character for its name */

/* A file of RFC 8536 that has nothing but a rule; its second half is read. */
static enum err zone_read(struct zones *z, const char *name, struct buf *ret, struct why *why) {
    const char *rule = strcmp(name, SIM_ZONE) == 0            ? "\nWET0WEST,M3.5.0/1,M10.5.0\n"
                       : strcmp(name, SIM_ZONE_MIDNIGHT) == 0 ? "\n<X>-15:06:34\n"
                                                              : NULL;
    uint8_t half[HEADER_BYTES + BODY_BYTES] = "TZif2";
    (void)z;
    if (rule == NULL) return why_set(why, ERR_NOT_FOUND, "there is no time zone `%s`", name);
    half[39] = half[43] = 1;
    buf_put(ret, half, sizeof half);
    buf_put(ret, half, sizeof half);
    buf_put(ret, rule, strlen(rule));
    return ERR_OK;
}

struct zones *simzones(void) {
    static struct zones zones = {zone_read};
    return &zones;
}
