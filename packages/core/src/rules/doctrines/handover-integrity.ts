import { collectFindings } from "../../findings/finding.ts";
import { plural } from "../../findings/plural.ts";
import { isNote, noteFolders, readNotes } from "../../records/note.ts";
import { type Doctrine, defineDoctrine } from "../doctrine.ts";

export const handoverIntegrity: Doctrine = defineDoctrine({
  id: "handover-integrity",
  category: "resolver",
  async validate(input) {
    const findings = collectFindings("resolver");
    for (const kind of ["handover", "checkpoint"] as const) {
      const notes = await readNotes(input.layer, kind);
      const broken = notes.flatMap((note) => (isNote(note) ? [] : [note]));
      for (const note of broken) {
        findings.fail({
          subject: note.path,
          message: `does not parse (${note.problem}), so resuming would pass it over`,
          reproduce: `reeve ${kind} --list`,
          next: "mend its front matter by hand, or move the file out of the folder",
        });
      }
      if (broken.length === 0) findings.ok(noteFolders[kind], `${plural(notes.length, kind)}, all readable`);
    }
    return findings.lines;
  },
});
