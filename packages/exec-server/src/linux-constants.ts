// Constants of Linux that Node does not define.

/** Flag that opens a file only to refer to it, without read or write access. */
export const O_PATH = 0o10000000;

/** The largest number of symbolic links that the kernel follows in one path. */
export const MAX_LINKS = 40;
