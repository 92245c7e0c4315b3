/** Every difference between the deployments. */
export interface Stage {
  /** part of the stack's name and of every key's prefix, lower-case letters */
  name: string;
  /** keep the data when the stack is deleted, and refuse to delete it by accident */
  keepData: boolean;
}

export const stages = [
  { name: "staging", keepData: false },
  { name: "production", keepData: true },
] as const satisfies readonly Stage[];
