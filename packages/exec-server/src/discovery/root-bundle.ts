/** Reads a file as text; undefined when it can't, which is a warning unless it may be missing. */
export type ReadText = (uri: string, options: { optional: boolean }) => Promise<string | undefined>;

interface TextFile {
  readonly path: string;
  readonly contents: string;
}

const MANIFESTS = [".codex-plugin/plugin.json", ".claude-plugin/plugin.json", ".cursor-plugin/plugin.json"];
const MCP_CONFIG = ".mcp.json";
const SKILL = "/SKILL.md";
const SKILL_METADATA = "agents/openai.yaml";

/** The plugin, the skills and the namespaces of one root, given the files below it. */
export async function rootBundle(
  root: string,
  files: readonly string[],
  read: ReadText,
  warnings: string[],
): Promise<object> {
  const base = root.replace(/\/$/, "");
  const known = new Set(files);
  const load = async (path: string, optional = false): Promise<TextFile | null> => {
    const contents = await read(path, { optional });
    return contents === undefined ? null : { path, contents };
  };
  const loadKnown = (path: string): Promise<TextFile | null> =>
    known.has(path) ? load(path) : Promise.resolve(null);

  const manifestPath = MANIFESTS.map((name) => `${base}/${name}`).find((path) => known.has(path));
  const manifest = manifestPath === undefined ? null : await load(manifestPath);
  const plugin = manifest && {
    manifest,
    ...(await linkedConfigs(base, manifest, loadKnown, warnings)),
  };

  const skills: object[] = [];
  for (const path of files.filter((file) => file.endsWith(SKILL))) {
    const instructions = await load(path);
    if (!instructions) continue;
    const metadata = await loadKnown(`${path.slice(0, -SKILL.length)}/${SKILL_METADATA}`);
    skills.push({ instructions, metadata });
  }
  const namespaceManifests = manifest ? [manifest] : await nearestManifest(base, load);
  return { plugin, skills, namespaceManifests };
}

/** The MCP and apps files that a manifest names; without a name the usual one, unless the servers stand in it. */
async function linkedConfigs(
  base: string,
  manifest: TextFile,
  load: (path: string) => Promise<TextFile | null>,
  warnings: string[],
): Promise<{ mcpConfig: TextFile | null; appsConfig: TextFile | null }> {
  const { mcpServers, apps } = parsed(manifest, warnings);
  const linked = (name: unknown): Promise<TextFile | null> => {
    if (typeof name !== "string") return Promise.resolve(null);
    if (!name.startsWith("./") || name.split("/").includes("..")) {
      warnings.push(`${manifest.path}: a file must be named by ./ and without .., not ${name}`);
      return Promise.resolve(null);
    }
    return load(`${base}/${name.slice(2)}`);
  };
  const isInline = typeof mcpServers === "object" && mcpServers !== null;
  return {
    mcpConfig: isInline ? null : await linked(mcpServers ?? `./${MCP_CONFIG}`),
    appsConfig: await linked(apps),
  };
}

function parsed(manifest: TextFile, warnings: string[]): { mcpServers?: unknown; apps?: unknown } {
  try {
    const value: unknown = JSON.parse(manifest.contents);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    warnings.push(`${manifest.path}: not JSON`);
  }
  return {};
}

/** A folder of skills may lie inside a plugin, whose name is then its namespace. */
async function nearestManifest(
  base: string,
  load: (path: string, optional: boolean) => Promise<TextFile | null>,
): Promise<TextFile[]> {
  let folder = base;
  while (folder.length > "file:///".length) {
    folder = folder.slice(0, folder.lastIndexOf("/"));
    for (const name of MANIFESTS) {
      const found = await load(`${folder}/${name}`, true);
      if (found) return [found];
    }
  }
  return [];
}
