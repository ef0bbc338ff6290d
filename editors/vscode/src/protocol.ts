// What the server offers beyond the Language Server Protocol. docs/protocol.md describes it for other clients.
import { NotificationType, RequestType } from "vscode-languageclient/node";

export interface Place {
  line: number;
  character: number;
}

export interface KernelQuery {
  textDocument: { uri: string };
  position: Place;
  /** The access, by its number, whose whole work-group is wanted, and the turn of the loop around it. */
  access?: number;
  turn?: number;
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
  simdWidth: number;
  localSize: number[];
  faults: { line: number; text: string }[];
  fixes: FixView[];
  workGroup: WorkGroupView | null;
}

interface Moved {
  sectors: number | null;
  wavefronts: number | null;
}

export interface TextChange {
  uri: string;
  range: { start: Place; end: Place };
  newText: string;
}

/** A verified rewrite of the kernel, and what the kernel moves before and after it. */
export interface FixView {
  title: string;
  safety: "safe" | "unsafe" | "display";
  hostChange: string | null;
  edits: TextChange[];
  before: Moved;
  after: Moved;
}

/** Byte addresses of one access of the first work-group, by linear local id. */
export interface WorkGroupView {
  access: number;
  turn: number;
  turns: number | null;
  loop: string | null;
  addresses: (number | null)[];
}

/** A kernel's machine code, or why there is none; `rows`: the line of the source that each line is of. */
export interface CompiledView {
  name: string;
  why: string | null;
  lines: string[];
  rows: (number | null)[];
}

export type WorkerState = "idle" | "running" | "backing off";

export const statusNotification = new NotificationType<{ worker: WorkerState }>("clmap/status");
export const asCompiledRequest = new RequestType<KernelQuery, CompiledView | null, void>("clmap/asCompiled");
export const kernelViewRequest = new RequestType<KernelQuery, KernelView | null, void>("clmap/kernelView");
