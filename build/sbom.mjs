// Writes the packages in the bundle as a CycloneDX document: https://cyclonedx.org/docs/1.6/json/

import { writeFile } from 'node:fs/promises'

/**
 * @param {{ name: string, version: string, dependencies: object }} manifest
 * @param {Awaited<ReturnType<typeof import('./bundled.mjs').listBundled>>} packages
 * @param {string} file is written
 */
export async function writeSbom (manifest, packages, file) {
  const component = {
    ...toComponent('application', manifest),
    properties: Object.entries(manifest.dependencies).map(
      ([name, range]) => ({ name: 'trivet:dependency', value: `${name}@${range}` })
    )
  }
  const components = packages.map((bundled) => ({
    ...toComponent('library', bundled), properties: [{ name: 'trivet:bundled', value: bundled.reason }]
  }))
  const dependencies = [{ ref: component.purl, dependsOn: components.map(({ purl }) => purl) }]
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { lifecycles: [{ phase: 'build' }], component },
    components,
    dependencies
  }
  await writeFile(file, `${JSON.stringify(document, undefined, 2)}\n`)
}

/** https://github.com/package-url/purl-spec/blob/main/types-doc/npm-definition.md */
function toComponent (type, { name, version, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return { type, 'bom-ref': purl, name, version, licenses: [{ license: { id: license } }], purl }
}
