import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  CLIENT_REQUEST_METHODS,
  type ClientRequests,
  CODEX_VERSION,
  EXPERIMENTAL_REQUEST_METHODS,
  SERVER_NOTIFICATION_METHODS,
  SERVER_REQUEST_METHODS,
  type ServerNotifications,
  type ServerRequests,
  type v1,
  type v2,
} from "./index.ts";

describe("the tables of Codex's wire format", () => {
  it("contain every method of the pinned release once", () => {
    expect(new Set(CLIENT_REQUEST_METHODS).size).toBe(182);
    expect(new Set(SERVER_REQUEST_METHODS).size).toBe(11);
    expect(new Set(SERVER_NOTIFICATION_METHODS).size).toBe(87);
    expect(CLIENT_REQUEST_METHODS).toHaveLength(182);
    expect(EXPERIMENTAL_REQUEST_METHODS).toHaveLength(182 - 109);
  });

  it("are generated from the release that only this package, the SDK and the command line pin", () => {
    const packages = join(import.meta.dirname, "../..");
    const pins = readdirSync(packages).filter((name) =>
      readFileSync(join(packages, name, "package.json"), "utf8").includes(
        `"@openai/codex": "${CODEX_VERSION}"`,
      ),
    );
    const mentions = readdirSync(packages).filter((name) =>
      readFileSync(join(packages, name, "package.json"), "utf8").includes('@openai/codex"'),
    );
    expect(pins).toEqual(["cli", "protocol", "sdk"]);
    expect(mentions).toEqual(pins);
  });

  it("pair methods with their params and results", () => {
    expectTypeOf<ClientRequests["thread/start"]["params"]>().toEqualTypeOf<v2.ThreadStartParams>();
    expectTypeOf<ClientRequests["initialize"]["result"]>().toEqualTypeOf<v1.InitializeResponse>();
    expectTypeOf<ClientRequests["account/logout"]["params"]>().toEqualTypeOf<undefined>();
    expectTypeOf<ClientRequests["config/batchWrite"]["result"]>().toEqualTypeOf<v2.ConfigWriteResponse>();
    expectTypeOf<ServerRequests["item/tool/call"]["result"]>().toEqualTypeOf<v2.DynamicToolCallResponse>();
    expectTypeOf<ServerNotifications["turn/completed"]>().toEqualTypeOf<v2.TurnCompletedNotification>();
  });

  it("have plain numbers where the generator prints bigint", () => {
    expectTypeOf<v2.ThreadBackgroundTerminal["rssKb"]>().toEqualTypeOf<number | null>();
  });
});
