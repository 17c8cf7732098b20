// A schedule: a name, when, and the flow that is made each time.
import { useState } from "preact/hooks";

import { ApiError, pathOf, put } from "../../api/client";
import { Dialog } from "../../ui/parts";
import { say } from "../../ui/toast";
import { isClock, expressionOf, momentOf, type When } from "./expression";

const example = `{
  "jobs": {
    "report": {"run": "echo it is $(date)"}
  }
}`;

const hints: Record<When, string> = {
  cron: "minute hour day month weekday: 30 3 * * 1-5",
  every: "a duration: 15m, 6h",
  at: "once, in your time zone",
  key: "a key of the store; with a * at its end, all that begin so: uploads/*",
};

interface Fields {
  name: string;
  when: When;
  value: string;
  zone: string;
  calendar: string;
  overlap: string;
  catchUp: string;
  flow: string;
}

const blank: Fields = {
  name: "", when: "cron", value: "", zone: Intl.DateTimeFormat().resolvedOptions().timeZone, calendar: "", overlap: "skip", catchUp: "last", flow: example,
};

async function save(fields: Fields): Promise<void> {
  let spec: unknown;
  try {
    spec = JSON.parse(fields.flow);
  } catch (error) {
    throw new ApiError(0, "invalid", `the flow is no JSON: ${error instanceof Error ? error.message : ""}`);
  }
  const value = fields.when === "at" ? momentOf(fields.value) : fields.value;
  const clock = { expression: expressionOf({ when: fields.when, value, zone: fields.zone }), calendar: fields.calendar };
  await put(`/schedules/${pathOf(fields.name.trim())}`, {
    ...(isClock(fields.when) ? clock : { key: value.trim() }),
    overlap: fields.overlap,
    catch_up: fields.catchUp,
    flow: { name: fields.name.trim(), spec },
  });
}

function WhenFields({ fields, change }: { fields: Fields; change: (change: Partial<Fields>) => void }) {
  return (
    <>
      <div class="pair">
        <label>
          When
          <select value={fields.when} onChange={(event) => change({ when: event.currentTarget.value as When, value: "", calendar: "", overlap: event.currentTarget.value === "key" ? "queue" : "skip" })}>
            <option value="cron">cron</option>
            <option value="every">every</option>
            <option value="at">once at</option>
            <option value="key">a key changes</option>
          </select>
        </label>
        <label>
          {hints[fields.when]}
          {fields.when === "at"
            ? <input required type="datetime-local" value={fields.value} onInput={(event) => change({ value: event.currentTarget.value })} />
            : <input required value={fields.value} onInput={(event) => change({ value: event.currentTarget.value })} />}
        </label>
      </div>
      {fields.when === "cron" || fields.when === "every"
        ? <label>Days on which it runs: weekdays mon-fri; not 2026-12-25<input value={fields.calendar} onInput={(event) => change({ calendar: event.currentTarget.value })} /></label>
        : null}
      {fields.when === "cron" ? <label>Time zone<input value={fields.zone} onInput={(event) => change({ zone: event.currentTarget.value })} /></label> : null}
    </>
  );
}

export function AddSchedule({ open, onClose, reload }: { open: boolean; onClose: () => void; reload: () => void }) {
  const [fields, setFields] = useState(blank);
  const [problem, setProblem] = useState("");
  const change = (some: Partial<Fields>) => setFields((last) => ({ ...last, ...some }));
  const submit = async (event: Event) => {
    event.preventDefault();
    setProblem("");
    try {
      await save(fields);
      say(`${fields.name.trim()} is set`);
      setFields(blank);
      onClose();
      reload();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog title="Add a schedule" open={open} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <label>Name<input required value={fields.name} onInput={(event) => change({ name: event.currentTarget.value })} /></label>
        <WhenFields fields={fields} change={change} />
        <div class="pair">
          <label>
            While the one before runs
            <select value={fields.overlap} onChange={(event) => change({ overlap: event.currentTarget.value })}>
              <option value="skip">skip this one</option>
              <option value="queue">wait, then run</option>
              <option value="replace">cancel the one before</option>
            </select>
          </label>
          <label>
            Slots missed while nobody was there
            <select value={fields.catchUp} onChange={(event) => change({ catchUp: event.currentTarget.value })}>
              <option value="last">run the last</option>
              <option value="all">run all</option>
              <option value="none">leave out</option>
            </select>
          </label>
        </div>
        <label>Flow file, in JSON<textarea rows={9} value={fields.flow} onInput={(event) => change({ flow: event.currentTarget.value })} spellcheck={false} /></label>
        {problem === "" ? null : <p class="problem" role="alert">{problem}</p>}
        <div class="dialog-actions">
          <button type="button" onClick={onClose}>Close</button>
          <button type="submit" class="primary">Add it</button>
        </div>
      </form>
    </Dialog>
  );
}
