/* event_format.h: events as JSON objects, as /api/v1/events tells them (docs/guides/events.md):
 *
 *     {"type":"hello","position":"17.4294967295","server_time_ms":…}
 *     {"type":"job","position":"18.2","time_ms":…,"target":"f3k9a/train","from":"ready","to":"running", …}
 *     {"type":"gap","position":"9.4294967295","dropped":9}
 *     {"type":"metrics","time_ms":…,"numbers":{"jobs_running":3, …}}
 *
 * What is 0 or empty is left out. */
#ifndef REEVE_EVENT_FORMAT_H
#define REEVE_EVENT_FORMAT_H

#include "event_wording.h"
#include "json.h"

void event_format_put(struct json *j, const struct wire_event *e); /* one object */

#endif
