// Bundles the libraries that consist of hundreds of modules, for the processes of a test run. There are thousands of them,
// and loading typebox takes most of them a fifth of their time until they are ready.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

/** All entries that this project uses: two copies of a library would not know each other's settings. */
const entries = [
  ...['typebox', 'typebox/compile', 'typebox/error', 'typebox/system', 'typebox/value', 'kysely', 'stripe'],
  ...['fastify', 'pg', 'prom-client', 'undici'],
]
/** What tap loads into each test for mocks and for coverage, which no test here uses, and which slows down every import. */
const needless = '/@tapjs/(mock|processinfo)/dist/esm/import\\.mjs$'

/** @returns an option for Node, which makes imports of the libraries resolve to the bundles */
export async function bundleLibraries(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true })
  const named = entries.map((entry) => [entry, entry.replace('/', '-')] as const)
  const input: Record<string, string> = {}
  for (const [entry, name] of named) input[name] = await inputOf(entry, join(directory, `${name}-names.mjs`))
  const bundle = await rolldown({ input, platform: 'node', treeshake: false })
  await bundle.write({ dir: directory, entryFileNames: '[name].mjs', chunkFileNames: 'shared-[hash].mjs' })
  const urls = Object.fromEntries(
    named.map(([entry, name]) => [entry, pathToFileURL(join(directory, `${name}.mjs`)).href]),
  )
  const hook = join(directory, 'hook.mjs')
  await writeFile(
    hook,
    `import { registerHooks } from 'node:module'
process.setSourceMapsEnabled(false)
const urls = new Map(Object.entries(${JSON.stringify(urls)}))
const needless = new RegExp(${JSON.stringify(needless)})
registerHooks({
  resolve(specifier, context, next) {
    const url = urls.get(specifier) ?? (needless.test(specifier) ? 'data:text/javascript,' : undefined)
    return url === undefined ? next(specifier, context) : { url, format: 'module', shortCircuit: true }
  },
})
`,
  )
  return `--import=${pathToFileURL(hook).href}`
}

/** The file to bundle; one that names the exports of a CommonJS library, because a bundle has only its default export. */
async function inputOf(entry: string, path: string): Promise<string> {
  const file = fileURLToPath(import.meta.resolve(entry))
  const names = Object.keys(await import(entry)).filter((name) => name !== 'default')
  if (!names.includes('module.exports')) return file
  const exported = names.filter((name) => /^[A-Za-z_$][\w$]*$/.test(name)).join(', ')
  await writeFile(
    path,
    `import library from ${JSON.stringify(file)}\nexport default library\nexport const { ${exported} } = library\n`,
  )
  return path
}
