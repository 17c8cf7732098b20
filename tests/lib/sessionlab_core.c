/* sessionlab_core.c: the part of sessionlab.h that looks into the engine; apart, because server and core have structs
 * of the same names. */
#include "engine.h"
#include "live.h"
#include "sessionlab.h"

uint32_t sessionlab_watches(const struct engine *e) {
    return engine_live(e)->watches.all.count + engine_live(e)->watches.sessions.count;
}
