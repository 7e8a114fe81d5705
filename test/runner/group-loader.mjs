// Gives each test file of a group a "tap" of its own.

const TAP = new URL('group-tap.mjs', import.meta.url)

export async function resolve (specifier, context, nextResolve) {
  if (specifier !== 'tap') return await nextResolve(specifier, context)
  if (context.parentURL?.endsWith('.test.ts') !== true) {
    throw new Error(`${context.parentURL} must get its test as a parameter: it is shared by several test files`)
  }
  const url = new URL(TAP)
  url.searchParams.set('file', context.parentURL)
  return { url: url.href, format: 'module', shortCircuit: true }
}
