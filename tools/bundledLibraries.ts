// Bundles the libraries that consist of hundreds of modules, for the processes of a test run. There are thousands of them,
// and loading typebox takes most of them a fifth of their time until they are ready.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

/** All entries that this project uses: two copies of a library would not know each other's settings. */
const entries = ['typebox', 'typebox/compile', 'typebox/error', 'typebox/system', 'typebox/value', 'kysely', 'stripe']

/** @returns an option for Node, which makes imports of the libraries resolve to the bundles */
export async function bundleLibraries(directory: string): Promise<string> {
  const named = entries.map((entry) => [entry, entry.replace('/', '-')] as const)
  const input = Object.fromEntries(named.map(([entry, name]) => [name, fileURLToPath(import.meta.resolve(entry))]))
  const bundle = await rolldown({ input, platform: 'node', treeshake: false })
  await bundle.write({ dir: directory, entryFileNames: '[name].mjs', chunkFileNames: 'shared-[hash].mjs' })
  const urls = Object.fromEntries(
    named.map(([entry, name]) => [entry, pathToFileURL(join(directory, `${name}.mjs`)).href]),
  )
  const hook = join(directory, 'hook.mjs')
  await writeFile(
    hook,
    `import { registerHooks } from 'node:module'
const urls = new Map(Object.entries(${JSON.stringify(urls)}))
registerHooks({
  resolve(specifier, context, next) {
    const url = urls.get(specifier)
    return url === undefined ? next(specifier, context) : { url, format: 'module', shortCircuit: true }
  },
})
`,
  )
  return `--import=${pathToFileURL(hook).href}`
}
