// A catalog folder for one test. It is written from a table of files, and removed when the test ends.

import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'

export type Files = { readonly [path: string]: string | Uint8Array }

/** Writes the files into a new folder and returns its path. */
export async function writeCatalog (t: Test, files: Files): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'trivet-'))
  t.teardown(async () => await rm(root, { recursive: true, force: true }))
  for (const [path, contents] of Object.entries(files)) await writeInPlace(root, path, contents)
  return root
}

export async function writeInPlace (
  root: string, path: string, contents: string | Uint8Array
): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), contents)
}

/** Saves as most editors do: writes a new file and renames it over the old one. */
export async function writeByRename (
  root: string, path: string, contents: string | Uint8Array
): Promise<void> {
  const beside = join(dirname(path), '.saving')
  await writeInPlace(root, beside, contents)
  await rename(join(root, beside), join(root, path))
}

/**
 * Writes as kubelet writes a ConfigMap: a new directory, the link `..data` to that directory, and a link for
 * the first part of each key.
 */
export async function writeVolume (root: string, moment: string, files: Files): Promise<void> {
  const directory = `..2026_01_01_00_00_0${moment}`
  for (const [path, contents] of Object.entries(files)) {
    await writeInPlace(join(root, directory), path, contents)
  }
  await symlink(directory, join(root, '..data_tmp'))
  await rename(join(root, '..data_tmp'), join(root, '..data'))
  for (const first of new Set(Object.keys(files).map((path) => path.split('/')[0] ?? ''))) {
    await symlink(join('..data', first), join(root, first)).catch(() => {})
  }
}

/** The source of a module with one tool. `options` is the text of its other members. */
export function toolModule (name: string, options = '', run = '() => "ok"'): string {
  return `import { defineTool, ToolError, toolResult } from 'trivet'\nexport default defineTool({ name: '${name}', description: 'A tool.', ${options === '' ? '' : `${options}, `}run: ${run} })\n`
}
