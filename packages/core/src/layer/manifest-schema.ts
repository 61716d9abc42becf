import * as v from "valibot";
import type { Manifest } from "./manifest.ts";
import { sectionNames } from "./manifest.ts";

const sectionPath = v.pipe(
  v.string(),
  v.check((path) => !path.startsWith("/") && !path.split("/").includes(".."), "a path below .ai/"),
);

export const manifestSchema: v.GenericSchema<unknown, Manifest> = v.strictObject({
  schema: v.literal("ai-repository/v1"),
  repo: v.strictObject({ path: v.literal("repo") }),
  local: v.strictObject({
    path: v.literal("local"),
    tracked: v.literal(false),
    implicit_context: v.literal(false),
  }),
  sections: v.strictObject(Object.fromEntries(sectionNames.map((name) => [name, v.exactOptional(sectionPath)]))),
  context: v.exactOptional(v.strictObject({ documents: v.exactOptional(v.array(v.string())) })),
}) as v.GenericSchema<unknown, Manifest>;
