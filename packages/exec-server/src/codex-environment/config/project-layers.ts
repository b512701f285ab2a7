import { join } from "node:path";
import { parseConfigFile, readConfigFile, readToml } from "./config-file.ts";
import { ancestors, canonical, isFolder } from "./git-root.ts";
import { type TomlTable, valueOf, withoutPath } from "./project-toml.ts";
import type { Project } from "./project-trust.ts";

/** The settings of one file, before they are projected. */
export interface ConfigLayer {
  readonly source: string;
  /** The folder that relative paths in it are resolved against. */
  readonly baseDir: string;
  readonly toml: TomlTable;
}

/**
 * Settings that a repository can't change, even if it is trusted: where credentials are sent and which of the
 * user's programs run.
 */
const DENIED: readonly string[] = [
  "openai_base_url",
  "chatgpt_base_url",
  "apps_mcp_product_sku",
  "responses_api_metadata",
  "model_provider",
  "model_providers",
  "notify",
  "profile",
  "profiles",
  "experimental_realtime_webrtc_call_base_url",
  "experimental_realtime_ws_base_url",
  "otel",
  "features.respect_system_proxy",
  "tui.keymap.chat.previous_permission_mode",
  "tui.keymap.chat.next_permission_mode",
];

/**
 * Returns the layers of a project's trusted `.codex` folders, from the project's root down to the working
 * directory.
 */
export async function projectLayers(
  cwd: string,
  project: Project,
  codexHome: string,
): Promise<ConfigLayer[]> {
  const above = ancestors(cwd);
  const folders = above.slice(0, above.indexOf(project.root) + 1).toReversed();
  const home = await canonical(codexHome);
  const layers: ConfigLayer[] = [];
  for (const folder of folders) {
    const dotCodex = join(folder, ".codex");
    // Codex's home may be inside the project. It is the user's layer, not the project's.
    if (!(await isFolder(dotCodex)) || (await canonical(dotCodex)) === home) continue;
    const file = await readConfigFile(join(dotCodex, "config.toml"), "project config file");
    if (!(await project.isTrusted(folder))) continue;
    const toml = DENIED.reduce((table, path) => withoutPath(table, path.split(".")), parseConfigFile(file));
    const main = project.inMainCheckout(folder);
    layers.push(layer(dotCodex, main === undefined ? toml : withoutPath(toml, ["hooks"])));
    if (main !== undefined) layers.push(...(await hooksOf(join(main, ".codex"))));
  }
  return layers;
}

/**
 * Returns the hooks of the main checkout, which also apply to a worktree, so that a branch can't change
 * reviewed hooks.
 */
async function hooksOf(dotCodex: string): Promise<ConfigLayer[]> {
  const toml = await readToml(join(dotCodex, "config.toml"), "project hooks config file");
  const hooks = toml && valueOf(toml, "hooks");
  return hooks === undefined ? [] : [layer(dotCodex, { hooks })];
}

function layer(dotCodex: string, toml: TomlTable): ConfigLayer {
  return { source: `project (${dotCodex}/config.toml)`, baseDir: dotCodex, toml };
}
