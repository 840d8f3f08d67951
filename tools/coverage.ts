// `npm run coverage`: runs the tests with the arguments of `npm test` and prints the coverage of each workspace.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type CoverageSummary, coverageTable, isMeasured } from './coverageTable.ts'

const rootUrl = new URL('..', import.meta.url).href
const root = fileURLToPath(rootUrl)
const reporter = fileURLToPath(import.meta.resolve('c8/bin/c8.js'))
const pollMs = 5_000

/** Written by Node when a process ends: the execution counts of each script. */
type ProcessCoverage = { readonly result: readonly { readonly url: string }[] }

const directory = await mkdtemp(join(tmpdir(), 'paylog-coverage-'))
try {
  process.exitCode = await main(process.argv.slice(2))
} finally {
  await rm(directory, { recursive: true, force: true, maxRetries: 5 })
}

async function main(args: readonly string[]): Promise<number> {
  const [raw, ours, report] = ['raw', 'kept', 'report'].map((name) => join(directory, name)) as [string, string, string]
  await Promise.all([raw, ours].map((path) => mkdir(path)))
  // Child processes inherit the variable.
  const code = await run([join(root, 'tools', 'test.ts'), ...args], { NODE_V8_COVERAGE: raw }, () => collect(raw, ours))
  await collect(raw, ours)
  const options = ['--temp-directory', ours, '--reports-dir', report, '--reporter', 'json-summary', '--merge-async']
  // Includes files that were never loaded.
  const reported = await run([reporter, 'report', ...options, '--all', '--src', root], {})
  if (reported !== 0) return reported
  const summary: CoverageSummary = JSON.parse(await readFile(join(report, 'coverage-summary.json'), 'utf8'))
  const files = Object.entries(summary).map(([path, figures]) => [relative(root, path), figures] as const)
  process.stdout.write(`\n${coverageTable(Object.fromEntries(files.filter(([path]) => isMeasured(path))))}\n`)
  return code
}

/** Runs a script with this Node, calling `onInterval` meanwhile. @returns its exit code */
async function run(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
  onInterval: () => Promise<void> = async () => undefined,
): Promise<number> {
  const child = spawn(process.execPath, command, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: 'inherit',
  })
  const exited = once(child, 'exit')
  let isOver = false
  void exited.then(() => {
    isOver = true
  })
  while (!isOver) {
    await Promise.race([exited, sleep(pollMs)])
    if (!isOver) await onInterval()
  }
  return child.exitCode ?? 1
}

/** Keeps only the data about our sources: a whole run writes ten gigabytes, mostly about dependencies. */
async function collect(from: string, to: string): Promise<void> {
  for (const name of await readdir(from)) {
    const coverage = parse(await readFile(join(from, name), 'utf8'))
    if (coverage === undefined) continue
    const result = coverage.result.filter(({ url }) => isOurs(url))
    if (result.length > 0) await writeFile(join(to, name), JSON.stringify({ result }))
    await rm(join(from, name))
  }
}

/** @returns undefined for a file that is still being written */
function parse(text: string): ProcessCoverage | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isOurs(url: string): boolean {
  return url.startsWith(rootUrl) && isMeasured(url.slice(rootUrl.length))
}
