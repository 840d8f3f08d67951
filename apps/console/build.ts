// Builds the console into `dist`, unless `dist` was built from the same sources.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('../../', import.meta.url))
const dist = join(root, 'apps/console/dist')
/** Holds the hash of the sources. Its dot keeps it from being served. */
const markerName = '.sources'
/** What the built files depend on. The image has no lock file of its own to look at, and is built from scratch. */
const sources = [
  'apps/console',
  'packages/client',
  'packages/domain/src',
  'packages/event-store/src/export',
  'packages/event-store/src/streamName.ts',
  'packages/webhooks/src/messages/canonicalNames.ts',
  'package-lock.json',
]
const isIgnored = (name: string) => /^(node_modules|dist.*|.*\.test\.tsx?|testing|test)$/.test(name)

function filesIn(path: string): string[] {
  const absolute = join(root, path)
  if (!existsSync(absolute)) return []
  const entries = readdirSync(absolute, { withFileTypes: true }).filter(({ name }) => !isIgnored(name))
  return entries
    .flatMap((entry) => (entry.isDirectory() ? filesIn(join(path, entry.name)) : [join(path, entry.name)]))
    .toSorted()
}

function hashOfSources(): string {
  const hash = createHash('sha256')
  const files = sources.flatMap((path) => (/\.\w+$/.test(path) ? [path] : filesIn(path)))
  for (const file of files.filter((path) => existsSync(join(root, path)))) {
    hash.update(`${file}\n`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

function builtFrom(): string | undefined {
  const marker = join(dist, markerName)
  return existsSync(marker) ? readFileSync(marker, 'utf8') : undefined
}

/** The server sends these to browsers that accept them, which are all of them. */
function compress(directory: string): void {
  for (const name of readdirSync(directory)) {
    const file = join(directory, name)
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
  }
}

async function run(): Promise<void> {
  const hash = hashOfSources()
  if (builtFrom() === hash) return
  // Loading them takes longer than everything else when there is nothing to build.
  const [{ build }, { consoleConfig }] = await Promise.all([import('vite'), import('./viteConfig.ts')])
  // In its own directory, so that a running server never sees half of it, and two builds do not mix.
  const draft = `${dist}.${process.pid}`
  try {
    await build(consoleConfig(draft))
    compress(join(draft, 'assets'))
    writeFileSync(join(draft, markerName), hash)
    rmSync(dist, { recursive: true, force: true })
    renameSync(draft, dist)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

try {
  await run()
} catch (error) {
  // Another build of the same sources may have been faster.
  if (builtFrom() !== hashOfSources()) throw error
}
