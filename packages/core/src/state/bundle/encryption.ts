import { Decrypter, Encrypter } from "age-encryption";

/** Every file of the age format begins with this. */
export const ageHeader = "age-encryption.org/v1\n";

/** Encrypts pieces with a passphrase (age format, scrypt). */
export async function* encryptPieces(
  pieces: AsyncIterable<Uint8Array>,
  passphrase: string,
): AsyncGenerator<Uint8Array> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  yield* piecesOf(await encrypter.encrypt(streamOf(pieces)));
}

/** Opens the header once, which is slow on purpose; `undefined` when the passphrase is not the one. */
export async function openEncrypted(
  header: Uint8Array,
  passphrase: string,
): Promise<((pieces: Iterable<Uint8Array>) => AsyncIterable<Uint8Array>) | undefined> {
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  let fileKey: Uint8Array;
  try {
    fileKey = await decrypter.decryptHeader(header);
  } catch {
    return undefined;
  }
  return (pieces) => decryptPieces(pieces, fileKey);
}

async function* decryptPieces(pieces: Iterable<Uint8Array>, fileKey: Uint8Array): AsyncGenerator<Uint8Array> {
  const decrypter = new Decrypter();
  decrypter.addIdentity({ unwrapFileKey: () => fileKey });
  yield* piecesOf(await decrypter.decrypt(streamOf(pieces)));
}

function streamOf(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): ReadableStream<Uint8Array> {
  const reader =
    Symbol.asyncIterator in pieces
      ? pieces[Symbol.asyncIterator]()
      : (pieces[Symbol.iterator]() as Iterator<Uint8Array>);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await reader.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await reader.return?.();
      },
    },
    { highWaterMark: 1 },
  );
}

async function* piecesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
