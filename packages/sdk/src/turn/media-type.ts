/** Signatures of media types at the start of a file. */
const SIGNATURES: readonly {
  readonly type: string;
  readonly parts: readonly [offset: number, bytes: string][];
}[] = [
  { type: "image/png", parts: [[0, "\x89PNG\r\n\x1a\n"]] },
  { type: "image/jpeg", parts: [[0, "\xff\xd8\xff"]] },
  { type: "image/gif", parts: [[0, "GIF87a"]] },
  { type: "image/gif", parts: [[0, "GIF89a"]] },
  {
    type: "image/webp",
    parts: [
      [0, "RIFF"],
      [8, "WEBP"],
    ],
  },
  {
    type: "audio/wav",
    parts: [
      [0, "RIFF"],
      [8, "WAVE"],
    ],
  },
  { type: "audio/mpeg", parts: [[0, "ID3"]] },
  { type: "audio/ogg", parts: [[0, "OggS"]] },
  { type: "audio/flac", parts: [[0, "fLaC"]] },
  { type: "audio/mp4", parts: [[4, "ftypM4A"]] },
];

/** The media type of the bytes, or `undefined` if it is unknown. */
export function sniffMediaType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  const known = SIGNATURES.find(({ parts }) =>
    parts.every(([offset, text]) => head.startsWith(text, offset)),
  );
  if (known) return known.type;
  // An MP3 without a tag starts with a frame: eleven set bits, and the layer bits of layer III.
  const [first = 0, second = 0] = bytes;
  return first === 0xff && (second & 0xe6) === 0xe2 ? "audio/mpeg" : undefined;
}
