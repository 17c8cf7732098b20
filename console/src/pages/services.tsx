import type { PageProps } from "../app";
import { Empty, Page } from "../ui/parts";

export default function View({ place }: PageProps) {
  return <Page title="services"><Empty>{place.path}</Empty></Page>;
}
