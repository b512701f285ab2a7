import { tempFolder } from "@codexkit/testing";
import { expect, test } from "vitest";
import type { ChildEvents } from "./child.ts";
import { FifoPool, type Pipe } from "./fifo-pool.ts";
import { Launcher } from "./launcher.ts";
import { spawnPiped } from "./spawn-piped.ts";

const SPEC = { arg0: undefined, cwd: "/", env: {}, pipeStdin: true, extraFiles: [] };
const IGNORED: ChildEvents = { output: () => {}, exited: () => {}, drained: () => {} };

test("the pipes of a program that can't be started are used again", async () => {
  await using folder = await tempFolder("pipes");
  await using launcher = new Launcher(folder.path);
  using pool = new FifoPool({ path: folder.path, ensure: () => {} });
  let reused = 0;
  let dropped = 0;
  const counted = <P extends Pipe>(pipe: P): P => ({
    ...pipe,
    reuse: () => {
      reused += 1;
      pipe.reuse();
    },
    drop: () => {
      dropped += 1;
      pipe.drop();
    },
  });
  const fifos = {
    acquireReader: () => counted(pool.acquireReader()),
    acquireWriter: () => counted(pool.acquireWriter()),
  } as FifoPool;
  const missing = spawnPiped({ ...SPEC, argv: ["/missing"] }, { launcher, fifos }, IGNORED);
  await expect(missing).rejects.toMatchObject({ code: "ENOENT" });
  expect({ reused, dropped }).toEqual({ reused: 3, dropped: 0 });
});
