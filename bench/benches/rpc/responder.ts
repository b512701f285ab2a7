// A child process that answers every request with the same result, in order of arrival, with as little work
// as possible, so that the caller on the other side of the pipe is measured. Argument: the framing.

import { encode, type Framing } from "./framing.ts";

const framing = process.argv[2] as Framing;
const result = {
  thread: {
    id: "0199b3c2-7f7e-7c41-9c1b-2d6a4f0e8a11",
    preview: "Make the failing test pass",
    ephemeral: false,
  },
};

let unread: Buffer = Buffer.alloc(0);
process.stdin.on("data", (chunk: Buffer) => {
  unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
  const answers: Buffer[] = [];
  for (let body = nextBody(); body !== undefined; body = nextBody()) {
    const { id }: { id: unknown } = JSON.parse(body);
    answers.push(encode({ id, result }, framing));
  }
  if (answers.length > 0) process.stdout.write(Buffer.concat(answers));
});
process.send?.("ready");

function nextBody(): string | undefined {
  return framing === "lines" ? nextLine() : nextCounted();
}

function nextLine(): string | undefined {
  const end = unread.indexOf("\n");
  if (end === -1) return undefined;
  const line = unread.toString("utf8", 0, end);
  unread = unread.subarray(end + 1);
  return line;
}

function nextCounted(): string | undefined {
  const head = unread.indexOf("\r\n\r\n");
  if (head === -1) return undefined;
  const length = Number(/content-length: (\d+)/i.exec(unread.toString("latin1", 0, head))?.[1]);
  const start = head + 4;
  if (unread.length < start + length) return undefined;
  const body = unread.toString("utf8", start, start + length);
  unread = unread.subarray(start + length);
  return body;
}
