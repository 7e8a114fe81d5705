// The syntax that has no JavaScript of the same shape: enums, namespaces, parameter properties, JSX,
// decorators, and `using` where the engine has none. The result is laid out on the lines of the author.

import { extname } from 'node:path'
import {
  stop, transform, type Loader, type Message, type TransformFailure, type TransformResult
} from 'esbuild'
import { hasUsing } from './engine.ts'
import { keepLines } from './keep-lines.ts'
import { syntaxError } from './syntax-error.ts'

const LOADERS: { readonly [extension: string]: Loader } = {
  '.ts': 'ts', '.mts': 'ts', '.cts': 'ts', '.tsx': 'tsx', '.jsx': 'jsx'
}

const OPTIONS = {
  format: 'esm',
  target: 'esnext',
  jsx: 'automatic',
  // Where a function or class is given another name in the code, it keeps its own.
  keepNames: true,
  legalComments: 'none',
  logLevel: 'silent',
  sourcemap: 'external',
  sourcesContent: false
} as const

type Options = typeof OPTIONS & { readonly loader: Loader }

/** Throws a SyntaxError that has a place. */
export async function lower (source: string, file: string): Promise<string> {
  const options = {
    ...OPTIONS, loader: LOADERS[extname(file)] ?? 'js', supported: { decorators: false, using: hasUsing }
  }
  try {
    // A text without imports and exports would be read as a script, by the rules of scripts.
    const { code, map, warnings } = await runTransform(`${source}\nexport {}`, options)
    const requireCall = warnings.find(({ id }) => id === 'unsupported-require-call')
    if (requireCall !== undefined) {
      throw failure(
        '"import … = require()" is for CommonJS; write "import … from" instead', requireCall, file
      )
    }
    return keepLines(code, map)
  } catch (error) {
    if (!isFailure(error)) throw error
    // At the end of the text the error would be about what was added.
    const alone = await runTransform(source, options).catch((aloneError: unknown) => aloneError)
    const [first] = isFailure(alone) ? alone.errors : error.errors
    throw failure(first?.text ?? error.message, first, file)
  }
}

/**
 * esbuild works in a process of its own. Where that was killed, it starts another only when it is told to
 * stop.
 */
async function runTransform (source: string, options: Options): Promise<TransformResult<Options>> {
  try {
    return await transform(source, options)
  } catch (error) {
    if (isFailure(error)) throw error
    await stop()
    return await transform(source, options)
  }
}

function failure (message: string, at: Message | undefined, file: string): SyntaxError {
  return syntaxError(message, { file, line: at?.location?.line ?? 1, column: at?.location?.column ?? 0 })
}

function isFailure (error: unknown): error is TransformFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors)
}
