// Checks objects of Kubernetes against what `kubernetes-models` publishes: validators, which are compiled
// from the schemas of Kubernetes, and types. Validators accept unknown fields, so types find misspelled ones.

import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import type { Manifest } from './manifests.ts'

/** Custom resources are in a package of their own. */
function packageOf (apiVersion: string): string {
  const isCustom = apiVersion.startsWith('monitoring.coreos.com/')
  return isCustom ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'
}

/** Only a name: the file does not exist. */
const FILE = fileURLToPath(new URL('manifest-types.ts', import.meta.url))

/** The files of types that were parsed. */
const published = new Map<string, ts.SourceFile>()

/** The problems that the validator of the object's kind finds. */
export async function findInvalidValues (manifest: Manifest): Promise<string[]> {
  const { apiVersion, kind } = manifest
  const module = await import(`${packageOf(apiVersion)}/${apiVersion}/${kind}`)
  try {
    new module[kind](manifest).validate()
    return []
  } catch (error) {
    return [`${kind}: ${error instanceof Error ? error.message : String(error)}`]
  }
}

/** Fields that an object's kind does not have, and other problems of its type. */
export function findTypeProblems (manifests: readonly Manifest[]): string[] {
  const text = manifests.map(({ apiVersion, kind, ...rest }, index) => {
    return `import type { I${kind} as Type${index} } from '${packageOf(apiVersion)}/${apiVersion}/${kind}'\n` +
      `export const object${index}: Type${index} = ${JSON.stringify({ apiVersion, kind, ...rest })}\n`
  }).join('')
  const options = {
    module: ts.ModuleKind.NodeNext, strict: true, skipLibCheck: true, noEmit: true, types: []
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile } = host
  host.getSourceFile = (file, target, ...rest) => {
    if (file === FILE) return ts.createSourceFile(file, text, target)
    const source = published.get(file) ?? getSourceFile.call(host, file, target, ...rest)
    if (source !== undefined) published.set(file, source)
    return source
  }
  const program = ts.createProgram([FILE], options, host)
  return ts.getPreEmitDiagnostics(program).map(
    ({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')
  )
}
