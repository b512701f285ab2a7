import fc from "fast-check";
import { expect, test } from "vitest";
import { needsOf, pinnedNode } from "./needs.ts";

const here = { nodeName: "here", sharedRoots: { nfs: "/mnt/nfs", team: "/mnt/nfs/team" } };

test.each([
  ["an execution environment", { cwd: "/work", isRemote: true }, []],
  ["a folder of the node", { cwd: "/home/app", isRemote: false }, ["node:here"]],
  ["a shared root", { cwd: "/mnt/nfs", isRemote: false }, ["nfs"]],
  ["a folder below a shared root", { cwd: "/mnt/nfs/app", isRemote: false }, ["nfs"]],
  ["the innermost of several shared roots", { cwd: "/mnt/nfs/team/app", isRemote: false }, ["team"]],
  ["a folder whose name only begins like a root", { cwd: "/mnt/nfs2", isRemote: false }, ["node:here"]],
  ["a node that was asked for", { cwd: "/mnt/nfs", isRemote: false, node: "gpu" }, ["node:gpu"]],
  ["an environment for a GPU", { cwd: "/work", isRemote: true, labels: ["gpu"] }, ["gpu"]],
  ["a shared root of a label", { cwd: "/mnt/nfs", isRemote: false, labels: ["nfs", "gpu"] }, ["nfs", "gpu"]],
  ["a node and an environment", { cwd: "/work", isRemote: true, node: "gpu" }, ["node:gpu"]],
])("a session in %s needs %s", (_, workspace, needs) => {
  expect(needsOf(workspace, here)).toEqual(needs);
});

test("everything is inside the root /", () => {
  const sharedRoots = { all: "/" };
  expect(needsOf({ cwd: "/a", isRemote: false }, { nodeName: "here", sharedRoots })).toEqual(["all"]);
});

test("names of nodes survive, also those that look like labels", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (node) => {
      expect(pinnedNode(needsOf({ cwd: "/", isRemote: false, node }, here))).toBe(node);
    }),
  );
  expect(pinnedNode(["gpu", "nfs"])).toBeUndefined();
});
