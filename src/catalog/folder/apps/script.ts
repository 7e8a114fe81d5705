// Prepares a script that is no module for its place in a document.

import { transform } from 'esbuild'
import { isBuildError, runInEsbuild } from '../../modules/esbuild-process.ts'
import type { AppFiles, ReportApp } from './app-files.ts'

/** Escapes what would end the element. `undefined` if a problem was reported. */
export async function transformScript (
  path: string, files: AppFiles, report: ReportApp
): Promise<string | undefined> {
  const source = await files.readText(path)
  try {
    // Without a format: the names of a script stay global.
    const { code } = await runInEsbuild(async () => await transform(source, {
      loader: 'js', target: 'esnext', charset: 'utf8', logLevel: 'silent', tsconfigRaw: '{}'
    }))
    return code
  } catch (error) {
    if (!isBuildError(error)) throw error
    for (const { text, location } of error.errors) {
      report(path, location === null ? undefined : { line: location.line, column: location.column + 1 }, text)
    }
    return undefined
  }
}
