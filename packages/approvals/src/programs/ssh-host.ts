/** Options of ssh that neither run a program nor name a file or another host. */
export const HARMLESS_SSH_OPTION =
  /(?:BatchMode|Compression|StrictHostKeyChecking|PasswordAuthentication)=(?:yes|no|ask|accept-new)|(?:ConnectTimeout|ConnectionAttempts|Port|ServerAliveCountMax|ServerAliveInterval)=\d+|LogLevel=\w+/;

/** A host with or without a user. A word that begins with a dash would be an option. */
export function isHost(text: string): boolean {
  return /^(?:\w[\w.-]*@)?[A-Za-z0-9][\w.-]*$/.test(text);
}
