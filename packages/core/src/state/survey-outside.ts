import { join } from "../layer/home.ts";
import type { Layer } from "../layer/layer.ts";
import { outsideFolders } from "./outside.ts";
import { type SurveyedFile, surveyed } from "./survey.ts";

/** Every file in the folders Reeve keeps outside the layer, by its path on this machine; of the homes, only their folder. */
export function listOutside({ system, repository }: Pick<Layer, "system" | "repository">): readonly SurveyedFile[] {
  return outsideFolders.flatMap(({ table, locate }) => {
    const root = locate(system, repository);
    const found: SurveyedFile[] = [];
    const walk = (folder: string): void => {
      for (const { name } of system.list(join(root, folder)) ?? []) {
        const path = `${folder}${name}`;
        if (path === "checkouts") continue;
        const info = system.info(join(root, path));
        if (info?.kind === "directory") walk(`${path}/`);
        else if (info !== undefined) found.push({ ...surveyed(table, path, info), path: join(root, path) });
      }
    };
    walk("");
    return found;
  });
}
