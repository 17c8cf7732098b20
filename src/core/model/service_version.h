/* service_version.h: a version that a service has or had: which job deployed it, what became of it, and what it takes
 * to deploy it once more. A service remembers its last SERVICE_VERSIONS (rules.h), by number, oldest first. */
#ifndef REEVE_SERVICE_VERSION_H
#define REEVE_SERVICE_VERSION_H

#include "bytes.h"
#include "ids.h"

enum version_state {
    VERSION_DEPLOYING,
    VERSION_CURRENT, /* it was healthy, and nothing has taken its place */
    VERSION_RETIRED, /* another version has, or the service was removed */
    VERSION_FAILED,  /* its deployment ended badly */
    VERSION_STATE_COUNT
};
extern const char *const version_state_words[];

struct service_version {
    uint32_t number;
    uint8_t state;     /* enum version_state */
    uint32_t restarts; /* of one that is over: how often it was started again */
    uint64_t flow;     /* that ran it */
    struct job_ref deployer;
    int64_t begun_ms, healthy_ms, ended_ms; /* 0 = not yet; healthy: when the deployment succeeded */
    struct bytes *spec;                     /* rec_submitted with the one job that deploys it; NULL = not kept */
};

#endif
