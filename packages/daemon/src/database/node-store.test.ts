import { expect, test } from "vitest";
import { NODE, useDatabases } from "../../test/database-fixture.ts";

const databases = useDatabases("postgres");

test("a running daemon keeps its name, and the error of another one says who has it", async () => {
  const location = await databases.location();
  await using here = await databases.open({ location });
  await using there = await databases.open({ location });
  const lock = await here.nodes.takeName("here");
  const nodeId = await here.nodes.register({ ...NODE, name: "here", url: "http://here.example" });
  const refused = there.nodes.takeName("here", { attempts: 2 });
  await expect(refused).rejects.toMatchObject({
    code: "bad_options",
    message: expect.stringContaining(`node ${nodeId} at http://here.example`),
  });
  expect(await there.nodes.takeName("there")).toBeDefined();
  // A daemon without a lease owns nothing any more, even if its connection is still open.
  await here.nodes.retire(nodeId);
  expect(await there.nodes.takeName("here")).toBeUndefined();
  await lock?.[Symbol.asyncDispose]();
  await expect.poll(() => there.nodes.takeName("here")).toBeDefined();
});
