import { join } from "node:path";
import { parseConfigFile, readConfigFile, readToml } from "./config-file.ts";
import { ancestors, canonical, isFolder } from "./git-root.ts";
import { type TomlTable, valueOf, withoutPath } from "./project-toml.ts";
import type { Project } from "./project-trust.ts";

/** One file's settings, before they are projected. */
export interface ConfigLayer {
  readonly source: string;
  /** What relative paths in it start from. */
  readonly baseDir: string;
  readonly toml: TomlTable;
}

/** What a repository may not choose, even a trusted one: where credentials go and which programs of the person run. */
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

/** The layers of a project's trusted `.codex` folders, from its root down to the working directory. */
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
    // The home of Codex may lie in the project; it is the person's layer, not the project's.
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

/** The hooks of a worktree are those of its main checkout: what was reviewed there can't be changed on a branch. */
async function hooksOf(dotCodex: string): Promise<ConfigLayer[]> {
  const toml = await readToml(join(dotCodex, "config.toml"), "project hooks config file");
  const hooks = toml && valueOf(toml, "hooks");
  return hooks === undefined ? [] : [layer(dotCodex, { hooks })];
}

function layer(dotCodex: string, toml: TomlTable): ConfigLayer {
  return { source: `project (${dotCodex}/config.toml)`, baseDir: dotCodex, toml };
}
