/**
 * The path in one of the small files by which git names a folder elsewhere (`.git`, `commondir`, `gitdir`), as written;
 * `undefined` when it does not begin with `label`. Only line ends are taken from its end: a name may end in spaces.
 */
export function parsePointer(text: string | undefined, label = ""): string | undefined {
  if (text === undefined || !text.startsWith(label)) return undefined;
  let end = text.length;
  while (end > label.length && (text[end - 1] === "\n" || text[end - 1] === "\r")) end -= 1;
  return end === label.length ? undefined : text.slice(label.length, end);
}
