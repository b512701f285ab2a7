import { value } from "./declaration/declaration.ts";
import { declareChecksums } from "./checksums.ts";

export const b2sum = declareChecksums("b2sum", { "-l, --length": value("number") });
