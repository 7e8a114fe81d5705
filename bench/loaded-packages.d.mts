export const NODE_OPTIONS: string
export function readLoadedPackages (stderr: string): Promise<ReadonlySet<string>>
