// Compiles the syntax that becomes other code: enums, namespaces, parameter properties, JSX, decorators, and
// `using` if the engine does not support it. The result keeps the author's lines.

import { extname } from 'node:path'
import { transform, type Loader, type Message, type TransformResult } from 'esbuild'
import { isBuildError, runInEsbuild } from './esbuild-process.ts'
import { keepLines } from './keep-lines.ts'
import { engineHasUsing, syntaxError } from './syntax.ts'

const LOADERS: { readonly [extension: string]: Loader } = {
  '.ts': 'ts', '.mts': 'ts', '.cts': 'ts', '.tsx': 'tsx', '.jsx': 'jsx'
}

const OPTIONS = {
  format: 'esm',
  target: 'esnext',
  jsx: 'automatic',
  // A function or class that is renamed in the code keeps its `name` property.
  keepNames: true,
  legalComments: 'none',
  logLevel: 'silent',
  sourcemap: 'external',
  sourcesContent: false
} as const

type Options = typeof OPTIONS & { readonly loader: Loader }

/** Rejects with a SyntaxError that has a place. */
export async function lower (source: string, file: string): Promise<string> {
  const options = {
    ...OPTIONS,
    loader: LOADERS[extname(file)] ?? 'js',
    supported: { decorators: false, using: engineHasUsing }
  }
  try {
    // esbuild would read a text without imports and exports as a script.
    const { code, map, warnings } = await runTransform(`${source}\nexport {}`, options)
    const requireCall = warnings.find(({ id }) => id === 'unsupported-require-call')
    if (requireCall !== undefined) {
      throw errorAt(
        '"import … = require()" is for CommonJS; write "import … from" instead', requireCall, file
      )
    }
    return keepLines(code, map)
  } catch (error) {
    if (!isBuildError(error)) throw error
    // An error at the end of the text would be about the added `export`.
    const alone = await runTransform(source, options).catch((aloneError: unknown) => aloneError)
    const [first] = isBuildError(alone) ? alone.errors : error.errors
    throw errorAt(first?.text ?? error.message, first, file)
  }
}

async function runTransform (source: string, options: Options): Promise<TransformResult<Options>> {
  return await runInEsbuild(async () => await transform(source, options))
}

function errorAt (message: string, at: Message | undefined, file: string): SyntaxError {
  return syntaxError(message, { file, line: at?.location?.line ?? 1, column: at?.location?.column ?? 0 })
}
