export function writeApiPages (folder: string): Promise<string[]>
