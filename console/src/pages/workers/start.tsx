// Starts a worker on the server's machine, where the server was told that it may.
import { useState } from "preact/hooks";

import { ApiError, post } from "../../api/client";
import { Dialog } from "../../ui/parts";
import { say } from "../../ui/toast";

/** "gpu=a100, zone=b" as an object; what is no pair is said. */
export function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const part of text.split(",").map((each) => each.trim()).filter((each) => each !== "")) {
    const at = part.indexOf("=");
    if (at < 1) throw new ApiError(0, "invalid", `a label is name=value, not ${part}`);
    labels[part.slice(0, at).trim()] = part.slice(at + 1).trim();
  }
  return labels;
}

export function StartWorker({ open, onClose, reload }: { open: boolean; onClose: () => void; reload: () => void }) {
  const [slots, setSlots] = useState("4");
  const [name, setName] = useState("");
  const [labels, setLabels] = useState("");
  const [problem, setProblem] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    setProblem("");
    try {
      const pairs = labelsOf(labels);
      const body = { slots: Number(slots), ...(name.trim() === "" ? {} : { name: name.trim() }), ...(Object.keys(pairs).length === 0 ? {} : { labels: pairs }) };
      const got = await post<{ worker?: string; pid?: number }>("/workers", body);
      say(`worker ${got.worker ?? ""} starts${got.pid ? ` as process ${got.pid}` : ""}`);
      onClose();
      reload();
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error));
    }
  };
  return (
    <Dialog title="Start a worker" open={open} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <p class="hint">On the machine of the server. It stays until it is drained and ended, or the server's supervisor is.</p>
        <label>Slots: jobs at once<input type="number" min="1" max="10000" required value={slots} onInput={(event) => setSlots(event.currentTarget.value)} /></label>
        <label>Name (may be empty)<input value={name} onInput={(event) => setName(event.currentTarget.value)} /></label>
        <label>Labels<input value={labels} placeholder="zone=b, disk=fast" onInput={(event) => setLabels(event.currentTarget.value)} /></label>
        {problem === "" ? null : <p class="problem" role="alert">{problem}</p>}
        <div class="dialog-actions">
          <button type="button" onClick={onClose}>Close</button>
          <button type="submit" class="primary">Start it</button>
        </div>
      </form>
    </Dialog>
  );
}
