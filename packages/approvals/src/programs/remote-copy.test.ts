import { expect, it } from "vitest";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { literal, type Word } from "./declaration/word.ts";
import { examineLocalCopy, examineRemoteCopy, isRemote } from "./remote-copy.ts";

const callWith = (...operands: readonly Word[]): ParsedCall => ({
  path: ["scp"],
  options: new Map(),
  operands,
  effects: [],
  normalized: [],
  hasOption: () => false,
});

it("distinguishes remote paths from local ones", () => {
  expect(["host:x", "a@b:c", "h:"].every((text) => isRemote(literal(text)))).toBe(true);
  expect(["./a:b", "a/b:c", "x"].some((text) => isRemote(literal(text)))).toBe(false);
});

it("sends local files and fetches remote ones", () => {
  expect(examineRemoteCopy(callWith(literal("a"), literal("h:b")))).toEqual([
    { kind: "read", path: literal("a") },
    { kind: "connect", target: literal("h"), sends: true },
  ]);
  expect(examineRemoteCopy(callWith(literal("h:x/.bashrc"), literal("out")))).toEqual([
    { kind: "connect", target: literal("h"), sends: false },
    { kind: "write", path: literal("out") },
    { kind: "write", path: literal("out/.bashrc") },
  ]);
});

it("does not understand daemons, two remotes, or words known at run time", () => {
  expect(examineRemoteCopy(callWith(literal("a"), literal("h::m")))).toBeTypeOf("string");
  expect(examineRemoteCopy(callWith(literal("h:a"), literal("i:b")))).toBeTypeOf("string");
  expect(examineRemoteCopy(callWith({ text: undefined }, literal("h:b")))).toBeTypeOf("string");
  expect(examineLocalCopy(callWith({ text: undefined }, literal("b")))).toBeTypeOf("string");
  expect(examineLocalCopy(callWith(literal("a"), { text: "b*", isGlob: true }))).toBeTypeOf("string");
});
