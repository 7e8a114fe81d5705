export const NODE_OPTIONS: string
export function readLoadedPackages (stderr: string): Promise<ReadonlySet<string>>
export function readLoadedFiles (stderr: string): Promise<ReadonlySet<string>>
