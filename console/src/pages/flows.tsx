// /flows is the list, /flows/ID one of them.
import type { PageProps } from "../app";
import { FlowPage } from "./flow/page";
import { Empty, Page } from "../ui/parts";

export default function Flows({ place }: PageProps) {
  if (place.words[1] !== undefined) return <FlowPage place={place} />;
  return <Page title="flows"><Empty>{place.path}</Empty></Page>;
}
