// Rolls the declarations of the public entries into one file each and one that they share. All others
// describe internals: they are 500 files, and name packages that are not installed beside this one.

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'

const ENTRIES = ['index', 'testing']
/** `exports` of package.json hides these types with or without this step. */
const EXPECTED = /still references private shared type exports/

/**
 * Leaves nothing else in the folder.
 * @param {string} folder has the declarations as the compiler wrote them
 */
export async function rollDeclarations (folder) {
  const bundle = await rollup({
    input: Object.fromEntries(ENTRIES.map((name) => [name, join(folder, `${name}.d.ts`)])),
    external: (id) => !/^[./]/.test(id),
    plugins: [dts()],
    onwarn ({ message }) { if (!EXPECTED.test(message)) throw new Error(message) }
  })
  const { output } = await bundle.generate({
    format: 'es', entryFileNames: '[name].d.ts', chunkFileNames: 'types/shared.d.ts'
  })
  await bundle.close()
  await rm(folder, { recursive: true })
  for (const { fileName, code } of output) {
    const file = join(folder, fileName)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, code)
  }
}
