/** Options of `createDaemon` as its messages name them, and the flags of `serve`. */
const FLAGS: readonly (readonly [RegExp, string])[] = [
  [/Use auth: "tokens", or 127\.0\.0\.1\./, "Omit --no-auth, or listen on 127.0.0.1."],
  [/\boptions\.advertiseUrl\b/, "--advertise"],
  [/\boptions\.sharedRoots\./, "--shared-root "],
  [/\boptions\.allowedHosts(?:\.\d+)?/, "--allow-host"],
  [/\boptions\.allowedOrigins(?:\.\d+)?/, "--allow-origin"],
  [/\boptions\.labels(?:\.\d+)?/, "--label"],
  [/\b(?:options\.)?nodeName\b/, "--node-name"],
];

/** Replaces the options of `createDaemon` in an error message with the flags that set them. */
export function nameFlags(message: string): string {
  return FLAGS.reduce((text, [option, flag]) => text.replace(option, flag), message);
}
