import { connectWebSocket, Peer } from "@codexkit/rpc";
import { codexFolders } from "@codexkit/testing";
import { say } from "@codexkit/scripted-model";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { Codex } from "../codex.ts";

it(
  "connects directly to a codex with a keeper, which still counts the client",
  { timeout: 60_000 },
  async () => {
    await using folders = await codexFolders({ model: () => say("received") });
    const launcher = await Codex.launch({
      inheritEnv: false,
      env: folders.env,
      ownersFolder: join(folders.root, "owners"),
      outliveOwner: { graceMs: 100 },
    });
    const { url = "" } = launcher;
    const socketPath = url.slice("unix://".length);
    const codex = await Codex.connect(url);
    await launcher.detach();
    const thread = await codex.startThread({ cwd: folders.workspace });
    expect((await thread.run("hello")).finalResponse).toBe("received");
    // Longer than the grace period, by the server's own clock.
    await codex.exec.run(["sleep", "0.5"], { cwd: folders.workspace });
    expect(existsSync(socketPath)).toBe(true);
    const disconnected = new Promise((resolve) => codex.onDisconnect(resolve));
    await codex.close();
    await disconnected;
    await expect.poll(() => existsSync(dirname(socketPath)), { timeout: 20_000 }).toBe(false);
  },
);

it("passes other clients of the keeper's socket on to codex", { timeout: 60_000 }, async () => {
  await using folders = await codexFolders({ model: () => say("received") });
  await using launcher = await Codex.launch({
    inheritEnv: false,
    env: folders.env,
    ownersFolder: join(folders.root, "owners"),
    outliveOwner: { graceMs: 60_000 },
  });
  // Without the SDK, a client does not know codex's own socket.
  const peer = new Peer(await connectWebSocket(launcher.url ?? ""));
  const clientInfo = { name: "other", title: null, version: "0.1.0" };
  expect(await peer.request("initialize", { clientInfo })).toMatchObject({ codexHome: folders.codexHome });
  await peer.close();
});
