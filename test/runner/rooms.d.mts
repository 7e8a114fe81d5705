export function listRooms (): string[]
export function listTestsOfRoom (name: string): string[]
