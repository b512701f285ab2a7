import { Account } from "./account.ts";
import { Apps } from "./apps.ts";
import { CollaborationModes } from "./collaboration-modes.ts";
import { Config } from "./config.ts";
import { Diagnostics } from "./diagnostics.ts";
import { Environments } from "./environments.ts";
import { Exec } from "./exec.ts";
import { Features } from "./features.ts";
import { Feedback } from "./feedback.ts";
import { Files } from "./files.ts";
import { Hooks } from "./hooks.ts";
import { Mcp } from "./mcp.ts";
import { Models } from "./models.ts";
import { PermissionProfiles } from "./permission-profiles.ts";
import { Plugins } from "./plugins.ts";
import { Skills } from "./skills.ts";
import type { TopicCaller } from "./topic-caller.ts";

/** The app-server's features outside of threads, by topic. */
export interface Topics {
  readonly account: Account;
  readonly apps: Apps;
  readonly collaborationModes: CollaborationModes;
  readonly config: Config;
  readonly diagnostics: Diagnostics;
  readonly environments: Environments;
  readonly exec: Exec;
  readonly features: Features;
  readonly feedback: Feedback;
  readonly files: Files;
  readonly hooks: Hooks;
  readonly mcp: Mcp;
  readonly models: Models;
  readonly permissionProfiles: PermissionProfiles;
  readonly plugins: Plugins;
  readonly skills: Skills;
}

/** Creates the topics of a connection. */
export function createTopics(caller: TopicCaller): Topics {
  return {
    account: new Account(caller),
    apps: new Apps(caller),
    collaborationModes: new CollaborationModes(caller),
    config: new Config(caller),
    diagnostics: new Diagnostics(caller),
    environments: new Environments(caller),
    exec: new Exec(caller),
    features: new Features(caller),
    feedback: new Feedback(caller),
    files: new Files(caller),
    hooks: new Hooks(caller),
    mcp: new Mcp(caller),
    models: new Models(caller),
    permissionProfiles: new PermissionProfiles(caller),
    plugins: new Plugins(caller),
    skills: new Skills(caller),
  };
}
