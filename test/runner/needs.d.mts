export const NEEDS: { readonly [file: string]: string }
export const PROJECT: string
export function isAlone (file: string): boolean
export function listImports (file: string): ReadonlySet<string>
export function listNeeds (file: string): string[]
export function listTests (): string[]
