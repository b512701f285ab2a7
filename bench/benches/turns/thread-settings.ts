/** Settings of every thread on an app-server. */
export function threadSettings(cwd: string, { ephemeral = false }: { readonly ephemeral?: boolean } = {}) {
  return { cwd, ephemeral, sandbox: "read-only", approvalPolicy: "never" } as const;
}
