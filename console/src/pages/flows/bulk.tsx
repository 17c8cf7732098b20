// Cancels or reruns the selected flows, each by a request of its own; a refusal is shown as the server words it.
import { ApiError, post } from "../../api/client";
import { flowPath } from "../../router";
import { ask } from "../../ui/confirm";
import { countText } from "../../ui/parts";
import { say } from "../../ui/toast";

const AT_ONCE = 4;

const verbs = {
  cancel: { title: "Cancel", text: "Jobs that wait are cancelled, those that run are stopped. This cannot be undone.", done: "cancelled" },
  rerun: { title: "Rerun", text: "Jobs that failed, were cancelled or were skipped run again; what succeeded stays.", done: "run again" },
};
type Verb = keyof typeof verbs;

async function changeAll(flows: string[], verb: Verb): Promise<{ done: number; refusals: string[] }> {
  const left = [...flows];
  const refusals: string[] = [];
  let done = 0;
  const work = async () => {
    for (let flow = left.shift(); flow !== undefined; flow = left.shift())
      try {
        await post(`${flowPath(flow)}/${verb}`, {});
        done++;
      } catch (error) {
        refusals.push(`${flow}: ${error instanceof ApiError ? error.message : String(error)}`);
      }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { done, refusals };
}

export function Bulk({ flows, onDone, onClear }: { flows: string[]; onDone: () => void; onClear: () => void }) {
  if (flows.length === 0) return null;
  const run = async (verb: Verb) => {
    const { title, text, done } = verbs[verb];
    const sure = await ask({ title: `${title} ${countText(flows.length, "flow")}?`, text, action: title, danger: verb === "cancel" });
    if (sure === null) return;
    const result = await changeAll(flows, verb);
    const first = result.refusals[0];
    if (result.done > 0) say(`${countText(result.done, "flow")} ${done}`);
    if (first !== undefined) say(`${result.refusals.length} refused; ${first}`, true);
    onDone();
  };
  return (
    <div class="bulk" role="group" aria-label="Selected flows">
      <span>{flows.length} selected</span>
      <button type="button" class="quiet small" onClick={onClear}>Clear the selection</button>
      <span class="push" />
      <button type="button" onClick={() => void run("rerun")}>Rerun selected</button>
      <button type="button" class="danger" onClick={() => void run("cancel")}>Cancel selected</button>
    </div>
  );
}
