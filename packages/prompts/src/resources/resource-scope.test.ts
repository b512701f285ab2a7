import { expect, test } from "vitest";
import { defineResource, overrideResource, type Resource } from "./define-resource.ts";
import { ResourceScope } from "./resource-scope.ts";

test("resources are created once, on first use, and disposed in reverse order", async () => {
  const log: string[] = [];
  const make = (name: string, needs: readonly Resource<string>[] = []): Resource<string> =>
    defineResource({
      name,
      create: async (resources) => {
        for (const other of needs) await resources.get(other);
        log.push(`create ${name}`);
        return name;
      },
      dispose: () => {
        log.push(`dispose ${name}`);
      },
    });
  const database = make("database");
  const tracker = make("tracker", [database]);
  {
    await using scope = ResourceScope.open();
    await Promise.all([scope.get(tracker), scope.get(tracker), scope.get(database)]);
  }
  expect(log).toEqual(["create database", "create tracker", "dispose tracker", "dispose database"]);
});

test("a call's resources end with the call; the evaluation's are shared", async () => {
  const log: string[] = [];
  const perCall = defineResource({
    name: "per-call",
    lifetime: "call",
    create: () => "value",
    dispose: () => {
      log.push("dispose per-call");
    },
  });
  const shared = defineResource({ name: "shared", create: () => ({}) });
  await using scope = ResourceScope.open();
  let first: object;
  {
    await using call = scope.openCall();
    await call.get(perCall);
    first = await call.get(shared);
  }
  expect(log).toEqual(["dispose per-call"]);
  await using second = scope.openCall();
  expect(await second.get(shared)).toBe(first);
});

test("resources that depend on each other are rejected, even when both are requested at once", async () => {
  const one: Resource<string> = defineResource({ name: "one", create: (resources) => resources.get(other) });
  const other: Resource<string> = defineResource({
    name: "other",
    create: (resources) => resources.get(one),
  });
  await using scope = ResourceScope.open();

  const [first, second] = await Promise.allSettled([scope.get(one), scope.get(other)]);

  expect(first).toMatchObject({
    reason: { code: "invalid_resource", message: expect.stringContaining("one → other → one") },
  });
  expect(second).toMatchObject({ status: "rejected" });
});

test("a resource whose creation fails can be created later", async () => {
  let attempts = 0;
  const flaky = defineResource({
    name: "flaky",
    create: () => {
      attempts += 1;
      if (attempts === 1) throw new Error("not yet");
      return attempts;
    },
  });
  await using scope = ResourceScope.open();

  await expect(scope.get(flaky)).rejects.toMatchObject({ code: "invalid_resource" });
  await expect(scope.get(flaky)).resolves.toBe(2);
});

test("a snapshot restores the resources that can be restored", async () => {
  const cart = defineResource({
    name: "cart",
    create: () => new Map<string, number>(),
    snapshot: (items) => new Map(items),
    restore: (items, before) => {
      items.clear();
      for (const [name, count] of before) items.set(name, count);
    },
  });
  await using scope = ResourceScope.open();
  const items = await scope.get(cart);
  items.set("apple", 1);
  const restore = scope.openCall().snapshot();
  items.set("pear", 2);

  for (const undo of restore) await undo();

  expect([...items]).toEqual([["apple", 1]]);
});

test("an override replaces a resource", async () => {
  const real = defineResource({ name: "real", create: () => "real" });
  const fake = defineResource({ name: "fake", create: () => "fake" });
  await using scope = ResourceScope.open([overrideResource(real, fake)]);

  await expect(scope.get(real)).resolves.toBe("fake");
});

test("a resource with an unknown lifetime is rejected", () => {
  expect(() => defineResource({ name: "a", create: () => 1, lifetime: "forever" as never })).toThrow(
    /lifetime/,
  );
  expect(() => defineResource({ name: "a", create: () => 1, dispose: 5 as never })).toThrow(/dispose/);
});
