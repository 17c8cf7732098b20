// Names of flows, for lists of jobs: the server names a job by the id of its flow. Each is asked for once; a name never
// changes.
import { useEffect, useState } from "preact/hooks";

import { get, pathOf, type Schemas } from "./client";

const KEPT = 5000;
const names = new Map<string, Promise<string>>();

function nameOf(flow: string): Promise<string> {
  let name = names.get(flow);
  if (name === undefined) {
    name = get<Schemas["got"]>(`/flows/${pathOf(flow)}`).then(
      (got) => got.flow?.name ?? "",
      () => "",
    );
    if (names.size >= KEPT) names.delete(names.keys().next().value!);
    names.set(flow, name);
  }
  return name;
}

/** "" until it is known, and for a flow without a name. */
export function useFlowName(flow: string): string {
  const [name, setName] = useState({ flow: "", text: "" });
  useEffect(() => {
    let wanted = flow !== "";
    if (wanted) void nameOf(flow).then((text) => wanted && setName({ flow, text }));
    return () => void (wanted = false);
  }, [flow]);
  return name.flow === flow ? name.text : "";
}
