// A harness with a higher epoch takes over from those of the same subject with lower ones.
import { describe, expect, onTestFinished, test } from "vitest";
import { connectHarness } from "../src/harness/connect-harness.ts";
import { type EndKind, startExecutor } from "./pairings.ts";
import { authorize, dataFrame, newStreamId, post, randomKey, RawSocket } from "./raw-ends.ts";
import { ENVIRONMENT, startTestRegistry, type TestRegistry, waitForExecutor } from "./registry-fixture.ts";

async function start(executor: EndKind): Promise<TestRegistry> {
  const registry = await startTestRegistry();
  onTestFinished(() => registry[Symbol.asyncDispose]());
  const token = await registry.token("execute");
  const started = await startExecutor(executor, {
    registryUrl: registry.url,
    environmentId: ENVIRONMENT,
    token,
  });
  onTestFinished(() => started[Symbol.asyncDispose]());
  await waitForExecutor(registry);
  return registry;
}

async function tokenOf({ registry }: TestRegistry, epoch: number, subject = "session"): Promise<string> {
  const claim = { subject, epoch };
  const created = registry.tokens.create({
    name: "harness",
    scopes: ["connect"],
    environmentId: ENVIRONMENT,
    claim,
  });
  return (await created).token;
}

async function harness(registry: TestRegistry, credential: string) {
  const client = await connectHarness({ registryUrl: registry.url, environmentId: ENVIRONMENT, credential });
  onTestFinished(() => client.close());
  return client;
}

describe.each<EndKind>(["ours", "codex"])("an executor of the kind %s", (kind) => {
  test("runs the commands of the successor only", { timeout: 60_000 }, async () => {
    const registry = await start(kind);
    const first = await tokenOf(registry, 1);
    const [predecessor, other] = [
      await harness(registry, first),
      await harness(registry, await tokenOf(registry, 1, "other")),
    ];
    const command = await predecessor.start({ argv: ["/bin/sleep", "60"], cwd: "/" });
    const successor = await harness(registry, await tokenOf(registry, 2));
    await expect(command.wait()).rejects.toThrow("Epoch 1 of this subject has been replaced by epoch 2");
    await expect(harness(registry, first)).rejects.toMatchObject({ code: "unauthorized" });
    for (const client of [successor, other]) {
      const echo = await client.start({ argv: ["/bin/echo", "mine"], cwd: "/" });
      expect(String((await echo.collect()).stdout)).toBe("mine\n");
    }
  });
});

test("an authorisation that was given before the successor came is not valid any more", async () => {
  const registry = await start("ours");
  const authorized = await authorize(registry.url, await tokenOf(registry, 1));
  const open = await RawSocket.open((await authorize(registry.url, await tokenOf(registry, 1))).url);
  open.send(dataFrame(newStreamId(), "begun"));
  await tokenOf(registry, 2);
  expect((await open.closed).code).toBe(1008);
  await expect(RawSocket.open(authorized.url)).rejects.toThrow("401");
  const answer = await post(
    registry.url,
    `/cloud/environment/${ENVIRONMENT}/validate`,
    await registry.token("execute"),
    {
      executor_registration_id: authorized.registrationId,
      harness_public_key: authorized.key,
      harness_key_authorization: authorized.authorization,
    },
  );
  expect(answer).toEqual({ status: 200, body: { valid: false } });
});

describe("a token over HTTP", () => {
  const create = async (registry: TestRegistry, body: object) => {
    const { token } = await registry.registry.tokens.create({ name: "admin", scopes: ["admin"] });
    return post(registry.url, "/admin/tokens", token, {
      name: "harness",
      scopes: ["connect"],
      environmentId: ENVIRONMENT,
      ...body,
    });
  };

  test("that was replaced is refused by name", async () => {
    await using registry = await startTestRegistry();
    const first = await tokenOf(registry, 1);
    expect((await create(registry, { claim: { subject: "session", epoch: 2 } })).status).toBe(201);
    const stale = await create(registry, { claim: { subject: "session", epoch: 1 } });
    const body = { harness_public_key: randomKey() };
    const connect = await post(registry.url, `/cloud/environment/${ENVIRONMENT}/connect`, first, body);
    const message = "Epoch 1 of this subject has been replaced by epoch 2.";
    for (const answer of [stale, connect]) {
      expect(answer).toEqual({ status: 403, body: { error: { code: "replaced", message } } });
    }
  });

  test.each([
    { claim: { subject: "s", epoch: -1 } },
    { claim: { subject: "s", epoch: 0.5 } },
    { claim: { subject: "s", epoch: "1" } },
    { claim: { subject: "s", epoch: 2 ** 53 } },
    { claim: { epoch: 1 } },
    { claim: { subject: "s" } },
    { claim: { subject: "", epoch: 1 } },
    { claim: { subject: "ü".repeat(129), epoch: 1 } },
    { claim: { subject: "s", epoch: 1 }, environmentId: null },
    { claim: { subject: "s", epoch: 1 }, scopes: ["connect", "admin"] },
  ])("is not created with %j", async (wrong) => {
    await using registry = await startTestRegistry();
    expect(await create(registry, wrong)).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_request" } },
    });
  });
});
