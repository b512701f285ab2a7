/**
 * Reads a file as text. Resolves to undefined if it does not exist, or with a warning if it can't be read.
 */
export type ReadText = (uri: string) => Promise<string | undefined>;

export interface TextFile {
  readonly path: string;
  readonly contents: string;
}

export interface RootBundle {
  readonly plugin: {
    readonly manifest: TextFile;
    readonly mcpConfig: TextFile | null;
    readonly appsConfig: TextFile | null;
  } | null;
  readonly skills: readonly { readonly instructions: TextFile; readonly metadata: TextFile | null }[];
  /**
   * The preferred manifest of each folder that has one. The first is that of the root, or of the nearest
   * folder above it.
   */
  readonly namespaceManifests: readonly TextFile[];
}

type Load = (path: string) => Promise<TextFile | null>;

const MANIFESTS = [
  "/.codex-plugin/plugin.json",
  "/.claude-plugin/plugin.json",
  "/.cursor-plugin/plugin.json",
];
const MCP_CONFIG = ".mcp.json";
const SKILL = "/SKILL.md";
const SKILL_METADATA = "/agents/openai.yaml";

/** Builds the plugin, the skills and the namespaces of a root from the files below it. */
export async function rootBundle(
  root: string,
  files: readonly string[],
  read: ReadText,
  warnings: string[],
): Promise<RootBundle> {
  const base = root.replace(/\/$/, "");
  const load: Load = async (path) => {
    const contents = await read(path);
    return contents === undefined ? null : { path, contents };
  };
  const manifest = await firstManifest(base, load);
  const inherited = manifest ?? (await nearestManifest(base, load));
  const namespaceManifests = inherited ? [inherited] : [];
  for (const path of nestedManifests(files, inherited)) {
    const nested = await load(path);
    if (nested) namespaceManifests.push(nested);
  }
  const plugin = manifest && { manifest, ...(await linkedConfigs(base, manifest, load, warnings)) };
  const skills: RootBundle["skills"][number][] = [];
  for (const path of files.filter((file) => file.endsWith(SKILL)).toSorted()) {
    const instructions = await load(path);
    if (!instructions) continue;
    const metadata = await load(`${path.slice(0, -SKILL.length)}${SKILL_METADATA}`);
    skills.push({ instructions, metadata });
  }
  return { plugin, skills, namespaceManifests };
}

/** Returns the folder of the plugin that a manifest describes. Undefined for other files. */
export function manifestFolder(path: string): string | undefined {
  const name = MANIFESTS.find((manifest) => path.endsWith(manifest));
  return name === undefined ? undefined : path.slice(0, -name.length);
}

/** Returns one manifest per folder below the root, by order of preference. */
function nestedManifests(files: readonly string[], inherited: TextFile | null): string[] {
  const known = new Set(files);
  const folders = new Set(files.flatMap((file) => manifestFolder(file) ?? []));
  if (inherited) folders.delete(manifestFolder(inherited.path) ?? "");
  return [...folders]
    .toSorted()
    .flatMap((folder) => MANIFESTS.map((name) => folder + name).find((path) => known.has(path)) ?? []);
}

/**
 * Loads the MCP and apps files that a manifest refers to. Without a reference, loads the default MCP file,
 * unless the manifest defines the servers itself.
 */
async function linkedConfigs(
  base: string,
  manifest: TextFile,
  load: Load,
  warnings: string[],
): Promise<{ mcpConfig: TextFile | null; appsConfig: TextFile | null }> {
  const { mcpServers, apps } = parsed(manifest);
  const linked = (name: unknown): string | undefined => {
    if (typeof name !== "string") return undefined;
    if (name.length > 2 && name.startsWith("./") && !name.split(/[/\\]/).includes("..")) return name.slice(2);
    warnings.push(
      `${manifest.path}: Expected a path that starts with "./" and does not contain "..", but received "${name}".`,
    );
    return undefined;
  };
  const isInline = typeof mcpServers === "object" && mcpServers !== null && !Array.isArray(mcpServers);
  const mcpName = linked(mcpServers) ?? MCP_CONFIG;
  const appsName = linked(apps);
  return {
    mcpConfig: isInline ? null : await load(`${base}/${mcpName}`),
    appsConfig: appsName === undefined ? null : await load(`${base}/${appsName}`),
  };
}

/** Parses a manifest. One that is not JSON has no references. */
function parsed(manifest: TextFile): { mcpServers?: unknown; apps?: unknown } {
  try {
    const value: unknown = JSON.parse(manifest.contents);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

async function firstManifest(folder: string, load: Load): Promise<TextFile | null> {
  for (const name of MANIFESTS) {
    const found = await load(folder + name);
    if (found) return found;
  }
  return null;
}

/**
 * Finds the manifest of the plugin that contains a folder of skills. The plugin's name is then their
 * namespace.
 */
async function nearestManifest(base: string, load: Load): Promise<TextFile | null> {
  let folder = base;
  while (folder.length > "file://".length) {
    folder = folder.slice(0, folder.lastIndexOf("/"));
    const found = await firstManifest(folder, load);
    if (found) return found;
  }
  return null;
}
