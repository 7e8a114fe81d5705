// Modules of definitions for tests, and the keys of the primitives that they define.

export const keysOf = (offered: ReadonlyArray<{ key: string }>): string[] => offered.map(({ key }) => key)

/** A module's text, with all imports. */
export const moduleOf =
  (text: string): string =>
    `import { definePrompt, defineResource, defineResourceTemplate, defineTool } from 'trivet'\n${text}\n`
