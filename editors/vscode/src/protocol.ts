// What the server offers beyond the Language Server Protocol. docs/protocol.md describes it for other clients.
import { RequestType } from "vscode-languageclient/node";

export interface Place {
  line: number;
  character: number;
}

export interface KernelQuery {
  textDocument: { uri: string };
  position: Place;
}

/** One access of a kernel, static figures first, then what the emulator saw. */
export interface AccessView {
  range: { start: Place; end: Place };
  text: string;
  buffer: string;
  space: "global" | "constant" | "local";
  op: "load" | "store" | "atomic";
  unit: "sectors" | "wavefronts";
  mean: number | null;
  ideal: number | null;
  share: number;
  stride: string;
  map: string | null;
  formula: string | null;
  /** Byte addresses of the lanes of one SIMD group, relative to the lowest; null where a lane is inactive. */
  lanes: (number | null)[];
  elementBytes: number;
}

export interface KernelView {
  name: string;
  launch: string;
  device: string;
  granuleBytes: number | null;
  banks: number | null;
  accesses: AccessView[];
  psl: number[] | null;
  others: { name: string; psl: number[] }[];
  faults: { line: number; text: string }[];
}

export const kernelViewRequest = new RequestType<KernelQuery, KernelView | null, void>("clmap/kernelView");
