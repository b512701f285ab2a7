import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Contender } from "./servers.ts";

const MIB = 1024 * 1024;
const FILE_BYTES = 10 * MIB;
const LARGE_BYTES = 100 * MIB;

const content = randomBytes(FILE_BYTES);

export async function readFiles({ client, folder }: Contender, times: number): Promise<number> {
  const path = join(folder, "read");
  await writeFile(path, content);
  const start = performance.now();
  for (let time = 0; time < times; time += 1) {
    const { length } = await client.files.read(path);
    if (length !== FILE_BYTES) throw new Error(`${length} bytes came`);
  }
  return rate(times * FILE_BYTES, start);
}

export async function writeFiles({ client, folder }: Contender, times: number): Promise<number> {
  const path = join(folder, "written");
  const start = performance.now();
  for (let time = 0; time < times; time += 1) await client.files.write(path, content);
  return rate(times * FILE_BYTES, start);
}

export async function readBlocks({ client, folder }: Contender): Promise<number> {
  const path = join(folder, "large");
  await writeFile(path, Buffer.alloc(LARGE_BYTES, content));
  let received = 0;
  const start = performance.now();
  for await (const block of client.files.stream(path)) received += block.length;
  if (received !== LARGE_BYTES) throw new Error(`${received} of ${LARGE_BYTES} bytes came`);
  return rate(LARGE_BYTES, start);
}

function rate(bytes: number, start: number): number {
  return bytes / 1000 / (performance.now() - start);
}
