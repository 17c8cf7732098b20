// /flows is the list, /flows/ID one of them.
import type { PageProps } from "../app";
import { FlowPage } from "./flow/page";
import { FlowList } from "./flows/list";

export default function Flows({ place }: PageProps) {
  return place.words[1] === undefined ? <FlowList place={place} /> : <FlowPage place={place} />;
}
