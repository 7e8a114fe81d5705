export const HAS_PROC: boolean
export function residentBytes (pid: number): Promise<number>
export function cpuMs (pid: number): Promise<number>
