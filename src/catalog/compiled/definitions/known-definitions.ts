// Remembers the results of definitions. A reload of the catalog takes over modules that have not
// changed, with their definitions.

import type { ReportProblem } from '../problem.ts'
import type { SchemaCompilers } from './compile-schema.ts'

type CompileNew<C> = (compilers: SchemaCompilers, report: ReportProblem) => C | undefined

/** The definitions of one kind. */
export interface KnownDefinitions<C> {
  /**
   * The earlier result, if the same object was compiled for the same `setting` and had no problems. Otherwise
   * calls `compile`.
   */
  get (definition: object, setting: unknown, report: ReportProblem, compile: CompileNew<C>): C | undefined
}

interface KnownResult<C> {
  readonly setting: unknown
  readonly compiled: C
  /** Each asks for a schema again, so that the compilers do not forget it. */
  readonly askAgain: ReadonlyArray<() => void>
}

export function createKnownDefinitions<C> (compilers: SchemaCompilers): KnownDefinitions<C> {
  const results = new WeakMap<object, KnownResult<C>>()

  return {
    get (definition, setting, report, compile) {
      const earlier = results.get(definition)
      if (earlier !== undefined && earlier.setting === setting) {
        for (const ask of earlier.askAgain) ask()
        return earlier.compiled
      }
      const askAgain: Array<() => void> = []
      let problems = 0
      const compiled = compile(recordingOf(compilers, askAgain), (place, rule) => {
        problems++
        report(place, rule)
      })
      if (compiled !== undefined && problems === 0) results.set(definition, { setting, compiled, askAgain })
      return compiled
    }
  }
}

function recordingOf (compilers: SchemaCompilers, askAgain: Array<() => void>): SchemaCompilers {
  const recording = (compiler: SchemaCompilers['input']): SchemaCompilers['input'] => ({
    ...compiler,
    compile (schema, json) {
      askAgain.push(() => compiler.compile(schema, json))
      return compiler.compile(schema, json)
    }
  })
  return { input: recording(compilers.input), output: recording(compilers.output) }
}
