/* job_options.c: words of options; see job_options.h. */
#include "job_options.h"

const char *const on_upstream_words[UPSTREAM_COUNT] = {"fail", "skip", "run"};
const char *const trigger_words[TRIGGER_COUNT] = {"all_succeeded", "none_failed", "one_succeeded", "all_done"};
const char *const flow_stage_words[FLOW_STAGE_COUNT] = {"main", "on_success", "on_failure", "finally", "over"};
const char *const update_words[UPDATE_COUNT] = {"stop_first", "start_first"};
const char *const compensate_on_words[COMPENSATE_COUNT] = {"fatal", "failure"};
