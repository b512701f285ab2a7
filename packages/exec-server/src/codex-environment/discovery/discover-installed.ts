import { messageOf } from "@codexkit/rpc/async";
import * as z from "zod";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Method } from "../../session/method.ts";
import type { FileMetadata } from "../../wire/exec-wire.ts";
import { osFailure } from "../../wire/os-failure.ts";
import { parseUri } from "../../wire/path-uri.ts";
import { CODES, Refusal } from "../../wire/refusal.ts";
import { sandboxContext } from "../../wire/sandbox-context.ts";
import { type CapabilityLocation, capabilityLocations } from "./capability-locations.ts";
import {
  displayName,
  lacksFile,
  type ListedSkill,
  listSkills,
  withInlineServers,
} from "./installed-plugin.ts";
import { CapabilityList } from "./capability-list.ts";
import { type FileCalls, fileCalls, scanRoot } from "./scan-root.ts";

const discoverParams = z.object({
  cwd: z.string(),
  // Unlike in other requests, Codex requires the sandbox's working directory here.
  sandbox: sandboxContext.extend({ cwd: z.string() }).nullish(),
});

const ODD_LOCATION = "some capability locations could not be resolved; discovery may be incomplete";
const ODD_METADATA = "some capability metadata could not be loaded; discovery may be incomplete";

/**
 * Implements `capabilities/discoverV2`: the plugins installed on this machine and the skills of its user.
 *
 * Searches the folders anew for each request. Codex caches them and watches for changes, with the same
 * results.
 */
export function installedCapabilitiesMethod(sandbox: Sandbox): Method {
  return {
    params: discoverParams,
    lane: "ordinary",
    run: async ({ cwd, sandbox: context }: z.output<typeof discoverParams>) => {
      // It is not used, but must be a valid path, possibly of another system.
      parseUri(cwd);
      const oddities: string[] = [];
      const locations = await capabilityLocations(oddities);
      const call = fileCalls(sandbox, context);
      const list = new CapabilityList(oddities.length > 0 ? [ODD_LOCATION] : []);
      for (const location of locations) {
        const warnings: string[] = [];
        const { plugin, skills } = await discover(location, call, warnings);
        // The details may be private, so only the fact that something is wrong is reported.
        if (warnings.length > 0) list.warn(ODD_METADATA);
        if (plugin) list.addPlugin(plugin);
        for (const skill of skills) list.addSkill(skill);
      }
      return list.finish();
    },
  };
}

interface Discovered {
  readonly plugin?: { readonly id: string; readonly skills: readonly object[] };
  readonly skills: readonly object[];
}

async function discover(
  location: CapabilityLocation,
  call: FileCalls,
  warnings: string[],
): Promise<Discovered> {
  const { root } = location;
  try {
    if (!(await isFolder(root, call))) return { skills: [] };
    const bundle = await scanRoot(root, call, warnings);
    const listed = (): ListedSkill[] => listSkills(bundle, warnings);
    if (location.kind === "skills") {
      const discoveryRoot = { id: location.id, path: root };
      const skills = listed().map(({ dependencies, policy, ...skill }) => ({
        ...skill,
        discoveryRoot,
        dependencies,
        policy,
      }));
      return { skills };
    }
    const title = bundle.plugin && displayName(bundle.plugin.manifest);
    if (bundle.plugin && title !== undefined && title !== null) {
      const { id, remotePluginId, version } = location.plugin;
      const files = withInlineServers(bundle.plugin);
      if (lacksFile(bundle.plugin)) warnings.push(`The plugin at ${root} refers to a missing file.`);
      const plugin = { id, displayName: title, remotePluginId, version, root, files, skills: listed() };
      return { plugin, skills: [] };
    }
    warnings.push(`The plugin at ${root} has no readable manifest.`);
  } catch (error) {
    warnings.push(`${root}: ${messageOf(error)}`);
  }
  return { skills: [] };
}

/** Whether a path is a folder. A missing or hidden folder needs no warning; other failures do. */
async function isFolder(path: string, call: FileCalls): Promise<boolean> {
  try {
    return ((await call("fs/getMetadata", { path })) as FileMetadata).isDirectory;
  } catch (error) {
    const failure = osFailure(error);
    if (failure instanceof Refusal && failure.rpcCode === CODES.notFound) return false;
    throw error;
  }
}
