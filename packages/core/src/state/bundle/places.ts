import { statePath } from "../paths.ts";
import type { ImportPlaces } from "./import.ts";

/** Where bundles of a layer keep what is theirs, by the table. */
export const bundlePlaces: ImportPlaces = {
  exchanged: statePath(".ai/local/state/exchanged.json"),
  replaced: statePath(".ai/local/replaced/"),
  staging: statePath(".ai/local/tmp/"),
};
