import type { Random } from "../testing/random.ts";

/** The bytes of a store as somebody may have left it: a good one, changed here and there. */
export function hostileBytes(random: Random, lines: number = 1 + random.below(7)): Buffer {
  let bytes: Buffer = Buffer.from(goodLines(random, lines).join(""), "utf8");
  for (let count = 1 + random.below(4); count > 0; count -= 1) bytes = changedBytes(bytes, random);
  return bytes;
}

/** The bytes with one change somewhere. */
export function changedBytes(bytes: Buffer, random: Random): Buffer {
  return random.pick(changes)(bytes, random);
}

const keys = ["a", "b", "c", "dé", "__proto__", "x y", "constructor", "10", "2"];

function goodLines(random: Random, count: number): string[] {
  return Array.from({ length: count }, () => `${goodLine(random)}\n`);
}

function goodLine(random: Random): string {
  const id = JSON.stringify(random.pick(keys));
  const n = random.below(1000);
  return random.pick([
    `{"id":${id},"n":${n},"text":"x${n}"}`,
    `{"id":${id},"n":${n},"text":"é\u{1f600}${n}"}`,
    `{"id":${id},"list":[1,"two",null,true],"n":-${n}.25}`,
    `{"id":${id},"deep":{"a":{"b":[{"c":${n}}]}},"n":${n}}`,
    `{"id":${id},"text":"\\u00e9\\n\\"${n}\\\\\\ud83d\\ude00"}`,
    `{"id":${id}}`,
    `{"id":${id},"$deleted":true}`,
    `{"id":${id},"__proto__":{"n":${n}},"constructor":${n}}`,
    `{"n":${n},"id":${id}}`,
    `{ "id" : ${id} , "n" : ${n}e2 }`,
  ]);
}

type Change = (bytes: Buffer, random: Random) => Buffer;

const oddTexts = [
  "\n",
  "\r\n",
  "\r",
  "\0",
  "\uFEFF",
  "\u2028",
  "\\ud800",
  "\\udc00\\ud800",
  "\\u0000",
  "\\x",
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  " ",
  "\t",
  "\v",
  "\u00a0",
  "1e999",
  "-",
  "01",
  "1.",
  "-0",
  "NaN",
  "nul",
  "true",
  "<<<<<<< ours\n",
  "=======\n",
  '{"id":"a","id":"b"}\n',
  '{"id":"a","n":1,"n":2}\n',
  '{"id":""}\n',
  '{"id":1}\n',
  '{"id":null}\n',
  '{"id":"a","$deleted":false}\n',
  '{"id":"a","$deleted":true,"n":1}\n',
  '{"$deleted":true,"id":"a"}\n',
  '{"id":"a","$other":1}\n',
  '{"id":"a"}{"id":"b"}\n',
  '{"id":"a"} x\n',
  '["id","a"]\n',
  '"id"\n',
  "7\n",
  " \t \n",
  '\r{"id":"a","n":3} \r\n',
  '{"\\u0069d":"a","n":4}\n',
  '{"id":"\\u0061","n":5}\n',
  '{"id":"a","n":1,"t":"\x1f"}\n',
  '{"id":"a","n":123456789012345678901234567890}\n',
  '{"id":"a","n":1.7976931348623159e308}\n',
  '{"id":"a","n":0.1234567890123456789}\n',
  '{"id":"a","b":1,"a":2}\n',
];

const oddBytes = [
  [0xff],
  [0x80],
  [0xc0, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xe2, 0x82],
  [0xef, 0xbb, 0xbf],
];

interface Part {
  readonly at: number;
  readonly length?: number;
}

/** Cuts a part out and puts another in its place. */
function replaced(bytes: Buffer, { at, length = 0 }: Part, by: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, at), by, bytes.subarray(at + length)]);
}

function lineStarts(bytes: Buffer): number[] {
  const starts = [0];
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === 0x0a) starts.push(at + 1);
  return starts;
}

const nothing: Uint8Array = new Uint8Array();

const changes: readonly Change[] = [
  (bytes, random) => bytes.subarray(0, random.below(bytes.length + 1)),
  (bytes, random) => bytes.subarray(random.below(bytes.length + 1)),
  (bytes) => bytes.subarray(0, Math.max(0, bytes.length - 1)),
  (bytes, random) => {
    if (bytes.length === 0) return bytes;
    const at = random.below(bytes.length);
    return replaced(bytes, { at, length: 1 }, Buffer.from([(bytes[at] ?? 0) ^ (1 << random.below(8))]));
  },
  (bytes, random) => replaced(bytes, { at: random.below(bytes.length + 1) }, Buffer.from(random.pick(oddTexts))),
  (bytes, random) => replaced(bytes, { at: random.pick(lineStarts(bytes)) }, Buffer.from(random.pick(oddTexts))),
  (bytes, random) =>
    replaced(
      bytes,
      { at: random.below(bytes.length + 1), length: random.below(3) },
      Buffer.from(random.pick(oddTexts)),
    ),
  (bytes, random) =>
    replaced(
      bytes,
      { at: random.below(bytes.length + 1), length: random.below(2) },
      Buffer.from(random.pick(oddBytes)),
    ),
  (bytes, random) => replaced(bytes, { at: random.below(bytes.length + 1), length: random.below(20) }, nothing),
  // Splices two lines: the newline between them goes.
  (bytes, random) => {
    const start = random.pick(lineStarts(bytes));
    return start === 0 ? bytes : replaced(bytes, { at: start - 1, length: 1 }, nothing);
  },
  // Repeats a part elsewhere.
  (bytes, random) => {
    const from = random.below(bytes.length + 1);
    const part = bytes.subarray(from, from + random.below(60));
    return replaced(bytes, { at: random.below(bytes.length + 1) }, part);
  },
  // Swaps two members, or what looks like them.
  (bytes, random) => {
    const start = random.pick(lineStarts(bytes));
    const end = bytes.indexOf(0x0a, start);
    if (end === -1) return bytes;
    const [first = "", ...others] = bytes.toString("latin1", start + 1, end - 1).split(",");
    const line = `{${[...others, first].join(",")}}`;
    return replaced(bytes, { at: start, length: end - start }, Buffer.from(line, "latin1"));
  },
  (bytes) => Buffer.from(bytes.toString("latin1").replaceAll("\n", "\r\n"), "latin1"),
  (bytes) => replaced(bytes, { at: 0 }, Buffer.from([0xef, 0xbb, 0xbf])),
  (bytes) => Buffer.from(bytes.toString("utf8"), "utf16le"),
  (bytes, random) => {
    const depth = random.pick([3, 100, 510, 511, 512, 513, 700]);
    const [open, close] = random.pick([
      ["[", "]"],
      ['{"a":', "}"],
    ] as const);
    const line = `{"id":"a","deep":${open.repeat(depth)}1${close.repeat(depth)}}\n`;
    return replaced(bytes, { at: random.pick(lineStarts(bytes)) }, Buffer.from(line));
  },
  (bytes, random) => {
    const long = "y".repeat(random.pick([100, 1000, 5000]));
    return replaced(bytes, { at: random.pick(lineStarts(bytes)) }, Buffer.from(`{"id":"long","text":"${long}"}\n`));
  },
];
